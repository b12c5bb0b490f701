//! `gwt`: the answer of a GWT-RPC service, as paper 000's server sends it to Google Web Toolkit.
//!
//! The answer is `//OK` and an array: the tokens of the object in reverse, since a client takes them
//! from the end, the table of strings, flags and version: `//OK[...,["...","..."],0,7]`. A string is
//! its number in the table, from 1, and 0 for none; an object begins with the string of its class and
//! signature, one that was written before is its negative number, from -1. Longs are base 64 of GWT's
//! own alphabet, in single quotes.
//!
//! What is sent is a `java.util.ArrayList` of `weir.client.Observation`:
//!
//! ```java
//! class Observation implements IsSerializable {
//!   Extra extra; int kind; double number; Place place; String sensor; String text;
//!   Timestamp time; String topic; String type; String unit; }
//! class Place implements IsSerializable { double latitude; double longitude; }
//! class Extra implements IsSerializable {
//!   Timestamp end; String feature; String parameters; String quality;
//!   Timestamp resultTime; Timestamp validFrom; Timestamp validTo; }
//! ```
//!
//! The result is `kind` 0 for none, 1 for `number`, 2 for a boolean (1 or 0 in `number`), 3 for `text`
//! and 4 for JSON in `text`. The decision worth arguing: types rather than maps. GWT compiles a
//! serializer for each class that a service names, and none for a field of type `Object`; so the
//! result has a kind and two fields instead, and what few observations carry is an object of its own,
//! since an absent field costs a token. `Timestamp` is the only type of GWT's with nanoseconds. An
//! instant or a place that is the one before is a reference to it.
//!
//! Read are versions 7 and 8, arrays joined by `concat` and strings joined by `+`, as GWT splits long
//! ones. `//EX`, an exception, is an error that names it. What it deliberately does not do: requests,
//! and answers with obfuscated class names.

mod read;
mod tokens;
mod write;

use crate::format::{Confidence, Format};
use crate::rows::without_mark;

pub(crate) const FORMAT: Format = Format {
    sniff: Some(sniff),
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new("gwt", "text/x-gwt-rpc", write::encode, read::decode)
};

/// An answer begins so.
fn sniff(payload: &[u8]) -> Confidence {
    Confidence::Certain.if_so(without_mark(payload).0.starts_with(b"//OK["))
}

/// Before the array of an answer, and of an exception.
const OK: &str = "//OK";
const EXCEPTION: &str = "//EX";

// Class names with their signatures: CRC-32 over names and types of the class and its fields
// (GWT, SerializabilityUtil). `conformance/formats` checks them against GWT's own.
const ARRAY_LIST: &str = "java.util.ArrayList/4159755760";
const TIMESTAMP: &str = "java.sql.Timestamp/3040052672";
const OBSERVATION: &str = "weir.client.Observation/772852460";
const PLACE: &str = "weir.client.Place/2938226432";
const EXTRA: &str = "weir.client.Extra/2899036630";

const KIND_NULL: i64 = 0;
const KIND_NUMBER: i64 = 1;
const KIND_BOOL: i64 = 2;
const KIND_TEXT: i64 = 3;
const KIND_JSON: i64 = 4;

