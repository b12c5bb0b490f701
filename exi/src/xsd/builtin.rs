//! The types that every schema has: XML Schema part 2 section 3, anySimpleType and anyType.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::model::{
    Complex, Content, Particle, Primitive, Simple, Term, TypeDefinition, TypeKind, TypeRef,
    Variety, Wildcard,
};
use super::name::{Name, XSD};
use crate::grammar::WhiteSpace;
use crate::value::DateTimeKind;

/// How a built-in type comes about.
#[derive(Clone, Copy)]
enum How {
    /// A primitive type.
    Primitive(Primitive),
    /// By restriction of an atomic type, with the facets that matter.
    Restriction {
        base: &'static str,
        primitive: Primitive,
        white_space: WhiteSpace,
        has_pattern: bool,
        min: Option<i128>,
        max: Option<i128>,
    },
    /// By list.
    List(&'static str),
}

const fn text(base: &'static str, white_space: WhiteSpace, has_pattern: bool) -> How {
    How::Restriction {
        base,
        primitive: Primitive::String,
        white_space,
        has_pattern,
        min: None,
        max: None,
    }
}

const fn integer(base: &'static str, min: Option<i128>, max: Option<i128>) -> How {
    How::Restriction {
        base,
        primitive: Primitive::Integer,
        white_space: WhiteSpace::Collapse,
        has_pattern: false,
        min,
        max,
    }
}

const fn time(kind: DateTimeKind) -> How {
    How::Primitive(Primitive::DateTime(kind))
}

/// anyType is entry 0 and anySimpleType entry 1; bases come before what is derived from them.
const SIMPLE_TYPES: &[(&str, How)] = &[
    ("anySimpleType", How::Primitive(Primitive::AnySimple)),
    ("string", How::Primitive(Primitive::String)),
    ("boolean", How::Primitive(Primitive::Boolean)),
    ("decimal", How::Primitive(Primitive::Decimal)),
    ("float", How::Primitive(Primitive::Float)),
    ("double", How::Primitive(Primitive::Float)),
    ("duration", How::Primitive(Primitive::Other)),
    ("dateTime", time(DateTimeKind::DateTime)),
    ("time", time(DateTimeKind::Time)),
    ("date", time(DateTimeKind::Date)),
    ("gYearMonth", time(DateTimeKind::GYearMonth)),
    ("gYear", time(DateTimeKind::GYear)),
    ("gMonthDay", time(DateTimeKind::GMonthDay)),
    ("gDay", time(DateTimeKind::GDay)),
    ("gMonth", time(DateTimeKind::GMonth)),
    ("hexBinary", How::Primitive(Primitive::Hex)),
    ("base64Binary", How::Primitive(Primitive::Base64)),
    ("anyURI", How::Primitive(Primitive::Other)),
    ("QName", How::Primitive(Primitive::Name)),
    ("NOTATION", How::Primitive(Primitive::Name)),
    (
        "normalizedString",
        text("string", WhiteSpace::Replace, false),
    ),
    (
        "token",
        text("normalizedString", WhiteSpace::Collapse, false),
    ),
    ("language", text("token", WhiteSpace::Collapse, true)),
    ("NMTOKEN", text("token", WhiteSpace::Collapse, true)),
    ("NMTOKENS", How::List("NMTOKEN")),
    ("Name", text("token", WhiteSpace::Collapse, true)),
    ("NCName", text("Name", WhiteSpace::Collapse, true)),
    ("ID", text("NCName", WhiteSpace::Collapse, true)),
    ("IDREF", text("NCName", WhiteSpace::Collapse, true)),
    ("IDREFS", How::List("IDREF")),
    ("ENTITY", text("NCName", WhiteSpace::Collapse, true)),
    ("ENTITIES", How::List("ENTITY")),
    ("integer", integer("decimal", None, None)),
    ("nonPositiveInteger", integer("integer", None, Some(0))),
    (
        "negativeInteger",
        integer("nonPositiveInteger", None, Some(-1)),
    ),
    (
        "long",
        integer("integer", Some(i64::MIN as i128), Some(i64::MAX as i128)),
    ),
    (
        "int",
        integer("long", Some(i32::MIN as i128), Some(i32::MAX as i128)),
    ),
    (
        "short",
        integer("int", Some(i16::MIN as i128), Some(i16::MAX as i128)),
    ),
    ("byte", integer("short", Some(-128), Some(127))),
    ("nonNegativeInteger", integer("integer", Some(0), None)),
    (
        "unsignedLong",
        integer("nonNegativeInteger", Some(0), Some(u64::MAX as i128)),
    ),
    (
        "unsignedInt",
        integer("unsignedLong", Some(0), Some(u32::MAX as i128)),
    ),
    (
        "unsignedShort",
        integer("unsignedInt", Some(0), Some(u16::MAX as i128)),
    ),
    ("unsignedByte", integer("unsignedShort", Some(0), Some(255))),
    (
        "positiveInteger",
        integer("nonNegativeInteger", Some(1), None),
    ),
];

/// anyType.
pub(super) const ANY_TYPE: TypeRef = TypeRef(0);
/// anySimpleType.
pub(super) const ANY_SIMPLE_TYPE: TypeRef = TypeRef(1);

/// The definitions of all built-in types, in the order of [`ANY_TYPE`], [`ANY_SIMPLE_TYPE`] and
/// others.
pub(super) fn definitions() -> Vec<TypeDefinition> {
    let simple = SIMPLE_TYPES
        .iter()
        .map(|(name, how)| simple_type(name, *how));
    core::iter::once(any_type()).chain(simple).collect()
}

/// The built-in type of a local name in the namespace of XML Schema.
pub(super) fn find(local: &str) -> Option<TypeRef> {
    if local == "anyType" {
        return Some(ANY_TYPE);
    }
    let at = SIMPLE_TYPES.iter().position(|(name, _)| *name == local)?;
    Some(TypeRef(at as u32 + 1))
}

/// The complex ur-type (part 1 section 3.4.7), whose EXI grammar is that of any complex type.
fn any_type() -> TypeDefinition {
    let any = Particle {
        min: 0,
        max: None,
        term: Rc::new(Term::Wildcard(Wildcard::Any)),
    };
    let content = Content::Model {
        mixed: true,
        particle: Rc::new(Particle::once(Term::Sequence(vec![Rc::new(any)]))),
    };
    TypeDefinition {
        name: Some(Name::new(XSD, "anyType")),
        base: None,
        kind: TypeKind::Complex(Complex {
            content,
            uses: BTreeMap::new(),
            wildcard: Some(Wildcard::Any),
        }),
    }
}

fn simple_type(name: &str, how: How) -> TypeDefinition {
    let plain = Simple {
        variety: Variety::Atomic(Primitive::AnySimple),
        white_space: WhiteSpace::Collapse,
        has_pattern: false,
        character_set: None,
        enumeration: None,
        min: None,
        max: None,
    };
    let (base, simple) = match how {
        How::Primitive(primitive) => (primitive_base(name), of_primitive(primitive, plain)),
        How::List(item) => {
            let variety = find(item).map_or(plain.variety, Variety::List);
            (ANY_SIMPLE_TYPE, Simple { variety, ..plain })
        }
        How::Restriction {
            base,
            primitive,
            white_space,
            has_pattern,
            min,
            max,
        } => {
            let simple = Simple {
                variety: Variety::Atomic(primitive),
                white_space,
                has_pattern,
                min,
                max,
                ..plain
            };
            (find(base).unwrap_or(ANY_SIMPLE_TYPE), simple)
        }
    };
    TypeDefinition {
        name: Some(Name::new(XSD, name)),
        base: Some(base),
        kind: TypeKind::Simple(simple),
    }
}

fn primitive_base(name: &str) -> TypeRef {
    match name {
        "anySimpleType" => ANY_TYPE,
        _ => ANY_SIMPLE_TYPE,
    }
}

fn of_primitive(primitive: Primitive, plain: Simple) -> Simple {
    let white_space = match primitive {
        Primitive::String | Primitive::AnySimple => WhiteSpace::Preserve,
        _ => WhiteSpace::Collapse,
    };
    Simple {
        variety: Variety::Atomic(primitive),
        white_space,
        ..plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_the_forty_six_types_of_appendix_d() {
        assert_eq!(definitions().len(), 46);
    }

    #[test]
    fn bases_and_items_come_before_what_refers_to_them() {
        for (index, definition) in definitions().iter().enumerate() {
            assert!(definition.base.is_none_or(|base| base.index() < index));
            if let TypeKind::Simple(Simple {
                variety: Variety::List(item),
                ..
            }) = definition.kind
            {
                assert!(item.index() < index);
            }
        }
    }
}
