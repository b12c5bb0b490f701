//! The EXI Profile (W3C Recommendation of 9 September 2014): built-in grammars stop growing, by
//! means that every decoder of EXI 1.0 understands.
//!
//! Where a start tag may still have xsi:type, xsi:type="xsd:anyType" puts a schema-informed grammar
//! in the place of the built-in one (section 3.2); elsewhere productions are learned but not used.

use super::body::Body;
use super::start_tag::{WaitingType, XSI_URI};
use crate::fault::Result;
use crate::machine::{At, Learned};
use crate::options::Profile;
use crate::stored::Span;

const XSD_URI: &str = "http://www.w3.org/2001/XMLSchema";
const ANY_TYPE: &str = "anyType";

/// What counts towards the bounds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Grown {
    /// Built-in grammars that learned something besides AT(xsi:type).
    grammars: u32,
    productions: u32,
}

impl Body {
    /// Called before a built-in grammar would learn. Says whether another grammar took its place.
    pub(super) fn limit_learning(&mut self, grammar: u32, start: bool) -> Result<bool> {
        let Some(profile) = self.options.profile else {
            return Ok(false);
        };
        // [PROFILE-3.2-1]
        if self.machine.schema.is_none() || !self.is_full(&profile, grammar) {
            return Ok(false);
        }
        if start && self.start.fresh && self.can_name_any_type() {
            self.any_type()?;
            let informed = matches!(self.current()?.at, At::Informed(_));
            return Ok(informed);
        }
        let rules = self.machine.built_in_mut(grammar);
        let productions = if start {
            &mut rules.start
        } else {
            &mut rules.content
        };
        productions.stop();
        Ok(false)
    }

    fn is_full(&self, profile: &Profile, grammar: u32) -> bool {
        let reached = |max: Option<u32>, count| max.is_some_and(|max| count >= max);
        let evolved = self
            .machine
            .built_in(grammar)
            .has_evolved(self.machine.names.xsi_type);
        reached(profile.built_in_productions_max, self.grown.productions)
            || (!evolved && reached(profile.built_in_element_grammars_max, self.grown.grammars))
    }

    /// Counts what is about to be learned.
    pub(super) fn count_grown(&mut self, grammar: u32, production: Learned) {
        let xsi_type = self.machine.names.xsi_type;
        if production == Learned::Attribute(xsi_type) {
            return;
        }
        // [PROFILE-3.1-3]
        self.grown.productions += 1;
        if !self.machine.built_in(grammar).has_evolved(xsi_type) {
            self.grown.grammars += 1;
        }
    }

    /// Where the lexical form is kept, a decoder resolves the name by the declarations alone.
    fn can_name_any_type(&self) -> bool {
        let preserve = self.options.preserve;
        let declared = || preserve.prefixes && self.start.prefix_of(XSD_URI).is_some();
        !preserve.lexical_values || declared()
    }

    /// xsi:type="xsd:anyType", with the prefix that the declarations in scope have for it.
    fn any_type(&mut self) -> Result<()> {
        self.start.fresh = false;
        let prefix = self.start.prefix_of(XSD_URI).unwrap_or("xsd");
        let xsi = self.start.prefix_of(XSI_URI).unwrap_or("xsi");
        let text = alloc::format!("{xsi}{XSD_URI}{ANY_TYPE}{prefix}");
        let mut at = 0;
        let mut next = |len: usize| {
            let span = Span {
                at,
                len: len as u32,
            };
            at += len as u32;
            span
        };
        // [PROFILE-3.1-1]
        let waiting = WaitingType {
            attribute_prefix: Some(next(xsi.len())),
            uri: Some(next(XSD_URI.len())),
            local: next(ANY_TYPE.len()),
            prefix: Some(next(prefix.len())),
        };
        self.xsi_type(&waiting, &text)
    }
}
