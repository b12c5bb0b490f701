//! The shapes of messages that people send, in JSON, plain text and csv.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, Fault, by_name};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Place, Value};

fn read(format: &str, text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name(format).unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn write(format: &str, batch: &Batch) -> String {
    let mut out = Vec::new();
    (by_name(format).unwrap().encode)(batch, &mut out);
    String::from_utf8(out).unwrap()
}

const EXAMPLE: &str = concat!(
    r#"{"observations":[{"topic":"heating/substation-3/supply/temperature","#,
    r#""sensor":"urn:dev:mac:0024befffe804ff1","type":"temperature","#,
    r#""value":71.25,"unit":"Cel","time":"2026-11-20T09:41:00.250Z","#,
    r#""lat":44.8125,"lon":20.4612}]}"#,
);

#[test]
fn the_documented_example_reads_and_is_written_the_same() {
    let batch = read("json", EXAMPLE).unwrap();
    let row = batch.row(0);
    assert_eq!(row.topic, "heating/substation-3/supply/temperature");
    assert_eq!(row.sensor, Some("urn:dev:mac:0024befffe804ff1"));
    assert_eq!((row.property, row.unit), (Some("temperature"), Some("Cel")));
    assert_eq!(row.value, Value::Number(71.25));
    assert_eq!(row.time.unwrap().to_string(), "2026-11-20T09:41:00.250Z");
    let place = Place {
        latitude: 44.8125,
        longitude: 20.4612,
    };
    assert_eq!(row.place, Some(place));
    assert_eq!(write("json", &batch), EXAMPLE);
}

#[test]
fn a_flat_object_is_one_observation_a_member() {
    let text = r#"{"temperature":21.5,"air":{"humidity":40,"co2":{"ppm":412}},
        "door":"open","xy":["a", 2],"none":null}"#;
    let batch = read("json", text).unwrap();
    let rows: Vec<_> = batch
        .rows()
        .map(|row| (row.naming, row.topic, row.value))
        .collect();
    let expected = [
        (Naming::Below, "temperature", Value::Number(21.5)),
        (Naming::Below, "air/humidity", Value::Number(40.0)),
        (Naming::Below, "air/co2/ppm", Value::Number(412.0)),
        (Naming::Below, "door", Value::Text("open")),
        (Naming::Below, "xy", Value::Json("[\"a\",2]")),
        (Naming::Below, "none", Value::Null),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn one_observation_or_an_array_of_them_needs_no_envelope() {
    let batch = read("json", r#" {"unit":"Cel","value":-3} "#).unwrap();
    assert_eq!(
        (batch.row(0).naming, batch.row(0).unit),
        (Naming::Sent, Some("Cel"))
    );
    let batch = read("json", r#"[{"value":1},{"topic":"a","value":true}]"#).unwrap();
    assert_eq!((batch.len(), batch.row(1).topic), (2, "a"));
}

#[test]
fn what_begins_like_an_observation_and_is_none_is_what_it_is() {
    let flat = read("json", r#"{"time":"2026-11-20T09:41:00Z","unit":3}"#).unwrap();
    assert_eq!((flat.row(0).topic, flat.row(1).topic), ("time", "unit"));
    let text = r#"{"unit":"m","value":7,"observations":[{"value":1},{"value":2}]}"#;
    let message = read("json", text).unwrap();
    assert_eq!((message.len(), message.row(0).unit), (2, None));
    let open = read("json", r#"{"unit":"m","value":7,"colour":{"value":1}}"#).unwrap();
    assert_eq!((open.len(), open.row(0).unit), (2, Some("m")));
    assert_eq!(open.row(1).topic, "colour/value");
    let error = read("json", r#"{"unit":"m","value":7,"lat":100}"#).unwrap_err();
    assert_eq!(error.at, 0, "{error}");
}

#[test]
fn unknown_members_are_ignored() {
    let text = r#"{"v":2,"observations":[
        {"x":{"y":[1,"z"]},"value":2,"unit":"km","x":1}]}"#;
    let batch = read("json", text).unwrap();
    assert_eq!(
        (batch.row(0).value, batch.row(0).unit),
        (Value::Number(2.0), Some("km"))
    );
}

#[test]
fn escapes_are_unescaped_and_lone_surrogates_refused() {
    let batch = read("json", r#"{"value":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#).unwrap();
    assert_eq!(batch.row(0).value, Value::Text("a\"\\/\u{8}\u{c}\n\r\té😀"));
    let error = read("json", r#"{"value":"\ud83dx"}"#).unwrap_err();
    assert_eq!(error.at, 10);
}

#[test]
fn numbers_are_written_short_and_read_exactly() {
    for (text, number) in [
        ("0", 0.0),
        ("-1", -1.0),
        ("21.5", 21.5),
        ("9007199254740991", 9_007_199_254_740_991.0),
        ("0.1", 0.1),
        ("5e-324", 5e-324),
        ("1.7976931348623157e308", f64::MAX),
        ("123456789012345680000", 123_456_789_012_345_680_000.0),
    ] {
        let batch = read("json", &format!("[{{\"value\":{text}}}]")).unwrap();
        assert_eq!(batch.value(0), Value::Number(number), "{text}");
        let again = read("json", &write("json", &batch)).unwrap();
        assert_eq!(again.value(0), Value::Number(number), "{text}");
    }
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let cases = [
        (
            r#"{"observations":[{"value":}]}"#,
            26,
            "expected a JSON value",
        ),
        (
            r#"{"observations":[{"unit":"m"}]}"#,
            17,
            "an observation needs a `value`",
        ),
        (
            r#"{"observations":[{"value":01}]}"#,
            26,
            "expected a number without leading zeros",
        ),
        (
            r#"{"observations":[{"value":1e999}]}"#,
            26,
            "expected a number that a double can hold",
        ),
        (
            r#"{"observations":[{"value":1,"time":"2026-13-01T00:00:00Z"}]}"#,
            41,
            "expected a month from 01 to 12",
        ),
        (
            r#"{"observations":[{"value":1,}]}"#,
            28,
            "expected something after the comma",
        ),
        (
            r#"{"observations":[{"value":1,"lat":91,"lon":0}]}"#,
            17,
            "a place needs both a latitude from -90 to 90 and a longitude from -180 to 180",
        ),
        (r#"{"value":1} x"#, 12, "expected the end of the message"),
        (r#"{"value":1"#, 10, "the message ends too early"),
        (r#"{"value":"a"#, 11, "the message ends too early"),
        (
            "12",
            0,
            "expected a message: a map or an array of observations",
        ),
    ];
    for (text, at, rule) in cases {
        let error = read("json", text).unwrap_err();
        assert_eq!(
            (error.at, error.to_string()),
            (at, format!("{rule} at byte {at}")),
            "{text}"
        );
    }
}

#[test]
fn an_offset_becomes_line_and_column() {
    let text = "{\n \"é\":1,\n \"b\":tru}";
    let error = read("json", text).unwrap_err();
    assert_eq!(error.position(text.as_bytes()), (3, 6));
}

#[test]
fn every_limit_has_its_error() {
    let limits = Limits {
        message_bytes: 200,
        observations: 2,
        depth: 3,
        text_bytes: 10,
    };
    let over = |text: &str| {
        let mut builder = BatchBuilder::new();
        let decode = by_name("json").unwrap().decode;
        match decode(text.as_bytes(), &mut builder, &limits)
            .unwrap_err()
            .fault
        {
            Fault::OverLimit { what, limit } => (what, limit),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(over(&" ".repeat(201)), ("bytes of a message", 200));
    assert_eq!(
        over(r#"[{"value":1},{"value":1},{"value":1}]"#),
        ("observations", 2)
    );
    assert_eq!(over(r#"[{"value":[[1]]}]"#), ("nesting", 3));
    assert_eq!(
        over(r#"[{"value":"12345678901"}]"#),
        ("bytes of a string", 10)
    );
    assert_eq!(
        over(r#"[{"value":"1234567890\n"}]"#),
        ("bytes of a string", 10)
    );
}

#[test]
fn plain_text_is_a_number_a_boolean_or_a_string() {
    let values = |text: &str| {
        let batch = read("plain", text).unwrap();
        batch
            .rows()
            .map(|row| format!("{:?}", row.value))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(values("21.5"), "Number(21.5)");
    assert_eq!(values(" +021.50\r\n"), "Number(21.5)");
    assert_eq!(values("true"), "Bool(true)");
    assert_eq!(values("open the door"), "Text(\"open the door\")");
    assert_eq!(values("\"21.5\""), "Text(\"21.5\")");
    assert_eq!(values("{not json}"), "Text(\"{not json}\")");
    assert_eq!(values("[1, 2]"), "Json(\"[1,2]\")");
    assert_eq!(values("\"NaN\""), "Text(\"NaN\")");
    assert_eq!(values("NaN"), "Null");
    assert_eq!(values("1\n2\n\nnull"), "Number(1.0) Number(2.0) Null");
    assert_eq!(values(""), "");
}

#[test]
fn csv_columns_stand_in_any_order() {
    let text = "time,value,spare,topic\n2026-11-20T09:41:00Z,21.5,x,a/b\n,\"open, wide\",,\n";
    let batch = read("csv", text).unwrap();
    assert_eq!(
        (batch.row(0).topic, batch.row(0).value),
        ("a/b", Value::Number(21.5))
    );
    assert_eq!(batch.row(1).value, Value::Text("open, wide"));
    assert_eq!(
        (batch.row(1).naming, batch.row(1).time),
        (Naming::Sent, None)
    );
}

#[test]
fn csv_errors_name_the_field() {
    let at = |text: &str| read("csv", text).unwrap_err().to_string();
    assert_eq!(at(""), "expected a header line at byte 0");
    assert_eq!(
        at("a,b\n1,2"),
        "expected a header line with a column `value` at byte 0"
    );
    assert_eq!(
        at("value,time\n1,noon"),
        "expected a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits at byte 13"
    );
    assert_eq!(
        at("value,time\n1"),
        "expected 2 fields as in the header, found 1 at byte 11"
    );
    assert_eq!(at("value\n\"a"), "the message ends too early at byte 8");
}

#[test]
fn csv_is_written_with_quotes_only_where_needed() {
    let batch = read(
        "json",
        r#"[{"topic":"a","value":"x,\"y\"","unit":"m"},{"value":1}]"#,
    )
    .unwrap();
    let expected =
        "topic,time,value,unit,type,sensor,lat,lon\r\na,,\"x,\"\"y\"\"\",m,,,,\r\n,,1,,,,,\r\n";
    assert_eq!(write("csv", &batch), expected);
}
