//! Bytes that the standard prescribes, beside the events they stand for.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::sync::Arc;
use support::*;
use weir_exi::options::{ExpandedName, Header, Profile, Representation, SchemaId};
use weir_exi::value::{Decimal, Float, Integer, Unsigned};
use weir_exi::xml::Reader;
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Event, Limits, Options,
    Preserve, Schema, Value,
};

fn written(events: &[Owned], options: &Options, header: Header) -> Vec<u8> {
    let mut settings = EncoderSettings::new(options.clone(), None);
    settings.header = header;
    let mut encoder = Encoder::new(settings).unwrap();
    for event in events {
        encoder.event(&event.event()).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    bytes
}

fn read_options(bytes: &[u8]) -> Options {
    let mut decoder = Decoder::new(bytes, DecoderSettings::default());
    decoder.next_event().unwrap();
    decoder.options().unwrap().clone()
}

/// EXI 1.0 sections 5.1 to 5.3: cookie, distinguishing bits 10, presence bit, version 0 0000.
// [EXI-5.2-1] [EXI-5.3-2]
#[test]
fn the_header_is_the_cookie_and_one_byte() {
    let events = document(&["<a", ">"]);
    let header = Header {
        cookie: true,
        options: false,
    };
    let bytes = written(&events, &options(Alignment::ByteAligned), header);
    assert_eq!(bytes[..5], *b"$EXI\x80");
}

/// Byte-aligned, one element without content: uri "" is compact identifier 0, so 1 (section 7.3.2);
/// local name "a" is a literal of length 1 + 1 (section 7.3.3); EE is 0.0 of StartTagContent, where
/// the first part has one value only; ED takes nothing.
#[test]
fn the_smallest_document_is_known_byte_by_byte() {
    let events = document(&["<a", ">"]);
    let bytes = written(&events, &options(Alignment::ByteAligned), Header::default());
    assert_eq!(bytes, [0x80, 1, 2, b'a', 0]);
}

/// The same bit-packed: header 10000000, uri 1 in 2 bits, 00000010, 01100001, second part 0 of four
/// values in 2 bits.
#[test]
fn the_smallest_document_is_known_bit_by_bit() {
    let events = document(&["<a", ">"]);
    let bytes = written(&events, &options(Alignment::BitPacked), Header::default());
    assert_eq!(bytes, [0x80, 0b0100_0000, 0b1001_1000, 0b0100_0000]);
}

/// The learned productions of section 8.4.3: the second of two equal elements costs a code of one
/// part for SE, CH and EE, and its value a local compact identifier.
#[test]
fn what_was_learned_is_one_code() {
    let events = document(&["<r", "<a", "\"x", ">", "<a", "\"x", ">", ">"]);
    let bytes = written(&events, &options(Alignment::ByteAligned), Header::default());
    #[rustfmt::skip]
    let expected = [
        0x80, 1, 2, b'r', // SE(*) r
        2, 1, 2, b'a', // 0.2 SE(*) of StartTagContent
        3, 3, b'x', // 0.3 CH, literal of length 1 + 2
        0, // EE of ElementContent
        1, 0, 1, 0, 1, // 1.0 SE(*) of ElementContent of r, uri hit, local hit: name 1 of 2
        0, 0, // CH has code 0 now; local hit, the only entry takes no bits
        0, // EE
        1, // EE of r: 1, after SE(a) with code 0
    ];
    assert_eq!(bytes, expected);
    assert_eq!(
        decode_with(&bytes, settings(Alignment::ByteAligned)).unwrap(),
        events
    );
}

fn settings(alignment: Alignment) -> DecoderSettings {
    DecoderSettings::new(options(alignment), None)
}

/// An options document of the common kind: compression, and the schema's name.
// [EXI-5.4-2] [EXI-5.4-3]
#[test]
fn options_documents_are_strict_bodies_by_appendix_c() {
    let chosen = Options {
        alignment: Alignment::Compression,
        ..Options::default()
    };
    let header = Header {
        cookie: false,
        options: true,
    };
    let bytes = written(&document(&["<a", ">"]), &chosen, header);
    // 10 1 00000, SE(header) 0, SE(common) 01, SE(compression) 00, EE of common 10, of header 1
    assert_eq!(bytes[..2], [0b1010_0000, 0b0010_0101]);
    assert_eq!(read_options(&bytes), chosen);
}

// [EXI-5.4-1] [EXI-7.4-1] [EXI-7.4-3]
#[test]
fn every_option_survives_the_options_document() {
    let mut all = preserving(Alignment::PreCompression);
    all.fragment = true;
    all.block_size = 77;
    all.value_max_length = Some(9);
    all.value_partition_capacity = Some(0);
    all.preserve.lexical_values = false;
    all.schema_id = SchemaId::None;
    all.user_defined = vec![ExpandedName::new("urn:mine", "note")];
    all.profile = Some(Profile {
        local_value_partitions: false,
        built_in_element_grammars_max: Some(0),
        built_in_productions_max: None,
    });
    all.datatype_representation_map = vec![Representation {
        datatype: ExpandedName::new("http://www.w3.org/2001/XMLSchema", "decimal"),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", "string"),
    }];
    let header = Header {
        cookie: true,
        options: true,
    };
    let bytes = written(&document(&["<a", ">"]), &all, header);
    assert_eq!(read_options(&bytes), all);

    let aligned = Options {
        self_contained: true,
        ..options(Alignment::ByteAligned)
    };
    let bytes = written(&document(&["<a", ">"]), &aligned, header);
    assert_eq!(read_options(&bytes), aligned);
}

fn compiled(simple_type: &str) -> Arc<Schema> {
    schema_of(&format!(
        r#"<xs:element name="v"><xs:simpleType>
             <xs:restriction base="{simple_type}"/></xs:simpleType></xs:element>"#
    ))
}

fn schema_of(elements: &str) -> Arc<Schema> {
    let text =
        format!(r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{elements}</xs:schema>"#);
    let document = weir_exi::xsd::Document {
        location: "v.xsd",
        bytes: text.as_bytes(),
    };
    let mut nothing = |_: &str| None;
    Arc::new(weir_exi::xsd::compile(&[document], &mut nothing).unwrap())
}

/// The bytes of a value alone: strict, byte-aligned, behind header and SE(v) of one byte each.
fn value_bytes(simple_type: &str, text: &str) -> Vec<u8> {
    let options = Options {
        strict: true,
        ..options(Alignment::ByteAligned)
    };
    let events = document(&["<v", &format!("\"{text}"), ">"]);
    let mut encoder =
        Encoder::new(EncoderSettings::new(options, Some(compiled(simple_type)))).unwrap();
    for event in &events {
        encoder.event(&event.event()).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    bytes[2..].to_vec()
}

#[test]
fn values_have_the_representations_of_section_7_1() {
    let vectors: &[(&str, &str, &[u8])] = &[
        ("xs:boolean", "true", &[1]),
        ("xs:integer", "-1", &[1, 0]),
        ("xs:integer", "300", &[0, 0xac, 2]),
        ("xs:unsignedInt", "300", &[0xac, 2]),
        ("xs:unsignedByte", "200", &[200]),
        ("xs:byte", "-128", &[0]),
        ("xs:decimal", "-12.05", &[1, 12, 50]),
        ("xs:double", "-1.5E3", &[1, 14, 0, 2]),
        ("xs:double", "INF", &[0, 1, 1, 0xff, 0x7f]),
        ("xs:hexBinary", "0aFF", &[2, 0x0a, 0xff]),
        ("xs:base64Binary", "AQID", &[3, 1, 2, 3]),
        ("xs:string", "h\u{e9}", &[4, b'h', 0xe9, 1]),
        ("xs:string", "", &[2]),
        ("xs:NMTOKENS", "a b", &[2, 3, b'a', 3, b'b']),
        ("xs:gYear", "1999", &[1, 0, 0]),
        ("xs:date", "2012-02-29Z", &[0, 12, 93, 0, 1, 0x80, 3]),
        ("xs:time", "12:30:01.25", &[0x81, 0xc7, 0, 1, 52, 0]),
    ];
    for (simple_type, text, expected) in vectors {
        assert_eq!(
            value_bytes(simple_type, text),
            *expected,
            "{simple_type} {text}"
        );
    }
}

// [EXI-7.1.6-1]
#[test]
fn integers_of_any_size_come_back() {
    for text in [
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551616",
        "-18446744073709551617",
        "123456789012345678901234567890123456789012345678901234567890",
    ] {
        let schema = compiled("xs:integer");
        let events = document(&["<v", &format!("\"{text}"), ">"]);
        let bytes = encode(
            &events,
            &options(Alignment::BitPacked),
            Some(schema.clone()),
        )
        .unwrap();
        assert_eq!(decode(&bytes, Some(schema)).unwrap(), events);
    }
}

#[test]
fn typed_values_need_no_text() {
    let schema = compiled("xs:decimal");
    let decimal = Decimal {
        negative: false,
        integral: Unsigned::Small(3),
        reversed_fraction: Unsigned::Small(41),
    };
    let mut encoder = Encoder::new(EncoderSettings::new(
        Options::default(),
        Some(schema.clone()),
    ))
    .unwrap();
    for event in [
        Event::StartDocument,
        Event::StartElement(weir_exi::QName::new("", "v")),
        Event::Characters(Value::Decimal(decimal)),
        Event::EndElement,
        Event::EndDocument,
    ] {
        encoder.event(&event).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    let settings = DecoderSettings::new(Options::default(), Some(schema));
    let events = decode_with(&bytes, settings).unwrap();
    assert_eq!(events, document(&["<v", "\"3.14", ">"]));
}

#[test]
fn values_show_their_lexical_form() {
    assert_eq!(
        Float {
            mantissa: 12,
            exponent: -1
        }
        .to_string(),
        "12E-1"
    );
    assert_eq!(Float::NEG_INFINITY.to_string(), "-INF");
    assert_eq!(Integer::from(i64::MIN).to_string(), "-9223372036854775808");
    assert_eq!(Value::Base64(b"any").to_string(), "YW55");
    assert_eq!(Value::Base64(b"an").to_string(), "YW4=");
    assert_eq!(Value::Hex(&[0x0f, 0xa0]).to_string(), "0FA0");
    let list = [Value::Boolean(true), Value::Text("x")];
    assert_eq!(
        Value::List(weir_exi::value::List::new(&list)).to_string(),
        "true x"
    );
}

/// What the profile bounds is not learned, and every decoder reads the stream (EXI Profile section 3).
// [PROFILE-3.2-1] [PROFILE-6.2-1]
#[test]
fn a_profiled_stream_is_a_plain_stream() {
    let schema = Arc::new(weir_exi::xsd::built_in_types());
    let events = document(&[
        "<a", "@x=1", "<b", "\"t", ">", "<c", ">", "<b", "\"t", ">", "\"tail", ">",
    ]);
    for (grammars, productions) in [
        (Some(0), Some(0)),
        (Some(1), None),
        (None, Some(3)),
        (None, None),
    ] {
        let mut options = options(Alignment::BitPacked);
        options.schema_id = SchemaId::BuiltInTypes;
        options.profile = Some(Profile {
            local_value_partitions: false,
            built_in_element_grammars_max: grammars,
            built_in_productions_max: productions,
        });
        let bytes = encode(&events, &options, Some(schema.clone())).unwrap();
        let back = decode(&bytes, None).unwrap();
        let any_type = |event: &Owned| {
            !matches!(event, Owned::Attribute(_, local, value)
                if local == "type" && value.ends_with("}anyType"))
        };
        let back: Vec<Owned> = back.into_iter().filter(any_type).collect();
        assert_eq!(back, events, "{grammars:?} {productions:?}");
    }
}

/// Strict: an element whose type has subtypes has room for xsi:type, the grammar of the type that it asks
/// for has none, nor has it after AT(*) (section 8.5.4.4.2).
#[test]
fn the_type_that_xsi_type_asks_for_has_no_room_for_another() {
    let xml = "<e xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
               xmlns:xs='http://www.w3.org/2001/XMLSchema' xsi:type='xs:anyType' a='b'>t</e>";
    let bits = [
        "10000000", // header
        "0",        // SE(e) of SE(e), SE(*)
        "100",      // past AT(*), SE(*), EE, CH: xsi:type
        "100",      // the namespace of XML Schema: 3 + 1
        "00000000", // a local name that is there
        "001100",   // anyType
        "00",       // AT(*) of AT(*), SE(*), EE, CH
        "001",      // no namespace: 0 + 1
        "00000010", // a name of 1 character
        "01100001", // a
        "00000011", // a value of 1 character
        "01100010", // b
        "11",       // CH of AT(*), SE(*), EE, CH
        "00000011", // a value of 1 character
        "01110100", // t
        "01",       // EE of SE(*), EE, CH
    ];
    let strict = Options {
        strict: true,
        ..options(Alignment::BitPacked)
    };
    let schema = schema_of(r#"<xs:element name="e" type="xs:anyType"/>"#);
    let settings = EncoderSettings::new(strict, Some(schema));
    let mut encoder = Encoder::new(settings).unwrap();
    let mut reader = Reader::new(xml.as_bytes(), Preserve::default(), Limits::default()).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    let mut stream = Vec::new();
    encoder.take(&mut stream);
    let written: String = stream.iter().map(|byte| format!("{byte:08b}")).collect();
    let expected = bits.concat();
    assert_eq!(
        written,
        format!("{expected:0<width$}", width = stream.len() * 8)
    );
}
