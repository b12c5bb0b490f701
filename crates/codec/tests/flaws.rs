//! What devices really send: what is there is taken, and what is odd is noted.
#![allow(clippy::unwrap_used)]

use weir_codec::{by_name, read_forgiving, sniff, unreadable};
use weir_model::{BatchBuilder, Flaw, FlawKind, Limits, Time};

const ARRIVAL: Time = Time::from_nanos(1_000_000_000);

/// The observations of a message at `x` as `TOPIC VALUE`, with what differs from the usual, and what was noted.
struct Seen {
    rows: Vec<String>,
    flaws: Vec<Flaw>,
}

impl Seen {
    fn of(mut builder: BatchBuilder) -> Self {
        builder.complete("x", ARRIVAL).unwrap();
        let flaws = builder.take_flaws();
        let batch = builder.finish();
        let row = |row: weir_model::Observation<'_>| {
            let mut text = format!("{} {:?}", row.topic, row.value);
            if let Some(time) = row.time.filter(|time| *time != ARRIVAL) {
                text += &format!(" at {time}");
            }
            let unit = row.unit.map(|unit| format!(" in {unit}"));
            let place = row
                .place
                .map(|at| format!(" on {} {}", at.latitude, at.longitude));
            let quality = row.extra.quality.map(|quality| format!(" as {quality}"));
            text + &[unit, place, quality]
                .map(Option::unwrap_or_default)
                .concat()
        };
        let rows = batch.rows().map(row).collect();
        Self { rows, flaws }
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.flaws.iter().map(|flaw| flaw.kind.word()).collect()
    }
}

/// A message of which nobody said what it is.
fn undeclared(payload: &[u8]) -> Seen {
    let mut builder = BatchBuilder::new();
    let format = sniff(payload, &mut builder, &Limits::default());
    assert!(format.is_some(), "{}", payload.escape_ascii());
    Seen::of(builder)
}

fn declared(format: &str, payload: &[u8]) -> Result<Seen, weir_codec::DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name(format).unwrap().decode)(payload, &mut builder, &Limits::default())?;
    Ok(Seen::of(builder))
}

