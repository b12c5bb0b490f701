//! What goes in comes out, in every alignment and with every option, whole and in pieces.

use crate::support;

use proptest::prelude::*;
use support::*;
use weir_exi::{Alignment, Options};

fn sample() -> Vec<Owned> {
    document(&[
        "<{urn:a}list",
        "@{urn:a}kind=one",
        "@id=1",
        "<item",
        "@id=2",
        "\"text",
        ">",
        "<item",
        "@id=3",
        "\"text",
        "<{urn:b}deep",
        "\"\u{e4}\u{1f600} mixed",
        ">",
        "\"tail",
        ">",
        "<item",
        ">",
        "<item",
        "@id=2",
        "\"text",
        ">",
        ">",
    ])
}

#[test]
fn a_document_comes_back_in_every_alignment() {
    for alignment in ALIGNMENTS {
        let bytes = encode(&sample(), &options(alignment), None).unwrap();
        assert_eq!(decode(&bytes, None).unwrap(), sample(), "{alignment:?}");
    }
}

#[test]
fn a_document_comes_back_from_pieces_of_any_length() {
    for alignment in ALIGNMENTS {
        let bytes = encode(&sample(), &options(alignment), None).unwrap();
        for length in [1, 2, 3, 7, 64] {
            assert_eq!(
                decode_pieces(&bytes, length).unwrap(),
                sample(),
                "{alignment:?} {length}"
            );
        }
    }
}

// [EXI-8.3-2]
#[test]
fn everything_that_can_be_preserved_comes_back() {
    let doc_type = ["root", "public", "system", "<!ENTITY e 'x'>"].map(String::from);
    let mut events = document(&[
        "!before", "?before", "<root", "!first", "\"a", "?in", "\"b", "&e", "<child", "!c", ">",
        ">", "?after", "!after",
    ]);
    events.insert(1, Owned::DocType(doc_type));
    for alignment in ALIGNMENTS {
        let bytes = encode(&events, &preserving(alignment), None).unwrap();
        assert_eq!(decode(&bytes, None).unwrap(), events, "{alignment:?}");
        assert_eq!(decode_pieces(&bytes, 1).unwrap(), events, "{alignment:?}");
    }
}

// [EXI-6.3-1] [EXI-8.3-1]
#[test]
fn what_is_not_preserved_is_left_out() {
    let events = document(&["!before", "<root", "!in", "\"a", "?in", "\"b", ">"]);
    let bytes = encode(&events, &options(Alignment::BitPacked), None).unwrap();
    assert_eq!(
        decode(&bytes, None).unwrap(),
        document(&["<root", "\"ab", ">"])
    );
}

#[test]
fn fragments_have_several_roots_or_none() {
    for alignment in ALIGNMENTS {
        let options = Options {
            fragment: true,
            ..options(alignment)
        };
        for events in [
            document(&[]),
            document(&["<a", ">", "<b", "\"x", ">", "<a", ">", "<b", "\"x", ">"]),
        ] {
            let bytes = encode(&events, &options, None).unwrap();
            assert_eq!(decode(&bytes, None).unwrap(), events, "{alignment:?}");
        }
    }
}

#[test]
fn self_contained_elements_have_tables_of_their_own() {
    let events = document(&[
        "<root", "@id=1", "<item", "^", "@id=1", "<sub", "\"x", ">", ">", "<item", "@id=1", "<sub",
        "\"x", ">", ">", ">",
    ]);
    for alignment in [Alignment::BitPacked, Alignment::ByteAligned] {
        let options = Options {
            self_contained: true,
            ..options(alignment)
        };
        let bytes = encode(&events, &options, None).unwrap();
        assert_eq!(decode(&bytes, None).unwrap(), events, "{alignment:?}");
        assert_eq!(decode_pieces(&bytes, 1).unwrap(), events, "{alignment:?}");
    }
}

#[test]
fn an_element_may_be_self_contained_twice() {
    let events = document(&[
        "<root", "<item", "^", "^", "@id=1", "\"x", ">", "<item", "^", "<item", "^", "^", ">", ">",
        "<item", "@id=1", ">", ">",
    ]);
    for alignment in [Alignment::BitPacked, Alignment::ByteAligned] {
        let options = Options {
            self_contained: true,
            ..options(alignment)
        };
        let bytes = encode(&events, &options, None).unwrap();
        assert_eq!(decode(&bytes, None).unwrap(), events, "{alignment:?}");
        assert_eq!(decode_pieces(&bytes, 1).unwrap(), events, "{alignment:?}");
    }
}

