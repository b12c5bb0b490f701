//! Names that are empty or blank: they say nothing, in every format.
#![allow(clippy::unwrap_used)]

use weir_codec::by_name;
use weir_model::{BatchBuilder, Limits};

fn read(format: &str, message: &[u8]) -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    let read = (by_name(format).unwrap().decode)(message, &mut builder, &Limits::default());
    assert_eq!(read, Ok(()), "{format} {}", message.escape_ascii());
    builder
}

#[test]
fn a_blank_name_says_nothing_in_any_format() {
    for (format, message) in [
        (
            "json",
            r#"{"value":1,"unit":"","sensor":" ","type":"\t","quality":"","feature":"\u00a0"}"#,
        ),
        (
            "json",
            r#"{"observations":[{"value":1,"unit":"  ","sensor":"","type":""}]}"#,
        ),
        ("senml-json", r#"[{"n":"a","v":1,"u":""}]"#),
        ("senml-json", r#"[{"bu":" ","n":"a","v":1}]"#),
        ("csv", "value,unit,sensor,type\n1,,\" \",\"\"\n"),
        (
            "xml",
            "<observations><observation><value>1</value><unit/><sensor> </sensor><type></type>\
             <quality/><feature></feature></observation></observations>",
        ),
        ("influx", "observation,unit=\\  value=1"),
    ] {
        let builder = read(format, message.as_bytes());
        let row = builder.batch().row(0);
        let said = [row.unit, row.sensor, row.property];
        assert_eq!(said, [None; 3], "{format} {message}");
        assert_eq!(
            (row.extra.quality, row.extra.feature),
            (None, None),
            "{format}"
        );
    }
}

#[test]
fn of_cbor_and_protobuf_too() {
    let cbor = b"\xa3\x65value\x01\x64unit\x60\x66sensor\x61 ";
    // Observation of a message: a number, a unit and a sensor of no bytes.
    let encoded = read("json", br#"{"value":1,"unit":"m"}"#).finish();
    let mut protobuf = Vec::new();
    (by_name("protobuf").unwrap().encode)(&encoded, &mut protobuf);
    let at = protobuf.iter().position(|byte| *byte == b'm').unwrap();
    protobuf[at] = b' ';
    for (format, message) in [("cbor", &cbor[..]), ("protobuf", &protobuf)] {
        let builder = read(format, message);
        let row = builder.batch().row(0);
        assert_eq!([row.unit, row.sensor], [None; 2], "{format}");
    }
}

#[test]
fn a_blank_unit_of_a_record_leaves_that_of_the_base() {
    for own in [r#""u":"","#, r#""u":" ","#, ""] {
        let message = format!(r#"[{{"bn":"a","bu":"Cel",{own}"v":1}}]"#);
        let builder = read("senml-json", message.as_bytes());
        assert_eq!(builder.batch().row(0).unit, Some("Cel"), "{message}");
    }
}
