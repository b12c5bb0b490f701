//! What EXI 1.0 asks for and no other test shows: each test names its statements, of which
//! `docs/reference/exi-conformance.md` is the table.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::sync::Arc;
use support::*;
use weir_exi::error::ErrorKind;
use weir_exi::options::{ExpandedName, Header, Representation, SchemaId};
use weir_exi::xml::Reader;
use weir_exi::{
    Alignment, DecoderSettings, Encoder, EncoderSettings, Event, Limits, Options, Preserve, QName,
    Schema, Value,
};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

fn schema(elements: &str) -> Arc<Schema> {
    let text =
        format!(r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{elements}</xs:schema>"#);
    let document = weir_exi::xsd::Document {
        location: "s.xsd",
        bytes: text.as_bytes(),
    };
    let mut nothing = |_: &str| None;
    Arc::new(weir_exi::xsd::compile(&[document], &mut nothing).unwrap())
}

/// Events to EXI with the shortest header.
fn plain(
    events: &[Event<'_>],
    options: &Options,
    schema: Option<&Arc<Schema>>,
) -> Result<Vec<u8>, weir_exi::Error> {
    let mut encoder = Encoder::new(EncoderSettings::new(options.clone(), schema.cloned()))?;
    for event in events {
        encoder.event(event)?;
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    Ok(bytes)
}

/// A header whose options document has these bits, and some bytes behind it.
fn with_options(bits: &[&str]) -> Vec<u8> {
    let mut all = String::from("10100000");
    bits.iter().for_each(|part| all.push_str(part));
    all.push_str(&"0".repeat(64 - all.len() % 8));
    let digits: Vec<_> = all.bytes().map(|digit| digit - b'0').collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    digits.chunks(8).map(byte).collect()
}

// [EXI-4-1]
#[test]
fn a_local_declaration_has_the_namespace_of_its_element() {
    let text = br#"<p:a xmlns:q="v" xmlns:p="u"><q:b xmlns:r="w"/><b xmlns="x"><b/></b></p:a>"#;
    let preserve = Preserve {
        prefixes: true,
        ..Preserve::default()
    };
    let options = Options {
        preserve,
        ..Options::default()
    };
    let mut reader = Reader::new(text, preserve, Limits::default()).unwrap();
    let settings = EncoderSettings::new(options.clone(), None);
    let (mut encoder, mut bytes) = (Encoder::new(settings).unwrap(), Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    encoder.take(&mut bytes);
    let mut decoder = weir_exi::Decoder::new(&bytes, DecoderSettings::new(options, None));
    let (mut element, mut local) = (String::new(), Vec::new());
    while let Some(event) = decoder.next_event().unwrap() {
        match event {
            Event::StartElement(name) => element = name.uri.to_owned(),
            Event::Namespace {
                uri,
                local_element_ns,
                ..
            } => {
                local.push(local_element_ns);
                assert!(!local_element_ns || uri == element, "{uri} {element}");
            }
            _ => {}
        }
    }
    assert_eq!(local, [false, true, false, true]);
}

// [EXI-5.4-4] [EXI-5.4-5] [EXI-5.4-6] [EXI-5.4-9] [EXI-5.4-10]
#[test]
fn options_that_exclude_each_other_are_refused_in_a_header_too() {
    // By appendix C: SE(header), SE(lesscommon), SE(uncommon) and so on, each in as many bits as its state
    // needs; what is empty ends in none.
    let excluded: &[&[&str]] = &[
        // alignment/byte, then common/compression
        &[
            "0", "00", "00", "000", "0", "100", "10", "00", "00", "10", "1",
        ],
        // preserve/comments, then strict
        &["0", "00", "01", "011", "1", "1", "01"],
        // preserve/prefixes, then strict
        &["0", "00", "01", "001", "11", "1", "01"],
        // selfContained, then strict
        &["0", "00", "00", "001", "11", "10", "01"],
        // selfContained, then common/compression
        &["0", "00", "00", "001", "11", "10", "00", "00", "10", "1"],
        // alignment/pre-compress and selfContained
        &["0", "00", "00", "000", "1", "000", "11", "10", "10"],
    ];
    for bits in excluded {
        let error = decode(&with_options(bits), None).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::InvalidOptions(_)),
            "{bits:?}: {error}"
        );
    }
    // Each alone is none: what follows them here is no body.
    let allowed: &[&[&str]] = &[
        &["0", "00", "00", "000", "0", "100", "10", "10"],
        &["0", "00", "01", "011", "1", "1", "10"],
        &["0", "00", "00", "001", "11", "10", "10"],
    ];
    for bits in allowed {
        let kind = decode(&with_options(bits), None).map_err(|error| error.kind);
        assert!(
            !matches!(kind, Err(ErrorKind::InvalidOptions(_))),
            "{bits:?}: {kind:?}"
        );
    }
}

// [EXI-5.4-1] [EXI-5.4-7]
#[test]
fn the_options_are_the_headers_and_the_schema_the_callers() {
    let schema = schema(r#"<xs:element name="v" type="xs:int"/>"#);
    let chosen = Options {
        schema_id: SchemaId::Unspecified,
        ..options(Alignment::ByteAligned)
    };
    let events = document(&["<v", "\"77", ">"]);
    let bytes = encode(&events, &chosen, Some(schema.clone())).unwrap();
    // The caller's options are others, and do not count.
    let settings = DecoderSettings::new(options(Alignment::Compression), Some(schema));
    assert_eq!(decode_with(&bytes, settings).unwrap(), events);
}

// [EXI-5.4-8]
#[test]
fn what_users_add_to_the_options_changes_nothing() {
    let events = document(&["<a", "@b=c", "\"text", ">"]);
    let noted = Options {
        user_defined: vec![ExpandedName::new("urn:mine", "byte")],
        ..Options::default()
    };
    let bytes = encode(&events, &noted, None).unwrap();
    assert_eq!(decode(&bytes, None).unwrap(), events);
    let body = plain(&borrowed(&events), &Options::default(), None).unwrap();
    assert_eq!(plain(&borrowed(&events), &noted, None).unwrap(), body);
}

fn borrowed(events: &[Owned]) -> Vec<Event<'_>> {
    events.iter().map(Owned::event).collect()
}

// [EXI-7.1.4-1]
#[test]
fn a_float_outside_its_range_is_untyped() {
    let schema = schema(r#"<xs:element name="v" type="xs:double"/>"#);
    let loose = options(Alignment::ByteAligned);
    let strict = Options {
        strict: true,
        ..loose.clone()
    };
    for text in [
        "1E16384",
        "1E-16384",
        "9223372036854775808",
        "-9223372036854775809",
    ] {
        let events = document(&["<v", &format!("\"{text}"), ">"]);
        let bytes = plain(&borrowed(&events), &loose, Some(&schema)).unwrap();
        let settings = DecoderSettings::new(loose.clone(), Some(schema.clone()));
        assert_eq!(decode_with(&bytes, settings).unwrap(), events);
        assert!(plain(&borrowed(&events), &strict, Some(&schema)).is_err());
    }
    // Header, SE(v), mantissa 1, exponent 16384 and exponent -16385.
    for exponent in [[0, 0x80, 0x80, 1], [1, 0x80, 0x80, 1]] {
        let bytes = [&[0x80, 0, 0, 1][..], &exponent].concat();
        let settings = DecoderSettings::new(strict.clone(), Some(schema.clone()));
        let error = decode_with(&bytes, settings).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::InvalidValue(_)), "{error}");
    }
}

// [EXI-7.1.6-1]
#[test]
fn unsigned_integers_are_read_and_written_up_to_the_greatest() {
    let schema = schema(r#"<xs:element name="v" type="xs:unsignedInt"/>"#);
    for number in [
        0,
        127,
        128,
        16_383,
        16_384,
        2_147_483_646,
        2_147_483_647,
        u32::MAX,
    ] {
        let events = document(&["<v", &format!("\"{number}"), ">"]);
        let bytes = encode(&events, &Options::default(), Some(schema.clone())).unwrap();
        assert_eq!(decode(&bytes, Some(schema.clone())).unwrap(), events);
    }
}

// [EXI-7.4-2]
#[test]
fn a_value_in_a_representation_that_is_not_known_is_an_error() {
    let schema = schema(r#"<xs:element name="v" type="xs:int"/>"#);
    let foreign = Options {
        datatype_representation_map: vec![Representation {
            datatype: ExpandedName::new("http://www.w3.org/2001/XMLSchema", "integer"),
            representation: ExpandedName::new("urn:mine", "roman"),
        }],
        ..Options::default()
    };
    let events = document(&["<v", "\"7", ">"]);
    let usual = plain(&borrowed(&events), &Options::default(), Some(&schema)).unwrap();
    let settings = DecoderSettings::new(foreign.clone(), Some(schema.clone()));
    let error = decode_with(&usual, settings).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::InvalidValue(_)), "{error}");
    let strict = Options {
        strict: true,
        ..foreign
    };
    assert!(plain(&borrowed(&events), &strict, Some(&schema)).is_err());
}

/// The names of the attributes that a decoder gives.
fn attributes(bytes: &[u8], options: &Options, schema: Option<&Arc<Schema>>) -> Vec<String> {
    let settings = DecoderSettings::new(options.clone(), schema.cloned());
    let events = decode_with(bytes, settings).unwrap().into_iter();
    let names = events.filter_map(|event| match event {
        Owned::Attribute(_, local, _) => Some(local),
        _ => None,
    });
    names.collect()
}

// [EXI-8.4.3-1] [EXI-8.5.4.1.3.2-1] [EXI-8.5.4.4.1-1] [EXI-8.5.4.4.2-1]
#[test]
fn the_type_comes_first_and_nil_next() {
    let informed = schema(
        r#"<xs:complexType name="T"><xs:sequence/><xs:attribute name="b"/></xs:complexType>
           <xs:complexType name="U"><xs:complexContent><xs:extension base="T"/>
           </xs:complexContent></xs:complexType><xs:element name="a" type="T" nillable="true"/>"#,
    );
    let attribute = |uri, local, value| Event::Attribute(QName::new(uri, local), value);
    let other = attribute("", "b", Value::Text("1"));
    let nil = attribute(XSI, "nil", Value::Text("true"));
    let of_type = attribute(XSI, "type", Value::QName(QName::new("", "U")));
    let with = |name, attributes: &[Event<'static>]| {
        let start = [
            Event::StartDocument,
            Event::StartElement(QName::new("", name)),
        ];
        [
            &start[..],
            attributes,
            &[Event::EndElement, Event::EndDocument],
        ]
        .concat()
    };
    // `z` is not declared and has a built-in grammar, which the type would take the place of. Without a
    // schema there are no types.
    let loose = Options::default();
    for (name, expected) in [("a", &["type", "nil", "b"][..]), ("z", &["type"])] {
        let bytes = plain(&with(name, &[other, nil, of_type]), &loose, Some(&informed)).unwrap();
        let names = attributes(&bytes, &loose, Some(&informed));
        assert_eq!(names[..expected.len()], *expected, "{name}");
    }
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    for (given, expected) in [
        ([other, of_type], ["type", "b"]),
        ([other, nil], ["nil", "b"]),
    ] {
        let bytes = plain(&with("a", &given), &strict, Some(&informed)).unwrap();
        assert_eq!(attributes(&bytes, &strict, Some(&informed)), expected);
    }
}

// [EXI-8.5.3-1] [EXI-8.5.4.1.3.2-2] [EXI-8.5.4.4.1-2] [EXI-8.5.4.4.1-3]
#[test]
fn type_and_nil_are_never_attributes_of_a_wildcard() {
    let informed = schema(
        r#"<xs:complexType name="T"><xs:sequence/><xs:anyAttribute/></xs:complexType>
           <xs:complexType name="U"><xs:complexContent><xs:extension base="T"><xs:sequence>
           <xs:element name="n" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent>
           </xs:complexType><xs:element name="a" type="T" nillable="true"/>
           <xs:element name="r"><xs:complexType><xs:sequence>
           <xs:element name="a" type="xs:int"/></xs:sequence></xs:complexType></xs:element>"#,
    );
    let of_type = Event::Attribute(QName::new(XSI, "type"), Value::QName(QName::new("", "U")));
    let events = [
        Event::StartDocument,
        Event::StartElement(QName::new("", "a")),
        of_type,
        Event::StartElement(QName::new("", "n")),
        Event::Characters(Value::Text("007")),
        Event::EndElement,
        Event::EndElement,
        Event::EndDocument,
    ];
    // As an attribute of the wildcard it would change no grammar, and the number would be text. In a
    // fragment `a` has the relaxed grammar, since there are two elements of that name.
    for fragment in [false, true] {
        let options = Options {
            fragment,
            ..Options::default()
        };
        let bytes = plain(&events, &options, Some(&informed)).unwrap();
        let settings = DecoderSettings::new(options.clone(), Some(informed.clone()));
        let back = decode_with(&bytes, settings).unwrap();
        assert!(back.contains(&Owned::Text("7".into())), "{back:?}");
        let nil = Event::Attribute(QName::new(XSI, "nil"), Value::Text("1"));
        let [start, element, .., end, done] = events;
        let bytes = plain(&[start, element, nil, end, done], &options, Some(&informed)).unwrap();
        let settings = DecoderSettings::new(options, Some(informed.clone()));
        let back = decode_with(&bytes, settings).unwrap();
        let nil = Owned::Attribute(XSI.into(), "nil".into(), "true".into());
        assert!(back.contains(&nil), "{back:?}");
    }
}

// [EXI-9.3-1]
#[test]
fn a_stream_without_bytes_is_not_compressed() {
    // After 101 values the structure of a block is a stream of its own; here the last block has none
    // but ends, which take no bits in a strict stream.
    let informed = schema(
        r#"<xs:element name="r"><xs:complexType><xs:sequence>
           <xs:element name="v" minOccurs="2" maxOccurs="2" type="xs:int"/></xs:sequence>
           </xs:complexType></xs:element>"#,
    );
    let options = Options {
        strict: true,
        block_size: 2,
        ..options(Alignment::Compression)
    };
    let events = document(&["<r", "<v", "\"1", ">", "<v", "\"2", ">", ">"]);
    let bytes = plain(&borrowed(&events), &options, Some(&informed)).unwrap();
    let settings = DecoderSettings::new(options.clone(), Some(informed.clone()));
    assert_eq!(decode_with(&bytes, settings).unwrap(), events);
    let pre = Options {
        alignment: Alignment::PreCompression,
        ..options
    };
    let stored = plain(&borrowed(&events), &pre, Some(&informed)).unwrap();
    let one = miniz_oxide::inflate::decompress_to_vec(&bytes[1..]).unwrap();
    assert_eq!(one, stored[1..], "the whole body is in the first stream");
}

// [EXI-5.2-1] [EXI-5.3-1] [EXI-5.3-2]
#[test]
fn a_header_begins_with_its_bits_and_the_final_version() {
    let events = document(&["<a", ">"]);
    for cookie in [false, true] {
        let mut settings = EncoderSettings::new(Options::default(), None);
        settings.header = Header {
            cookie,
            options: false,
        };
        let (mut encoder, mut bytes) = (Encoder::new(settings).unwrap(), Vec::new());
        for event in &events {
            encoder.event(&event.event()).unwrap();
        }
        encoder.take(&mut bytes);
        assert_eq!(bytes[if cookie { 4 } else { 0 }], 0b1000_0000);
        assert_eq!(decode(&bytes, None).unwrap(), events);
    }
    let other = decode(&[0b0100_0000], None).unwrap_err();
    assert_eq!(other.kind, ErrorKind::NotExi);
}
