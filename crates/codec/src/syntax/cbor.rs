//! CBOR read and written (RFC 8949).
//!
//! Written in preferred serialization (section 4.1): shortest integers, and floats in the shortest
//! of 16, 32 and 64 bits that holds them. Read: every well-formed item, also of indefinite length;
//! strings in chunks are joined. Times are tag 0 or tag 1 (section 3.4.1 and 3.4.2); other tags are
//! passed over. What it deliberately does not do: results that are integers beyond 53 bits are
//! rounded, as all of weir's (those within JSON are not); simple values other than booleans, null and
//! undefined are refused.

mod emit;
mod pull;

pub(crate) use emit::CborEmit;
pub(crate) use pull::Cbor;

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const SIMPLE: u8 = 7;

const FALSE: u8 = 0xF4;
const TRUE: u8 = 0xF5;
const NULL: u8 = 0xF6;
const UNDEFINED: u8 = 0xF7;
const HALF: u8 = 0xF9;
const SINGLE: u8 = 0xFA;
const DOUBLE: u8 = 0xFB;
const BREAK: u8 = 0xFF;

const DATE_TIME: u64 = 0;
const EPOCH: u64 = 1;
const DECIMAL_FRACTION: u64 = 4;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::syntax::{Emit, Pull};
    use alloc::vec::Vec;
    use weir_model::Limits;

    fn unhex(text: &str) -> Vec<u8> {
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
        text.as_bytes()
            .chunks(2)
            .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
            .collect()
    }

    #[test]
    fn the_numbers_of_rfc_8949_appendix_a() {
        for (hex, number, same) in [
            ("00", 0.0, true),
            ("0a", 10.0, true),
            ("1818", 24.0, true),
            ("1903e8", 1000.0, true),
            ("1a000f4240", 1e6, true),
            ("1b000000e8d4a51000", 1e12, true),
            ("1bffffffffffffffff", 18_446_744_073_709_551_615.0, false),
            ("20", -1.0, true),
            ("3903e7", -1000.0, true),
            ("3bffffffffffffffff", -18_446_744_073_709_551_616.0, false),
            ("f90000", 0.0, false),
            ("f98000", -0.0, true),
            ("f93c00", 1.0, false),
            ("fb3ff199999999999a", 1.1, true),
            ("f93e00", 1.5, true),
            ("f97bff", 65_504.0, false),
            ("fa47c35000", 100_000.0, false),
            ("fa7f7fffff", 3.402_823_466_385_288_6e38, true),
            ("fb7e37e43c8800759c", 1e300, true),
            ("f90001", 5.960_464_477_539_063e-8, true),
            ("f90400", 6.103_515_625e-5, true),
            ("f9c400", -4.0, false),
            ("fbc010666666666666", -4.1, true),
        ] {
            let bytes = unhex(hex);
            let limits = Limits::default();
            assert_eq!(Cbor::new(&bytes, &limits).number(), Ok(number), "{hex}");
            let mut out = Vec::new();
            CborEmit::new(&mut out).number(number);
            assert_eq!(out == bytes, same, "{hex} {out:02x?}");
        }
    }

    #[test]
    fn infinities_and_nan_are_refused() {
        for hex in [
            "f97c00",
            "f97e00",
            "f9fc00",
            "fa7f800000",
            "fb7ff8000000000000",
        ] {
            let limits = Limits::default();
            assert!(Cbor::new(&unhex(hex), &limits).number().is_err(), "{hex}");
        }
    }

    #[test]
    fn the_strings_arrays_and_maps_of_rfc_8949_appendix_a() {
        for (hex, json) in [
            ("80", "[]"),
            ("83010203", "[1,2,3]"),
            ("8301820203820405", "[1,[2,3],[4,5]]"),
            ("a0", "{}"),
            ("a201020304", r#"{"1":2,"3":4}"#),
            ("a26161016162820203", r#"{"a":1,"b":[2,3]}"#),
            ("826161a161626163", r#"["a",{"b":"c"}]"#),
            ("8160", r#"[""]"#),
            ("8162225c", r#"["\"\\"]"#),
            ("8162c3bc", r#"["ü"]"#),
            ("8164f0908591", r#"["𐅑"]"#),
            ("84f4f5f6f7", "[false,true,null,null]"),
            ("9fff", "[]"),
            ("9f018202039f0405ffff", "[1,[2,3],[4,5]]"),
            ("83018202039f0405ff", "[1,[2,3],[4,5]]"),
            ("817f657374726561646d696e67ff", r#"["streaming"]"#),
            ("bf61610161629f0203ffff", r#"{"a":1,"b":[2,3]}"#),
            ("bf6346756ef563416d7421ff", r#"{"Fun":true,"Amt":-2}"#),
            ("81c11a514b67b0", r#"["2013-03-21T20:04:00Z"]"#),
            ("81c1fb41d452d9ec200000", r#"["2013-03-21T20:04:00.500Z"]"#),
            (
                "81c074323031332d30332d32315432303a30343a30305a",
                r#"["2013-03-21T20:04:00Z"]"#,
            ),
            ("81d74401020304", r#"["AQIDBA"]"#),
            ("81d818456449455446", r#"["ZElFVEY"]"#),
            ("815f42010243030405ff", r#"["AQIDBAU"]"#),
        ] {
            let bytes = unhex(hex);
            let limits = Limits::default();
            let mut cbor = Cbor::new(&bytes, &limits);
            assert_eq!(cbor.json().as_deref(), Ok(json), "{hex}");
            cbor.finish().unwrap();
        }
    }
}
