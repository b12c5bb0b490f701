//! No number is rounded in silence: integers of 64 bits that are no doubles come back to the last digit, from every
//! format that has such, and as a text from the one that has not.
#![allow(clippy::unwrap_used)]

use weir_codec::{FORMATS, Format, by_name};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Time, Value};

/// Integers of 64 bits that lie between two doubles.
const DIGITS: [&str; 6] = [
    "9007199254740993",
    "-9007199254740993",
    "1234567890123456789",
    "9223372036854775807",
    "-9223372036854775807",
    "18446744073709551615",
];

/// Doubles about as long, some of which are written in fewer digits than they have.
const DOUBLES: [f64; 7] = [
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    36_028_797_018_963_970.0,
    -9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    1.234_567_890_123_456_7e18,
    1e300,
];

fn of(value: Value<'_>, unit: Option<&str>) -> Batch {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, "a");
    unit.into_iter().for_each(|unit| builder.unit(unit));
    builder.value(value);
    builder.time(Time::from_nanos(1_795_167_660_250_000_001));
    builder.end().unwrap();
    builder.finish()
}

fn encoded(format: &Format, batch: &Batch) -> Vec<u8> {
    let mut bytes = Vec::new();
    (format.encode)(batch, &mut bytes);
    bytes
}

fn decoded(format: &Format, bytes: &[u8]) -> Batch {
    let mut builder = BatchBuilder::new();
    let read = (format.decode)(bytes, &mut builder, &Limits::default());
    assert_eq!(read, Ok(()), "{} {bytes:?}", format.name);
    builder.finish()
}

/// What is left of an integer that no double is equal to.
fn kept(format: &Format) -> &'static str {
    let become_of = |digits| {
        let through = |unit| decoded(format, &encoded(format, &of(Value::Json(digits), unit)));
        let [bare, with_unit] = [None, Some("Cel")].map(through);
        assert_eq!(bare.value(0), with_unit.value(0), "{}", format.name);
        match bare.value(0) {
            Value::Json(read) if read == digits => "as the integer it is",
            Value::Text(read) if read == digits => "as a text of its digits",
            other => panic!("{} {digits}: {other:?}", format.name),
        }
    };
    let [first, rest @ ..] = DIGITS.map(become_of);
    assert!(rest.iter().all(|one| *one == first), "{}", format.name);
    first
}

#[test]
fn doubles_stay_doubles_however_long() {
    for format in FORMATS {
        for number in DOUBLES {
            let batch = of(Value::Number(number), None);
            let read = decoded(format, &encoded(format, &batch));
            assert_eq!(read.value(0), Value::Number(number), "{}", format.name);
        }
    }
}

#[test]
fn integers_among_doubles_come_back_each_as_it_was() {
    for format in FORMATS.iter().filter(|format| format.carries.integers) {
        let mut builder = BatchBuilder::new();
        for value in [Value::Number(1.5), Value::Json(DIGITS[0]), Value::Null] {
            builder.push(&of(value, None).row(0)).unwrap();
        }
        let batch = builder.finish();
        let read = decoded(format, &encoded(format, &batch));
        let results = |batch: &Batch| {
            let rows = batch.rows().map(|row| row.value.to_string());
            rows.filter(|value| value != "null").collect::<Vec<_>>()
        };
        assert_eq!(results(&read), results(&batch), "{}", format.name);
    }
}

