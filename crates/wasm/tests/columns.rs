//! What a page finds in the columns.

use weir_codec::{FORMATS, sample};
use weir_wasm::{Codec, Kind};

fn index_of(name: &str) -> usize {
    FORMATS
        .iter()
        .position(|format| format.name == name)
        .unwrap_or(usize::MAX)
}

fn read(codec: &mut Codec, format: &str, message: &[u8], topic: &str) -> bool {
    codec.input(message.len()).copy_from_slice(message);
    codec.topic(topic.len()).copy_from_slice(topic.as_bytes());
    codec.decode(index_of(format))
}

#[test]
fn every_format_that_carries_topics_fills_the_same_columns() {
    let batch = sample::message(3, 0);
    for format in FORMATS
        .iter()
        .filter(|format| format.carries.topic && format.carries.time)
    {
        let mut message = Vec::new();
        (format.encode)(&batch, &mut message);
        let mut codec = Codec::default();
        assert!(
            read(&mut codec, format.name, &message, "anywhere"),
            "{format:?}"
        );
        assert_eq!(codec.columns().times.len(), batch.len(), "{format:?}");
        for row in 0..batch.len() {
            let [topic, ..] = codec.names().get(codec.columns().streams[row]);
            assert_eq!(topic, Some(batch.row(row).topic), "{format:?}");
            assert_eq!(
                Some(codec.columns().numbers[row]),
                batch.value(row).number(),
                "{format:?}"
            );
        }
    }
}

#[test]
fn results_that_are_no_numbers_have_their_kind_and_text() {
    let message = br#"{"observations":[
        {"value":1},{"value":true},{"value":"open"},{"value":null},{"value":[1,2]}]}"#;
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", message, "door"));
    let columns = codec.columns();
    let kinds =
        [Kind::Number, Kind::Bool, Kind::Text, Kind::Null, Kind::Json].map(|kind| kind as u8);
    assert_eq!(columns.kinds, kinds);
    assert_eq!(columns.text_spans.len(), 5);
    let [start, length] = columns.text_spans[2].map(|word| word as usize);
    assert_eq!(&columns.texts[start..start + length], "open");
    assert!(columns.times[0].is_nan());
}

#[test]
fn a_datastream_keeps_its_index_across_messages() {
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", br#"{"a":1,"b":2}"#, "x"));
    assert_eq!(codec.columns().streams, [0, 1]);
    assert!(read(&mut codec, "json", br#"{"b":2,"c":3}"#, "x"));
    assert_eq!(codec.columns().streams, [1, 2]);
    assert_eq!(codec.names().get(2), [Some("x/c"), None, None, None]);
}

#[test]
fn a_place_on_some_rows_leaves_the_others_without() {
    let message =
        br#"{"observations":[{"value":1},{"value":2,"lat":44.5,"lon":20.25},{"value":3}]}"#;
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", message, "x"));
    let places = &codec.columns().places;
    assert!(places[0][0].is_nan() && places[2][1].is_nan());
    assert_eq!(places[1], [44.5, 20.25]);
}

#[test]
fn a_refused_message_says_why_and_leaves_no_rows() {
    let mut codec = Codec::default();
    assert!(!read(
        &mut codec,
        "json",
        br#"{"observations":[{"value":1},"#,
        "x"
    ));
    assert!(codec.columns().times.is_empty());
    let why = String::from_utf8_lossy(codec.reply()).into_owned();
    assert!(why.contains("29"), "{why}");
    assert!(!read(&mut codec, "no such format", b"", "x"));
}

#[test]
fn what_was_read_is_written_in_another_format() {
    let mut codec = Codec::default();
    assert!(read(
        &mut codec,
        "json",
        br#"{"observations":[{"topic":"x","value":1}]}"#,
        "x"
    ));
    assert!(codec.encode(index_of("cbor")));
    let written = codec.reply().to_vec();
    assert!(read(&mut codec, "cbor", &written, "x"));
    assert_eq!(codec.columns().numbers, [1.0]);
}
