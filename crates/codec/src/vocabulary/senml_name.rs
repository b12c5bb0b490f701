//! Topics as names of SenML, which have letters, digits and `-:./_` only and begin with a letter or a digit
//! (RFC 8428 section 4.5.1).
//!
//! Any other character is `_x`, its code point in hexadecimal digits, `_`, as ISO/IEC 9075-14 has it; and so is
//! the `_` of a topic that would be read as the beginning of such a one. So every topic has a name of its own, and
//! a name that others gave stays what it is unless it looks like that.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

/// The name of a topic.
pub(crate) fn of_topic(topic: &str) -> Cow<'_, str> {
    let first = topic.as_bytes().first();
    let begins = first.is_none_or(u8::is_ascii_alphanumeric);
    if begins && topic.bytes().all(is_of_names) && !topic.contains("_x") {
        return Cow::Borrowed(topic);
    }
    let mut name = String::with_capacity(topic.len() + 16);
    for (at, character) in topic.char_indices() {
        let looks_escaped = character == '_' && escape(&topic[at..], at == 0).is_some();
        if looks_escaped || is_escaped(character, at == 0) {
            name += &format!("_x{:02X}_", u32::from(character))
        } else {
            name.push(character)
        }
    }
    Cow::Owned(name)
}

/// The topic of a name, or of what a name begins or ends with.
pub(crate) fn to_topic(name: &str) -> Cow<'_, str> {
    if !name.contains("_x") {
        return Cow::Borrowed(name);
    }
    let mut topic = String::with_capacity(name.len());
    let mut at = 0;
    while let Some(next) = name[at..].chars().next() {
        let (character, len) = escape(&name[at..], at == 0).unwrap_or((next, next.len_utf8()));
        topic.push(character);
        at += len;
    }
    Cow::Owned(topic)
}

const fn is_of_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'.' | b'/' | b'_')
}

/// Whether a character of a topic does not stand in a name as it is.
fn is_escaped(character: char, first: bool) -> bool {
    if first {
        !character.is_ascii_alphanumeric()
    } else {
        !u8::try_from(character).is_ok_and(is_of_names)
    }
}

/// The character whose escape a text begins with, and the escape's length.
fn escape(text: &str, first: bool) -> Option<(char, usize)> {
    let (digits, _) = text.strip_prefix("_x")?.split_once('_')?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    // Only as it is written here, so that nothing else is taken for one.
    let is_ours = digits == format!("{:02X}", u32::from(character));
    let is_needed = character == '_' || is_escaped(character, first);
    (is_ours && is_needed).then_some((character, digits.len() + 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn topics_have_names_that_are_allowed() {
        for (topic, name) in [
            ("heating/supply-1/temp.raw", "heating/supply-1/temp.raw"),
            (
                "urn:dev:mac:0024befffe804ff1",
                "urn:dev:mac:0024befffe804ff1",
            ),
            ("living room/temp", "living_x20_room/temp"),
            ("a+b", "a_x2B_b"),
            ("/a", "_x2F_a"),
            ("a//b/", "a//b/"),
            ("stra\u{df}e", "stra_xDF_e"),
            ("\u{1f600}", "_x1F600_"),
            ("a_x20_b", "a_x5F_x20_b"),
            ("max_x", "max_x"),
            ("a_xyz_b", "a_xyz_b"),
            ("_a", "_x5F_a"),
            ("", ""),
        ] {
            assert_eq!(of_topic(topic), name);
            assert_eq!(to_topic(name), topic);
        }
    }

    #[test]
    fn names_that_others_gave_stay() {
        for name in [
            "a_x41_b",
            "a_x2b_b",
            "a_x002B_b",
            "a_x2F_b",
            "_x_",
            "a_x",
            "a_x20",
        ] {
            assert_eq!(to_topic(name), name);
        }
    }

    proptest! {
        #[test]
        fn every_topic_comes_back(topic in "([a-z_x0-9/ +\u{e4}]|_x2[0BF]_|_x5F_){0,12}") {
            let name = of_topic(&topic);
            prop_assert_eq!(to_topic(&name), topic.as_str());
            let allowed = name.bytes().all(is_of_names);
            prop_assert!(allowed, "{}", name);
        }
    }
}
