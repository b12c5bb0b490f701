//! Identifiers: `@iot.id` in JSON, what stands between the brackets of a URL, and the end of a key.
//!
//! What the service names itself has a number; what other protocols brought has its own name (a topic, a
//! URI) as text. An observation has no record of its own to name, so its identifier is its place in the
//! history: the number of its datastream and its time, in digits where it fits into 63 bits, so that
//! clients that take identifiers for integers work.

use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;
use weir_model::{Time, percent};

/// The identifier of an entity among those of its type; numbers come before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Id {
    Number(u64),
    Text(Arc<str>),
}

/// Greatest whole number that every JSON reader keeps (RFC 7493 section 2.2).
pub(crate) const INTEGER_MAX: u64 = (1 << 53) - 1;
/// What a key keeps as it is.
const KEPT: &[u8] = b":.-_~";

impl Id {
    /// As the number of a datastream; the greatest where it is none.
    pub(crate) fn as_u32(&self) -> u32 {
        match self {
            Id::Number(number) => u32::try_from(*number).unwrap_or(u32::MAX),
            Id::Text(_) => u32::MAX,
        }
    }

    /// As text: digits are a number.
    pub(crate) fn of_text(text: &str) -> Self {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let canonical = is_number && (text == "0" || !text.starts_with('0'));
        match text.parse() {
            Ok(number) if canonical && number <= INTEGER_MAX => Id::Number(number),
            _ => Id::Text(text.into()),
        }
    }

    /// A number that is drawn from all those that every JSON reader keeps.
    pub(crate) fn drawn() -> Self {
        Id::Number(weir_random::number() & INTEGER_MAX)
    }

    /// As JSON gives it.
    pub(crate) fn of_json(json: &Json) -> Option<Self> {
        match json {
            Json::Number(number) => Some(Id::of_text(&number.to_string())),
            Json::String(text) if !text.is_empty() => Some(Id::of_text(text)),
            _ => None,
        }
    }

    /// As JSON is given it.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Id::Number(number) => (*number).into(),
            Id::Text(text) => (**text).into(),
        }
    }

    /// As a URL has it between brackets (OData 4.01 URL conventions section 4.3.1).
    pub(crate) fn in_url(&self) -> String {
        let mut url = String::new();
        self.write_in_url(&mut url);
        url
    }

    /// Writes the same.
    pub(crate) fn write_in_url(&self, url: &mut String) {
        match self {
            Id::Number(number) => {
                use fmt::Write;
                // Writing into memory does not fail.
                let _never = write!(url, "{number}");
            }
            Id::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => url.push_str(text),
            Id::Text(text) => {
                let encoded = percent::encode(&text.replace('\'', "''"), KEPT);
                ["'", &encoded, "'"]
                    .iter()
                    .for_each(|part| url.push_str(part));
            }
        }
    }

    /// As the last level of an entity's key.
    pub(crate) fn in_key(&self) -> String {
        percent::encode(&self.to_string(), KEPT)
    }

    /// As it stands in a key.
    pub(crate) fn of_key(text: &str) -> Option<Self> {
        percent::decode(text).ok().map(|text| Id::of_text(&text))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => number.fmt(f),
            Id::Text(text) => f.write_str(text),
        }
    }
}

/// Where an observation stands: the number of its datastream, its time, and how many of both came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) datastream: u32,
    pub(crate) time: Time,
    pub(crate) ordinal: u32,
}

/// Bits of a datastream's number in an identifier of digits.
const NUMBER_BITS: u32 = 20;
/// Milliseconds that fit above them into 63 bits: to the year 2248.
const MILLIS_END: i64 = 1 << 43;
const MILLI: i64 = 1_000_000;

impl At {
    /// The identifier: digits for the first observation of a whole millisecond since 1970.
    pub(crate) fn id(self) -> String {
        let (number, nanos) = (self.datastream, self.time.nanos());
        let millis = nanos.div_euclid(MILLI);
        let fits = nanos % MILLI == 0
            && (1 << 20..MILLIS_END).contains(&millis)
            && number < 1 << NUMBER_BITS
            && self.ordinal == 0;
        match (fits, self.ordinal) {
            (true, _) => ((millis as u64) << NUMBER_BITS | u64::from(number)).to_string(),
            (false, 0) => format!("{number}@{nanos}"),
            (false, ordinal) => format!("{number}@{nanos};{ordinal}"),
        }
    }

    /// Reads what [`At::id`] writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some((number, place)) = text.split_once('@') {
            let (nanos, ordinal) = place.split_once(';').unwrap_or((place, "0"));
            return Some(Self {
                datastream: number.parse().ok()?,
                time: Time::from_nanos(nanos.parse().ok()?),
                ordinal: ordinal.parse().ok()?,
            });
        }
        let bits: u64 = text.parse().ok()?;
        let millis = i64::try_from(bits >> NUMBER_BITS).ok()?;
        Some(Self {
            datastream: (bits & ((1 << NUMBER_BITS) - 1)) as u32,
            time: Time::from_nanos(millis.checked_mul(MILLI)?),
            ordinal: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_observations_identifier_leads_back_to_its_place() {
        let milli = 1_763_781_234_567 * MILLI;
        for (nanos, ordinal, digits) in [
            (milli, 0, true),
            (milli + 1, 0, false),
            (milli, 2, false),
            (-5, 0, false),
            (0, 0, false),
        ] {
            let at = At {
                datastream: 17,
                time: Time::from_nanos(nanos),
                ordinal,
            };
            let id = at.id();
            assert_eq!(At::parse(&id), Some(at), "{id}");
            assert_eq!(id.parse::<i64>().is_ok(), digits, "{id}");
        }
        for bad in ["", "x", "1@", "@1", "1@2;x", "99999999999999999999"] {
            assert_eq!(At::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn digits_are_a_number_and_all_else_is_text() {
        assert_eq!(Id::of_text("7"), Id::Number(7));
        assert!(matches!(Id::of_text("07"), Id::Text(_)));
        let urn = Id::of_text("http://a/b#c'd+e");
        assert_eq!(Id::of_key(&urn.in_key()), Some(urn.clone()));
        assert!(!urn.in_key().contains(['/', '#', '+']));
        assert!(urn.in_url().starts_with("'http:%2F%2Fa"));
    }
}
