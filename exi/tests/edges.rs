//! Documents at the edges: what fuzzing and the oracle found, and what neither can ask.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::sync::Arc;
use weir_exi::options::{ExpandedName, Profile, Representation, SchemaId};
use weir_exi::xml::{Reader, Writer};
use weir_exi::{
    Alignment, Canonical, Decoder, DecoderSettings, Encoder, EncoderSettings, Error, Limits,
    Options, PieceDecoder, Preserve, Schema,
};

const LIMITS: Limits = Limits {
    depth: 5_000,
    input_bytes: 1 << 30,
    expanded_bytes: 1 << 30,
    table_bytes: 1 << 28,
    table_entries: 1 << 22,
    events: 1 << 24,
    attributes: 200_000,
    value_bytes: 1 << 24,
};

fn schema() -> Arc<Schema> {
    let text = r###"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="r"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
        <xs:element name="time" type="xs:dateTime"/><xs:element name="year" type="xs:gYear"/>
        <xs:element name="integer" type="xs:integer"/><xs:element name="decimal" type="xs:decimal"/>
        <xs:element name="edge" type="edge"/><xs:element name="size" type="size"/>
        <xs:element name="shade" type="shade"/>
        <xs:element name="list"><xs:simpleType><xs:list itemType="xs:integer"/></xs:simpleType></xs:element>
       <xs:element name="token" type="xs:token"/>
        <xs:any namespace="##other" processContents="lax"/>
      </xs:choice></xs:complexType></xs:element>
      <xs:simpleType name="edge"><xs:restriction base="xs:long">
        <xs:minInclusive value="9223372036854775806"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="size"><xs:restriction base="xs:decimal">
        <xs:enumeration value="1.50"/><xs:enumeration value="2"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="shade"><xs:restriction base="xs:string">
        <xs:enumeration value="red"/><xs:enumeration value=""/></xs:restriction></xs:simpleType>
      </xs:schema>"###;
    let document = weir_exi::xsd::Document {
        location: "edges.xsd",
        bytes: text.as_bytes(),
    };
    Arc::new(weir_exi::xsd::compile(&[document], &mut |_: &str| None).unwrap())
}

fn encode(document: &str, settings: EncoderSettings) -> Result<Vec<u8>, Error> {
    let preserve = settings.options.preserve;
    let mut encoder = Encoder::new(EncoderSettings {
        limits: LIMITS,
        ..settings
    })?;
    encode_by(&mut encoder, document, preserve)
}

fn encode_by(encoder: &mut Encoder, document: &str, preserve: Preserve) -> Result<Vec<u8>, Error> {
    let mut reader = Reader::new(document.as_bytes(), preserve, LIMITS)?;
    while let Some(event) = reader.next_event()? {
        encoder.event(&event)?;
    }
    let mut stream = Vec::new();
    encoder.take(&mut stream);
    Ok(stream)
}

