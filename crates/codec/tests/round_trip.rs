//! Whatever a format says that it carries comes back equal.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weir_codec::carried::{carried, same};
use weir_codec::{FORMATS, Format};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Limits, Observation, Place, Time, Value};

#[derive(Clone, Debug)]
enum Result_ {
    Number(f64),
    Bool(bool),
    Text(String),
    Null,
    Json(String),
}

#[derive(Clone, Debug)]
struct Row {
    topic: String,
    names: [Option<String>; 3],
    value: Result_,
    time: Option<Time>,
    place: Option<Place>,
    times: [Option<Time>; 2],
    valid: Option<(Time, Time)>,
    texts: [Option<String>; 2],
    parameters: Option<String>,
}

impl Row {
    fn view(&self) -> Observation<'_> {
        Observation {
            naming: Naming::Topic,
            topic: &self.topic,
            sensor: self.names[0].as_deref(),
            property: self.names[1].as_deref(),
            unit: self.names[2].as_deref(),
            description: 0,
            value: match &self.value {
                Result_::Number(number) => Value::Number(*number),
                Result_::Bool(truth) => Value::Bool(*truth),
                Result_::Text(text) => Value::Text(text),
                Result_::Null => Value::Null,
                Result_::Json(json) => Value::Json(json),
            },
            time: self.time,
            place: self.place,
            extra: Extra {
                end: self.times[0],
                result_time: self.times[1],
                valid: self.valid,
                quality: self.texts[0].as_deref(),
                feature: self.texts[1].as_deref(),
                parameters: self.parameters.as_deref(),
            },
        }
    }
}

fn batch<'a>(rows: impl Iterator<Item = Observation<'a>>) -> Batch {
    let mut builder = BatchBuilder::new();
    rows.for_each(|row| builder.push(&row).unwrap());
    builder.finish()
}

fn json_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        (-1_000_000_i32..1_000_000).prop_map(|cents| f64::from(cents) / 100.0),
        any::<i32>().prop_map(f64::from),
        Just(-0.0),
    ]
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1_000_000_i32..1_000_000).prop_map(Value::from),
        json_number().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn tree() -> impl Strategy<Value = String> {
    let only = |value: &serde_json::Value| value.is_array() || value.is_object();
    json()
        .prop_filter("a tree", only)
        .prop_map(|value| value.to_string())
}

