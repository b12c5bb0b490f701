//! EXI streams: no bytes break the decoder, and what it gives keeps to the limits. The first byte picks
//! the options.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::{Alignment, Limits, Options, Preserve};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, stream)) = input.split_first() else {
        return;
    };
    let alignments = [
        Alignment::BitPacked,
        Alignment::ByteAligned,
        Alignment::PreCompression,
        Alignment::Compression,
    ];
    let options = Options {
        alignment: alignments[usize::from(choice & 3)],
        preserve: if choice & 4 != 0 {
            Preserve::ALL
        } else {
            Preserve::default()
        },
        fragment: choice & 8 != 0,
        self_contained: choice & 16 != 0 && choice & 2 == 0,
        block_size: if choice & 32 != 0 {
            3
        } else {
            Options::BLOCK_SIZE
        },
        ..Options::default()
    };
    let schema = (choice & 64 != 0).then(|| std::sync::Arc::new(weir_exi::xsd::built_in_types()));
    let limits = Limits {
        events: 10_000,
        expanded_bytes: 1 << 20,
        table_bytes: 1 << 20,
        ..Limits::default()
    };
    let settings = DecoderSettings {
        limits,
        ..DecoderSettings::new(options, schema)
    };
    let mut decoder = Decoder::new(stream, settings);
    let mut events = 0;
    while let Ok(Some(_)) = decoder.next_event() {
        events += 1;
    }
    assert!(events <= 10_000);
});
