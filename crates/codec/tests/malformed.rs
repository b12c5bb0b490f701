//! Whatever bytes arrive, a decoder answers, within its limits, and never panics.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weir_codec::{FORMATS, Fault, Format, sample};
use weir_model::{Batch, BatchBuilder, Limits, Value};

const LIMITS: Limits = Limits {
    message_bytes: 4096,
    observations: 40,
    depth: 8,
    text_bytes: 256,
};

fn encoded(format: &Format, batch: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    (format.encode)(batch, &mut out);
    out
}

fn mixed() -> Batch {
    let text = r#"{"observations":[
        {"topic":"a/b","sensor":"urn:x","type":"t","value":-21.5,"unit":"Cel",
         "time":"2026-11-20T09:41:00.123456789Z","lat":44.5,"lon":20},
        {"topic":"a/c","value":"q\"uote, <&> é\n😀","time":"2026-11-20T09:41:00Z"},
        {"topic":"a/c","value":true},{"topic":"a","value":null},
        {"topic":"a","value":[1,{"b":[null,"x"]}]},
        {"topic":"a","value":1e-7,"end":"2026-11-20T09:42:00Z",
         "resultTime":"2026-11-20T09:42:00.5Z","quality":"good","feature":"urn:f",
         "validTime":["2026-11-20T00:00:00Z","2026-11-21T00:00:00Z"],
         "parameters":{"k":[1,"2"]}}]}"#;
    let mut builder = BatchBuilder::new();
    let json = weir_codec::by_name("json").unwrap();
    (json.decode)(text.as_bytes(), &mut builder, &Limits::default()).unwrap();
    builder.finish()
}

/// Decodes; an error must lie within the message, and what was read within the limits.
fn survive(format: &Format, bytes: &[u8]) {
    let mut builder = BatchBuilder::new();
    if let Err(error) = (format.decode)(bytes, &mut builder, &LIMITS) {
        assert!(
            error.at <= bytes.len(),
            "{} {error} in {} bytes",
            format.name,
            bytes.len()
        );
        assert!(!error.to_string().is_empty());
    }
    assert!(builder.len() <= LIMITS.observations);
    for row in builder.batch().rows() {
        if let Value::Text(text) | Value::Json(text) = row.value {
            // Bytes are shown in base64, a third longer.
            assert!(text.len() <= LIMITS.text_bytes * 2, "{}", format.name);
        }
    }
    let mut reader = format.reader(&LIMITS);
    let mut builder = BatchBuilder::new();
    let pushed = bytes
        .chunks(7)
        .try_for_each(|piece| reader.push(piece, &mut builder));
    let _either_way = pushed.and_then(|()| reader.finish(&mut builder));
}

#[test]
fn a_message_cut_anywhere_is_survived() {
    for format in FORMATS {
        for batch in [mixed(), sample::message(1, 0)] {
            let bytes = encoded(format, &batch);
            (0..bytes.len()).for_each(|end| survive(format, &bytes[..end]));
        }
    }
}

