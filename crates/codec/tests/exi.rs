//! The message as EXI: what stands in the stream, and what other processors put there.
#![allow(clippy::unwrap_used)]

use weir_codec::{by_name, sample};
use weir_exi::{Alignment, Encoder, EncoderSettings, Event, Options, Preserve, QName, Value};
use weir_model::{Batch, BatchBuilder, Limits};

fn write(format: &str, batch: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    (by_name(format).unwrap().encode)(batch, &mut out);
    out
}

fn read(format: &str, bytes: &[u8]) -> Result<Batch, weir_codec::DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name(format).unwrap().decode)(bytes, &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

#[test]
fn the_compiled_schema_is_that_of_the_message() {
    let document = weir_exi::xsd::Document {
        location: "weir.xsd",
        bytes: include_bytes!("../schema/weir.xsd"),
    };
    let mut nothing = |_: &str| None;
    let parts = weir_exi::xsd::parts(&[document], &mut nothing).unwrap();
    assert!(
        parts.to_bytes() == include_bytes!("../schema/weir.exischema"),
        "run: cargo xtask exi-schema crates/codec/schema/weir.xsd -o crates/codec/schema/weir.exischema"
    );
}

#[test]
fn each_variant_is_smaller_than_the_xml() {
    let batch = sample::message(5, 0);
    let size = |format| write(format, &batch).len();
    assert!(size("exi") * 5 < size("xml") * 2);
    assert!(size("exi-s") * 5 < size("xml") * 2);
    assert!(size("exi-c") * 4 < size("exi"));
    assert!(size("exi-sc") < size("exi-c"));
    assert!(size("exi-om") * 4 < size("om"));
    assert!(size("exi-om-c") * 3 < size("exi-om"));
}

/// A message as another processor may write it: other options, prefixes, comments, types.
fn foreign(options: Options, header: bool) -> Vec<u8> {
    let mut settings = EncoderSettings::new(options, None);
    settings.header.options = header;
    settings.header.cookie = header;
    let mut encoder = Encoder::new(settings).unwrap();
    let element = |local| Event::StartElement(QName::new("", local).with_prefix(""));
    for event in [
        Event::StartDocument,
        Event::Comment(" hello "),
        element("observations"),
        element("observation"),
        Event::Comment(" a value "),
        element("value"),
        Event::Characters(Value::Text("21.5")),
        Event::Comment(" behind it "),
        Event::EndElement,
        element("comment"),
        Event::EndElement,
        Event::EndElement,
        Event::EndElement,
        Event::EndDocument,
    ] {
        encoder.event(&event).unwrap();
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    out
}

#[test]
fn what_other_processors_write_is_read_by_its_header() {
    let preserve = Preserve {
        comments: true,
        prefixes: true,
        ..Preserve::default()
    };
    for alignment in [
        Alignment::BitPacked,
        Alignment::ByteAligned,
        Alignment::PreCompression,
        Alignment::Compression,
    ] {
        let options = Options {
            alignment,
            preserve,
            ..Options::default()
        };
        let bytes = foreign(options, true);
        for format in ["exi", "exi-c"] {
            let batch = read(format, &bytes).unwrap();
            assert_eq!(batch.row(0).value.number(), Some(21.5), "{alignment:?}");
        }
    }
}

/// A strict message with the schema whose one observation has a time in a year.
fn in_year(year: i64) -> Vec<u8> {
    let schema = weir_exi::Schema::from_bytes(include_bytes!("../schema/weir.exischema")).unwrap();
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let mut encoder = Encoder::new(EncoderSettings::new(
        options,
        Some(std::sync::Arc::new(schema)),
    ))
    .unwrap();
    let time = weir_exi::value::DateTime {
        kind: weir_exi::value::DateTimeKind::DateTime,
        year,
        month: 2,
        day: 3,
        time: weir_exi::value::TimeOfDay::default(),
        reversed_fraction: None,
        zone_minutes: Some(0),
    };
    let element = |local| Event::StartElement(QName::new("", local));
    for event in [
        Event::StartDocument,
        element("observations"),
        element("observation"),
        element("value"),
        Event::Characters(Value::Text("21.5")),
        Event::EndElement,
        element("time"),
        Event::Characters(Value::DateTime(time)),
        Event::EndElement,
        Event::EndElement,
        Event::EndElement,
        Event::EndDocument,
    ] {
        encoder.event(&event).unwrap();
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    out
}

#[test]
fn a_year_that_no_instant_has_is_refused() {
    let batch = read("exi-s", &in_year(2026)).unwrap();
    assert_eq!(
        batch.row(0).time.unwrap().to_string(),
        "2026-02-03T00:00:00Z"
    );
    for year in [i64::MIN + 2000, -12_026, 1599, 2300, 12_026, i64::MAX] {
        assert!(read("exi-s", &in_year(year)).is_err(), "{year}");
    }
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let fault = |bytes: &[u8]| read("exi", bytes).unwrap_err().to_string();
    assert_eq!(fault(b""), "the message ends too early at byte 0");
    let bytes = write("exi", &sample::message(1, 0));
    let half = &bytes[..bytes.len() / 2];
    let at = read("exi", half).unwrap_err().at;
    assert!(at + 64 > half.len() && at <= half.len(), "{at}");
    assert!(fault(b"<observations/>").contains("at byte 0"));
}

#[test]
fn a_bomb_is_refused_within_its_limits() {
    let mut builder = BatchBuilder::new();
    builder.begin();
    let long = "x".repeat(900_000);
    for _ in 0..40 {
        builder.begin();
        builder.value(weir_model::Value::Text(&long));
        builder.end().unwrap();
    }
    let bytes = write("exi-c", &builder.finish());
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    let limits = Limits {
        message_bytes: 1 << 20,
        ..Limits::default()
    };
    let mut builder = BatchBuilder::new();
    let error = (by_name("exi-c").unwrap().decode)(&bytes, &mut builder, &limits).unwrap_err();
    assert!(error.to_string().contains("over the limit of"), "{error}");
}

#[test]
fn a_bomb_of_events_is_refused_by_their_number() {
    let options = Options {
        alignment: Alignment::Compression,
        ..Options::default()
    };
    let mut encoder = Encoder::new(EncoderSettings::new(options, None)).unwrap();
    let element = |local| Event::StartElement(QName::new("", local).with_prefix(""));
    let around = [Event::StartDocument, element("observations")];
    around.iter().for_each(|of| encoder.event(of).unwrap());
    for _ in 0..200_000 {
        encoder.event(&element("x")).unwrap();
        encoder.event(&Event::EndElement).unwrap();
    }
    let ends = [Event::EndElement, Event::EndDocument];
    ends.iter().for_each(|of| encoder.event(of).unwrap());
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    let limits = Limits {
        observations: 1_000,
        ..Limits::default()
    };
    let mut builder = BatchBuilder::new();
    let error = (by_name("exi-c").unwrap().decode)(&bytes, &mut builder, &limits).unwrap_err();
    assert!(error.to_string().contains("events"), "{error}");
}
