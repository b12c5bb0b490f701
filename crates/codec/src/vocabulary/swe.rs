//! SWE Common's blocks of values (OGC 08-094r1 sections 8.5 and 9.1; 07-000 section 9 for 1.0.1):
//! records of tokens, apart from the description of what the tokens are.
//!
//! O&M carries such blocks in a `swe:DataArray` ([`array`]), the format `swe-text` bare. Fields that
//! are weir's own bear the names of the message's members and a definition in [`URN`].
//!
//! SWE has no way to write a separator within a token. So a token that needs one is written as a JSON
//! string whose separators are escaped, and a JSON document as such a string behind a `=`; whoever
//! splits the block at its separators gets the right tokens.

pub(crate) mod array;
pub(crate) mod block_read;
pub(crate) mod block_write;
mod opening;
pub(crate) mod record;
pub(crate) mod rule;
mod token;

use crate::stack_text::StackText;

/// Begins the definitions that are weir's own, before the name of a member.
pub(crate) const URN: &str = "urn:weir:";

/// What a token of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Time,
    /// Begin and end in one token (`swe:TimeRange`), with a solidus between them; read only.
    Period,
    End,
    ResultTime,
    ValidFrom,
    ValidTo,
    Value(Kind),
    Quality,
    Feature,
    Parameters,
    Lat,
    Lon,
    Topic,
    Sensor,
    Type,
    Unit,
    /// Which of several descriptions the record follows, as the item's name in a `swe:DataChoice`.
    Stream,
    Skip,
}

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As it reads: `swe-text`, and columns of results of several kinds.
    Any,
    /// `swe:Quantity` and `swe:Count`.
    Number,
    /// `swe:Boolean`.
    Bool,
    /// `swe:Text` and `swe:Category`.
    Text,
}

impl Kind {
    /// The kind of a component by the name of its element; `None` where it is no simple result.
    pub(crate) fn of_component(name: &str) -> Option<Self> {
        Some(match name {
            "Quantity" | "Count" => Kind::Number,
            "Boolean" => Kind::Bool,
            "Text" | "Category" => Kind::Text,
            _ => return None,
        })
    }
}

macro_rules! roles {
    ($($name:literal $role:expr,)*) => {
        /// Names of weir's own fields and what they say.
        const ROLES: &[(&str, Role)] = &[$(($name, $role)),*];
        /// Their definitions.
        const DEFINITIONS: &[&str] = &[$(concat!("urn:weir:", $name)),*];
    };
}

roles! {
    "time" Role::Time,
    "value" Role::Value(Kind::Any),
    "end" Role::End,
    "resultTime" Role::ResultTime,
    "validFrom" Role::ValidFrom,
    "validTo" Role::ValidTo,
    "quality" Role::Quality,
    "feature" Role::Feature,
    "parameters" Role::Parameters,
    "lat" Role::Lat,
    "lon" Role::Lon,
    "topic" Role::Topic,
    "sensor" Role::Sensor,
    "type" Role::Type,
    "unit" Role::Unit,
    "stream" Role::Stream,
}

impl Role {
    /// The role of weir's field of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = ROLES.iter().find(|(own, _)| *own == name);
        found.map(|(_, role)| *role)
    }

    /// The name of weir's field of this role.
    pub(crate) fn name(self) -> &'static str {
        let same = |role: &Role| core::mem::discriminant(role) == core::mem::discriminant(&self);
        let found = ROLES.iter().find(|(_, role)| same(role));
        found.map_or("", |(name, _)| name)
    }

    /// The definition of weir's field of this role.
    pub(crate) fn definition(self) -> &'static str {
        let index = ROLES.iter().position(|(name, _)| *name == self.name());
        index.map_or("", |index| DEFINITIONS[index])
    }
}

/// Longest separator that is read; 1.0.1 allows three characters.
pub(crate) const SEPARATOR_BYTES_MAX: usize = 16;

/// What stands between tokens and between records (`swe:TextEncoding`, `swe:TextBlock`).
pub(crate) struct Separators {
    pub(crate) token: StackText<SEPARATOR_BYTES_MAX>,
    pub(crate) block: StackText<SEPARATOR_BYTES_MAX>,
    pub(crate) decimal: u8,
}

impl Separators {
    pub(crate) fn new(token: &str, block: &str) -> Self {
        let mut separators = Self {
            token: StackText::default(),
            block: StackText::default(),
            decimal: b'.',
        };
        // Both are constants of one byte.
        let _fits = separators.token.push(token);
        let _fits = separators.block.push(block);
        separators
    }
}

/// Says whether a unit may stand where a symbol must (`UomSymbol` of GML 3.2.1 and SWE Common).
pub(crate) fn is_symbol(unit: &str) -> bool {
    !unit.is_empty() && !unit.contains([':', ' ', '\n', '\r', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_the_name_it_is_found_by() {
        for (name, role) in ROLES {
            assert_eq!((role.name(), Role::named(name)), (*name, Some(*role)));
            assert_eq!(role.definition().strip_prefix(URN), Some(*name));
        }
        assert_eq!(Role::named("depth"), None);
    }
}
