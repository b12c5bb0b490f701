//! Topics: the path that names a datastream.

use crate::limits::{TOPIC_BYTES_MAX, TOPIC_LEVELS_MAX};
use crate::percent;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

/// A topic name of MQTT 5.0 section 4.7: levels joined by `/`, no wildcard, no NUL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(Box<str>);

/// Why a text is no topic or no topic filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicError {
    /// It has no characters.
    Empty,
    /// It is longer than [`TOPIC_BYTES_MAX`] bytes.
    TooLong,
    /// It has more than [`TOPIC_LEVELS_MAX`] levels.
    TooDeep,
    /// It holds U+0000 or another control character at this byte.
    Control(usize),
    /// It holds `+` or `#` where none may stand, at this byte.
    Wildcard(usize),
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopicError::Empty => f.write_str("a topic needs at least one character"),
            TopicError::TooLong => write!(f, "longer than {TOPIC_BYTES_MAX} bytes"),
            TopicError::TooDeep => write!(f, "more than {TOPIC_LEVELS_MAX} levels"),
            TopicError::Control(at) => write!(f, "control character at byte {at}"),
            TopicError::Wildcard(at) => write!(f, "`+` or `#` not allowed at byte {at}"),
        }
    }
}

impl core::error::Error for TopicError {}

impl Topic {
    /// Reads a topic name.
    pub fn parse(text: &str) -> Result<Self, TopicError> {
        check(text)?;
        Ok(Self(text.into()))
    }

    /// The topic as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Topic {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says whether a text is a topic name, without keeping it.
pub fn check(text: &str) -> Result<(), TopicError> {
    if is_short_and_plain(text) {
        return Ok(());
    }
    check_shape(text)?;
    match text.bytes().position(|byte| byte == b'+' || byte == b'#') {
        Some(at) => Err(TopicError::Wildcard(at)),
        None => Ok(()),
    }
}

/// Says of most names in one pass that nothing is wrong with them.
fn is_short_and_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_odd = |byte: &u8| matches!(byte, 0..0x20 | 0x7f | b'+' | b'#');
    !bytes.is_empty() && bytes.len() < TOPIC_LEVELS_MAX && !bytes.iter().any(is_odd)
}

/// What topic names and topic filters have in common.
pub(crate) fn check_shape(text: &str) -> Result<(), TopicError> {
    if text.is_empty() {
        return Err(TopicError::Empty);
    }
    if text.len() > TOPIC_BYTES_MAX {
        return Err(TopicError::TooLong);
    }
    if text.bytes().filter(|&byte| byte == b'/').count() >= TOPIC_LEVELS_MAX {
        return Err(TopicError::TooDeep);
    }
    match text.bytes().position(|byte| byte < 0x20 || byte == 0x7f) {
        Some(at) => Err(TopicError::Control(at)),
        None => Ok(()),
    }
}

/// A name with what can stand in no topic percent-encoded (RFC 3986 section 2.1), and `%` with it, so that it decodes
/// to the same name.
pub fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        match character {
            '+' | '#' | '%' | '\0'..'\x20' | '\x7f' => {
                out.push_str(&percent::encode(character.encode_utf8(&mut [0; 4]), b""));
            }
            _ => out.push(character),
        }
    }
    out
}

/// The Thing that a datastream's topic implies, which is the topic but its last level, and the property of
/// it that is observed, which is that level. One level is both.
pub fn thing_and_property(topic: &str) -> (&str, &str) {
    topic.rsplit_once('/').unwrap_or((topic, topic))
}

/// Says whether `topic` is `root` or lies below it.
pub fn lies_under(topic: &str, root: &str) -> bool {
    match topic.strip_prefix(root) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_is_named_with_its_byte() {
        assert_eq!(check("a/+/b"), Err(TopicError::Wildcard(2)));
        assert_eq!(check("a\u{0}b"), Err(TopicError::Control(1)));
        assert_eq!(check(""), Err(TopicError::Empty));
        assert_eq!(check("heating/substation-3/supply/temperature"), Ok(()));
    }

    #[test]
    fn a_sibling_with_the_same_beginning_lies_not_under() {
        assert!(lies_under("a/b", "a"));
        assert!(lies_under("a", "a"));
        assert!(!lies_under("ab", "a"));
    }
}
