//! JSON in which no object has a name twice (RFC 8259 section 4, RFC 7493 section 2.3, RFC 7515 section 4).
//!
//! Whoever writes and whoever reads may each take another of the two, so what says two things is refused while it is
//! read.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value as Json};
use std::fmt;
use weir_codec::stands_twice;

/// Why a text cannot be read, and which byte of it is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Offset of that byte.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.what, self.at)
    }
}

impl Unread {
    fn of(text: &[u8], error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let said = error.to_string();
        let place = format!(" at line {line} column {column}");
        let sentence = said.strip_suffix(&place).unwrap_or(&said);
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
        let at = before + column.saturating_sub(1);
        match error.classify() {
            // The name was read, and its value follows.
            Category::Data => Self {
                at: at + named(&text[at.min(text.len())..]),
                what: match sentence.strip_prefix("duplicate field ") {
                    Some(name) => stands_twice(name.trim_matches('`')),
                    None => sentence.into(),
                },
            },
            _ => Self {
                at,
                what: format!("not JSON: {sentence}"),
            },
        }
    }
}

/// How many bytes stand between the end of a name and its value.
fn named(rest: &[u8]) -> usize {
    let colon = rest.strip_prefix(b"\"").unwrap_or(rest).trim_ascii_start();
    let value = colon.strip_prefix(b":").unwrap_or(colon).trim_ascii_start();
    rest.len() - value.len()
}

/// Reads a text of any kind.
pub fn read(text: &[u8]) -> Result<Json, Unread> {
    read_as(text).map(|Unique(json)| json)
}

/// Reads a text of one kind, whose own names are checked; [`Unique`] checks those of what it leaves open.
pub fn read_as<'de, T: Deserialize<'de>>(text: &'de [u8]) -> Result<T, Unread> {
    serde_json::from_slice(text).map_err(|error| Unread::of(text, &error))
}

/// Reads a text that is one object.
pub fn read_object(text: &[u8]) -> Result<Map<String, Json>, Unread> {
    match read(text)? {
        Json::Object(members) => Ok(members),
        _ => Err(Unread {
            at: 0,
            what: "not a JSON object".into(),
        }),
    }
}

/// A value whose objects have each name once.
pub struct Unique(pub Json);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

/// The same where an object must stand, or nothing.
pub(crate) fn members<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Map<String, Json>>, D::Error> {
    match Unique::deserialize(from)?.0 {
        Json::Object(members) => Ok(Some(members)),
        Json::Null => Ok(None),
        _ => Err(D::Error::custom("an object was expected")),
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = access.next_element()? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(stands_twice(&name)));
            }
            let Unique(value) = access.next_value()?;
            members.insert(name, value);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_stands_once_in_every_object() {
        let text = r#"{"a":[1,-2,0.5,"x",true,null,{"a":{}}],"b":{"a":1}}"#;
        let object = read_object(text.as_bytes()).unwrap();
        assert_eq!(Json::Object(object).to_string(), text);
        for (twice, at) in [
            (r#"{"a":1,"a":2}"#, 11),
            (r#"{"a":1, "\u0061" : 2}"#, 19),
            (r#"[1,{"b":[{"c":1,"a":1,"a":{}}],"b":1}]"#, 26),
            ("{\"a\":1,\n\"b\":\n {\"a\":1,\"a\"\n:\n2}}", 27),
        ] {
            let refused = read(twice.as_bytes()).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("`a` stands there twice at byte {at}"),
                "{twice}"
            );
        }
    }

    #[test]
    fn what_is_no_json_says_at_which_byte() {
        for (wrong, at) in [
            (r#"{"name": "x", "description": }"#, 29),
            ("{\n\"name\": nope}", 11),
        ] {
            let refused = read(wrong.as_bytes()).unwrap_err();
            assert!(refused.what.starts_with("not JSON: "), "{refused}");
            assert_eq!(refused.at, at, "{refused}");
        }
    }

    #[test]
    fn what_is_no_object_or_goes_on_is_refused() {
        let deep = "[".repeat(100_000);
        for wrong in ["", "7", "[]", "null", "{} {}", "{}x", "\u{feff}{}", &deep] {
            assert!(read_object(wrong.as_bytes()).is_err());
        }
        assert!(read_object(b"{\"a\":\"\xff\"}").is_err());
    }
}