fn decode(stream: &[u8], options: &Options, schema: Option<&Arc<Schema>>) -> String {
    let settings = DecoderSettings {
        limits: LIMITS,
        ..DecoderSettings::new(options.clone(), schema.cloned())
    };
    let mut decoder = Decoder::new(stream, settings);
    let (mut writer, mut out) = (Writer::new(), Vec::new());
    while let Some(event) = decoder.next_event().unwrap() {
        writer.write(&event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

fn through(document: &str, options: &Options, schema: Option<&Arc<Schema>>) -> String {
    let settings = EncoderSettings::new(options.clone(), schema.cloned());
    decode(&encode(document, settings).unwrap(), options, schema)
}

fn map(datatype: &str, representation: &str) -> Representation {
    Representation {
        datatype: ExpandedName::new("http://www.w3.org/2001/XMLSchema", datatype),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", representation),
    }
}

const XSI: &str = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

#[test]
fn an_encoder_that_begins_again_has_forgotten_prefixes() {
    let mut options = Options::default();
    options.preserve.prefixes = true;
    let settings = EncoderSettings::new(options.clone(), Some(schema()));
    let mut encoder = Encoder::new(settings).unwrap();
    let document = "<r xmlns:any=\"http://www.w3.org/2001/XMLSchema\"/>";
    for _ in 0..3 {
        encoder.restart();
        let stream = encode_by(&mut encoder, document, options.preserve).unwrap();
        assert_eq!(decode(&stream, &options, Some(&schema())), document);
    }
}

#[test]
fn values_beyond_sixty_four_bits_come_back() {
    let document = "<r><time>12026-01-01T00:00:00.999999999999999999Z</time><year>-12026</year>\
        <integer>-123456789012345678901234567890</integer><edge>9223372036854775807</edge>\
        <decimal>18446744073709551616.000000000000000000001</decimal></r>";
    for alignment in [Alignment::BitPacked, Alignment::Compression] {
        let options = Options {
            alignment,
            strict: true,
            ..Options::default()
        };
        assert_eq!(through(document, &options, Some(&schema())), document);
    }
}

/// As in the W3C's suite `emptyBlock` has it, whose encoder ends a block before it knows that nothing follows.
#[test]
fn empty_compressed_streams_behind_the_last_are_of_the_document() {
    let options = Options {
        alignment: Alignment::Compression,
        strict: true,
        block_size: 1,
        ..Options::default()
    };
    const EMPTY: &[u8] = &[0x03, 0x00];
    for document in ["<r><integer>7</integer><integer>8</integer></r>", "<r/>"] {
        let settings = EncoderSettings::new(options.clone(), Some(schema()));
        let stream = encode(document, settings).unwrap();
        for (behind, of_document) in [
            (vec![], 0),
            (EMPTY.to_vec(), 2),
            (EMPTY.repeat(3), 6),
            ([EMPTY, b"more"].concat(), 2),
            // A stream with something in it, one that is cut, one that is none.
            (vec![0x63, 0x60, 0x00, 0x00], 0),
            (vec![0x03], 0),
            (vec![0xFF, 0xFF], 0),
        ] {
            let input = [&stream[..], &behind].concat();
            let settings = DecoderSettings::new(options.clone(), Some(schema()));
            let mut decoder = Decoder::new(&input, settings);
            while decoder.next_event().unwrap().is_some() {}
            assert_eq!(
                decoder.consumed(),
                stream.len() + of_document,
                "{document} {behind:?}"
            );
            assert_eq!(decode(&input, &options, Some(&schema())), document);
        }
    }
}

#[test]
fn a_range_of_two_takes_one_bit_wherever_it_lies() {
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let bytes = |value: &str| {
        let document = format!("<r>{}</r>", format!("<edge>{value}</edge>").repeat(80));
        let settings = EncoderSettings::new(strict.clone(), Some(schema()));
        encode(&document, settings).unwrap().len()
    };
    // Four bits for which element it is, one for the value; the element ends without any.
    assert_eq!(
        bytes("9223372036854775806"),
        1 + (1 + 80 * 5 + 4usize).div_ceil(8)
    );
}

#[test]
fn enumerated_values_are_found_by_value_under_any_map() {
    let options = Options {
        strict: true,
        datatype_representation_map: vec![map("decimal", "string")],
        ..Options::default()
    };
    let document = "<r><size>+1.5</size><size>02.0</size></r>";
    let back = through(document, &options, Some(&schema()));
    assert_eq!(back, "<r><size>1.50</size><size>2</size></r>");
}

#[test]
fn an_empty_enumerated_value_is_one_in_a_strict_stream() {
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let back = through(
        "<r><shade></shade><shade>red</shade></r>",
        &options,
        Some(&schema()),
    );
    assert_eq!(back, "<r><shade></shade><shade>red</shade></r>");
}

#[test]
fn a_strict_stream_has_no_room_for_wrong_xsi_attributes() {
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let settings = || EncoderSettings::new(strict.clone(), Some(schema()));
    assert!(encode(&format!("<r {XSI} xsi:other='x'/>"), settings()).is_err());
    assert!(
        encode(
            &format!("<r {XSI} xsi:schemaLocation='u x.xsd'/>"),
            settings()
        )
        .is_ok()
    );
}

#[test]
fn a_year_zero_or_with_zeros_before_it_is_text() {
    let document = "<r><year>-00440</year><year>0000</year></r>";
    assert_eq!(
        through(document, &Options::default(), Some(&schema())),
        document
    );
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    assert!(encode(document, EncoderSettings::new(strict, Some(schema()))).is_err());
}

#[test]
fn a_name_whose_prefix_is_not_bound_comes_back_as_it_was() {
    let document = format!("<r {XSI}><t xmlns=\"t\" xsi:type=\"d:\"></t></r>");
    let options = Options {
        preserve: Preserve {
            prefixes: true,
            ..Preserve::default()
        },
        schema_id: SchemaId::None,
        ..Options::default()
    };
    let back = through(&document, &options, None);
    assert_eq!(
        back,
        format!("<r {XSI}><t xmlns=\"t\" xsi:type=\"d:\"/></r>")
    );
}

// [PROFILE-3.1-1] [PROFILE-3.1-2] [PROFILE-3.1-3] [PROFILE-6.2-1]
#[test]
fn every_bound_of_the_profile_gives_a_readable_stream() {
    let x = "<x a='1'><x b='2'>t</x><y><x/></y><x c='3'>u<y/></x></x>";
    let document = format!(
        "<r>{}</r>",
        format!("<o:x xmlns:o='urn:o'>{x}{x}</o:x>").repeat(3)
    );
    let mut written = String::new();
    for bound in [None, Some(0), Some(1), Some(2), Some(5)] {
        for productions in [None, Some(0), Some(1), Some(3)] {
            for preserve in [Preserve::default(), Preserve::ALL] {
                let profile = Profile {
                    local_value_partitions: bound.is_some(),
                    built_in_element_grammars_max: bound,
                    built_in_productions_max: productions,
                };
                let options = Options {
                    preserve,
                    profile: Some(profile),
                    ..Options::default()
                };
                let back = through(&document, &options, Some(&schema()));
                let ends = back.matches("</").count() + back.matches("/>").count();
                assert_eq!(
                    ends,
                    document.matches("</").count() + document.matches("/>").count()
                );
                let _ = write!(written, "{}", back.matches("anyType").count());
            }
        }
    }
    assert!(
        written.contains(|digit| digit != '0'),
        "types were put in: {written}"
    );
}

#[test]
fn the_canonical_form_is_pre_compressed_not_compressed() {
    let canonical = |alignment, map: &[Representation]| {
        let options = Options {
            alignment,
            datatype_representation_map: map.to_vec(),
            ..Options::default()
        };
        let settings = EncoderSettings {
            canonical: Some(Canonical {
                utc_time: false,
                omit_options: false,
            }),
            ..EncoderSettings::new(options, Some(schema()))
        };
        encode("<r><decimal>1.0</decimal></r>", settings).unwrap()
    };
    let (integer, boolean) = (map("integer", "string"), map("boolean", "integer"));
    let usual = map("double", "double");
    assert_eq!(
        canonical(Alignment::Compression, &[integer.clone(), boolean.clone()]),
        canonical(Alignment::PreCompression, &[boolean, usual, integer])
    );
}

#[test]
fn a_map_chooses_the_characters_of_lexical_values() {
    let options = |map: &[Representation]| Options {
        preserve: Preserve {
            lexical_values: true,
            ..Preserve::default()
        },
        datatype_representation_map: map.to_vec(),
        ..Options::default()
    };
    let document = "<r><token>+1234567890</token></r>";
    let len = |options: &Options| {
        assert_eq!(through(document, options, Some(&schema())), document);
        let settings = EncoderSettings::new(options.clone(), Some(schema()));
        encode(document, settings).unwrap().len()
    };
    // Eleven characters of five bits instead of eight.
    let shorter = len(&options(&[])) - len(&options(&[map("token", "integer")]));
    assert_eq!(shorter, 11 * 3 / 8);
}

#[test]
fn a_hundred_thousand_attributes_and_a_deep_tree_come_back() {
    let mut wide = String::from("<r");
    for index in 0..100_000 {
        let _ = write!(wide, " a{index:06}=\"{}\"", index % 7);
    }
    wide.push_str("/>");
    let deep = ["<d>".repeat(4_000), "</d>".repeat(4_000)].concat();
    for alignment in [Alignment::BitPacked, Alignment::Compression] {
        let options = Options {
            alignment,
            ..Options::default()
        };
        assert_eq!(through(&wide, &options, None), wide);
        assert_eq!(
            through(&deep, &options, None),
            deep.replacen("<d></d>", "<d/>", 1)
        );
    }
}

#[test]
fn what_is_tried_again_with_the_next_piece_counts_once() {
    let document = format!("<r><list>{}</list></r>", "7 ".repeat(400));
    let options = Options::default();
    let settings = EncoderSettings::new(options.clone(), Some(schema()));
    let stream = encode(&document, settings).unwrap();
    let limits = Limits {
        expanded_bytes: 200 * 400,
        ..LIMITS
    };
    let mut decoder = PieceDecoder::new(DecoderSettings {
        limits,
        ..DecoderSettings::new(options, Some(schema()))
    });
    let mut events = 0;
    for piece in stream.chunks(1) {
        decoder.feed(piece).unwrap();
        while decoder.next_event().unwrap().is_some() {
            events += 1;
        }
    }
    decoder.finish();
    while decoder.next_event().unwrap().is_some() {
        events += 1;
    }
    assert!(decoder.is_done());
    assert_eq!(events, 7);
}
