//! Simple types to representations of values (EXI 1.0 section 7, tables 7-1 and 7-2).

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

use super::names::Names;
use crate::grammar::{CharacterSetId, Datatype, DatatypeId, Representation, WhiteSpace};
use crate::xsd::builtin::ANY_SIMPLE_TYPE;
use crate::xsd::model::{
    Enumeration, Model, Primitive, Simple, TypeDefinition, TypeKind, TypeRef, Variety,
};

/// Most values that a bounded integer may have to be represented in n bits (section 7.1.5).
const BOUNDED_RANGE: i128 = 4_096;

/// The datatypes of all simple types.
pub(super) struct Datatypes {
    pub(super) datatypes: Vec<Datatype>,
    pub(super) enumeration_values: Vec<String>,
    pub(super) character_sets: Vec<Vec<char>>,
    ids: HashMap<TypeRef, DatatypeId>,
    enumerations: HashMap<*const Enumeration, u32>,
    sets: HashMap<Rc<[char]>, CharacterSetId>,
}

impl Datatypes {
    /// Lowers every simple type, what it refers to first.
    pub(super) fn of(model: &Model, names: &Names) -> Self {
        let plain = Datatype {
            name: None,
            base: None,
            white_space: WhiteSpace::Preserve,
            representation: Representation::String,
            character_set: None,
        };
        let mut datatypes = Self {
            datatypes: vec![plain],
            enumeration_values: Vec::new(),
            character_sets: Vec::new(),
            ids: HashMap::new(),
            enumerations: HashMap::new(),
            sets: HashMap::new(),
        };
        for index in 0..model.types.len() {
            datatypes.lower(model, names, TypeRef(index as u32));
        }
        datatypes
    }

    /// The datatype of a simple type; the plain string for others.
    pub(super) fn id(&self, simple: TypeRef) -> DatatypeId {
        self.ids.get(&simple).copied().unwrap_or(DatatypeId::STRING)
    }

    fn lower(&mut self, model: &Model, names: &Names, id: TypeRef) -> DatatypeId {
        if let Some(known) = self.ids.get(&id) {
            return *known;
        }
        let definition = model.definition(id);
        let TypeKind::Simple(simple) = &definition.kind else {
            return DatatypeId::STRING;
        };
        let base = base(definition).map(|base| self.lower(model, names, base));
        let representation = match (&simple.enumeration, simple.variety) {
            (Some(enumeration), _) => {
                let of = self.lower(model, names, enumeration.of);
                self.enumeration(enumeration, of)
            }
            (None, Variety::List(item)) => Representation::List(self.lower(model, names, item)),
            (None, Variety::Union) => Representation::String,
            (None, Variety::Atomic(primitive)) => atomic(primitive, simple),
        };
        let character_set = match representation {
            Representation::String => simple.character_set.as_ref().map(|set| self.set(set)),
            _ => None,
        };
        let lowered = DatatypeId(self.datatypes.len() as u32);
        self.datatypes.push(Datatype {
            name: definition.name.as_ref().map(|name| names.name(name)),
            base,
            white_space: simple.white_space,
            representation,
            character_set,
        });
        self.ids.insert(id, lowered);
        lowered
    }

    fn enumeration(&mut self, enumeration: &Rc<Enumeration>, of: DatatypeId) -> Representation {
        let values = &mut self.enumeration_values;
        let first = *self
            .enumerations
            .entry(Rc::as_ptr(enumeration))
            .or_insert_with(|| {
                let first = values.len() as u32;
                values.extend(enumeration.values.iter().cloned());
                first
            });
        Representation::Enumeration {
            first,
            count: enumeration.values.len() as u32,
            of,
        }
    }

    fn set(&mut self, set: &Rc<[char]>) -> CharacterSetId {
        let sets = &mut self.character_sets;
        *self.sets.entry(Rc::clone(set)).or_insert_with(|| {
            sets.push(set.to_vec());
            CharacterSetId(sets.len() as u32 - 1)
        })
    }
}

/// The type whose mapping a datatype representation map would hand down (section 7.4): none for
/// primitive types, lists and unions, which have entries of their own in table 7-1.
fn base(definition: &TypeDefinition) -> Option<TypeRef> {
    definition.base.filter(|base| *base > ANY_SIMPLE_TYPE)
}

fn atomic(primitive: Primitive, simple: &Simple) -> Representation {
    match primitive {
        Primitive::AnySimple | Primitive::String | Primitive::Name | Primitive::Other => {
            Representation::String
        }
        Primitive::Boolean if simple.has_pattern => Representation::BooleanPattern,
        Primitive::Boolean => Representation::Boolean,
        Primitive::Decimal => Representation::Decimal,
        Primitive::Integer => integer(simple.min, simple.max),
        Primitive::Float => Representation::Float,
        Primitive::DateTime(kind) => Representation::DateTime(kind),
        Primitive::Hex => Representation::Hex,
        Primitive::Base64 => Representation::Base64,
    }
}

/// Section 7.1.5.
fn integer(min: Option<i128>, max: Option<i128>) -> Representation {
    let range = min.zip(max).and_then(|(min, max)| {
        let range = max.checked_sub(min)?.checked_add(1)?;
        Some((min, range)).filter(|_| (1..=BOUNDED_RANGE).contains(&range))
    });
    match (range, min) {
        (Some((min, range)), _) => Representation::BoundedInteger {
            min,
            range: range as u32,
        },
        (None, Some(0..)) => Representation::UnsignedInteger,
        (None, _) => Representation::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_represented_by_their_bounds() {
        let bounded = |min, range| Representation::BoundedInteger { min, range };
        assert_eq!(integer(Some(-128), Some(127)), bounded(-128, 256));
        assert_eq!(integer(Some(1), Some(4_096)), bounded(1, 4_096));
        assert_eq!(
            integer(Some(0), Some(4_096)),
            Representation::UnsignedInteger
        );
        assert_eq!(integer(Some(5), None), Representation::UnsignedInteger);
        assert_eq!(integer(None, Some(0)), Representation::Integer);
        assert_eq!(
            integer(Some(i128::MIN), Some(i128::MAX)),
            Representation::Integer
        );
    }
}
