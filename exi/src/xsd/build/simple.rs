//! Simple types (XML Schema part 2 section 4.1) with the facets in effect.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Builder;
use crate::grammar::WhiteSpace;
use crate::xsd::builtin::ANY_SIMPLE_TYPE;
use crate::xsd::characters::Characters;
use crate::xsd::documents::Place;
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::model::{
    Enumeration, Primitive, Simple, TypeDefinition, TypeKind, TypeRef, Variety,
};
use crate::xsd::name::{Name, collapse, replace};
use crate::xsd::pattern;

impl Builder<'_> {
    pub(super) fn simple_type(
        &mut self,
        place: Place,
        name: Option<Name>,
    ) -> Result<TypeDefinition, XsdError> {
        let derivation = self
            .documents
            .child(place, &["restriction", "list", "union"])
            .ok_or_else(|| self.error(place, Rule::Expected("restriction, list or union")))?;
        let (base, simple) = match self.documents.tag(derivation) {
            "restriction" => {
                let base = self.base_or_child(derivation, "base")?;
                (base, self.restricted(derivation, base)?)
            }
            "list" => {
                let item = self.base_or_child(derivation, "itemType")?;
                self.simple(derivation, item)?;
                (ANY_SIMPLE_TYPE, constructed(Variety::List(item)))
            }
            _ => {
                self.members(derivation)?;
                (ANY_SIMPLE_TYPE, constructed(Variety::Union))
            }
        };
        Ok(TypeDefinition {
            name,
            base: Some(base),
            kind: TypeKind::Simple(simple),
        })
    }

    /// The type that an attribute names, or that stands below.
    fn base_or_child(
        &mut self,
        place: Place,
        attribute: &'static str,
    ) -> Result<TypeRef, XsdError> {
        if let Some(name) = self.documents.reference(place, attribute)? {
            return self.type_named(place, &name);
        }
        match self.documents.child(place, &["simpleType"]) {
            Some(child) => Ok(self.declare_type(child, None)),
            None => Err(self.error(place, Rule::Expected("a base type or a simpleType"))),
        }
    }

    /// Looks at the members of a union: they must be there, though nothing else matters of them.
    fn members(&mut self, place: Place) -> Result<(), XsdError> {
        for name in self.documents.names(place, "memberTypes")? {
            let member = self.type_named(place, &name)?;
            self.simple(place, member)?;
        }
        for child in self.documents.children(place) {
            if self.documents.tag(child) == "simpleType" {
                let member = self.declare_type(child, None);
                self.simple(place, member)?;
            }
        }
        Ok(())
    }

    /// A type that must be simple.
    pub(super) fn simple(&mut self, place: Place, id: TypeRef) -> Result<&Simple, XsdError> {
        let error = self.error(
            place,
            Rule::Derivation("a simple type was expected, not a complex one (st-props-correct)"),
        );
        match &self.complete(id)?.kind {
            TypeKind::Simple(simple) => Ok(simple),
            TypeKind::Complex(_) => Err(error),
        }
    }

    /// A simple type restricted by the facets below a place.
    pub(super) fn restricted(&mut self, place: Place, base: TypeRef) -> Result<Simple, XsdError> {
        let mut simple = self.simple(place, base)?.clone();
        let base_space = simple.white_space;
        let mut values: Vec<String> = Vec::new();
        let mut patterns: Vec<Place> = Vec::new();
        for facet in self.documents.children(place) {
            match self.documents.tag(facet) {
                "whiteSpace" => simple.white_space = self.white_space(facet)?,
                "enumeration" => values.push(self.enumerated(facet, base_space)?),
                "pattern" => patterns.push(facet),
                _ => self.bound(facet, &mut simple)?,
            }
        }
        if !patterns.is_empty() {
            simple.has_pattern = true;
            simple.character_set = self.character_set(&patterns, simple.variety)?;
        }
        if !values.is_empty() && can_enumerate(simple.variety) {
            let of = simple.enumeration.map_or(base, |outer| outer.of);
            simple.enumeration = Some(Rc::new(Enumeration { of, values }));
        }
        Ok(simple)
    }

    fn white_space(&self, facet: Place) -> Result<WhiteSpace, XsdError> {
        match self.documents.value(facet, "value") {
            Some("preserve") => Ok(WhiteSpace::Preserve),
            Some("replace") => Ok(WhiteSpace::Replace),
            Some("collapse") => Ok(WhiteSpace::Collapse),
            _ => Err(self
                .documents
                .wrong(facet, "value", "preserve, replace or collapse")),
        }
    }

    fn enumerated(&self, facet: Place, white_space: WhiteSpace) -> Result<String, XsdError> {
        let value = self
            .documents
            .raw(facet, "value")
            .ok_or_else(|| self.error(facet, Rule::Expected("value")))?;
        Ok(match white_space {
            WhiteSpace::Preserve => value.to_string(),
            WhiteSpace::Replace => replace(value),
            WhiteSpace::Collapse => collapse(value),
        })
    }

    /// The union of the patterns' sets (EXI 1.0 section 7.1.10.1).
    fn character_set(
        &self,
        patterns: &[Place],
        variety: Variety,
    ) -> Result<Option<Rc<[char]>>, XsdError> {
        let mut set = Some(Characters::default());
        for facet in patterns {
            let value = self.documents.raw(*facet, "value").unwrap_or_default();
            let own = pattern::characters(value).map_err(|error| {
                let rule = Rule::Pattern {
                    at: error.at,
                    expected: error.expected,
                };
                self.error(*facet, rule)
            })?;
            set = set.zip(own).map(|(one, two)| one.union(&two));
        }
        let restricted = set.and_then(|set| set.restricted());
        let is_string = variety == Variety::Atomic(Primitive::String);
        Ok(restricted.filter(|_| is_string).map(Rc::from))
    }

    /// A bound of whole numbers; other facets change nothing.
    fn bound(&self, facet: Place, simple: &mut Simple) -> Result<(), XsdError> {
        if simple.variety != Variety::Atomic(Primitive::Integer) {
            return Ok(());
        }
        let one_off = match self.documents.tag(facet) {
            "minInclusive" | "maxInclusive" => 0,
            "minExclusive" => 1,
            "maxExclusive" => -1,
            _ => return Ok(()),
        };
        let value = self.documents.value(facet, "value").and_then(whole);
        let value = value.ok_or_else(|| self.documents.wrong(facet, "value", "a whole number"))?;
        let bound = Some(value.saturating_add(one_off));
        if self.documents.tag(facet).starts_with("min") {
            simple.min = simple.min.max(bound);
        } else {
            simple.max = simple.max.into_iter().chain(bound).min();
        }
        Ok(())
    }
}