/// From 1980, since SenML reads less than 2^28 seconds as relative (RFC 8428 section 4.5.3).
fn time() -> impl Strategy<Value = Time> {
    let range = 315_532_800_000_i64..9_000_000_000_000;
    prop_oneof![
        range.clone().prop_map(Time::from_millis),
        (range, 0_i64..1_000_000)
            .prop_map(|(millis, nanos)| Time::from_millis(millis).plus_nanos(nanos)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(String::from("21.5")),
        Just(String::from("true")),
        Just(String::from("")),
        Just(String::from(" a,\"b\"\r\n<&>]]>")),
        "[a-z]{1,12}",
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[^\\pC\\pZ](\\PC{0,20}[^\\pC\\pZ])?"
}

fn result() -> impl Strategy<Value = Result_> {
    prop_oneof![
        4 => json_number().prop_map(Result_::Number),
        1 => any::<bool>().prop_map(Result_::Bool),
        2 => text().prop_map(Result_::Text),
        1 => Just(Result_::Null),
        1 => tree().prop_map(Result_::Json),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    let degrees = |most: f64| prop_oneof![9 => -most..=most, 1 => Just(0.0), 1 => Just(-0.0)];
    (degrees(90.0), degrees(180.0)).prop_map(|(latitude, longitude)| Place {
        latitude,
        longitude,
    })
}

fn parameters() -> impl Strategy<Value = String> {
    json().prop_map(|value| serde_json::json!({ "p": value }).to_string())
}

fn row() -> impl Strategy<Value = Row> {
    use prop::option::{of, weighted};
    let bag = (
        [weighted(0.2, time()), weighted(0.2, time())],
        weighted(0.2, (time(), time())),
        [weighted(0.2, name()), weighted(0.2, name())],
        weighted(0.2, parameters()),
    );
    let topic = "[a-z][a-z0-9/ .:é-]{0,20}[a-z]";
    (
        topic,
        [of(name()), of(name()), of(name())],
        result(),
        of(time()),
        of(place()),
        bag,
    )
        .prop_map(
            |(topic, names, value, time, place, (times, valid, texts, parameters))| Row {
                topic,
                names,
                value,
                time,
                place,
                times,
                valid,
                texts,
                parameters,
            },
        )
}

fn decode(format: &Format, bytes: &[u8]) -> Batch {
    let mut builder = BatchBuilder::new();
    let decoded = (format.decode)(bytes, &mut builder, &Limits::default());
    if let Err(error) = decoded {
        panic!(
            "{}: {error}: {}",
            format.name,
            String::from_utf8_lossy(bytes)
        );
    }
    builder.finish()
}

fn decode_in_pieces(format: &Format, bytes: &[u8], size: usize) -> Batch {
    let mut builder = BatchBuilder::new();
    let mut reader = format.reader(&Limits::default());
    for piece in bytes.chunks(size) {
        reader.push(piece, &mut builder).unwrap();
    }
    reader.finish(&mut builder).unwrap();
    builder.finish()
}

fn check(format: &Format, rows: &[Row], piece: usize) -> Result<(), TestCaseError> {
    let carries = &format.carries;
    let sent = carried(&batch(rows.iter().map(Row::view)), carries);
    let mut bytes = Vec::new();
    (format.encode)(&sent, &mut bytes);
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    let as_sent = |read: &Batch, how| {
        let equal = same(read, &sent, carries);
        prop_assert!(equal, "{}{how}: {shown}\n{read:?}\n{sent:?}", format.name);
        Ok(())
    };
    as_sent(&decode(format, &bytes), "")?;
    as_sent(&decode_in_pieces(format, &bytes, piece), " in pieces")?;
    prop_assert!(
        !format.one_line || !bytes.contains(&b'\n'),
        "{} on one line",
        format.name
    );
    prop_assert!(!format.text || core::str::from_utf8(&bytes).is_ok());
    Ok(())
}

/// A byte order mark stands before a message, not before each of its lines.
#[test]
fn a_byte_order_mark_stands_before_the_message_alone() {
    let mark = "\u{feff}";
    let texts = [
        ("plain", format!("{mark}1\n2\n")),
        ("plain", format!("\n\n{mark}\u{1}x\n")),
        ("plain", "1\n2\0\0".into()),
        ("csv", format!("{mark}topic,value\na,1\n{mark}b,2\n")),
        ("influx", format!("{mark}# a b=\"\n{mark}a v=1\nb v=2\n")),
    ];
    for (name, text) in texts {
        let format = weir_codec::by_name(name).unwrap();
        let whole = decode(format, text.as_bytes());
        assert!(!whole.is_empty(), "{text:?}");
        for size in 1..=text.len() {
            let pieces = decode_in_pieces(format, text.as_bytes(), size);
            assert!(same(&pieces, &whole, &format.carries), "{text:?}: {size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn every_format_gives_back_what_it_carries(
        rows in prop::collection::vec(row(), 0..8),
        piece in 1_usize..64,
    ) {
        for format in FORMATS {
            check(format, &rows, piece)?;
        }
    }
}

#[test]
fn what_a_format_does_not_carry_is_lost_and_nothing_else() {
    let time = Time::from_millis(1_795_167_660_250);
    let full = Row {
        topic: "a/b".into(),
        names: [
            Some("urn:s".into()),
            Some("temperature".into()),
            Some("Cel".into()),
        ],
        value: Result_::Number(21.5),
        time: Some(time),
        place: Some(Place {
            latitude: 44.5,
            longitude: 20.25,
        }),
        times: [Some(time.plus_nanos(1)), Some(time.plus_nanos(1_000_000))],
        valid: Some((time, time)),
        texts: [Some("good".into()), Some("urn:f".into())],
        parameters: Some(r#"{"k":[1]}"#.into()),
    };
    for format in FORMATS {
        let carries = &format.carries;
        let mut bytes = Vec::new();
        (format.encode)(&batch([full.view()].into_iter()), &mut bytes);
        let expected = carried(&batch([full.view()].into_iter()), carries);
        let read = decode(format, &bytes);
        assert!(same(&read, &expected, carries), "{}: {read:?}", format.name);
    }
}

/// One observation with this JSON as its result.
fn of_json(json: &str) -> Batch {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, "a");
    builder.value(Value::Json(json));
    builder.end().unwrap();
    builder.finish()
}

fn through(format: &Format, batch: &Batch) -> Batch {
    let mut bytes = Vec::new();
    (format.encode)(batch, &mut bytes);
    decode(format, &bytes)
}

#[test]
fn integers_within_json_come_back_to_the_last_digit() {
    let json = "[9007199254740993,-9223372036854775808,18446744073709551615,1e2,-0.0,0.1]";
    let exact = "[9007199254740993,-9223372036854775808,18446744073709551615,100,-0,0.1]";
    for name in ["cbor", "msgpack", "bson", "ubjson"] {
        let read = through(weir_codec::by_name(name).unwrap(), &of_json(json));
        assert_eq!(read.value(0), Value::Json(exact), "{name}");
    }
    // What has integers of 29 bits gives the text of the digits, and says so.
    let amf3 = weir_codec::by_name("amf3").unwrap();
    let read = through(amf3, &of_json("[9007199254740993]"));
    assert_eq!(read.value(0), Value::Json(r#"["9007199254740993"]"#));
    assert!(amf3.carries.left_out().any(|(name, _)| name == "integers"));
}

#[test]
fn json_written_otherwise_is_equal_in_every_format() {
    let odd = of_json(r#"{"\u00e9":"\u00e9\/","a":[1.0,1e2,-0.0,100e-2,18446744073709551615]}"#);
    for format in FORMATS.iter().filter(|format| format.name != "amf3") {
        let trip = weir_codec::round_trip(format, &odd).unwrap();
        assert!(trip.equal, "{}", format.name);
    }
}

#[test]
fn what_a_round_trip_lost_is_what_the_message_had() {
    let trip = |name: &str, text: &str| {
        let mut builder = BatchBuilder::new();
        let json = weir_codec::by_name("json").unwrap();
        (json.decode)(text.as_bytes(), &mut builder, &Limits::default()).unwrap();
        let format = weir_codec::by_name(name).unwrap();
        let trip = weir_codec::round_trip(format, &builder.finish()).unwrap();
        assert!(trip.equal, "{name} {text}");
        trip.lost.join(" ")
    };
    for (name, text, lost) in [
        ("plain", r#"[{"value":1}]"#, ""),
        (
            "plain",
            r#"[{"value":1,"unit":"m","topic":"a"}]"#,
            "topic unit",
        ),
        (
            "senml-json",
            r#"[{"value":null},{"value":[1],"quality":"good"}]"#,
            "null JSON extra",
        ),
        (
            "om1",
            r#"[{"topic":"a","value":1},{"topic":"b","value":1}]"#,
            "",
        ),
        (
            "om1",
            r#"[{"topic":"a","value":1},{"topic":"b","value":1},{"topic":"a","value":2}]"#,
            "order",
        ),
        ("cbor", r#"[{"value":[0.1]}]"#, ""),
        ("cbor", r#"[{"value":[0.12345678901234567890]}]"#, "digits"),
        ("json", r#"[{"value":[0.12345678901234567890]}]"#, ""),
        ("amf3", r#"[{"value":[9007199254740993]}]"#, "integers"),
        ("amf3", r#"[{"value":[536870912]}]"#, ""),
        ("bson", r#"[{"value":{"a\u0000b":1}}]"#, "NUL"),
        ("exi-s", r#"[{"value":1,"lat":0,"lon":-0.0}]"#, "-0"),
        ("exi", r#"[{"value":1,"lat":0,"lon":-0.0}]"#, ""),
        ("exi-s", r#"[{"value":-0.0}]"#, ""),
        (
            "gwt",
            r#"[{"value":1,"lat":0,"lon":0},{"value":1,"lat":0,"lon":-0.0}]"#,
            "",
        ),
    ] {
        assert_eq!(trip(name, text), lost, "{name} {text}");
    }
}
