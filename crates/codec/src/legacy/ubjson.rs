//! Universal Binary JSON read and written (ubjson.org, draft 12).
//!
//! Written: integers in the shortest type that holds them, floats in 32 bits where these suffice,
//! containers without a count, since two brackets are shorter than one. Read: all of the draft:
//! containers with a count, or with a type and a count (`$` and `#`), no-ops, characters, numbers of
//! high precision, of which those that are no integers are rounded to doubles. Instants are text of
//! RFC 3339: there is no type for them. What it deliberately does not do: draft 9, whose `A`, `S` and
//! `s` mean other things.
//!
//! Items of type null, true or false take no bytes in a typed container, so ten bytes can promise two
//! thousand million of them. Their number in a message is limited as the bytes of a string are.

mod emit;
mod pull;

pub(crate) use emit::UbjsonEmit;
pub(crate) use pull::Ubjson;

const NULL: u8 = b'Z';
const NO_OP: u8 = b'N';
const TRUE: u8 = b'T';
const FALSE: u8 = b'F';
const INT_8: u8 = b'i';
const UINT_8: u8 = b'U';
const INT_16: u8 = b'I';
const INT_32: u8 = b'l';
const INT_64: u8 = b'L';
const FLOAT_32: u8 = b'd';
const FLOAT_64: u8 = b'D';
const HIGH_PRECISION: u8 = b'H';
const CHARACTER: u8 = b'C';
const STRING: u8 = b'S';
const ARRAY: u8 = b'[';
const END_ARRAY: u8 = b']';
const OBJECT: u8 = b'{';
const END_OBJECT: u8 = b'}';
const TYPE: u8 = b'$';
const COUNT: u8 = b'#';

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::error::Fault;
    use crate::syntax::{Emit, Pull};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use weir_model::Limits;

    fn json(bytes: &[u8]) -> Result<String, crate::DecodeError> {
        let limits = Limits::default();
        let mut ubjson = Ubjson::new(bytes, &limits);
        let json = ubjson.json()?.into_owned();
        ubjson.finish()?;
        Ok(json)
    }

    #[test]
    fn the_containers_of_the_draft_read() {
        for (bytes, text) in [
            (&b"[]"[..], "[]"),
            (b"{}", "{}"),
            (b"[ZTFi\xffU\xffI\x01\x00]", "[null,true,false,-1,255,256]"),
            (
                b"[Nd\x41\xef\xae\x14NCaSi\x05helloN]",
                r#"[29.959999084472656,"a","hello"]"#,
            ),
            // Both optimizations of the draft's section on containers: count, then type and count.
            (b"[#i\x03d\x41\xf8\0\0TZ", "[31,true,null]"),
            (b"[$U#i\x03\x01\x02\xff", "[1,2,255]"),
            (b"[$i#U\x02\x01\xff", "[1,-1]"),
            (
                b"{$d#i\x01i\x03lat\x41\xef\xae\x14",
                r#"{"lat":29.959999084472656}"#,
            ),
            (b"{#i\x01U\x01aSI\0\x01b", r#"{"a":"b"}"#),
            (b"[$Z#i\x02", "[null,null]"),
            (b"{$T#i\x01i\x01a", r#"{"a":true}"#),
            (b"[$[#i\x02i\x01]$U#i\x01\x07", "[[1],[7]]"),
            (b"[$S#i\x02i\x01ai\x00", r#"["a",""]"#),
            (b"N[Hi\x043.5eHi\x0212]N", ""),
            (b"[Hi\x053.7e2Hi\x0212]N", "[370,12]"),
            (b"[l\xff\xff\xff\xfeL\0\0\0\x01\0\0\0\0]", "[-2,4294967296]"),
        ] {
            match text {
                "" => assert!(json(bytes).is_err(), "{bytes:?}"),
                text => assert_eq!(json(bytes).as_deref(), Ok(text), "{bytes:?}"),
            }
        }
    }

    #[test]
    fn what_is_written_is_as_short_as_the_draft_allows() {
        let mut out = Vec::new();
        UbjsonEmit::new(&mut out).json(r#"{"a":[1,-1,300,1.5,0.1,null,true,"b"],"c":{}}"#);
        // Lengths are unsigned bytes.
        let expected = b"{U\x01a[U\x01i\xffI\x01\x2cd\x3f\xc0\0\0D\x3f\xb9\x99\x99\x99\x99\x99\x9a\
            ZTSU\x01b]U\x01c{}}";
        assert_eq!(out, expected);
        assert_eq!(
            json(&out).as_deref(),
            Ok(r#"{"a":[1,-1,300,1.5,0.1,null,true,"b"],"c":{}}"#)
        );
    }

    #[test]
    fn items_without_bytes_are_limited() {
        for bytes in [
            &b"[$Z#l\x7f\xff\xff\xff"[..],
            b"[[$T#l\0\x0f\xff\xff[$F#l\0\x0f\xff\xff]",
        ] {
            let error = json(bytes).unwrap_err();
            assert!(matches!(error.fault, Fault::OverLimit { .. }), "{error}");
        }
    }

    #[test]
    fn an_error_says_which_byte_and_which_rule() {
        for (bytes, text) in [
            (&b"[$U\x03"[..], "expected a count after the type at byte 3"),
            (
                b"[#i\xff",
                "expected a length that is not negative at byte 2",
            ),
            (b"[#Si", "expected an integer for a length at byte 2"),
            (b"[X]", "expected a type that UBJSON has at byte 1"),
            (b"[$U#i\x09\x01", "the message ends too early at byte 7"),
            (b"[C\x80]", "expected a character below 128 at byte 2"),
        ] {
            assert_eq!(json(bytes).unwrap_err().to_string(), text);
        }
    }
}
