//! Damaged streams and documents: what decodes, decodes within the limits; the rest is an error with its
//! place; nothing panics. The seed is fixed, so that a failure comes again.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Encoder, EncoderSettings};
use weir_exi::infoset::{Infoset, Rules, WhiteSpace, compare};
use weir_exi::options::{Header, SchemaId};
use weir_exi::xml::{Reader, Writer};
use weir_exi::xsd::{Document, compile};
use weir_exi::{Alignment, Event, Limits, Options, Preserve, Schema};

const SCHEMA: &str = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="all"><xs:complexType mixed="true">
    <xs:choice minOccurs="0" maxOccurs="unbounded">
      <xs:element name="int" type="xs:int"/><xs:element name="decimal" type="xs:decimal"/>
      <xs:element name="double" type="xs:double"/><xs:element name="when" type="xs:dateTime"/>
      <xs:element name="hex" type="xs:hexBinary"/><xs:element name="base64" type="xs:base64Binary"/>
      <xs:element name="flags"><xs:simpleType><xs:list itemType="xs:boolean"/></xs:simpleType></xs:element>
      <xs:element name="color"><xs:simpleType><xs:restriction base="xs:string">
        <xs:enumeration value="red"/><xs:enumeration value="blue"/></xs:restriction></xs:simpleType></xs:element>
      <xs:any processContents="lax"/>
    </xs:choice><xs:attribute name="id" type="xs:short"/></xs:complexType></xs:element>
</xs:schema>"#;

const DOCUMENTS: [&str; 3] = [
    r#"<all id="7"><int>12</int><decimal>-1.50</decimal><double>1E5</double>text
<when>2026-11-20T09:41:00.25Z</when>
<hex>00FF</hex><base64>QUJD</base64><flags>true false 1</flags>
<color>blue</color><o:x xmlns:o="u" a="b"/></all>"#,
    "<!DOCTYPE a [<!ENTITY e 'f'>]><a xmlns:p='u' p:b='1'><!--c--><?d e?>x&e;<p:c>repeated</p:c><p:c>repeated</p:c>\
     <long>0123456789012345678901234567890123456789</long><d é='日本😀'/></a>",
    "<r><v n='1'>1.25</v><v n='2'>1.25</v><v n='3'>2.5</v><v n='4'/>\
     <w><w><w><w>deep</w></w></w></w></r>",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(3) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), self.below(256) as u8),
                2 if !bytes.is_empty() => drop(bytes.remove(at)),
                3 => bytes
                    .splice(at.min(bytes.len())..at.min(bytes.len()), [0xFF; 5])
                    .for_each(drop),
                _ if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }
}

const LIMITS: Limits = Limits {
    depth: 64,
    input_bytes: 1 << 16,
    expanded_bytes: 1 << 16,
    table_bytes: 1 << 16,
    table_entries: 1 << 10,
    events: 1 << 12,
    attributes: 64,
    value_bytes: 1 << 14,
};

fn schema() -> Arc<Schema> {
    let document = Document {
        location: "test.xsd",
        bytes: SCHEMA.as_bytes(),
    };
    Arc::new(compile(&[document], &mut |_: &str| None::<Vec<u8>>).unwrap())
}

