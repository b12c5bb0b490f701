//! XML documents through EXI under all options: what the encoder takes, the decoder gives back as the
//! same infoset, and the canonical form of that is the canonical form of the document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Canonical, Encoder, EncoderSettings};
use weir_exi::infoset::{Infoset, Item, Rules, WhiteSpace, compare};
use weir_exi::options::{Header, SchemaId};
use weir_exi::xml::{Reader, Writer};
use weir_exi::{Limits, Options, Preserve};
use weir_fuzz::{Drawn, LIMITS, draw};

fuzz_target!(|input: &[u8]| {
    let Some((drawn, document)) = draw(input) else {
        return;
    };
    let in_band = drawn.free & 1 != 0;
    let header = Header {
        cookie: drawn.free & 2 != 0,
        options: in_band,
    };
    let canonical = (drawn.free & 4 != 0).then_some(Canonical {
        utc_time: drawn.free & 8 != 0,
        omit_options: !in_band,
    });
    let profile = drawn.options.profile.is_some();
    let rules = Rules {
        // The types that the EXI Profile adds (section 3.2) bring declarations.
        preserve: Preserve {
            prefixes: drawn.options.preserve.prefixes && !profile,
            ..drawn.options.preserve
        },
        typed: drawn.schema.is_some(),
        white_space: if canonical.is_some() || drawn.schema.is_some() {
            WhiteSpace::Trimmed
        } else {
            WhiteSpace::Kept
        },
    };
    let settings = EncoderSettings {
        header,
        canonical,
        limits: LIMITS,
        ..EncoderSettings::new(drawn.options.clone(), drawn.schema.clone())
    };
    let Some(stream) = encode(document, &drawn.options, settings.clone()) else {
        return;
    };
    let written = text(&stream, &drawn, in_band, canonical.is_some());
    let Some(written) = written else { return };
    if canonical.is_some() && !profile {
        let again = encode(&written, &drawn.options, settings).expect("its own document");
        assert_eq!(
            again, stream,
            "canonical bytes of the document that came back"
        );
    }
    // The canonical form of a value is another text, as midnight is the hour 0 of the next day.
    if canonical.is_some() && drawn.schema.is_some() {
        return;
    }
    let [mut expected, mut actual] =
        [document, &written].map(|document| items(document, &drawn.options, rules));
    // The EXI Profile adds types (section 3.2), and a text that is no name of a type may get another prefix.
    for items in [&mut expected, &mut actual] {
        items.retain(|item| !is_type(item));
    }
    compare(&expected, &actual, rules).expect("the same infoset");
});

/// The stream of a document, if it is one that can be encoded.
fn encode(document: &[u8], options: &Options, settings: EncoderSettings) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(settings).ok()?;
    let mut reader = Reader::new(document, options.preserve, LIMITS).ok()?;
    if options.fragment {
        reader = reader.fragment();
    }
    while let Some(event) = reader.next_event().ok()? {
        encoder.event(&event).ok()?;
    }
    let mut stream = Vec::new();
    encoder.take(&mut stream);
    Some(stream)
}

/// The stream as a document; none where it has what XML cannot say.
fn text(stream: &[u8], drawn: &Drawn, in_band: bool, canonical: bool) -> Option<Vec<u8>> {
    let options = match in_band {
        true => Options {
            schema_id: SchemaId::Unspecified,
            ..Options::default()
        },
        false if canonical => Canonical::options(drawn.options.clone()),
        false => drawn.options.clone(),
    };
    let mut decoder = Decoder::new(stream, DecoderSettings::new(options, drawn.schema.clone()));
    let (mut writer, mut written) = (Writer::new(), Vec::new());
    if drawn.options.fragment {
        writer = writer.fragment();
    }
    while let Some(event) = decoder.next_event().expect("its own stream") {
        writer.write(&event, &mut written).ok()?;
    }
    assert_eq!(decoder.consumed(), stream.len(), "all of the stream");
    Some(written)
}

fn is_type(item: &Item) -> bool {
    matches!(item, Item::Attribute(uri, local, _) if local == "type" && uri.ends_with("-instance"))
}

fn items(document: &[u8], options: &Options, rules: Rules) -> Vec<Item> {
    let reader = Reader::new(document, options.preserve, Limits::default());
    let mut reader = reader.expect("a document");
    if options.fragment {
        reader = reader.fragment();
    }
    Infoset::of_xml(reader, rules).expect("a document")
}