#[test]
fn a_message_with_any_bit_turned_is_survived() {
    for format in FORMATS {
        let mut bytes = encoded(format, &mixed());
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            survive(format, &bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_cut_message_of_a_closed_format_is_refused() {
    for name in [
        "json",
        "senml-json",
        "senml-cbor",
        "cbor",
        "msgpack",
        "bson",
        "ubjson",
        "amf3",
        "gwt",
        "xml",
        "om",
        "om1",
        "soap",
        "jsonld",
    ] {
        let format = weir_codec::by_name(name).unwrap();
        let bytes = encoded(format, &sample::message(1, 0));
        for end in 0..bytes.len() {
            let mut builder = BatchBuilder::new();
            let read = (format.decode)(&bytes[..end], &mut builder, &Limits::default());
            let error = read.unwrap_err();
            assert!(error.at <= end, "{name} cut at {end}: {error}");
        }
    }
}

#[test]
fn every_format_honours_every_limit() {
    let many = sample::message(20, 0);
    let long = "x".repeat(5000);
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.value(Value::Text(&long[..300]));
    builder.end().unwrap();
    let text = builder.finish();
    for format in FORMATS {
        let over = |bytes: &[u8], limits: &Limits| {
            let mut builder = BatchBuilder::new();
            let error = (format.decode)(bytes, &mut builder, limits).unwrap_err();
            assert!(
                matches!(error.fault, Fault::OverLimit { .. }),
                "{} {error}",
                format.name
            );
        };
        over(
            &encoded(format, &many),
            &Limits {
                observations: 40,
                ..Limits::default()
            },
        );
        over(&encoded(format, &text), &LIMITS);
        over(long.as_bytes(), &LIMITS);
    }
}

/// Documents in documents, as the member `a` of each.
fn deep_bson() -> Vec<u8> {
    let mut bytes = vec![5, 0, 0, 0, 0];
    for _ in 0..2000 {
        let len = (bytes.len() + 8) as u32;
        bytes = [&len.to_le_bytes()[..], b"\x03a\0", &bytes, &[0]].concat();
    }
    bytes
}

#[test]
fn trees_nested_too_deep_are_refused() {
    let deep_cbor = [&[0x81; 5000][..], &[0]].concat();
    let deep_msgpack = [&[0x91; 5000][..], &[0]].concat();
    let deep_ubjson = [&[b'['; 5000][..], &[b']'; 5000]].concat();
    let deep_amf3 = [0x09, 0x03, 0x01].repeat(5000);
    let deep_json = "[".repeat(5000) + &"]".repeat(5000);
    let deep_flat = "{\"a\":".repeat(5000) + "1" + &"}".repeat(5000);
    let deep_xml = "<observations>".to_owned() + &"<a>".repeat(5000);
    for (name, bytes) in [
        ("cbor", &deep_cbor[..]),
        ("msgpack", &deep_msgpack),
        ("ubjson", &deep_ubjson),
        ("amf3", &deep_amf3),
        ("bson", &deep_bson()),
        ("json", deep_json.as_bytes()),
        ("json", deep_flat.as_bytes()),
        ("senml-json", format!("[{{\"x\":{deep_json}}}]").as_bytes()),
        ("xml", deep_xml.as_bytes()),
    ] {
        let mut limits = Limits {
            depth: 1_000_000,
            ..Limits::default()
        };
        for _ in 0..2 {
            let mut builder = BatchBuilder::new();
            let decode = weir_codec::by_name(name).unwrap().decode;
            assert!(decode(bytes, &mut builder, &limits).is_err(), "{name}");
            limits.depth = 3;
        }
    }
}

/// A name of 900 bytes that each of 40 observations has.
fn same_long_name() -> Batch {
    let name = "x".repeat(900);
    let mut builder = BatchBuilder::new();
    for _ in 0..40 {
        builder.begin();
        builder.sensor(&name);
        builder.value(Value::Number(1.0));
        builder.end().unwrap();
    }
    builder.finish()
}

#[test]
fn text_that_is_referred_to_is_limited() {
    let limits = Limits {
        message_bytes: 6000,
        ..Limits::default()
    };
    for name in ["amf3", "gwt", "arrow"] {
        let format = weir_codec::by_name(name).unwrap();
        let bytes = encoded(format, &same_long_name());
        assert!(bytes.len() < limits.message_bytes, "{name}");
        let mut builder = BatchBuilder::new();
        let error = (format.decode)(&bytes, &mut builder, &limits).unwrap_err();
        let what = "bytes of text referred to over the limit of 24000";
        assert!(error.to_string().starts_with(what), "{name} {error}");
        assert!(error.at < bytes.len(), "{name}");
    }
}

fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\u",
        "\\ud800",
        "null",
        "tru",
        "-",
        "1e9",
        "0.",
        "observations",
        "value",
        "topic",
        "<",
        ">",
        "</",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "&",
        "&#",
        ";",
        "xmlns:a=\"",
        "<observation>",
        "<value kind=\"json\">",
        "\n",
        "\r\n",
        "topic,value",
        "#{\"fields\":[\"value\"]}",
        "@prefix",
        "PREFIX a:",
        "<urn:a>",
        "_:b0",
        "[]",
        "\"\"\"",
        "^^",
        " a ",
        " .",
        "@context",
        "@id",
        "@value",
        "bn",
        "bver",
        "\u{FEFF}",
        "é",
        "\u{FFFF}",
        " ",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        FORMATS.iter().for_each(|format| survive(format, &bytes));
    }

    #[test]
    fn pieces_of_messages_in_any_order_are_survived(bytes in fragments()) {
        FORMATS.iter().for_each(|format| survive(format, &bytes));
    }

    #[test]
    fn messages_with_bytes_changed_are_survived(
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..8),
    ) {
        for format in FORMATS {
            let mut bytes = encoded(format, &mixed());
            for (at, byte) in &changes {
                let at = usize::from(*at) % bytes.len();
                bytes[at] = *byte;
            }
            survive(format, &bytes);
        }
    }
}
