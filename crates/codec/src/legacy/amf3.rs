//! AMF 3 read and written (Adobe: Action Message Format, AMF 3, specification of January 2013).
//!
//! Written are dynamic objects without a class, as BlazeDS and LiveCycle send Java's maps: a client
//! needs no class registered for them, members may be left out, and with the reference tables a
//! second object costs one byte for its traits and one for each name that was written before. The
//! decision against a sealed class: it saves that byte a member, and fails in every client that has
//! another version of the class. A map with an empty name, which ends a dynamic object, makes its
//! tree one of dictionaries. Instants are dates where whole milliseconds hold them, and else text.
//!
//! Read are all types: sealed and dynamic objects of any class, the collections of Flex, which wrap
//! an array or an object, references of every kind, vectors, dictionaries, byte arrays, XML as text.
//! What it deliberately does not do: the envelope of AMF 0 around remote calls, and other classes
//! that write themselves ("externalizable"), since only their own code can read them.
//!
//! An object that is referred to is read again where the reference stands. What is read again is
//! limited as the bytes of a string are, so that a few references cannot stand for a million items.

mod emit;
mod objects;
mod pull;
mod tables;

pub(crate) use emit::Amf3Emit;
pub(crate) use pull::Amf3;

const UNDEFINED: u8 = 0x00;
const NULL: u8 = 0x01;
const FALSE: u8 = 0x02;
const TRUE: u8 = 0x03;
const INTEGER: u8 = 0x04;
const DOUBLE: u8 = 0x05;
const STRING: u8 = 0x06;
const XML_DOCUMENT: u8 = 0x07;
const DATE: u8 = 0x08;
const ARRAY: u8 = 0x09;
const OBJECT: u8 = 0x0A;
const XML: u8 = 0x0B;
const BYTE_ARRAY: u8 = 0x0C;
const VECTOR_INT: u8 = 0x0D;
const VECTOR_UINT: u8 = 0x0E;
const VECTOR_DOUBLE: u8 = 0x0F;
const VECTOR_OBJECT: u8 = 0x10;
const DICTIONARY: u8 = 0x11;

