//! The examples of RFC 8428 and its rules.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Value};

fn read(format: &str, bytes: &[u8]) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name(format).unwrap().decode)(bytes, &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

/// `name unit value time` of each row.
fn resolved(text: &str) -> Vec<String> {
    let batch = read("senml-json", text.as_bytes()).unwrap();
    let row = |row: weir_model::Observation<'_>| {
        assert_eq!(row.naming, Naming::Name);
        let time = row.time.map(|time| time.to_string());
        let unit = row.unit.unwrap_or("-");
        format!(
            "{} {unit} {} {}",
            row.topic,
            row.value,
            time.as_deref().unwrap_or("now")
        )
    };
    batch.rows().map(row).collect()
}

#[test]
fn section_5_1_1_a_single_data_point() {
    let text = r#"[{"n":"urn:dev:ow:10e2073a01080063","u":"Cel","v":23.1}]"#;
    assert_eq!(resolved(text), ["urn:dev:ow:10e2073a01080063 Cel 23.1 now"]);
}

#[test]
fn section_5_1_2_multiple_data_points() {
    let text = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063:","n":"voltage","u":"V","v":120.1},
        {"n":"current","u":"A","v":1.2}]"#;
    let expected = [
        "urn:dev:ow:10e2073a01080063:voltage V 120.1 now",
        "urn:dev:ow:10e2073a01080063:current A 1.2 now",
    ];
    assert_eq!(resolved(text), expected);
}

const SERIES: &str = r#"[
    {"bn":"urn:dev:ow:10e2073a0108006:","bt":1.276020076001e+09,"bu":"A","bver":5,
     "n":"voltage","u":"V","v":120.1},
    {"n":"current","t":-5,"v":1.2},
    {"n":"current","t":-4,"v":1.3},
    {"n":"current","t":-3,"v":1.4},
    {"n":"current","t":-2,"v":1.5},
    {"n":"current","t":-1,"v":1.6},
    {"n":"current","v":1.7}]"#;

#[test]
fn section_5_1_2_base_time_and_base_unit() {
    let rows = resolved(SERIES);
    assert_eq!(
        rows[0],
        "urn:dev:ow:10e2073a0108006:voltage V 120.1 2010-06-08T18:01:16.001Z"
    );
    assert_eq!(
        rows[1],
        "urn:dev:ow:10e2073a0108006:current A 1.2 2010-06-08T18:01:11.001Z"
    );
    assert_eq!(
        rows[6],
        "urn:dev:ow:10e2073a0108006:current A 1.7 2010-06-08T18:01:16.001Z"
    );
}

#[test]
fn section_5_1_3_multiple_measurements() {
    let text = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063","bt":1.320067464e+09,"bu":"%RH","v":20},
        {"u":"lon","v":24.30621},
        {"u":"lat","v":60.07965},
        {"t":60,"v":20.3},
        {"u":"lon","t":60,"v":24.30622}]"#;
    let rows = resolved(text);
    assert_eq!(
        rows[0],
        "urn:dev:ow:10e2073a01080063 %RH 20 2011-10-31T13:24:24Z"
    );
    assert_eq!(
        rows[2],
        "urn:dev:ow:10e2073a01080063 lat 60.07965 2011-10-31T13:24:24Z"
    );
    assert_eq!(
        rows[3],
        "urn:dev:ow:10e2073a01080063 %RH 20.3 2011-10-31T13:25:24Z"
    );
}

#[test]
fn section_5_1_5_different_data_types() {
    let text = r#"[
        {"bn":"urn:dev:ow:10e2073a01080063:","n":"temp","u":"Cel","v":23.1},
        {"n":"label","vs":"Machine Room"},
        {"n":"open","vb":false},
        {"n":"nfc-reader","vd":"aGkgCg"}]"#;
    let batch = read("senml-json", text.as_bytes()).unwrap();
    let values: Vec<_> = batch.rows().map(|row| row.value).collect();
    let expected = [
        Value::Number(23.1),
        Value::Text("Machine Room"),
        Value::Bool(false),
        Value::Text("aGkgCg"),
    ];
    assert_eq!(values, expected);
}

#[test]
fn section_5_1_6_a_collection_of_resources() {
    let text = r#"[
        {"bn":"2001:db8::2/","bt":1.320078429e+09,"n":"temperature","u":"Cel","v":25.2},
        {"n":"humidity","u":"%RH","v":30},
        {"bn":"2001:db8::1/","n":"temperature","u":"Cel","v":12.3},
        {"n":"humidity","u":"%RH","v":67}]"#;
    let rows = resolved(text);
    assert_eq!(rows[1], "2001:db8::2/humidity %RH 30 2011-10-31T16:27:09Z");
    assert_eq!(rows[3], "2001:db8::1/humidity %RH 67 2011-10-31T16:27:09Z");
}

