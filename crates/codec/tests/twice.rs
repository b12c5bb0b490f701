//! A name that stands twice where it may stand once: what is meant, nobody can tell.
#![allow(clippy::unwrap_used)]

use weir_codec::{by_name, read_forgiving};
use weir_model::{BatchBuilder, Limits, Value};

/// A format, a message, the name that stands there twice, the byte of the second, and what is taken where nobody can be
/// told.
type Twice = (
    &'static str,
    &'static [u8],
    &'static str,
    usize,
    &'static [f64],
);

const TWICE: &[Twice] = &[
    ("json", br#"{"value":1,"value":2}"#, "value", 19, &[2.0]),
    (
        "json",
        br#"{"value":1,"unit":"m","unit":"cm","x":5}"#,
        "unit",
        29,
        &[1.0, 5.0],
    ),
    (
        "json",
        br#"{"observations":[{"value":1,"value":2}]}"#,
        "value",
        36,
        &[2.0],
    ),
    (
        "json",
        br#"[{"value":1},{"value":1,"value":2}]"#,
        "value",
        32,
        &[1.0, 2.0],
    ),
    (
        "json",
        br#"{"observations":[{"value":1}],"observations":[{"value":2}]}"#,
        "observations",
        45,
        &[1.0, 2.0],
    ),
    ("json", br#"{"a":1,"a":2}"#, "a", 11, &[1.0, 2.0]),
    (
        "json",
        br#"{"a":{"b":1},"c":3,"a":{"b":2}}"#,
        "a/b",
        28,
        &[1.0, 3.0, 2.0],
    ),
    (
        "json",
        br#"{"value":1,"b":3,"b":4}"#,
        "b",
        21,
        &[1.0, 3.0, 4.0],
    ),
    (
        "senml-json",
        br#"[{"n":"a","v":1,"n":"b"}]"#,
        "n",
        20,
        &[1.0],
    ),
    ("senml-json", br#"[{"n":"a","v":1,"v":2}]"#, "v", 20, &[2.0]),
    (
        "senml-cbor",
        b"\x81\xa3\x00\x61a\x02\x01\x02\x02",
        "2",
        8,
        &[2.0],
    ),
    (
        "cbor",
        b"\xa2\x65value\x01\x65value\x02",
        "value",
        14,
        &[2.0],
    ),
    ("cbor", b"\xa2\x61a\x01\x61a\x02", "a", 6, &[1.0, 2.0]),
    (
        "msgpack",
        b"\x82\xa5value\x01\xa5value\x02",
        "value",
        14,
        &[2.0],
    ),
    (
        "ubjson",
        b"{U\x05valuei\x01U\x05valuei\x02}",
        "value",
        17,
        &[2.0],
    ),
    (
        "bson",
        b"\x1b\0\0\0\x10value\0\x01\0\0\0\x10value\0\x02\0\0\0\0",
        "value",
        22,
        &[2.0],
    ),
    (
        "xml",
        b"<observation><value>1</value><value>2</value></observation>",
        "value",
        29,
        &[2.0],
    ),
    ("csv", b"value,value\n1,2\n", "value", 6, &[2.0]),
];

/// A format, a message in whose tree a name stands twice, and the byte of the second; the tree is one result, or
/// parameters. Where a format has all results as text, what is no JSON is one.
const DEEP: &[(&str, &[u8], usize)] = &[
    ("json", br#"{"value":{"a":1,"a":2}}"#, 20),
    ("json", br#"{"value":{"b":[{"a":1,"\u0061":2}]}}"#, 31),
    ("json", br#"[{"value":1,"parameters":{"a":1,"a":2}}]"#, 36),
    ("json", br#"{"value":[1,{"b":{"a":1 , "a" : 2}}]}"#, 32),
    ("json", br#"{"sensor":["x",{"a":1,"a":2}]}"#, 26),
    ("cbor", b"\xa1\x65value\xa2\x61a\x01\x61a\x02", 13),
    (
        "cbor",
        b"\xa1\x65value\xa1\x61b\x81\xa2\x61a\x01\x61a\x02",
        17,
    ),
    ("msgpack", b"\x81\xa5value\x82\xa1a\x01\xa1a\x02", 13),
];

#[test]
fn a_name_twice_in_a_tree_is_refused_with_its_place() {
    for &(format, message, at) in DEEP {
        let decode = by_name(format).unwrap().decode;
        let refused = decode(message, &mut BatchBuilder::new(), &Limits::default());
        let said = refused.map_err(|error| error.to_string());
        let expected = format!("`a` stands there twice at byte {at}");
        assert_eq!(said, Err(expected), "{format} {}", message.escape_ascii());
    }
}

#[test]
fn a_tree_with_a_name_twice_is_left_out_and_noted() {
    let message = br#"{"value":1,"parameters":{"a":1,"a":2}}"#;
    let mut builder = BatchBuilder::new();
    let json = by_name("json").unwrap();
    read_forgiving(json, message, &mut builder, &Limits::default()).unwrap();
    let flaws: Vec<_> = builder
        .take_flaws()
        .iter()
        .map(|it| it.what.to_string())
        .collect();
    let expected = "`parameters` is left out: `a` stands there twice at byte 35";
    assert_eq!(flaws, [expected]);
    let batch = builder.finish();
    let rows: Vec<_> = batch
        .rows()
        .map(|row| (row.value, row.extra.parameters))
        .collect();
    assert_eq!(rows, [(Value::Number(1.0), None)]);
}

#[test]
fn a_name_twice_among_many_is_found() {
    let names: Vec<String> = (0..20_000)
        .map(|number| format!("\"n{number}\":0"))
        .collect();
    let tree = |again: &str| format!("{{\"value\":{{{}{again}}}}}", names.join(","));
    let decode = by_name("json").unwrap().decode;
    let limits = Limits::default();
    let read = |text: &str| decode(text.as_bytes(), &mut BatchBuilder::new(), &limits);
    assert_eq!(read(&tree("")), Ok(()));
    let refused = read(&tree(",\"n777\":1")).unwrap_err().to_string();
    assert!(
        refused.starts_with("`n777` stands there twice at byte "),
        "{refused}"
    );
}

#[test]
fn a_name_that_stands_there_twice_is_refused_with_its_place() {
    for &(format, message, name, at, _) in TWICE {
        let decode = by_name(format).unwrap().decode;
        let refused = decode(message, &mut BatchBuilder::new(), &Limits::default());
        let expected = format!("`{name}` stands there twice at byte {at}");
        let said = refused.map_err(|error| error.to_string());
        assert_eq!(said, Err(expected), "{format} {}", message.escape_ascii());
    }
}

#[test]
fn where_nobody_can_be_told_it_is_noted() {
    for &(format, message, name, _, taken) in TWICE {
        let mut builder = BatchBuilder::new();
        let format = by_name(format).unwrap();
        read_forgiving(format, message, &mut builder, &Limits::default()).unwrap();
        let [flaw] = &builder.take_flaws()[..] else {
            panic!("{} {}", format.name, message.escape_ascii());
        };
        assert_eq!(flaw.kind.word(), "member");
        assert!(
            flaw.what
                .starts_with(&format!("`{name}` stands there twice: "))
        );
        let batch = builder.finish();
        let values: Vec<_> = batch.rows().map(|row| row.value).collect();
        let expected: Vec<_> = taken.iter().map(|&number| Value::Number(number)).collect();
        assert_eq!(
            values,
            expected,
            "{} {}",
            format.name,
            message.escape_ascii()
        );
    }
}

#[test]
fn names_that_stand_once_in_each_message_are_in_order() {
    let json = by_name("json").unwrap();
    let mut builder = BatchBuilder::new();
    for _ in 0..2 {
        for message in [r#"{"a":1,"b":{"a":2}}"#, r#"[{"value":1},{"value":1}]"#] {
            let read = (json.decode)(message.as_bytes(), &mut builder, &Limits::default());
            assert_eq!(read, Ok(()), "{message}");
        }
    }
    assert_eq!(builder.len(), 8);
}
