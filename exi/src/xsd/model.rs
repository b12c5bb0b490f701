//! Schema components as far as EXI needs them (XML Schema part 1 section 2.2), references resolved.
//!
//! Deliberately absent: identity constraints, notations, defaults, abstractness, blocking: they
//! change no grammar.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::documents::Place;
use super::name::Name;
use crate::grammar::WhiteSpace;
use crate::value::DateTimeKind;

macro_rules! references {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(pub(super) u32);

        impl $name {
            pub(super) fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

references! {
    /// Index in [`Model::types`].
    TypeRef
    /// Index in [`Model::elements`].
    ElementRef
    /// Index in [`Model::attributes`].
    AttributeRef
}

/// All components of a schema.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) types: Vec<TypeDefinition>,
    /// Where the types are defined, those that are.
    pub(super) places: Vec<Option<Place>>,
    pub(super) elements: Vec<ElementDeclaration>,
    pub(super) attributes: Vec<AttributeDeclaration>,
    pub(super) global_types: BTreeMap<Name, TypeRef>,
    pub(super) global_elements: BTreeMap<Name, ElementRef>,
    pub(super) global_attributes: BTreeMap<Name, AttributeRef>,
    /// Target namespaces of all documents.
    pub(super) targets: BTreeSet<Rc<str>>,
}

impl Model {
    /// The definition of a type.
    pub(super) fn definition(&self, id: TypeRef) -> &TypeDefinition {
        &self.types[id.index()]
    }

    /// The declaration of an element.
    pub(super) fn element(&self, id: ElementRef) -> &ElementDeclaration {
        &self.elements[id.index()]
    }

    /// The declaration of an attribute.
    pub(super) fn attribute(&self, id: AttributeRef) -> &AttributeDeclaration {
        &self.attributes[id.index()]
    }
}

/// An element declaration.
#[derive(Debug, Clone)]
pub(super) struct ElementDeclaration {
    pub(super) name: Name,
    pub(super) type_definition: TypeRef,
    pub(super) nillable: bool,
    /// {substitution group affiliation}.
    pub(super) head: Option<ElementRef>,
}

/// An attribute declaration.
#[derive(Debug, Clone)]
pub(super) struct AttributeDeclaration {
    pub(super) name: Name,
    pub(super) type_definition: TypeRef,
}

/// A type definition.
#[derive(Debug, Clone)]
pub(super) struct TypeDefinition {
    /// `None` for anonymous types and for those that were redefined.
    pub(super) name: Option<Name>,
    /// {base type definition}; `None` for anyType.
    pub(super) base: Option<TypeRef>,
    pub(super) kind: TypeKind,
}

/// What differs between simple and complex types.
#[derive(Debug, Clone)]
pub(super) enum TypeKind {
    Simple(Simple),
    Complex(Complex),
}

/// A simple type with all facets in effect, its own and inherited ones.
#[derive(Debug, Clone)]
pub(super) struct Simple {
    pub(super) variety: Variety,
    pub(super) white_space: WhiteSpace,
    /// Whether there are pattern facets.
    pub(super) has_pattern: bool,
    /// The restricted character set of the pattern facets (EXI 1.0 section 7.1.10.1).
    pub(super) character_set: Option<Rc<[char]>>,
    pub(super) enumeration: Option<Rc<Enumeration>>,
    /// Least and greatest value, for types derived from xs:integer.
    pub(super) min: Option<i128>,
    pub(super) max: Option<i128>,
}

/// {variety}, and where values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variety {
    Atomic(Primitive),
    List(TypeRef),
    Union,
}

/// The closest ancestor that decides the representation (EXI 1.0 table 7-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Primitive {
    AnySimple,
    String,
    Boolean,
    Decimal,
    Integer,
    Float,
    DateTime(DateTimeKind),
    Hex,
    Base64,
    /// QName and NOTATION: a string, also where values are enumerated (section 7.2).
    Name,
    /// duration and anyURI: a string.
    Other,
}

/// Enumerated values.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The closest ancestor without enumerated values.
    pub(super) of: TypeRef,
    /// Lexical values, white space as that ancestor has it, in schema order.
    pub(super) values: Vec<String>,
}

