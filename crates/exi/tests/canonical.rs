//! The canonical form (W3C Canonical EXI): documents that say the same have the same bytes.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use support::*;
use weir_exi::{Alignment, Canonical, Encoder, EncoderSettings, Options, Schema};

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

#[test]
fn the_order_of_attributes_does_not_matter() {
    assert_same(&["<r", "@a=1", "@b=2", ">"], &["<r", "@b=2", "@a=1", ">"]);
    let one = canonical(&["<r", "@a=1", "@b=2", ">"], false, None);
    assert_eq!(one, canonical(&["<r", "@b=2", "@a=1", ">"], false, None));
}

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

#[test]
fn the_options_document_is_there_unless_omitted_and_the_cookie_never() {
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
