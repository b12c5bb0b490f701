//! Damaged streams are refused with a place, within limits, and never crash the decoder.

use crate::support;

use support::*;
use weir_exi::error::ErrorKind;
use weir_exi::limits::Limit;
use weir_exi::{Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Limits, Options};

fn sample() -> Vec<Owned> {
    let mut parts = vec!["<{urn:a}list".to_string(), "@{urn:a}kind=one".to_string()];
    for number in 0..40 {
        parts.extend([
            "<item".into(),
            format!("@id={number}"),
            "\"some text".into(),
            ">".into(),
        ]);
    }
    parts.push(">".into());
    document(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn limits() -> Limits {
    Limits {
        depth: 50,
        expanded_bytes: 1 << 20,
        table_bytes: 1 << 20,
        table_entries: 10_000,
        events: 100_000,
        ..Limits::default()
    }
}

fn settings() -> DecoderSettings {
    DecoderSettings {
        limits: limits(),
        ..DecoderSettings::default()
    }
}

#[test]
fn a_stream_cut_short_anywhere_says_so() {
    for alignment in ALIGNMENTS {
        let bytes = encode(&sample(), &options(alignment), None).unwrap();
        for length in 0..bytes.len() {
            let error = decode_with(&bytes[..length], settings()).unwrap_err();
            assert_eq!(
                error.kind,
                ErrorKind::UnexpectedEnd,
                "{alignment:?} {length}: {error}"
            );
            assert!(error.byte <= length as u64, "{alignment:?} {length}");
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_with_a_place_or_another_document() {
    for alignment in ALIGNMENTS {
        let bytes = encode(&sample(), &preserving(alignment), None).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 128 >> (bit % 8);
            if let Err(error) = decode_with(&damaged, settings()) {
                assert!(error.byte <= bytes.len() as u64, "{bit}: {error}");
            }
        }
    }
}

#[test]
fn noise_never_passes_the_limits() {
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut bytes = b"$EXI\x80".to_vec();
        for _ in 0..64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            bytes.push((state >> 33) as u8);
        }
        for alignment in ALIGNMENTS {
            let options = preserving(alignment);
            let _ = decode_with(
                &bytes,
                DecoderSettings {
                    options,
                    ..settings()
                },
            );
        }
    }
}

// [EXI-5.2-1]
#[test]
fn what_is_not_exi_is_told_at_once() {
    for (bytes, kind) in [
        (&b"<a/>"[..], ErrorKind::NotExi),
        (b"$EXX", ErrorKind::NotExi),
        (b"\x81\x00", ErrorKind::UnsupportedVersion(2)),
        (b"", ErrorKind::UnexpectedEnd),
    ] {
        assert_eq!(
            decode_with(bytes, settings()).unwrap_err().kind,
            kind,
            "{bytes:?}"
        );
    }
}

#[test]
fn an_error_stays_an_error() {
    let mut decoder = Decoder::new(b"<a/>", settings());
    let first = decoder.next_event().unwrap_err();
    assert_eq!(decoder.next_event().unwrap_err(), first);
}

#[test]
fn depth_has_a_limit() {
    let mut parts = vec!["<a"; 51];
    parts.extend(vec![">"; 51]);
    let bytes = encode(&document(&parts), &options(Alignment::BitPacked), None).unwrap();
    let error = decode_with(&bytes, settings()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OverLimit(Limit::Depth));
}

#[test]
fn deflated_bombs_have_a_limit() {
    let long = format!("\"{}", "x".repeat(5_000_000));
    let events = document(&["<a", &long, ">"]);
    let bytes = encode(&events, &options(Alignment::Compression), None).unwrap();
    assert!(bytes.len() < 20_000);
    let error = decode_with(&bytes, settings()).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::OverLimit(_)), "{error}");
}

#[test]
fn repeated_values_have_a_limit() {
    let long = format!("\"{}", "x".repeat(100_000));
    let mut parts = vec!["<a"];
    for _ in 0..20 {
        parts.extend(["<b", &long, ">"]);
    }
    parts.push(">");
    let bytes = encode(&document(&parts), &options(Alignment::BitPacked), None).unwrap();
    assert!(bytes.len() < 110_000);
    let error = decode_with(&bytes, settings()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OverLimit(Limit::ExpandedBytes));
}

// [EXI-5.4-5] [EXI-5.4-10]
#[test]
fn contradicting_options_are_refused() {
    let mut strict = Options {
        strict: true,
        ..Options::default()
    };
    strict.preserve.comments = true;
    let channels = Options {
        self_contained: true,
        alignment: Alignment::Compression,
        ..Options::default()
    };
    let empty = Options {
        block_size: 0,
        ..Options::default()
    };
    for options in [strict, channels, empty] {
        let error = encode(&sample(), &options, None).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::InvalidOptions(_)),
            "{error}"
        );
    }
}

#[test]
fn an_error_in_a_compressed_block_has_its_byte_of_the_stream() {
    let value = |index: u64| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).to_string();
    let values: Vec<String> = (0..50)
        .map(|index| {
            (0..200).fold(String::from("\""), |text, next| {
                text + &value(index * 200 + next)
            })
        })
        .collect();
    let mut parts = vec!["<a"];
    for value in &values {
        parts.extend(["<b", value, ">"]);
    }
    parts.push(">");
    // With up to 100 values all channels are one stream, and the structure comes first.
    let settings = EncoderSettings::new(options(Alignment::PreCompression), None);
    let (mut encoder, mut plain) = (Encoder::new(settings).unwrap(), Vec::new());
    for event in document(&parts) {
        encoder.event(&event.event()).unwrap();
    }
    encoder.take(&mut plain);
    plain[8] = 0xEE;
    let mut bytes = plain[..1].to_vec();
    bytes.extend(miniz_oxide::deflate::compress_to_vec(&plain[1..], 9));
    let settings = DecoderSettings::new(options(Alignment::Compression), None);
    let error = decode_with(&bytes, settings).unwrap_err();
    assert!(error.inflated && error.inflated_byte < 20, "{error:?}");
    let place = error.byte as usize;
    assert!(
        place > 1 && place < bytes.len() / 10,
        "{error:?} of {}",
        bytes.len()
    );
    let told = format!(
        "at byte {place} (byte {} of the inflated block)",
        error.inflated_byte
    );
    assert!(error.to_string().contains(&told), "{error}");
}

#[test]
fn damaged_deflate_data_are_told_by_their_byte() {
    let mut bytes = vec![0x80];
    // A stored block whose two lengths do not agree, and more than a message behind it.
    bytes.extend([0x01, 0x05, 0x00, 0x00, 0x00]);
    bytes.extend([0; 4000]);
    let settings = DecoderSettings::new(options(Alignment::Compression), None);
    let error = decode_with(&bytes, settings).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidDeflate);
    assert!((1..16).contains(&error.byte), "{error}");
}

#[test]
fn elements_around_a_self_contained_one_count_for_the_depth() {
    let mut parts = vec![];
    (0..20).for_each(|_| parts.extend(["<a", "^"]));
    parts.extend(vec!["<b"; 20]);
    parts.extend(vec![">"; 40]);
    let options = Options {
        self_contained: true,
        ..options(Alignment::BitPacked)
    };
    let bytes = encode(&document(&parts), &options, None).unwrap();
    let error = decode_with(&bytes, settings()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OverLimit(Limit::Depth));
}
