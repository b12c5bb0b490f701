//! XML documents: no text breaks the reader, and what it reads comes back from XML and from EXI as the
//! same infoset.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Encoder, EncoderSettings};
use weir_exi::infoset::{Infoset, Rules, WhiteSpace, compare};
use weir_exi::options::SchemaId;
use weir_exi::xml::{Reader, Writer};
use weir_exi::{Limits, Options, Preserve};

const LIMITS: Limits = Limits {
    depth: 100,
    input_bytes: 1 << 20,
    expanded_bytes: 1 << 20,
    table_bytes: 1 << 20,
    table_entries: 1 << 14,
    events: 100_000,
    attributes: 256,
    value_bytes: 1 << 20,
};

fuzz_target!(|document: &[u8]| {
    let rules = Rules {
        preserve: Preserve::ALL,
        typed: false,
        white_space: WhiteSpace::Kept,
    };
    let Ok(reader) = Reader::new(document, Preserve::ALL, LIMITS) else {
        return;
    };
    let Ok(expected) = Infoset::of_xml(reader, rules) else {
        return;
    };
    let options = Options {
        preserve: Preserve::ALL,
        schema_id: SchemaId::None,
        ..Options::default()
    };
    let mut encoder = Encoder::new(EncoderSettings::new(options.clone(), None)).unwrap();
    let (mut writer, mut written) = (Writer::new(), Vec::new());
    let mut reader = Reader::new(document, Preserve::ALL, LIMITS).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
        writer.write(&event, &mut written).unwrap();
    }
    let again = Reader::new(&written, Preserve::ALL, Limits::default()).unwrap();
    compare(&expected, &Infoset::of_xml(again, rules).unwrap(), rules).unwrap();
    let mut stream = Vec::new();
    encoder.take(&mut stream);
    let mut decoder = Decoder::new(&stream, DecoderSettings::new(options, None));
    let mut actual = Infoset::new(rules);
    while let Some(event) = decoder.next_event().unwrap() {
        actual.push(&event);
    }
    compare(&expected, &actual.finish(), rules).unwrap();
});