/// The empty string, inline (section 1.3.2).
const EMPTY: u8 = 0x01;
/// The first integer that U29 cannot hold (section 1.3.1).
const U29_END: i64 = 1 << 29;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::DecodeError;
    use crate::error::Fault;
    use crate::syntax::{Emit, Pull};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use weir_model::{Limits, Time};

    fn json(bytes: &[u8]) -> Result<String, DecodeError> {
        let limits = Limits::default();
        let mut amf3 = Amf3::new(bytes, &limits);
        let json = amf3.json()?.into_owned();
        amf3.finish()?;
        Ok(json)
    }

    #[test]
    fn integers_take_one_to_four_bytes_as_in_section_1_3_1() {
        for (number, bytes) in [
            (0.0, &[4, 0][..]),
            (127.0, &[4, 0x7F]),
            (128.0, &[4, 0x81, 0]),
            (16_383.0, &[4, 0xFF, 0x7F]),
            (16_384.0, &[4, 0x81, 0x80, 0]),
            (2_097_151.0, &[4, 0xFF, 0xFF, 0x7F]),
            (2_097_152.0, &[4, 0x80, 0xC0, 0x80, 0]),
            (268_435_455.0, &[4, 0xBF, 0xFF, 0xFF, 0xFF]),
            (-1.0, &[4, 0xFF, 0xFF, 0xFF, 0xFF]),
            (-268_435_456.0, &[4, 0xC0, 0x80, 0x80, 0]),
            (268_435_456.0, &[5, 0x41, 0xB0, 0, 0, 0, 0, 0, 0]),
        ] {
            let mut out = Vec::new();
            Amf3Emit::new(&mut out).number(number);
            assert_eq!(out, bytes, "{number}");
            assert_eq!(Amf3::new(bytes, &Limits::default()).number(), Ok(number));
        }
    }

    #[test]
    fn names_and_traits_are_written_once() {
        let text = r#"[{"a":"x","b":"a"},{"a":true,"b":null},{}]"#;
        let mut out = Vec::new();
        Amf3Emit::new(&mut out).json(text);
        let expected = b"\x09\x07\x01\
            \x0A\x0B\x01\x03a\x06\x03x\x03b\x06\x00\x01\
            \x0A\x01\x00\x03\x04\x01\x01\
            \x0A\x01\x01";
        assert_eq!(out, expected);
        assert_eq!(json(&out).as_deref(), Ok(text));
    }

    #[test]
    fn a_tree_with_an_empty_name_is_one_of_dictionaries() {
        let text = r#"{"":{"a":[1,{"":"x"}]}}"#;
        let mut out = Vec::new();
        Amf3Emit::new(&mut out).json(text);
        assert_eq!(out[0], DICTIONARY);
        assert_eq!(json(&out).as_deref(), Ok(text));
    }

    #[test]
    fn sealed_objects_and_the_collections_of_flex_read() {
        // Two objects of a class with one sealed member, dynamic as well, in an ArrayCollection.
        let collection = b"\x0A\x07\x43flex.messaging.io.ArrayCollection\x09\x05\x01\
            \x0A\x1B\x05Ob\x0Bvalue\x04\x05\x09unit\x06\x03K\x01\
            \x0A\x05\x04\x06\x01";
        assert_eq!(
            json(collection).as_deref(),
            Ok(r#"[{"value":5,"unit":"K"},{"value":6}]"#)
        );
    }

    #[test]
    fn references_stand_for_what_they_refer_to() {
        // An array of a date, the same date, an object, the same object, and its string.
        let bytes = b"\x09\x0B\x01\x08\x01\x42\x73\xb3\x2a\xfb\x94\x00\x00\x08\x02\
            \x0A\x0B\x01\x03a\x06\x03x\x01\x0A\x04\x06\x02";
        let read = json(bytes).unwrap();
        let (first, rest) = read[1..].split_once(',').unwrap();
        assert_eq!(
            rest,
            alloc::format!(r#"{first},{{"a":"x"}},{{"a":"x"}},"x"]"#)
        );
    }

    #[test]
    fn vectors_byte_arrays_and_xml_read() {
        for (bytes, text) in [
            (&b"\x0D\x05\x00\xff\xff\xff\xff\0\0\0\x07"[..], "[-1,7]"),
            (b"\x0E\x03\x01\xff\xff\xff\xff", "[4294967295]"),
            (b"\x0F\x03\x00\x3f\xf8\0\0\0\0\0\0", "[1.5]"),
            (b"\x10\x05\x00\x01\x03\x06\x03a", r#"[true,"a"]"#),
            (
                b"\x09\x07\x01\x0C\x05\xfb\xff\x0B\x09<a/>\x00",
                r#"["-_8","<a/>",null]"#,
            ),
            // An array with names alone is a map.
            (b"\x09\x01\x03a\x04\x01\x01", r#"{"a":1}"#),
            (
                b"\x11\x05\x00\x06\x03a\x04\x01\x04\x07\x02",
                r#"{"a":1,"7":false}"#,
            ),
        ] {
            assert_eq!(json(bytes).as_deref(), Ok(text), "{bytes:02x?}");
        }
    }

    #[test]
    fn an_instant_is_a_date_in_milliseconds_and_else_text() {
        for (nanos, marker) in [
            (1_795_167_660_250_000_000, DATE),
            (-1_000_000, DATE),
            (1, STRING),
        ] {
            let time = Time::from_nanos(nanos);
            let mut out = Vec::new();
            Amf3Emit::new(&mut out).time(time);
            assert_eq!(out[0], marker);
            assert_eq!(Amf3::new(&out, &Limits::default()).time(), Ok(time));
        }
    }

    #[test]
    fn references_that_multiply_or_run_in_circles_are_refused() {
        let circle = b"\x09\x03\x01\x09\x00";
        assert!(matches!(
            json(circle).unwrap_err().fault,
            Fault::OverLimit { .. }
        ));
        // Each array holds the one before it a hundred times.
        let mut bytes = [
            &[ARRAY, 11, EMPTY, ARRAY, 0x81, 0x49, EMPTY][..],
            &[NULL; 100],
        ]
        .concat();
        for level in 1..5 {
            bytes.extend([ARRAY, 0x81, 0x49, EMPTY]);
            bytes.extend([ARRAY, level << 1].repeat(100));
        }
        assert!(matches!(
            json(&bytes).unwrap_err().fault,
            Fault::OverLimit { .. }
        ));
    }

    #[test]
    fn an_error_says_which_byte_and_which_rule() {
        for (bytes, text) in [
            (
                &b"\x09\x03\x01\x06\x08"[..],
                "expected a reference to a string before it at byte 4",
            ),
            (
                b"\x09\x02",
                "expected a reference to an object before it at byte 1",
            ),
            (
                b"\x0A\x05",
                "expected a reference to traits before it at byte 1",
            ),
            (
                b"\x0A\x07\x03Xx",
                "expected no class that writes itself but Flex's collections at byte 2",
            ),
            (
                b"\x09\x03\x01\x12",
                "expected a type that AMF 3 has at byte 3",
            ),
            (b"\x09\x03\x01\x06\x05\xff\xff", "expected UTF-8 at byte 5"),
            (b"\x09\x03\x01", "the message ends too early at byte 3"),
        ] {
            assert_eq!(json(bytes).unwrap_err().to_string(), text);
        }
    }
}
