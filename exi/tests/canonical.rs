//! The canonical form (W3C Canonical EXI): documents that say the same have the same bytes.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::sync::Arc;
use support::*;
use weir_exi::options::{ExpandedName, Representation, SchemaId};
use weir_exi::xml::Reader;
use weir_exi::{Alignment, Canonical, Encoder, EncoderSettings, Limits, Options, Schema};

fn schema() -> Arc<Schema> {
    let text = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="r"><xs:complexType>
        <xs:sequence>
          <xs:element name="decimal" type="xs:decimal" minOccurs="0"/>
          <xs:element name="time" type="xs:dateTime" minOccurs="0"/>
          <xs:element name="double" type="xs:double" minOccurs="0"/>
          <xs:element name="token" type="xs:token" minOccurs="0"/>
          <xs:element name="instant" minOccurs="0"><xs:simpleType>
            <xs:restriction base="xs:dateTime">
              <xs:enumeration value="2000-01-01T00:00:00Z"/>
              <xs:enumeration value="2000-01-01T01:00:00+01:00"/>
              <xs:enumeration value="2003-03-19T13:20:00-05:00"/>
            </xs:restriction></xs:simpleType></xs:element>
        </xs:sequence>
        <xs:attribute name="a" type="xs:int"/><xs:attribute name="b" type="xs:int"/>
      </xs:complexType></xs:element></xs:schema>"#;
    let document = weir_exi::xsd::Document {
        location: "r.xsd",
        bytes: text.as_bytes(),
    };
    let mut nothing = |_: &str| None;
    Arc::new(weir_exi::xsd::compile(&[document], &mut nothing).unwrap())
}