#[test]
fn a_number_that_is_none_is_null_with_its_reason() {
    for (payload, rows) in [
        (r#"{"a":NaN,"b":2}"#, ["x/a Null as NaN", "x/b Number(2.0)"]),
        (
            r#"{"a":-Infinity,"b":2}"#,
            ["x/a Null as -Infinity", "x/b Number(2.0)"],
        ),
        (
            r#"{"b":Infinity,"a": 1}"#,
            ["x/b Null as Infinity", "x/a Number(1.0)"],
        ),
        (
            r#"{"a":nan,"b":-nan}"#,
            ["x/a Null as NaN", "x/b Null as NaN"],
        ),
        (
            r#"{"a":inf,"b":null}"#,
            ["x/a Null as Infinity", "x/b Null"],
        ),
    ] {
        for seen in [
            undeclared(payload.as_bytes()),
            declared("json", payload.as_bytes()).unwrap(),
        ] {
            assert_eq!(seen.rows, rows, "{payload}");
            assert!(
                seen.flaws
                    .iter()
                    .all(|flaw| flaw.kind == FlawKind::NotFinite),
                "{payload}"
            );
            assert!(["a", "b"].contains(&&*seen.flaws[0].below), "{payload}");
        }
    }
    for odd in [
        r#"{"a":Nan}"#,
        r#"{"a":1.NaN}"#,
        r#"{"a":- NaN}"#,
        r#"{"a":nul}"#,
        r#"{"a":--inf}"#,
    ] {
        assert!(declared("json", odd.as_bytes()).is_err(), "{odd}");
    }
}

#[test]
fn within_arrays_and_maps_no_number_is_null_and_the_rest_json() {
    let seen = undeclared(br#"{"value":{"a": [1,NaN, "NaN"],"b":-Infinity}}"#);
    assert_eq!(
        seen.rows,
        [r#"x Json("{\"a\":[1,null,\"NaN\"],\"b\":null}")"#]
    );
    assert_eq!(seen.kinds(), ["not-finite"]);
    let seen = undeclared(br#"{"value":["NaN\\",null,"-Infinity"]}"#);
    assert_eq!(seen.kinds(), [""; 0]);
    assert_eq!(seen.rows, [r#"x Json("[\"NaN\\\\\",null,\"-Infinity\"]")"#]);
}

#[test]
fn every_format_has_null_for_a_number_that_is_none() {
    let cbor = b"\xa2\x61a\xf9\x7e\x00\x61b\x02";
    let msgpack = b"\x82\xa1a\xcb\xff\xf0\0\0\0\0\0\0\xa1b\x02";
    let xml = "<observations><observation><value>INF</value></observation>\
               <observation><value>2</value></observation></observations>";
    for (format, payload, reason) in [
        ("cbor", &cbor[..], "NaN"),
        ("msgpack", msgpack, "-Infinity"),
        ("plain", b"nan\n2", "NaN"),
        ("csv", b"time,value\n,NaN\n,2\n", "NaN"),
        (
            "senml-json",
            br#"[{"n":"a","v":NaN},{"n":"b","v":2}]"#,
            "NaN",
        ),
        ("influx", b"m a=-inf,b=2", "-Infinity"),
        ("xml", xml.as_bytes(), "Infinity"),
    ] {
        let seen = declared(format, payload).unwrap();
        assert!(
            seen.rows[0].ends_with(&format!("Null as {reason}")),
            "{format} {:?}",
            seen.rows
        );
        assert!(
            seen.rows[1].ends_with("Number(2.0)"),
            "{format} {:?}",
            seen.rows
        );
        assert_eq!(seen.kinds(), ["not-finite"], "{format}");
    }
    let mut quoted = Vec::new();
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.value(weir_model::Value::Text("NaN"));
    builder.end().unwrap();
    (by_name("plain").unwrap().encode)(&builder.finish(), &mut quoted);
    assert_eq!(quoted, b"\"NaN\"");
}

#[test]
fn a_byte_order_mark_is_no_text_and_errors_count_it() {
    let sample = weir_codec::sample::message(1, 0);
    for format in weir_codec::FORMATS
        .iter()
        .filter(|format| format.text && format.name != "pbf-string")
    {
        let mut payload = Vec::new();
        (format.encode)(&sample, &mut payload);
        let rows = |payload: &[u8]| {
            let mut builder = BatchBuilder::new();
            let read = (format.decode)(payload, &mut builder, &Limits::default());
            read.map(|()| builder.finish())
        };
        let without = rows(&payload);
        let with = rows(&[b"\xef\xbb\xbf", &payload[..]].concat());
        assert_eq!(with, without, "{}", format.name);
    }
    assert_eq!(
        undeclared(b"\xef\xbb\xbf{\"a\":1}").rows,
        ["x/a Number(1.0)"]
    );
    assert_eq!(undeclared(b"\xef\xbb\xbf21.5").rows, ["x Number(21.5)"]);
    assert_eq!(
        declared("json", b"\xef\xbb\xbf{\"a\":}").err().unwrap().at,
        8
    );
}

#[test]
fn a_text_may_count_the_end_of_its_string_in() {
    assert_eq!(undeclared(b"21.5\0").rows, ["x Number(21.5)"]);
    assert_eq!(undeclared(b"{\"a\":1}\0\0").rows, ["x/a Number(1.0)"]);
    assert_eq!(undeclared(b"open\0").rows, [r#"x Text("open")"#]);
    let mut nothing = BatchBuilder::new();
    assert!(sniff(b"\0", &mut nothing, &Limits::default()).is_none());
    assert!(sniff(b"a\0b", &mut nothing, &Limits::default()).is_none());
}

#[test]
fn members_beside_a_value_are_datastreams_below_it() {
    let seen = undeclared(br#"{"value":1,"battery":80}"#);
    assert_eq!(seen.rows, ["x Number(1.0)", "x/battery Number(80.0)"]);
    let seen = undeclared(
        br#"{"rssi":{"a":-70},"time":"2026-01-01T00:00:00Z","value":1,"unit":"m","ok":true}"#,
    );
    let rows = [
        "x Number(1.0) at 2026-01-01T00:00:00Z in m",
        "x/rssi/a Number(-70.0) at 2026-01-01T00:00:00Z",
        "x/ok Bool(true) at 2026-01-01T00:00:00Z",
    ];
    assert_eq!(seen.rows, rows);
    assert!(seen.flaws.is_empty());
}

#[test]
fn what_no_observation_of_a_list_has_is_noted_once() {
    let list = br#"{"observations":[{"value":1,"id":5},{"value":2,"id":6}],"version":3}"#;
    let seen = declared("json", list).unwrap();
    assert_eq!((seen.rows.len(), seen.kinds().len()), (2, 2));
    assert!(seen.flaws[0].what.contains("`id`") && seen.flaws[1].what.contains("`version`"));
}

#[test]
fn a_time_may_be_seconds_or_milliseconds_since_1970() {
    let time = "2025-11-29T09:20:00";
    for (number, expected) in [
        ("1764408000", format!("{time}Z")),
        ("1764408000.250", format!("{time}.250Z")),
        ("1764408000250", format!("{time}.250Z")),
        ("1764408000250000", format!("{time}.250Z")),
        ("1764408000250000001", format!("{time}.250000001Z")),
        ("1.764408e9", format!("{time}Z")),
    ] {
        let payload = format!(r#"{{"value":21.5,"time":{number}}}"#);
        let seen = declared("json", payload.as_bytes()).unwrap();
        assert_eq!(
            seen.rows,
            [format!("x Number(21.5) at {expected}")],
            "{number}"
        );
        assert!(seen.flaws.is_empty());
    }
    for uptime in ["12345", "0", "99999999999999999999"] {
        let payload = format!(r#"{{"value":21.5,"time":{uptime}}}"#);
        assert!(declared("json", payload.as_bytes()).is_err());
        let seen = undeclared(payload.as_bytes());
        assert_eq!(
            (&*seen.rows, seen.kinds()),
            (&["x Number(21.5)".to_owned()][..], vec!["time"])
        );
    }
}

#[test]
fn a_time_may_be_a_number_in_every_tree() {
    let seconds = 1_764_408_000_u32.to_be_bytes();
    let half = 1_764_408_000.5_f64.to_be_bytes();
    let millis = 1_764_408_000_500_i64.to_le_bytes();
    let (whole, halved) = ("2025-11-29T09:20:00Z", "2025-11-29T09:20:00.500Z");
    for (format, payload, expected) in [
        (
            "cbor",
            [&b"\xa2\x65value\x07\x64time\x1a"[..], &seconds].concat(),
            whole,
        ),
        (
            "cbor",
            [&b"\xa2\x65value\x07\x64time\xfb"[..], &half].concat(),
            halved,
        ),
        (
            "msgpack",
            [&b"\x82\xa5value\x07\xa4time\xce"[..], &seconds].concat(),
            whole,
        ),
        (
            "ubjson",
            [&b"{U\x05valueU\x07U\x04timeD"[..], &half, b"}"].concat(),
            halved,
        ),
        (
            "bson",
            [
                &b"\x1e\0\0\0\x10value\0\x07\0\0\0\x12time\0"[..],
                &millis,
                b"\0",
            ]
            .concat(),
            halved,
        ),
        (
            "amf3",
            [
                &b"\x0a\x0b\x01\x0bvalue\x04\x07\x09time\x05"[..],
                &half,
                b"\x01",
            ]
            .concat(),
            halved,
        ),
    ] {
        let seen = declared(format, &payload).unwrap();
        assert_eq!(
            seen.rows,
            [format!("x Number(7.0) at {expected}")],
            "{format}"
        );
    }
    let uptime = [&b"\xa2\x65value\x07\x64time"[..], b"\x19\x30\x39"].concat();
    assert!(declared("cbor", &uptime).is_err());
}

#[test]
fn what_a_format_has_no_place_for_is_passed_over_and_noted() {
    for (format, payload, name) in [
        (
            "csv",
            "timestamp,value\n2026-01-01T00:00:00Z,1\n",
            "timestamp",
        ),
        ("influx", "observation,host=a value=1", "host"),
        ("influx", "observation value=1,battery=80i", "battery"),
        ("senml-json", r#"[{"n":"","v":1,"rssi":-70}]"#, "rssi"),
        (
            "xml",
            "<observation><value>1</value><colour>red</colour></observation>",
            "colour",
        ),
        (
            "xml",
            r#"<observation><value unit="m">1</value></observation>"#,
            "unit",
        ),
        (
            "xml",
            r#"<observation quality="bad"><value>1</value></observation>"#,
            "quality",
        ),
    ] {
        let seen = declared(format, payload.as_bytes()).unwrap();
        assert_eq!(seen.rows, ["x Number(1.0)"], "{format}");
        assert_eq!(seen.kinds(), ["unknown-member"], "{format}");
        assert!(
            seen.flaws[0].what.starts_with(&format!("`{name}`")),
            "{:?}",
            seen.flaws
        );
    }
}

#[test]
fn an_odd_member_of_an_undeclared_message_costs_itself() {
    for (payload, row, kind) in [
        (r#"{"value":1,"unit":5}"#, "x Number(1.0)", "member"),
        (r#"{"unit":{"a":1},"value":1}"#, "x Number(1.0)", "member"),
        (
            r#"{"value":1,"lat":"52.1","lon":8}"#,
            "x Number(1.0) on 52.1 8",
            "member",
        ),
        (
            r#"{"value":1,"lat":"north","lon":8}"#,
            "x Number(1.0)",
            "member",
        ),
        (r#"{"value":1,"lat":99,"lon":8}"#, "x Number(1.0)", "member"),
        (
            r#"{"value":1,"quality":100}"#,
            "x Number(1.0) as 100",
            "member",
        ),
        (
            r#"{"value":1,"quality":false}"#,
            "x Number(1.0) as false",
            "member",
        ),
        (r#"{"value":1,"time":"yesterday"}"#, "x Number(1.0)", "time"),
        (r#"{"value":1,"time":[2026,1,1]}"#, "x Number(1.0)", "time"),
        (r#"{"value":1,"sensor":7}"#, "x Number(1.0)", "member"),
        (
            r#"{"value":1,"parameters":"no map"}"#,
            "x Number(1.0)",
            "member",
        ),
        (
            r#"[{"value":1},{"unit":"m"}]"#,
            "x Number(1.0)",
            "observation",
        ),
        (
            r#"{"observations":[{"time":5},{"value":1}]}"#,
            "x Number(1.0)",
            "time",
        ),
    ] {
        assert!(declared("json", payload.as_bytes()).is_err(), "{payload}");
        let seen = undeclared(payload.as_bytes());
        assert_eq!(seen.rows, [row], "{payload}");
        assert_eq!(seen.kinds()[0], kind, "{payload} {:?}", seen.flaws);
    }
}

#[test]
fn a_few_numbers_in_an_array_are_an_observation_each() {
    let seen = undeclared(br#"{"Power":[12,34],"On":[true,null],"E":{"Total":[1.5]}}"#);
    let rows = [
        "x/Power/0 Number(12.0)",
        "x/Power/1 Number(34.0)",
        "x/On/0 Bool(true)",
        "x/On/1 Null",
        "x/E/Total/0 Number(1.5)",
    ];
    assert_eq!(seen.rows, rows);
    let seen = undeclared(br#"{"a":["x",1],"b":[],"c":[[1]],"d":[{"e":1}]}"#);
    assert_eq!(seen.rows.len(), 4);
    let seen = undeclared(br#"{"a":null,"d":{},"e":{"f":{}}}"#);
    assert_eq!(
        seen.rows,
        ["x/a Null", "x/d Json(\"{}\")", "x/e/f Json(\"{}\")"]
    );
    let long = format!(r#"{{"fft":[{}]}}"#, vec!["1"; 17].join(","));
    assert!(undeclared(long.as_bytes()).rows[0].starts_with("x/fft Json"));
    assert!(undeclared(b"[1,2]").rows[0].starts_with("x Json"));
    assert!(undeclared(br#"{"value":[1,2]}"#).rows[0].starts_with("x Json"));
}

#[test]
fn json_in_latin_1_is_read_as_that_and_noted() {
    let seen = undeclared(b"{\"value\":1,\"unit\":\"\xb0C\"}");
    assert_eq!(
        (&*seen.rows, seen.kinds()),
        (&["x Number(1.0) in \u{b0}C".to_owned()][..], vec!["text"])
    );
    assert!(declared("json", b"{\"a\":\"\xb0\"}").is_err());
}

#[test]
fn a_name_that_can_be_no_level_is_escaped_or_left_out() {
    let seen = declared("json", br##"{"pm2.5+":3,"t":1,"a":{"#":2}}"##).unwrap();
    assert_eq!(
        seen.rows,
        [
            "x/pm2.5%2B Number(3.0)",
            "x/t Number(1.0)",
            "x/a/%23 Number(2.0)"
        ]
    );
    assert_eq!(seen.kinds(), ["name", "name"]);
    let long = format!(r#"{{"{}":1,"t":2}}"#, "n".repeat(2000));
    assert!(declared("json", long.as_bytes()).is_err());
    let seen = undeclared(long.as_bytes());
    assert_eq!(
        (&*seen.rows, seen.kinds()),
        (&["x/t Number(2.0)".to_owned()][..], vec!["name"])
    );
}

#[test]
fn what_is_no_json_at_all_is_refused_with_the_first_error() {
    let json = by_name("json").unwrap();
    for payload in [&b"{\"a\":1"[..], b"{\"a\":1,}", b"{a:1}", b"{}", b"[[1]]"] {
        let mut builder = BatchBuilder::new();
        let strict = (json.decode)(payload, &mut BatchBuilder::new(), &Limits::default());
        let read = read_forgiving(json, payload, &mut builder, &Limits::default());
        assert_eq!(read, strict);
        assert!(builder.is_empty() && builder.take_flaws().is_empty());
    }
}

#[test]
fn of_what_is_none_of_the_formats_it_is_said_what_it_looks_like() {
    for (payload, kind) in [
        (&b"21.5 \xb0C"[..], FlawKind::Text),
        (b"<a>1</a>", FlawKind::Text),
        (b"a\nb", FlawKind::Text),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", FlawKind::Bytes),
        (b"\0\x01", FlawKind::Bytes),
        (b"a\0b", FlawKind::Bytes),
        (b"\xff", FlawKind::Bytes),
    ] {
        assert_eq!(unreadable(payload).kind, kind, "{}", payload.escape_ascii());
    }
}