/// A complex type.
#[derive(Debug, Clone)]
pub(super) struct Complex {
    pub(super) content: Content,
    /// {attribute uses}, sorted by name.
    pub(super) uses: BTreeMap<Name, AttributeUse>,
    /// {namespace constraint} of the {attribute wildcard}.
    pub(super) wildcard: Option<Wildcard>,
}

/// {content type}.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Empty,
    Simple(TypeRef),
    Model { mixed: bool, particle: Rc<Particle> },
}

/// An attribute use.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttributeUse {
    pub(super) declaration: AttributeRef,
    pub(super) required: bool,
}

/// A particle.
#[derive(Debug)]
pub(super) struct Particle {
    pub(super) min: u32,
    /// `None` for unbounded.
    pub(super) max: Option<u32>,
    pub(super) term: Rc<Term>,
}

impl Particle {
    /// A term that occurs once.
    pub(super) fn once(term: Term) -> Self {
        Self {
            min: 1,
            max: Some(1),
            term: Rc::new(term),
        }
    }
}

/// A term; references to named groups are expanded in place (EXI 1.0 section 8.5.4.3).
#[derive(Debug)]
pub(super) enum Term {
    Element(ElementRef),
    Wildcard(Wildcard),
    Sequence(Vec<Rc<Particle>>),
    Choice(Vec<Rc<Particle>>),
    All(Vec<Rc<Particle>>),
}

/// {namespace constraint}; the empty string stands for `absent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wildcard {
    Any,
    Not(Rc<str>),
    /// In the order in which they are written.
    Namespaces(Vec<Rc<str>>),
}

impl Wildcard {
    /// Both constraints hold (part 1 section 3.10.6, Attribute Wildcard Intersection).
    pub(super) fn intersection(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, other) | (other, Self::Any) => other,
            (Self::Not(uri), Self::Namespaces(set)) | (Self::Namespaces(set), Self::Not(uri)) => {
                let kept = set.into_iter();
                Self::Namespaces(kept.filter(|own| *own != uri && !own.is_empty()).collect())
            }
            (Self::Namespaces(one), Self::Namespaces(two)) => {
                Self::Namespaces(one.into_iter().filter(|uri| two.contains(uri)).collect())
            }
            (Self::Not(uri), other @ Self::Not(_)) if uri.is_empty() => other,
            (one @ Self::Not(_), Self::Not(_)) => one,
        }
    }

    /// One of the constraints holds (part 1 section 3.10.6, Attribute Wildcard Union).
    pub(super) fn union(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Not(one), Self::Not(two)) if one == two => Self::Not(one),
            (Self::Not(_), Self::Not(_)) => Self::Not("".into()),
            (Self::Namespaces(mut one), Self::Namespaces(two)) => {
                let new = two.into_iter().filter(|uri| !one.contains(uri));
                let new: Vec<_> = new.collect();
                one.extend(new);
                Self::Namespaces(one)
            }
            (Self::Not(uri), Self::Namespaces(set)) | (Self::Namespaces(set), Self::Not(uri)) => {
                let absent = set.iter().any(|own| own.is_empty());
                match (set.contains(&uri), absent) {
                    (_, true) => Self::Any,
                    (true, false) => Self::Not("".into()),
                    (false, false) => Self::Not(uri),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(uris: &[&str]) -> Wildcard {
        Wildcard::Namespaces(uris.iter().map(|uri| (*uri).into()).collect())
    }

    #[test]
    fn wildcards_unite_and_intersect_as_the_standard_says() {
        let other = Wildcard::Not("t".into());
        assert_eq!(Wildcard::Any.intersection(other.clone()), other);
        assert_eq!(
            other.clone().intersection(set(&["", "t", "u"])),
            set(&["u"])
        );
        assert_eq!(set(&["a", "b"]).intersection(set(&["b"])), set(&["b"]));
        assert_eq!(set(&["a"]).union(set(&["b", "a"])), set(&["a", "b"]));
        assert_eq!(other.clone().union(set(&["", "t"])), Wildcard::Any);
        assert_eq!(other.clone().union(set(&["t"])), Wildcard::Not("".into()));
        assert_eq!(other.clone().union(set(&["u"])), other);
    }
}
