//! Documents of many like records, for which there is a quick path, and coders that begin again.

use crate::support;

use support::*;
use weir_exi::options::Header;
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Options, PieceDecoder,
};

/// Records with values that come again, that are new, that are long or no ASCII, and empty.
fn records(count: usize) -> Vec<Owned> {
    let mut notation = vec![String::from("<{urn:a}records")];
    for number in 0..count {
        let word = ["one", "two", "drei\u{df}ig", "\u{1f600}"][number % 4];
        notation.extend([
            String::from("<record"),
            format!("@id={number}"),
            format!("@kind={word}"),
            String::from("<{urn:b}value"),
            format!("\"{}", word.repeat(1 + number % 40)),
            String::from(">"),
            String::from("<empty"),
            String::from("@of="),
            String::from(">"),
            String::from(">"),
        ]);
    }
    notation.push(String::from(">"));
    let notation: Vec<&str> = notation.iter().map(String::as_str).collect();
    document(&notation)
}

/// Alignments, each alone and with bounds of the string table and of blocks.
fn grid() -> Vec<Options> {
    let bounds = [
        (None, None, None),
        (Some(0), None, None),
        (Some(3), Some(9), Some(7)),
        (Some(50), Some(4), Some(250)),
    ];
    let cell = |alignment| {
        bounds.map(|(capacity, length, block)| Options {
            alignment,
            value_partition_capacity: capacity,
            value_max_length: length,
            block_size: block.unwrap_or(Options::default().block_size),
            ..Options::default()
        })
    };
    let mut grid: Vec<Options> = ALIGNMENTS.into_iter().flat_map(cell).collect();
    grid.push(preserving(Alignment::BitPacked));
    grid
}

#[test]
fn records_come_back_whole_and_in_pieces_with_any_bounds() {
    let events = records(300);
    for options in grid() {
        let bytes = encode(&events, &options, None).unwrap();
        assert!(decode(&bytes, None).unwrap() == events, "{options:?}");
        for length in [1, 5, 1000] {
            let pieces = decode_pieces(&bytes, length).unwrap();
            assert!(pieces == events, "{options:?} {length}");
        }
    }
}

#[test]
fn a_number_of_events_is_all_that_a_decoder_gives() {
    let events = records(50);
    for alignment in ALIGNMENTS {
        let bytes = encode(&events, &options(alignment), None).unwrap();
        let mut settings = DecoderSettings::default();
        settings.limits.events = 100;
        let error = decode_with(&bytes, settings.clone()).unwrap_err();
        assert!(error.to_string().contains("events"), "{error}");
        settings.limits.events = events.len() as u64;
        assert_eq!(decode_with(&bytes, settings).unwrap(), events);
    }
}

fn encode_again(encoder: &mut Encoder, events: &[Owned]) -> Vec<u8> {
    encoder.restart();
    let mut bytes = Vec::new();
    for event in events {
        encoder
            .event(&event.event())
            .expect("events in their order");
    }
    encoder.take(&mut bytes);
    bytes
}

#[test]
fn an_encoder_that_begins_again_writes_what_a_new_one_does() {
    let (first, other) = (records(120), records(9));
    for options in grid() {
        let mut settings = EncoderSettings::new(options.clone(), None);
        settings.header = Header {
            cookie: true,
            options: true,
        };
        let mut encoder = Encoder::new(settings).unwrap();
        for events in [&first, &other, &first] {
            let expected = encode(events, &options, None).unwrap();
            assert!(
                encode_again(&mut encoder, events) == expected,
                "{options:?}"
            );
            // What was begun and not ended leaves nothing behind, nor does a mistake.
            encode_again(&mut encoder, &first[..77]);
            assert!(encoder.event(&Owned::Document.event()).is_err());
        }
    }
}

fn decode_again<'i>(
    decoder: Decoder<'_>,
    bytes: &'i [u8],
) -> (Decoder<'i>, Result<Vec<Owned>, weir_exi::Error>) {
    let mut decoder = decoder.restart(bytes);
    let mut events = Vec::new();
    loop {
        match decoder.next_event() {
            Ok(Some(ref event)) => events.push(Owned::of(event)),
            Ok(None) => return (decoder, Ok(events)),
            Err(error) => return (decoder, Err(error)),
        }
    }
}

// [EXI-7.3-1]
#[test]
fn a_decoder_that_begins_again_reads_what_a_new_one_does() {
    let (first, other) = (records(120), records(9));
    let mut decoder = Decoder::new(&[], DecoderSettings::default());
    let mut pieces = PieceDecoder::new(DecoderSettings::default());
    for options in grid() {
        for events in [&first, &other, &first] {
            let bytes = encode(events, &options, None).unwrap();
            let broken = decode_again(decoder, &bytes[..bytes.len() * 2 / 3]);
            assert!(broken.1.is_err(), "{options:?}");
            let whole = decode_again(broken.0, &bytes);
            assert!(whole.1.as_ref() == Ok(events), "{options:?}");
            decoder = whole.0.restart(&[]);
            pieces.restart();
            pieces.feed(&bytes[..bytes.len() / 2]).unwrap();
            while pieces.next_event().unwrap().is_some() {}
            pieces.restart();
            pieces.feed(&bytes).unwrap();
            let mut count = 0;
            while pieces.next_event().unwrap().is_some() {
                count += 1;
            }
            assert!(pieces.is_done() && count == events.len(), "{options:?}");
        }
    }
}

#[test]
fn a_self_contained_element_cut_short_leaves_nothing_behind() {
    let events = document(&[
        "<root", "<part", "^", "@id=1", "\"text", ">", "<part", ">", ">",
    ]);
    let options = Options {
        self_contained: true,
        ..Options::default()
    };
    let bytes = encode(&events, &options, None).unwrap();
    let mut encoder = Encoder::new(EncoderSettings::new(options.clone(), None)).unwrap();
    let fresh = encode_again(&mut encoder, &events);
    encode_again(&mut encoder, &events[..5]);
    assert_eq!(encode_again(&mut encoder, &events), fresh);
    let mut decoder = Decoder::new(&bytes, DecoderSettings::default());
    for _ in 0..5 {
        decoder.next_event().unwrap();
    }
    assert_eq!(decode_again(decoder, &bytes).1.unwrap(), events);
}