/// Digits of longs (GWT, Base64Utils).
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$_";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use weir_model::{Batch, BatchBuilder, Limits, Value};

    fn read(text: &str) -> Result<Batch, crate::DecodeError> {
        let mut builder = BatchBuilder::new();
        (FORMAT.decode)(text.as_bytes(), &mut builder, &Limits::default())?;
        Ok(builder.finish())
    }

    fn written(batch: &Batch) -> String {
        let mut out = b">".to_vec();
        (FORMAT.encode)(batch, &mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    #[test]
    fn an_answer_is_written_as_gwt_writes_it() {
        let sample = crate::sample::message(1, 0).select(|row| row < 2);
        let text = written(&sample);
        // The last tokens are the first read: class and length of the list, class of an observation.
        let expected = concat!(
            "//OK[8,7,10,-4,0,9,-3,47.17,1,0,2,",
            "8,7,6,250000000,'aH4VKja',5,0,4,20.462207,44.813503,3,75.88,1,0,2,2,1,",
            r#"["java.util.ArrayList/4159755760","weir.client.Observation/772852460","#,
            r#""weir.client.Place/2938226432","urn:dev:mac:0024befffe800010","#,
            r#""java.sql.Timestamp/3040052672","heating/substation-1/supply/temperature","#,
            r#""water-temperature","Cel","urn:dev:mac:0024befffe800011","#,
            r#""heating/substation-1/return/temperature"],0,7]"#,
        );
        assert_eq!(text, expected);
        assert_eq!(read(&text).unwrap(), sample);
    }

    #[test]
    fn a_list_of_nothing_has_two_tokens() {
        let text = "//OK[0,1,[\"java.util.ArrayList/4159755760\"],0,7]";
        assert_eq!(written(&Batch::default()), text);
        assert!(read(text).unwrap().is_empty());
    }

    /// A list of one observation, its fields as given, most of which are 0.
    fn one(kind: &str, number: &str, text: &str, strings: &str) -> String {
        alloc::format!(
            "//OK[0,0,0,0,{text},0,0,{number},{kind},0,2,1,1,\
             [\"{ARRAY_LIST}\",\"{OBSERVATION}\"{strings}],0,7]"
        )
    }

    #[test]
    fn every_kind_of_result_reads() {
        for (kind, number, text, strings, value) in [
            ("0", "0.0", "0", "", Value::Null),
            ("1", "-1.5E-3", "0", "", Value::Number(-0.0015)),
            ("2", "1.0", "0", "", Value::Bool(true)),
            (
                "3",
                "0",
                "3",
                r#","a\n\x41\u00e9\ud83d\ude00"+"b\"""#,
                Value::Text("a\nAé😀b\""),
            ),
            ("4", "0", "3", r#","[1, 2]""#, Value::Json("[1,2]")),
        ] {
            let text = one(kind, number, text, strings);
            assert_eq!(read(&text).unwrap().value(0), value, "{text}");
        }
    }

    #[test]
    fn arrays_that_gwt_splits_read() {
        let text = one("1", "9", "0", "");
        let halves = text
            .replace(",1,0,2,", "].concat([1,0],[2,")
            .replace("0,7]", "0,7])");
        assert_eq!(read(&halves).unwrap(), read(&text).unwrap());
        let table = text
            .replace("\",\"weir", "\"].concat([\"weir")
            .replace("\"],0,", "\"]),0,");
        assert_eq!(read(&table).unwrap(), read(&text).unwrap());
    }

    #[test]
    fn an_exception_is_an_error_that_names_it() {
        let text = r#"//EX[2,1,["weir.client.Refused/1","no such topic"],0,7]"#;
        assert_eq!(
            read(text).unwrap_err().to_string(),
            "the answer is an exception: weir.client.Refused/1: no such topic at byte 2"
        );
    }

    #[test]
    fn an_error_says_which_byte_and_which_rule() {
        let fine = one("1", "7", "0", "");
        let cases: Vec<(String, &str)> = [
            ("//OK[", "//NO[", "expected //OK and an array at byte 0"),
            (",0,7]", ",0,6]", "expected version 7 or 8 at byte 104"),
            (
                ",0,7]",
                ",1,7]",
                "expected no flags: class names as they are at byte 102",
            ),
            (
                ",2,1,1,",
                ",9,1,1,",
                "expected the number of a string in the table at byte 25",
            ),
            (
                ",2,1,1,",
                ",1,1,1,",
                "expected the class weir.client.Observation at byte 25",
            ),
            (
                "1,0,2",
                "5,0,2",
                "expected a kind of result from 0 to 4 at byte 21",
            ),
            ("7,1,0", "x,1,0", "expected a number at byte 19"),
            (
                "//OK[0",
                "//OK[0,0",
                "expected the end of the list at byte 5",
            ),
            ("//OK[0,", "//OK[", "the message ends too early at byte 5"),
        ]
        .map(|(from, to, error)| (fine.replacen(from, to, 1), error))
        .to_vec();
        for (text, error) in cases {
            assert_eq!(read(&text).unwrap_err().to_string(), error, "{text}");
        }
    }
}