#[test]
fn section_6_the_same_series_in_cbor() {
    let hex = concat!(
        "87a721781b75726e3a6465763a6f773a3130653230373361303130383030363a",
        "22fb41d303a15b00106223614120050067766f6c7461676501615602fb405e066666666666",
        "a3006763757272656e74062402fb3ff3333333333333",
        "a3006763757272656e74062302fb3ff4cccccccccccd",
        "a3006763757272656e74062202fb3ff6666666666666",
        "a3006763757272656e74062102f93e00",
        "a3006763757272656e74062002fb3ff999999999999a",
        "a3006763757272656e74060002fb3ffb333333333333",
    );
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    let cbor = read("senml-cbor", &bytes).unwrap();
    let json = read("senml-json", SERIES.as_bytes()).unwrap();
    assert_eq!(cbor, json);
}

#[test]
fn base_fields_count_wherever_they_stand_in_their_record() {
    let text = r#"[{"n":"x","v":1,"bn":"a/","bu":"m"},{"n":"y","v":2}]"#;
    assert_eq!(resolved(text), ["a/x m 1 now", "a/y m 2 now"]);
    let text = r#"[{"bn":"a/"},{"n":"x","v":1}]"#;
    assert_eq!(resolved(text), ["a/x - 1 now"]);
}

#[test]
fn base_values_add_to_values() {
    let text = r#"[{"bn":"a","bv":20,"v":1.5},{"v":2},{"vs":"x"},{"t":-1}]"#;
    let rows = resolved(text);
    assert_eq!(rows[..3], ["a - 21.5 now", "a - 22 now", "a - x now"]);
    assert!(rows[3].starts_with("a - 20 "), "{}", rows[3]);
}

#[test]
fn a_sum_is_a_parameter() {
    let batch = read(
        "senml-json",
        br#"[{"n":"a","u":"W","v":5,"s":100},{"n":"a","bs":1,"s":110}]"#,
    )
    .unwrap();
    assert_eq!(batch.row(0).extra.parameters, Some(r#"{"sum":100}"#));
    assert_eq!(
        (batch.row(1).value, batch.row(1).extra.parameters),
        (Value::Null, Some(r#"{"sum":111}"#))
    );
}

#[test]
fn a_relative_time_is_left_for_the_arrival() {
    let batch = read(
        "senml-json",
        br#"[{"n":"a","t":-5,"v":1},{"n":"a","t":0,"v":1}]"#,
    )
    .unwrap();
    assert_eq!(batch.time(0).unwrap().nanos(), -5_000_000_000);
    assert_eq!(batch.time(1), None);
}

#[test]
fn what_must_be_understood_is_refused_where_it_stands() {
    let fault = |text: &str| {
        let error = read("senml-json", text.as_bytes()).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        fault(r#"[{"n":"a","v":1,"lock_":1}]"#),
        "expected no field that must be understood (its label ends with _) at byte 24"
    );
    assert_eq!(
        fault(r#"[{"bver":11,"n":"a","v":1}]"#),
        "expected a SenML version of at most 10 at byte 9"
    );
    assert_eq!(
        fault(r#"[{"n":"a","v":1,"vs":"x"}]"#),
        "a record has at most one value at byte 1"
    );
    assert_eq!(
        fault(r#"[{"n":"a"}]"#),
        "a record needs a value or a sum at byte 1"
    );
    assert_eq!(fault(r#"{"n":"a","v":1}"#), "expected an array at byte 0");
}

#[test]
fn unknown_fields_are_ignored() {
    assert_eq!(
        resolved(r#"[{"n":"a","v":1,"ut":60,"vendor":{"x":[1]}}]"#),
        ["a - 1 now"]
    );
}

#[test]
fn nanoseconds_survive_both_representations() {
    let text = r#"[{"n":"a","t":1795167660.123456789,"v":1}]"#;
    let batch = read("senml-json", text.as_bytes()).unwrap();
    assert_eq!(batch.time(0).unwrap().nanos(), 1_795_167_660_123_456_789);
    for name in ["senml-json", "senml-cbor"] {
        let mut out = Vec::new();
        (by_name(name).unwrap().encode)(&batch, &mut out);
        assert_eq!(read(name, &out).unwrap(), batch, "{name}");
    }
}