#[test]
fn what_others_write_is_read_to_the_last_digit() {
    let cbor = [b"\xa1\x61a\x1b".as_slice(), &u64::MAX.to_be_bytes()].concat();
    let negative = [
        b"\xa1\x61a\x3b".as_slice(),
        &9_007_199_254_740_992_u64.to_be_bytes(),
    ]
    .concat();
    let msgpack = [b"\x81\xa1a\xcf".as_slice(), &u64::MAX.to_be_bytes()].concat();
    let bson = [
        b"\x10\0\0\0\x12a\0".as_slice(),
        &i64::MAX.to_le_bytes(),
        b"\0",
    ];
    let ubjson = [b"{i\x01aL".as_slice(), &i64::MAX.to_be_bytes(), b"}"].concat();
    for (name, bytes, digits) in [
        ("json", b"{\"a\":9007199254740993}".as_slice(), DIGITS[0]),
        ("json", b"[{\"value\": -9007199254740993 }]", DIGITS[1]),
        ("plain", b"18446744073709551615", DIGITS[5]),
        ("plain", b"+0009007199254740993", DIGITS[0]),
        ("csv", b"topic,value\na,9007199254740993\n", DIGITS[0]),
        ("influx", b"m a=9007199254740993i", DIGITS[0]),
        ("influx", b"m a=18446744073709551615u", DIGITS[5]),
        ("influx", b"observation value=-9007199254740993i", DIGITS[1]),
        (
            "senml-json",
            br#"[{"n":"a","v":9007199254740993}]"#,
            DIGITS[0],
        ),
        (
            "senml-json",
            br#"[{"n":"a","bv":9007199254740992,"v":1}]"#,
            DIGITS[0],
        ),
        (
            "senml-json",
            br#"[{"n":"a","bv":9223372036854775806,"v":1}]"#,
            DIGITS[3],
        ),
        (
            "swe-text",
            b"2026-11-20T09:41:00Z,9007199254740993",
            DIGITS[0],
        ),
        (
            "xml",
            b"<observation><value>9007199254740993</value></observation>",
            DIGITS[0],
        ),
        (
            "turtle",
            b"[] a <http://www.w3.org/ns/sosa/Observation>; \
                <http://www.w3.org/ns/sosa/hasSimpleResult> 9007199254740993 .",
            DIGITS[0],
        ),
        ("cbor", &cbor, DIGITS[5]),
        ("cbor", &negative, DIGITS[1]),
        ("msgpack", &msgpack, DIGITS[5]),
        ("bson", &bson.concat(), DIGITS[3]),
        ("ubjson", &ubjson, DIGITS[3]),
    ] {
        let read = decoded(by_name(name).unwrap(), bytes);
        assert_eq!(read.value(0), Value::Json(digits), "{name} {bytes:?}");
    }
}

#[test]
fn what_says_that_it_is_a_double_is_the_nearest() {
    for (name, bytes) in [
        ("json", b"{\"a\":9007199254740993.0}".as_slice()),
        ("json", b"{\"a\":9007199254740993e0}"),
        ("influx", b"m a=9007199254740993"),
        ("senml-json", br#"[{"n":"a","v":9.007199254740993e15}]"#),
    ] {
        let read = decoded(by_name(name).unwrap(), bytes);
        assert_eq!(
            read.value(0),
            Value::Number(9_007_199_254_740_992.0),
            "{name}"
        );
    }
    // 64 bits hold no more.
    let read = decoded(
        by_name("json").unwrap(),
        b"[{\"value\":18446744073709551617}]",
    );
    assert_eq!(read.value(0), Value::Number(18_446_744_073_709_551_616.0));
}

#[test]
fn the_page_says_what_becomes_of_integers_and_times() {
    let page = include_str!("../../../docs/reference/numbers.md");
    for format in FORMATS {
        let line = format!(
            "| `{}` | {} | {} |\n",
            format.name,
            kept(format),
            times(format)
        );
        assert!(
            page.contains(&line),
            "docs/reference/numbers.md lacks: {line}"
        );
    }
}

/// The times that come back: to which step, and how far.
fn times(format: &Format) -> &'static str {
    if !format.carries.time {
        return "none";
    }
    for nanos in [i64::MIN + 1, -1, 1, 1_795_167_660_250_000_001, i64::MAX] {
        let mut builder = BatchBuilder::new();
        builder.begin();
        builder.topic(Naming::Topic, "a");
        builder.value(Value::Number(1.0));
        builder.time(Time::from_nanos(nanos));
        builder.end().unwrap();
        let read = decoded(format, &encoded(format, &builder.finish()));
        let time = read.time(0).map(Time::nanos);
        assert_eq!(time, Some(nanos), "{}", format.name);
    }
    "to the nanosecond"
}
