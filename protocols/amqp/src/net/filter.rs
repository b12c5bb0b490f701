//! What a receiver's source asks for: its address, and the filters of section 3.5.8.
//!
//! Filters that are not known are not in the source that the attach is answered with, by which the
//! client knows; what is known and makes no sense is refused.

use crate::wire::{Condition, Error, Map, Source, Value};
use std::fmt::Display;
use std::str::FromStr;
use weir_codec::{Format, by_name};
use weir_hub::{Aggregate, Condition as Where, InUnit, Policy, Since};
use weir_model::{Cursor, Filter};

/// What is asked for.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) filter: Filter,
    /// The format that messages are to be in, where not as published.
    pub(super) format: Option<&'static Format>,
    pub(super) condition: Option<Where>,
    pub(super) aggregate: Option<Aggregate>,
    pub(super) unit: InUnit,
    pub(super) since: Since,
    pub(super) policy: Policy,
    /// The filters that are in effect, for the answer.
    pub(super) in_effect: Map,
}

/// The numeric descriptor of a selector (Apache's registry of filters).
const SELECTOR: u64 = 0x0000_468C_0000_0004;

impl Wanted {
    /// Reads a source.
    pub(super) fn read(source: &Source) -> Result<Self, Error> {
        let address = source.address.as_deref().unwrap_or_default();
        let (format, text) = split_format(address)?;
        let filter = Filter::parse(text).map_err(|error| {
            let sentence = format!("`{address}` is no topic and no filter: {error}");
            Error::new(Condition::INVALID_FIELD, sentence)
        })?;
        let mut wanted = Self {
            filter,
            format,
            condition: None,
            aggregate: None,
            unit: InUnit::AsMade,
            since: Since::Now,
            policy: Policy::DropOldest,
            in_effect: Map::default(),
        };
        for (key, value) in &source.filter.0 {
            // [AMQP-3.5.8-1] [AMQP-3.5.8-2]
            if wanted.take(name_of(key, value), value.plain())? {
                wanted.in_effect.0.push((key.clone(), value.clone()));
            }
        }
        Ok(wanted)
    }