/// A list or a union.
fn constructed(variety: Variety) -> Simple {
    Simple {
        variety,
        white_space: WhiteSpace::Collapse,
        has_pattern: false,
        character_set: None,
        enumeration: None,
        min: None,
        max: None,
    }
}

/// Whether enumerated values change the representation (EXI 1.0 section 7.2).
fn can_enumerate(variety: Variety) -> bool {
    !matches!(
        variety,
        Variety::List(_) | Variety::Union | Variety::Atomic(Primitive::Name)
    )
}

/// A whole number, which may be written with a fraction of zeros; what is too large is the largest.
fn whole(text: &str) -> Option<i128> {
    let (number, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = number.trim_start_matches(['+', '-']);
    let good = number.len() - digits.len() <= 1
        && !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && fraction.bytes().all(|digit| digit == b'0');
    let limit = if number.starts_with('-') {
        i128::MIN
    } else {
        i128::MAX
    };
    good.then(|| number.parse().unwrap_or(limit))
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn bounds_are_whole_numbers_of_any_size() {
        assert_eq!(whole("-12"), Some(-12));
        assert_eq!(whole("+5.00"), Some(5));
        assert_eq!(whole("9".repeat(60).as_str()), Some(i128::MAX));
        assert_eq!(whole("1.5"), None);
        assert_eq!(whole("--1"), None);
        assert_eq!(whole(""), None);
    }
}