fn canonical(notation: &[&str], utc_time: bool, schema: Option<Arc<Schema>>) -> Vec<u8> {
    let mut settings = EncoderSettings::new(options(Alignment::ByteAligned), schema);
    settings.canonical = Some(Canonical {
        utc_time,
        omit_options: true,
    });
    let mut encoder = Encoder::new(settings).unwrap();
    for event in document(notation) {
        encoder.event(&event.event()).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    bytes
}

fn assert_same(one: &[&str], other: &[&str]) {
    let (one, other) = (
        canonical(one, false, Some(schema())),
        canonical(other, false, Some(schema())),
    );
    assert_eq!(one, other);
}

// [C14N-4.4-2]
#[test]
fn the_order_of_attributes_does_not_matter() {
    assert_same(&["<r", "@a=1", "@b=2", ">"], &["<r", "@b=2", "@a=1", ">"]);
    let one = canonical(&["<r", "@a=1", "@b=2", ">"], false, None);
    assert_eq!(one, canonical(&["<r", "@b=2", "@a=1", ">"], false, None));
}

// [C14N-4.3.2-1]
#[test]
fn white_space_between_elements_does_not_matter() {
    assert_same(
        &["<r", "\"\n  ", "<decimal", "\" 1.0 ", ">", "\"\n", ">"],
        &["<r", "<decimal", "\"1", ">", ">"],
    );
    assert_same(
        &["<r", "<token", "\" a  b ", ">", ">"],
        &["<r", "<token", "\"a b", ">", ">"],
    );
}

// [C14N-4.5.3-1] [C14N-4.5.4-1] [C14N-4.5.4-2] [C14N-4.5.5-1] [C14N-4.5.5-2]
#[test]
fn equal_values_have_equal_bytes() {
    let value = |name: &'static str, text: &'static str| {
        let (start, text) = (format!("<{name}"), format!("\"{text}"));
        canonical(&["<r", &start, &text, ">", ">"], false, Some(schema()))
    };
    for (name, one, other) in [
        ("decimal", "-0.0", "0"),
        ("decimal", "+007.10", "7.1"),
        ("double", "1200", "1.2e3"),
        ("double", "-0", "0"),
        ("time", "1999-12-31T24:00:00Z", "2000-01-01T00:00:00.00Z"),
        (
            "instant",
            "2003-03-19T12:20:00-06:00",
            "2003-03-19T13:20:00-05:00",
        ),
    ] {
        assert_eq!(value(name, one), value(name, other), "{name} {one} {other}");
    }
    assert_ne!(value("decimal", "1"), value("decimal", "10"));
}

// [C14N-4.5.5-3]
#[test]
fn instants_are_equal_where_utc_is_asked_for() {
    let value = |text: &str, utc| {
        canonical(
            &["<r", "<time", &format!("\"{text}"), ">", ">"],
            utc,
            Some(schema()),
        )
    };
    for (one, other) in [
        ("2012-03-01T00:30:00+01:00", "2012-02-29T23:30:00Z"),
        ("1999-12-31T23:00:00-02:00", "2000-01-01T01:00:00Z"),
    ] {
        assert_ne!(value(one, false), value(other, false));
        assert_eq!(value(one, true), value(other, true));
    }
}

// [C14N-3-1] [C14N-3-4]
#[test]
fn the_options_document_is_there_unless_it_is_omitted() {
    let mut settings = EncoderSettings::new(Options::default(), None);
    settings.header.cookie = true;
    settings.canonical = Some(Canonical {
        utc_time: false,
        omit_options: false,
    });
    let mut encoder = Encoder::new(settings).unwrap();
    let mut bytes = Vec::new();
    for event in document(&["<a", ">"]) {
        encoder.event(&event.event()).unwrap();
    }
    encoder.take(&mut bytes);
    assert_eq!(bytes[0], 0b1010_0000);
}

/// A canonical stream with its options in the header.
fn with_header(notation: &[&str], options: Options, schema: Option<Arc<Schema>>) -> Vec<u8> {
    let mut settings = EncoderSettings::new(options, schema);
    settings.canonical = Some(Canonical {
        utc_time: false,
        omit_options: false,
    });
    let mut encoder = Encoder::new(settings).unwrap();
    for event in document(notation) {
        encoder.event(&event.event()).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    bytes
}

// [C14N-3-3] [C14N-4.1-1] [C14N-3-2]
#[test]
fn without_options_the_presence_bit_is_none() {
    let bytes = canonical(&["<a", ">"], false, None);
    assert_eq!(bytes[0], 0b1000_0000);
    let packed = with_header(&["<a", ">"], Options::default(), None);
    assert_eq!(packed[0], 0b1010_0000);
    // The body ends in the middle of a byte, whose other bits are zeros.
    assert_eq!(packed[packed.len() - 1] & 0b11, 0);
    let mut other = packed.clone();
    *other.last_mut().unwrap() |= 1;
    assert_eq!(
        decode(&packed, None),
        decode(&other, None),
        "padding is read over"
    );
}

// [C14N-3-5] [C14N-3-6] [C14N-3-7] [C14N-3-8] [C14N-3-14]
#[test]
fn canonical_options_have_neither_defaults_nor_idle_ones() {
    let plain = with_header(&["<a", ">"], Options::default(), None);
    let sized = |alignment, block_size| {
        let options = Options {
            block_size,
            ..options(alignment)
        };
        with_header(&["<a", ">"], options, None)
    };
    assert_eq!(sized(Alignment::BitPacked, 7), plain);
    assert_eq!(sized(Alignment::BitPacked, 1_000_000), plain);
    let compressed = sized(Alignment::Compression, 7);
    assert_eq!(compressed, sized(Alignment::PreCompression, 7));
    assert_ne!(compressed, sized(Alignment::PreCompression, 1_000_000));
}

fn map(pairs: &[(&str, &str)]) -> Vec<Representation> {
    let pair = |(datatype, representation): &(&str, &str)| Representation {
        datatype: ExpandedName::new("http://www.w3.org/2001/XMLSchema", datatype),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", representation),
    };
    pairs.iter().map(pair).collect()
}

// [C14N-3-9] [C14N-3-10] [C14N-3-11]
#[test]
fn a_canonical_map_is_sorted_and_without_defaults() {
    let with = |pairs: &[(&str, &str)], lexical| {
        let mut options = Options {
            datatype_representation_map: map(pairs),
            schema_id: SchemaId::Unspecified,
            ..Options::default()
        };
        options.preserve.lexical_values = lexical;
        with_header(&["<r", ">"], options, Some(schema()))
    };
    let both = with(&[("double", "string"), ("decimal", "string")], false);
    assert_eq!(
        both,
        with(&[("decimal", "string"), ("double", "string")], false)
    );
    let defaults = [
        ("decimal", "decimal"),
        ("decimal", "string"),
        ("double", "string"),
    ];
    assert_eq!(both, with(&defaults, false));
    assert_ne!(both, with(&[], false));
    assert_eq!(with(&[("decimal", "string")], true), with(&[], true));
}

fn by_xml(text: &str, options: &Options) -> Vec<u8> {
    let mut settings = EncoderSettings::new(options.clone(), None);
    settings.canonical = Some(Canonical {
        utc_time: false,
        omit_options: true,
    });
    let (mut encoder, mut bytes) = (Encoder::new(settings).unwrap(), Vec::new());
    let mut reader = Reader::new(text.as_bytes(), options.preserve, Limits::default()).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    encoder.take(&mut bytes);
    bytes
}

// [C14N-4.4-1] [C14N-4.4-2] [C14N-4.4-3]
#[test]
fn declarations_are_in_the_order_of_their_prefixes() {
    let mut options = Options::default();
    options.preserve.prefixes = true;
    let one = by_xml("<a xmlns:p='u' xmlns:b='v' xmlns='w'/>", &options);
    assert_eq!(
        one,
        by_xml("<a xmlns='w' xmlns:b='v' xmlns:p='u'/>", &options)
    );
    let xsi = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'";
    let typed = by_xml(
        &format!("<a {xsi} i:type='T' b='' c='' i:nil='1'/>"),
        &options,
    );
    assert_eq!(
        typed,
        by_xml(
            &format!("<a {xsi} i:nil='1' c='' b='' i:type='T'/>"),
            &options
        )
    );
}

// [C14N-4.3.1-1] [C14N-4.3.1-2] [C14N-4.3.2-2]
#[test]
fn characters_are_one_event_and_none_where_there_are_none() {
    let plain = Options::default();
    let one = by_xml("<a>xy</a>", &plain);
    assert_eq!(
        one,
        by_xml("<a>x<!-- c --><?p i?><![CDATA[y]]></a>", &plain)
    );
    let pieces = canonical(&["<r", "\"x", "\"", "\"y", ">"], false, None);
    assert_eq!(pieces, canonical(&["<r", "\"xy", ">"], false, None));
    let none = canonical(&["<r", "\"", ">"], false, None);
    assert_eq!(none, canonical(&["<r", ">"], false, None));
    let kept = by_xml("<a xml:space='preserve'> <b/> </a>", &plain);
    assert_ne!(kept, by_xml("<a xml:space='preserve'><b/></a>", &plain));
}

// [C14N-4.5.2-1] [C14N-4.5.4-3] [C14N-4.5.6-1] [C14N-4.2.2-1]
#[test]
fn of_several_representations_the_canonical_one_is_taken() {
    // Two of the instants are one, so the first of them counts, though the second is written.
    let first = &["<r", "<instant", "\"2000-01-01T00:00:00Z", ">", ">"];
    let second = &["<r", "<instant", "\"2000-01-01T01:00:00+01:00", ">", ">"];
    let bytes = canonical(second, false, Some(schema()));
    assert_eq!(bytes, canonical(first, false, Some(schema())));
    // Not a number is mantissa 0 with the exponent -16384.
    let nan = canonical(&["<r", "<double", "\"NaN", ">", ">"], false, Some(schema()));
    assert!(
        nan.windows(5).any(|bytes| bytes == [0, 0, 1, 0xFF, 0x7F]),
        "{nan:x?}"
    );
    // A value in both partitions is found in that of its name; two ends of elements follow it.
    let found = |name: &str| {
        let notation = ["<a", "<b", "\"x", ">", name, "\"x", ">", ">"];
        let bytes = canonical(&notation, false, None);
        bytes[bytes.len() - 3]
    };
    assert_eq!((found("<b"), found("<c")), (0, 1));
    // An element that the schema has here is not one of the wildcard of undeclared ones: one byte.
    let declared = canonical(&["<r", "<decimal", "\"1", ">", ">"], false, Some(schema()));
    assert_eq!(declared[1], 0, "{declared:x?}");
}
