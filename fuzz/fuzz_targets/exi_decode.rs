//! EXI streams under all options: no bytes break the decoder, what it gives keeps to the limits, and a
//! stream in pieces is the same as the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_exi::Preserve;
use weir_exi::decode::{Decoder, DecoderSettings, PieceDecoder};
use weir_exi::infoset::{Infoset, Item, Rules, WhiteSpace};
use weir_fuzz::{Drawn, LIMITS, draw};

fuzz_target!(|input: &[u8]| {
    let Some((drawn, stream)) = draw(input) else {
        return;
    };
    let whole = whole(stream, &drawn);
    if drawn.free & 1 != 0 {
        assert!(pieces(stream, &drawn) == whole, "in pieces as in one");
    }
});

fn settings(drawn: &Drawn) -> DecoderSettings {
    DecoderSettings {
        limits: LIMITS,
        ..DecoderSettings::new(drawn.options.clone(), drawn.schema.clone())
    }
}

fn infoset() -> Infoset {
    Infoset::new(Rules {
        preserve: Preserve::ALL,
        typed: false,
        white_space: WhiteSpace::Kept,
    })
}

/// The items as far as there is no error, and whether there was one.
fn whole(stream: &[u8], drawn: &Drawn) -> (Vec<Item>, bool) {
    let (mut decoder, mut items) = (Decoder::new(stream, settings(drawn)), infoset());
    let mut count = 0;
    loop {
        match decoder.next_event() {
            Ok(Some(event)) if drawn.free & 1 != 0 => items.push(&event),
            Ok(Some(_)) => {}
            Ok(None) => return (items.finish(), false),
            Err(_) => return (items.finish(), true),
        }
        count += 1;
        assert!(count <= LIMITS.events);
    }
}

fn pieces(stream: &[u8], drawn: &Drawn) -> (Vec<Item>, bool) {
    let (mut decoder, mut items) = (PieceDecoder::new(settings(drawn)), infoset());
    for piece in stream.chunks(1 + usize::from(drawn.free >> 4)) {
        if decoder.feed(piece).is_err() || drain(&mut decoder, &mut items) {
            return (items.finish(), true);
        }
        if decoder.is_done() {
            return (items.finish(), false);
        }
    }
    decoder.finish();
    let failed = drain(&mut decoder, &mut items);
    (items.finish(), failed)
}

/// Takes what there is; says whether that was an error.
fn drain(decoder: &mut PieceDecoder, items: &mut Infoset) -> bool {
    loop {
        match decoder.next_event() {
            Ok(Some(event)) => items.push(&event),
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}