fn encode(text: &[u8], settings: EncoderSettings) -> Result<Vec<u8>, weir_exi::Error> {
    let mut reader = Reader::new(text, settings.options.preserve, LIMITS)?;
    let mut encoder = Encoder::new(settings)?;
    while let Some(event) = reader.next_event()? {
        encoder.event(&event)?;
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    Ok(out)
}

/// How streams are made: every layout, with and without schema, little or everything preserved.
fn settings() -> Vec<EncoderSettings> {
    let schema = schema();
    let mut all = Vec::new();
    let layouts = [
        Alignment::BitPacked,
        Alignment::ByteAligned,
        Alignment::PreCompression,
        Alignment::Compression,
    ];
    for alignment in layouts {
        for schema in [None, Some(schema.clone())] {
            for preserve in [Preserve::default(), Preserve::ALL] {
                let schema_id = if schema.is_some() {
                    SchemaId::Unspecified
                } else {
                    SchemaId::None
                };
                let options = Options {
                    alignment,
                    preserve,
                    schema_id,
                    block_size: 7,
                    ..Options::default()
                };
                let header = Header {
                    cookie: true,
                    options: preserve.dtd,
                };
                all.push(EncoderSettings {
                    header,
                    ..EncoderSettings::new(options, schema.clone())
                });
            }
        }
    }
    all
}

/// Decodes as far as it goes; what came out, in events and bytes of text.
fn decode(stream: &[u8], settings: &EncoderSettings) -> (u64, u64) {
    let told = DecoderSettings {
        limits: LIMITS,
        ..DecoderSettings::new(settings.options.clone(), settings.schema.clone())
    };
    let mut decoder = Decoder::new(stream, told);
    let (mut events, mut bytes) = (0, 0);
    while let Ok(Some(event)) = decoder.next_event() {
        events += 1;
        if let Event::Characters(value) | Event::Attribute(_, value) = event {
            bytes += value.as_text().map_or(0, |text| text.len() as u64);
        }
    }
    (events, bytes)
}

#[test]
fn damaged_streams_stay_within_the_limits() {
    let mut random = Random(1);
    for settings in settings() {
        for document in DOCUMENTS {
            let stream = encode(document.as_bytes(), settings.clone()).unwrap();
            assert!(decode(&stream, &settings).0 > 4, "the whole stream decodes");
            for _ in 0..150 {
                let mut damaged = stream.clone();
                random.damage(&mut damaged);
                let (events, bytes) = decode(&damaged, &settings);
                assert!(
                    events <= LIMITS.events && bytes <= LIMITS.expanded_bytes,
                    "{damaged:02X?}"
                );
            }
        }
    }
}

#[test]
fn streams_of_chance_stay_within_the_limits() {
    let mut random = Random(2);
    for settings in settings() {
        for _ in 0..300 {
            let len = random.below(200);
            let mut stream: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            if let Some(first) = stream.first_mut() {
                *first = 0x80;
            }
            let (events, bytes) = decode(&stream, &settings);
            assert!(
                events <= LIMITS.events && bytes <= LIMITS.expanded_bytes,
                "{stream:02X?}"
            );
        }
    }
}

#[test]
fn what_is_read_of_damaged_documents_is_written_again() {
    let mut random = Random(3);
    let rules = Rules {
        preserve: Preserve::ALL,
        typed: false,
        white_space: WhiteSpace::Kept,
    };
    let mut read = 0;
    for _ in 0..6_000 {
        let mut damaged = DOCUMENTS[random.below(3)].as_bytes().to_vec();
        random.damage(&mut damaged);
        let Ok(reader) = Reader::new(&damaged, Preserve::ALL, LIMITS) else {
            continue;
        };
        let Ok(expected) = Infoset::of_xml(reader, rules) else {
            continue;
        };
        read += 1;
        let options = Options {
            preserve: Preserve::ALL,
            schema_id: SchemaId::None,
            ..Options::default()
        };
        let stream = encode(&damaged, EncoderSettings::new(options.clone(), None)).unwrap();
        let mut decoder = Decoder::new(&stream, DecoderSettings::new(options, None));
        let (mut writer, mut written, mut actual) =
            (Writer::new(), Vec::new(), Infoset::new(rules));
        while let Some(event) = decoder.next_event().unwrap() {
            writer.write(&event, &mut written).unwrap();
            actual.push(&event);
        }
        compare(&expected, &actual.finish(), rules)
            .unwrap_or_else(|error| panic!("{error}: {damaged:?}"));
        let again = Reader::new(&written, Preserve::ALL, Limits::default()).unwrap();
        let again = Infoset::of_xml(again, rules).unwrap();
        compare(&expected, &again, rules).unwrap_or_else(|error| panic!("{error}: {damaged:?}"));
    }
    assert!(read > 200, "{read} damaged documents are still documents");
}
