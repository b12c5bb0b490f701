//! Streams that arrive byte by byte: the same events as at once, and no work done again for each byte.
//!
//! Were a value read from its beginning with every byte, the long ones here would take hours.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use weir_exi::options::{ExpandedName, Header, Representation};
use weir_exi::xml::Reader;
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Event, Limits, Options,
    PieceDecoder, Schema,
};

const ALIGNMENTS: [Alignment; 4] = [
    Alignment::BitPacked,
    Alignment::ByteAligned,
    Alignment::PreCompression,
    Alignment::Compression,
];

fn schema() -> Arc<Schema> {
    let text = r###"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:element name="r"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">
        <xs:element name="numbers"><xs:simpleType><xs:list itemType="xs:integer"/></xs:simpleType></xs:element>
        <xs:element name="words"><xs:simpleType><xs:list itemType="xs:NMTOKEN"/></xs:simpleType></xs:element>
        <xs:element name="bytes" type="xs:base64Binary"/>
        <xs:element name="text" type="xs:string"/>
        <xs:element name="letters"><xs:simpleType><xs:restriction base="xs:string">
          <xs:pattern value="[abcd]*"/></xs:restriction></xs:simpleType></xs:element>
      </xs:choice></xs:complexType></xs:element></xs:schema>"###;
    let document = weir_exi::xsd::Document {
        location: "pieces.xsd",
        bytes: text.as_bytes(),
    };
    Arc::new(weir_exi::xsd::compile(&[document], &mut |_: &str| None).unwrap())
}

fn settings(options: &Options, limits: Limits) -> DecoderSettings {
    DecoderSettings {
        limits,
        ..DecoderSettings::new(options.clone(), Some(schema()))
    }
}

fn encode(document: &str, options: &Options, header: Header) -> Vec<u8> {
    let mut encoder = Encoder::new(EncoderSettings {
        header,
        ..EncoderSettings::new(options.clone(), Some(schema()))
    })
    .unwrap();
    let mut reader = Reader::new(document.as_bytes(), options.preserve, Limits::default()).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    let mut stream = Vec::new();
    encoder.take(&mut stream);
    stream
}

/// What an event says, in words.
fn told(event: &Event<'_>) -> String {
    match event {
        Event::Characters(value) => value.to_string(),
        Event::StartElement(name) => format!("<{}", name.local),
        other => format!("{other:?}"),
    }
}

fn whole(stream: &[u8], settings: DecoderSettings) -> Vec<String> {
    let mut decoder = Decoder::new(stream, settings);
    let mut events = Vec::new();
    while let Some(event) = decoder.next_event().unwrap() {
        events.push(told(&event));
    }
    events
}

fn bytewise(stream: &[u8], decoder: &mut PieceDecoder) -> Vec<String> {
    let mut events = Vec::new();
    for byte in stream {
        decoder.feed(&[*byte]).unwrap();
        while let Some(event) = decoder.next_event().unwrap() {
            events.push(told(&event));
        }
    }
    decoder.finish();
    while let Some(event) = decoder.next_event().unwrap() {
        events.push(told(&event));
    }
    assert!(decoder.is_done());
    events
}

/// Each element with a value whose parts are many.
fn long() -> [(&'static str, String); 5] {
    let words = |count: usize| {
        (0..count)
            .map(|number| format!("w{} ", number % 700))
            .collect()
    };
    [
        ("numbers", "123456789 ".repeat(60_000)),
        ("words", words(60_000)),
        ("bytes", "AAAA".repeat(60_000)),
        ("text", "\u{e4}\u{1f600}x".repeat(60_000)),
        ("letters", "ab\u{e4}z".repeat(60_000)),
    ]
}

#[test]
fn long_values_byte_by_byte_are_what_they_are_at_once() {
    for (element, value) in long() {
        let document = format!("<r><{element}>{}</{element}></r>", value.trim_end());
        for alignment in ALIGNMENTS {
            let options = Options {
                alignment,
                strict: true,
                ..Options::default()
            };
            let stream = encode(&document, &options, Header::default());
            let settings = settings(&options, Limits::default());
            let expected = whole(&stream, settings.clone());
            let pieces = bytewise(&stream, &mut PieceDecoder::new(settings));
            assert!(pieces == expected, "{element} {alignment:?}");
        }
    }
}

#[test]
fn words_of_a_list_take_their_places_in_bounded_partitions_once() {
    let list = |count: usize, of: usize| -> String {
        let words = (0..count).map(|number| format!("{} ", number * 7 % of));
        words.collect()
    };
    let document = format!(
        "<r><words>{}</words><words>{}</words><text>3</text></r>",
        list(200, 31),
        list(90, 11)
    );
    for alignment in ALIGNMENTS {
        for capacity in [0, 1, 5, 40] {
            let options = Options {
                alignment,
                value_partition_capacity: Some(capacity),
                block_size: 2,
                ..Options::default()
            };
            let stream = encode(&document, &options, Header::default());
            let settings = settings(&options, Limits::default());
            let expected = whole(&stream, settings.clone());
            let pieces = bytewise(&stream, &mut PieceDecoder::new(settings));
            assert_eq!(pieces, expected, "{alignment:?} {capacity}");
        }
    }
}

#[test]
fn what_arrives_in_parts_counts_once_in_channels_too() {
    let document = format!(
        "<r><numbers>{}</numbers><bytes>{}</bytes></r>",
        "7 ".repeat(400).trim_end(),
        "AAAA".repeat(500)
    );
    for alignment in ALIGNMENTS {
        let options = Options {
            alignment,
            ..Options::default()
        };
        let limits = Limits {
            expanded_bytes: 200 * 400,
            ..Limits::default()
        };
        let stream = encode(&document, &options, Header::default());
        let settings = settings(&options, limits);
        let pieces = bytewise(&stream, &mut PieceDecoder::new(settings));
        assert_eq!(pieces.len(), 10, "{alignment:?}");
    }
}

/// Options that take a long document.
fn wordy() -> Options {
    let entry = |number: usize| Representation {
        datatype: ExpandedName::new("urn:types", &format!("type{number}")),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", "string"),
    };
    Options {
        datatype_representation_map: (0..8_000).map(entry).collect(),
        ..Options::default()
    }
}

#[test]
fn a_header_of_any_length_arrives_byte_by_byte_and_again() {
    let header = Header {
        cookie: true,
        options: true,
    };
    let document = "<r><numbers>1 2</numbers></r>";
    let streams = [wordy(), Options::default()].map(|options| encode(document, &options, header));
    let settings = settings(&Options::default(), Limits::default());
    let mut decoder = PieceDecoder::new(settings.clone());
    for stream in [&streams[0], &streams[1], &streams[1], &streams[0]] {
        assert_eq!(
            bytewise(stream, &mut decoder),
            whole(stream, settings.clone())
        );
        // A header that is begun and left changes nothing in the next.
        decoder.restart();
        for byte in &streams[0][..100] {
            decoder.feed(&[*byte]).unwrap();
            assert!(decoder.next_event().unwrap().is_none());
        }
        decoder.restart();
    }
}

#[test]
fn what_is_wrong_in_a_header_is_wrong_where_it_stands() {
    let header = Header {
        cookie: false,
        options: true,
    };
    let mut stream = encode("<r/>", &wordy(), header);
    stream.truncate(5_000);
    let settings = settings(&Options::default(), Limits::default());
    let error = Decoder::new(&stream, settings).next_event().unwrap_err();
    assert!((4_900..=5_000).contains(&error.byte), "{error}");
}
