//! BSON read and written (bsonspec.org, version 1.1).
//!
//! The type of a value stands before its name, and the length of a document before its members: both
//! are left open when written and put in once they are known. Instants are UTC datetimes where whole
//! milliseconds hold them, and else text of RFC 3339, so that nothing is lost. Read are all types of
//! the specification: decimals that are no integers are rounded to doubles, object ids are bytes, a
//! MongoDB timestamp is an instant, what has no counterpart (regular expressions, code with scope ...)
//! can be read over.
//! What it deliberately does not do: a message that is an array, since BSON has documents only.

mod emit;
mod pull;

pub(crate) use emit::BsonEmit;
pub(crate) use pull::Bson;

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const UNDEFINED: u8 = 0x06;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATETIME: u8 = 0x09;
const NULL: u8 = 0x0A;
const REGEX: u8 = 0x0B;
const DB_POINTER: u8 = 0x0C;
const CODE: u8 = 0x0D;
const SYMBOL: u8 = 0x0E;
const CODE_WITH_SCOPE: u8 = 0x0F;
const INT_32: u8 = 0x10;
const TIMESTAMP: u8 = 0x11;
const INT_64: u8 = 0x12;
const DECIMAL_128: u8 = 0x13;
/// The exponent 0 of a decimal, whose bias is 6176 (IEEE 754-2008 section 3.5.2).
const DECIMAL_128_ONE: u128 = 6176 << 113;
const MAX_KEY: u8 = 0x7F;
const MIN_KEY: u8 = 0xFF;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::syntax::{Emit, Key, Pull};
    use alloc::vec::Vec;
    use weir_model::{Limits, Time};

    /// The first example of bsonspec.org/faq.html: {"hello": "world"}.
    const HELLO: &[u8] = b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0";
    /// The second: {"BSON": ["awesome", 5.05, 1986]}.
    const AWESOME: &[u8] = b"1\0\0\0\x04BSON\0&\0\0\0\x020\0\x08\0\0\0awesome\0\
        \x011\x00333333\x14@\x102\0\xC2\x07\0\0\0\0";

    #[test]
    fn the_examples_of_the_specification_are_read_and_written_alike() {
        for (bytes, text) in [
            (HELLO, r#"{"hello":"world"}"#),
            (AWESOME, r#"{"BSON":["awesome",5.05,1986]}"#),
        ] {
            let limits = Limits::default();
            let mut bson = Bson::new(bytes, &limits);
            assert_eq!(bson.json().as_deref(), Ok(text));
            bson.finish().unwrap();
            let mut out = Vec::new();
            BsonEmit::new(&mut out).json(text);
            assert_eq!(out, bytes);
        }
    }

    /// A document of one member `v` of this type.
    fn document(kind: u8, value: &[u8]) -> Vec<u8> {
        let len = (value.len() + 8) as u32;
        [&len.to_le_bytes(), &[kind][..], b"v\0", value, &[0]].concat()
    }

    fn read<T>(kind: u8, value: &[u8], read: impl FnOnce(&mut Bson<'_>) -> T) -> T {
        let bytes = document(kind, value);
        let limits = Limits::default();
        let mut bson = Bson::new(&bytes, &limits);
        let mut map = bson.map().unwrap();
        assert_eq!(bson.key(&mut map).unwrap(), Some(Key::Text("v")));
        read(&mut bson)
    }

    #[test]
    fn every_kind_of_number_reads() {
        for (kind, value, number) in [
            (DOUBLE, &1.1_f64.to_le_bytes()[..], 1.1),
            (INT_32, &(-7_i32).to_le_bytes(), -7.0),
            (INT_64, &(1_i64 << 40).to_le_bytes(), 1_099_511_627_776.0),
            // 7125 times 10 to the -2: the exponent's bias is 6176.
            (
                DECIMAL_128,
                &((6174_u128 << 113) | 7125).to_le_bytes(),
                71.25,
            ),
            (
                DECIMAL_128,
                &((1 << 127 | 6176_u128 << 113) | 3).to_le_bytes(),
                -3.0,
            ),
        ] {
            assert_eq!(read(kind, value, |bson| bson.number()), Ok(number));
        }
        // The infinity of IEEE 754-2008.
        let infinity = (0b11110_u128 << 122).to_le_bytes();
        assert!(read(DECIMAL_128, &infinity, |bson| bson.number()).is_err());
    }

    #[test]
    fn instants_are_datetimes_in_milliseconds_and_else_text() {
        for (nanos, kind) in [
            (-1_000_000, DATETIME),
            (1_795_167_660_250_000_000, DATETIME),
            (1, STRING),
        ] {
            let time = Time::from_nanos(nanos);
            let mut out = Vec::new();
            let mut emit = BsonEmit::new(&mut out);
            emit.map(1);
            emit.key("v");
            emit.time(time);
            emit.end_map();
            assert_eq!(out[4], kind);
            assert_eq!(
                read(kind, &out[7..out.len() - 1], |bson| bson.time()),
                Ok(time)
            );
        }
        let timestamp = (1_795_167_660_u64 << 32 | 1).to_le_bytes();
        let time = read(TIMESTAMP, &timestamp, |bson| bson.time());
        assert_eq!(time, Ok(Time::from_millis(1_795_167_660_000)));
    }

    #[test]
    fn every_other_type_is_read_over() {
        for (kind, value) in [
            (UNDEFINED, &b""[..]),
            (OBJECT_ID, b"123456789012"),
            (REGEX, b"a.*\0i\0"),
            (DB_POINTER, b"\x02\0\0\0d\x00123456789012"),
            (CODE, b"\x02\0\0\0x\0"),
            (CODE_WITH_SCOPE, b"\x0f\0\0\0\x02\0\0\0x\0\x05\0\0\0\0"),
            (BINARY, b"\x01\0\0\0\x80x"),
            (MIN_KEY, b""),
            (MAX_KEY, b""),
        ] {
            read(kind, value, |bson| {
                bson.skip().unwrap();
                assert_eq!(bson.at(), value.len() + 7, "{kind:#x}");
            });
        }
    }

    #[test]
    fn a_length_that_lies_is_refused_with_its_place() {
        let limits = Limits::default();
        for (at, change) in [(0, 0x15), (0, 0x17), (11, 7), (11, 5), (21, 1)] {
            let mut bytes = HELLO.to_vec();
            bytes[at] = change;
            let mut bson = Bson::new(&bytes, &limits);
            let read = bson.json().map(drop).and_then(|()| bson.finish());
            assert!(read.is_err(), "{change} at {at}");
        }
    }
}