// [EXI-9.3-2]
#[test]
fn blocks_of_any_size_come_back() {
    let mut parts = vec!["<root".to_string()];
    for number in 0..300 {
        parts.extend([
            format!("<v{}", number % 3),
            format!("\"{}", number % 50),
            ">".into(),
        ]);
    }
    parts.push(">".into());
    let events = document(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    for alignment in [Alignment::PreCompression, Alignment::Compression] {
        for block_size in [1, 7, 100, 101, 150, 299, 300, 301, 1000] {
            let options = Options {
                block_size,
                ..options(alignment)
            };
            let bytes = encode(&events, &options, None).unwrap();
            assert_eq!(
                decode(&bytes, None).unwrap(),
                events,
                "{alignment:?} {block_size}"
            );
            assert_eq!(
                decode_pieces(&bytes, 5).unwrap(),
                events,
                "{alignment:?} {block_size}"
            );
        }
    }
}

#[test]
fn bounded_value_partitions_evict_alike_on_both_sides() {
    let mut parts = vec!["<root".to_string()];
    for number in 0..200u32 {
        let value = number * number % 17;
        parts.extend([
            format!("<v{}", number % 4),
            format!("\"value{value}"),
            ">".into(),
        ]);
    }
    parts.push(">".into());
    let events = document(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    for alignment in ALIGNMENTS {
        for (capacity, length) in [
            (0, None),
            (1, None),
            (5, None),
            (9, Some(6)),
            (100, Some(0)),
        ] {
            let options = Options {
                value_partition_capacity: Some(capacity),
                value_max_length: length,
                ..options(alignment)
            };
            let bytes = encode(&events, &options, None).unwrap();
            assert_eq!(
                decode(&bytes, None).unwrap(),
                events,
                "{alignment:?} {capacity}"
            );
            assert_eq!(
                decode_pieces(&bytes, 3).unwrap(),
                events,
                "{alignment:?} {capacity}"
            );
        }
    }
}

// [EXI-7.1.7-1]
#[test]
fn prefixes_are_kept_where_asked_for() {
    let mut options = options(Alignment::BitPacked);
    options.preserve.prefixes = true;
    let events = vec![
        Owned::Document,
        Owned::Start("urn:a".into(), "root".into()),
        Owned::Namespace("p".into(), "urn:a".into()),
        Owned::Namespace("q".into(), "urn:a".into()),
        Owned::Attribute("urn:a".into(), "x".into(), "1".into()),
        Owned::End,
        Owned::EndDocument,
    ];
    let bytes = encode(&events, &options, None).unwrap();
    assert_eq!(decode(&bytes, None).unwrap(), events);
}

#[test]
fn long_text_comes_back_at_every_bit_offset() {
    let long: String = (0..5000u32)
        .map(|n| char::from(b' ' + (n % 95) as u8))
        .collect();
    for filler in 0..9 {
        let mut parts = vec!["<root".to_string()];
        parts.extend((0..filler).flat_map(|n| [format!("<e{n}"), ">".into()]));
        parts.extend(["<t".into(), format!("\"{long}"), ">".into(), "<t".into()]);
        parts.extend([format!("\"{long}\u{20ac}{long}"), ">".into(), ">".into()]);
        let events = document(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        for alignment in ALIGNMENTS {
            let bytes = encode(&events, &options(alignment), None).unwrap();
            assert_eq!(
                decode(&bytes, None).unwrap(),
                events,
                "{alignment:?} {filler}"
            );
        }
    }
}

/// Elements with attributes, text and children, from a small stock of names so that they repeat.
fn content(depth: u32) -> BoxedStrategy<Vec<Owned>> {
    let name = prop_oneof![Just(""), Just("urn:a"), Just("urn:b")].prop_flat_map(|uri| {
        prop_oneof![Just("a"), Just("b"), Just("c"), Just("d")]
            .prop_map(move |local| (uri.to_string(), local.to_string()))
    });
    let text = prop_oneof![Just("x".to_string()), "[a-c ]{1,4}", "\\PC{1,40}"];
    let attributes = prop::collection::btree_map(name.clone(), text.clone(), 0..3);
    let child = if depth == 0 {
        text.clone()
            .prop_map(|text| vec![Owned::Text(text)])
            .boxed()
    } else {
        prop_oneof![
            text.prop_map(|text| vec![Owned::Text(text)]),
            content(depth - 1)
        ]
        .boxed()
    };
    (name, attributes, prop::collection::vec(child, 0..4))
        .prop_map(|((uri, local), attributes, children)| {
            let mut events = vec![Owned::Start(uri, local)];
            let attributes = attributes.into_iter();
            events.extend(
                attributes.map(|((uri, local), value)| Owned::Attribute(uri, local, value)),
            );
            for child in children {
                match (events.last_mut(), &child[..]) {
                    (Some(Owned::Text(text)), [Owned::Text(more)]) => text.push_str(more),
                    _ => events.extend(child),
                }
            }
            events.push(Owned::End);
            events
        })
        .boxed()
}

fn any_options() -> impl Strategy<Value = Options> {
    let alignment = prop::sample::select(ALIGNMENTS.to_vec());
    let small = prop::option::of(0u32..8);
    (alignment, small.clone(), small, 1u32..300, any::<bool>()).prop_map(
        |(alignment, value_partition_capacity, value_max_length, block_size, fragment)| Options {
            alignment,
            value_partition_capacity,
            value_max_length,
            block_size,
            fragment,
            ..Options::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_document_comes_back_with_any_options(
        element in content(4),
        options in any_options(),
        length in 1usize..50,
    ) {
        let mut events = vec![Owned::Document];
        events.extend(element);
        events.push(Owned::EndDocument);
        let bytes = encode(&events, &options, None).unwrap();
        prop_assert_eq!(&decode(&bytes, None).unwrap(), &events);
        prop_assert_eq!(&decode_pieces(&bytes, length).unwrap(), &events);
    }
}
