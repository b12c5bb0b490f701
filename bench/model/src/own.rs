//! A person's own message: its text, into which the time that it is due is written as a value.
//!
//! The number behind the first `"value":` becomes the stamp, as wide in every message; everything else
//! stays. What it deliberately does not do: know the format. What has no such number cannot be timed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::OWN_MESSAGE_BYTES_MAX;

/// The least stamp.
pub const STAMP_BASE: u64 = 1_000_000_000_000;
/// What stands before a stamp or any other numeric value, once an observation.
pub const MARKER: &[u8] = b"\"value\":";

/// A message. It lives as long as the process: a plan has one, and a load process one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// As `Content-Type` says it.
    pub media_type: &'static str,
    /// With the stamp's place filled by the least stamp.
    pub text: &'static str,
}

impl Own {
    /// Of a text as a person wrote it.
    pub fn new(text: &str, media_type: &str) -> Result<Self, String> {
        if text.len() > OWN_MESSAGE_BYTES_MAX {
            return Err(format!("over {OWN_MESSAGE_BYTES_MAX} bytes"));
        }
        let marker = String::from_utf8_lossy(MARKER).into_owned();
        let missing = || format!("no number behind {marker} to write the time into");
        let at = text.find(&marker).ok_or_else(missing)? + marker.len();
        let (before, after) = text.split_at(at);
        let number = after.trim_start();
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.eE".contains(c));
        if rest.len() == number.len() {
            return Err(missing());
        }
        let stamped = format!("{before}{STAMP_BASE}{rest}");
        Ok(Self::kept(stamped, media_type.into()))
    }

    /// Of a text that is sent as it stands, with no stamp in it.
    pub fn as_it_is(text: String, media_type: &str) -> Self {
        Self::kept(text, media_type.into())
    }

    fn kept(text: String, media_type: String) -> Self {
        Self {
            media_type: media_type.leak(),
            text: text.leak(),
        }
    }

    /// Values in it, each of an observation.
    pub fn observations(self) -> usize {
        memchr::memmem::find_iter(self.text.as_bytes(), MARKER).count()
    }
}

/// Travels to the load process as its two texts.
impl Serialize for Own {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.text, self.media_type).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Own {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, media_type) = <(String, String)>::deserialize(deserializer)?;
        Ok(Self::kept(text, media_type))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_value_becomes_the_stamp_and_the_rest_stays() {
        let own = Own::new(r#"[{"value": -21.5e0,"n":1},{"value":7}]"#, "a/b").unwrap();
        let expected = r#"[{"value":1000000000000,"n":1},{"value":7}]"#;
        assert_eq!((own.text, own.observations()), (expected, 2));
        let again: Own = serde_json::from_str(&serde_json::to_string(&own).unwrap()).unwrap();
        assert_eq!(again, own);
    }

    #[test]
    fn a_message_without_a_number_to_replace_is_refused() {
        for text in [r#"{"v":1}"#, r#"{"value":"warm"}"#, r#"{"value":}"#] {
            assert!(Own::new(text, "a/b").is_err(), "{text}");
        }
        let long = "x".repeat(OWN_MESSAGE_BYTES_MAX + 1);
        assert!(Own::new(&long, "a/b").unwrap_err().starts_with("over"));
    }
}