    /// Takes one filter; says whether it is known.
    fn take(&mut self, name: &str, value: &Value) -> Result<bool, Error> {
        let Some(text) = value.as_str() else {
            return if name.starts_with("weir:") {
                Err(bad(name, "its value is no text"))
            } else {
                Ok(false)
            };
        };
        match name {
            "weir:where" => self.condition = Some(parsed(name, text)?),
            "weir:format" => {
                let found = by_name(text);
                let format = found.ok_or_else(|| bad(name, "no such format: see GET /formats"))?;
                self.format = Some(format);
            }
            "weir:since" if text == "latest" => self.since = Since::Snapshot,
            "weir:since" => self.since = Since::Cursor(parsed::<Cursor>(name, text)?),
            "weir:agg" => self.aggregate = Some(parsed(name, text)?),
            "weir:unit" if text.is_empty() => self.unit = InUnit::Own,
            "weir:unit" => self.unit = InUnit::Named(text.into()),
            "weir:policy" => {
                let mut all = Policy::ALL.iter();
                let found = all.find(|(known, _)| *known == text);
                let (_, policy) = found.ok_or_else(|| bad(name, "no such policy"))?;
                self.policy = *policy;
            }
            "apache.org:selector-filter:string" => match where_of(text) {
                Some(condition) => self.condition = Some(condition),
                None => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether messages come as they were published.
    pub(super) fn is_raw(&self) -> bool {
        self.format.is_none()
            && self.condition.is_none()
            && self.aggregate.is_none()
            && self.unit == InUnit::AsMade
    }
}

/// What a filter is: its descriptor says it, or, where there is none, its key.
fn name_of<'a>(key: &'a Value, value: &'a Value) -> &'a str {
    let described = match value {
        Value::Described(both) => match &both.0 {
            Value::Ulong(SELECTOR) => Some("apache.org:selector-filter:string"),
            descriptor => descriptor.as_str(),
        },
        _ => None,
    };
    described.or(key.as_str()).unwrap_or_default()
}

/// A selector that says no more than a condition can: comparisons of `value`, all of which must hold.
fn where_of(selector: &str) -> Option<Where> {
    let text = selector.replace("<>", "!=");
    let words = text.split_whitespace().map(|word| {
        let is_and = word.eq_ignore_ascii_case("and");
        if is_and { "and" } else { word }
    });
    let text: Vec<&str> = words.collect();
    text.join(" ").parse().ok()
}

fn parsed<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, Error> {
    let read = text.parse::<T>();
    read.map_err(|error| bad(name, &error.to_string()))
}

fn bad(name: &str, problem: &str) -> Error {
    Error::new(
        Condition::INVALID_FIELD,
        format!("filter {name}: {problem}"),
    )
}

/// The format and the rest of `$as/ENC/...`.
pub(super) fn split_format(text: &str) -> Result<(Option<&'static Format>, &str), Error> {
    let parts = text
        .strip_prefix("$as/")
        .and_then(|rest| rest.split_once('/'));
    let Some((name, rest)) = parts else {
        return Ok((None, text));
    };
    let sentence = || format!("`{name}` is no format: see GET /formats");
    match by_name(name) {
        Some(format) => Ok((Some(format), rest)),
        None => Err(Error::new(Condition::NOT_FOUND, sentence())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::Symbol;

    fn source(address: &str, filters: &[(&'static str, &str)]) -> Source {
        let mut source = Source {
            address: Some(address.into()),
            ..Source::default()
        };
        for (name, value) in filters {
            let described = (Value::Symbol(Symbol::new(name)), Value::from(*value));
            source
                .filter
                .push("any", Value::Described(Box::new(described)));
        }
        source
    }

    #[test]
    fn a_source_is_read_with_its_filters() {
        let filters = [
            ("weir:where", "value>3"),
            ("weir:format", "cbor"),
            ("com.example:other", "?"),
        ];
        let wanted = Wanted::read(&source("a/+/b", &filters)).unwrap();
        assert_eq!(wanted.filter.as_str(), "a/+/b");
        assert_eq!(wanted.format.map(|format| format.name), Some("cbor"));
        assert!(wanted.condition.is_some());
        // Section 3.5.8: the one that is not known is not in effect.
        assert_eq!(wanted.in_effect.0.len(), 2);
    }

    #[test]
    fn a_unit_is_asked_for_by_its_code_or_as_that_of_each() {
        for (said, unit) in [("cm", InUnit::Named("cm".into())), ("", InUnit::Own)] {
            let wanted = Wanted::read(&source("a", &[("weir:unit", said)])).unwrap();
            assert_eq!((wanted.unit.clone(), wanted.is_raw()), (unit, false));
            assert_eq!(wanted.in_effect.0.len(), 1);
        }
        assert!(Wanted::read(&source("a", &[])).unwrap().is_raw());
    }

    #[test]
    fn a_selector_over_the_value_is_a_condition_others_are_not() {
        let name = "apache.org:selector-filter:string";
        let wanted = Wanted::read(&source("a", &[(name, "value > 3 AND value <> 5")])).unwrap();
        assert!(wanted.condition.is_some());
        let other = Wanted::read(&source("a", &[(name, "colour = 'green'")])).unwrap();
        assert!(other.condition.is_none() && other.in_effect.is_empty());
    }

    #[test]
    fn what_is_known_and_makes_no_sense_is_refused() {
        for filter in [
            ("weir:where", "temperature"),
            ("weir:format", "none"),
            ("weir:since", "?"),
            ("weir:policy", "none"),
        ] {
            assert!(Wanted::read(&source("a", &[filter])).is_err(), "{filter:?}");
        }
        for address in ["", "a/#/b", "$as/none/a"] {
            assert!(Wanted::read(&source(address, &[])).is_err(), "{address}");
        }
    }
}
