//! JSON in which no object has a member twice (RFC 7515 section 4, RFC 7517 section 4, RFC 7519 section 4).
//!
//! Whoever signs and whoever checks may each take another of the two, so what says two things is refused.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use std::fmt;

/// Reads a text that is one object.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Json>, String> {
    let read: Unique = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    match read.0 {
        Json::Object(members) => Ok(members),
        _ => Err("not a JSON object".into()),
    }
}

/// A value whose objects have each member once.
struct Unique(Json);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
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
        while let Some((name, Unique(value))) = access.next_entry::<String, Unique>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("member `{name}` comes twice")));
            }
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
    fn a_member_comes_once_in_every_object() {
        let text = r#"{"a":[1,-2,0.5,"x",true,null,{"a":{}}],"b":{"a":1}}"#;
        let read = object(text.as_bytes()).unwrap();
        assert_eq!(Json::Object(read).to_string(), text);
        for twice in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":2,"\u0061":3}"#,
            r#"{"b":{"a":1,"a":2}}"#,
            r#"{"b":[{"a":1,"a":2}]}"#,
        ] {
            let refused = object(twice.as_bytes()).unwrap_err();
            assert!(refused.contains("member `a` comes twice"), "{refused}");
        }
    }

    #[test]
    fn what_is_no_object_or_goes_on_is_refused() {
        let deep = "[".repeat(100_000);
        for wrong in ["", "7", "[]", "null", "{} {}", "{}x", "\u{feff}{}", &deep] {
            assert!(object(wrong.as_bytes()).is_err());
        }
        assert!(object(b"{\"a\":\"\xff\"}").is_err());
    }
}
