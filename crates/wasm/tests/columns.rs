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

/// What a page sees of a message: times, numbers, kinds, topics.
type Seen = (Vec<Option<f64>>, Vec<f64>, Vec<u8>, Vec<String>);

fn seen(codec: &Codec) -> Seen {
    let columns = codec.columns();
    let topic = |&stream: &u32| codec.names().get(stream)[0].unwrap_or_default().to_string();
    (
        columns
            .times
            .iter()
            .map(|&time| Some(time).filter(|time| !time.is_nan()))
            .collect(),
        columns.numbers.clone(),
        columns.kinds.clone(),
        columns.streams.iter().map(topic).collect(),
    )
}

/// Messages of numbers alone, in orders of every kind.
fn messages_of_numbers() -> [String; 4] {
    let message = |topic: fn(usize) -> String, rows: usize| {
        let row = |row| {
            let time = format!("2026-11-20T09:{:02}:{:02}.25Z", row / 60 % 60, row % 60);
            let value = row as f64 / 8.0;
            format!(
                r#"{{"topic":"{}","value":{value},"time":"{time}"}}"#,
                topic(row)
            )
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!(r#"{{"observations":[{}]}}"#, rows.join(","))
    };
    [
        message(|_| "x".into(), 1000),
        message(|row| format!("x/{}", row / 300), 900),
        message(|row| format!("x/{}", row % 7), 40_000),
        message(|row| format!("x/{}", row * row % 5), 500),
    ]
}

#[test]
fn a_block_is_seen_as_the_same_message_elsewhere_is() {
    for message in messages_of_numbers() {
        let mut codec = Codec::default();
        assert!(read(&mut codec, "json", message.as_bytes(), "x"));
        let wanted = seen(&codec);
        assert!(codec.encode(index_of("block")));
        let block = codec.reply().to_vec();
        assert!(read(&mut codec, "block", &block, "x"));
        assert_eq!(seen(&codec), wanted);
    }
}

#[test]
fn a_block_of_numbers_can_be_written_once_it_was_read() {
    let [message, ..] = messages_of_numbers();
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", message.as_bytes(), "x"));
    assert!(codec.encode(index_of("cbor")));
    let wanted = codec.reply().to_vec();
    assert!(codec.encode(index_of("block")));
    let block = codec.reply().to_vec();
    assert!(read(&mut codec, "block", &block, "x"));
    assert!(codec.encode(index_of("cbor")));
    assert_eq!(codec.reply(), wanted);
}

#[test]
fn a_block_of_other_results_and_places_keeps_them() {
    let message = br#"{"observations":[{"topic":"x","value":"open"},{"topic":"x","value":2},
        {"topic":"x","value":3,"lat":44.5,"lon":20.25}]}"#;
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", message, "x"));
    assert!(codec.encode(index_of("block")));
    let block = codec.reply().to_vec();
    assert!(read(&mut codec, "block", &block, "x"));
    let columns = codec.columns();
    assert_eq!(columns.kinds, [2, 0, 0]);
    assert_eq!(columns.text_spans.len(), 3);
    assert_eq!(columns.texts, "open");
    assert_eq!(columns.places[2], [44.5, 20.25]);
}

#[test]
fn a_block_with_a_wrong_bit_is_refused_and_leaves_no_rows() {
    let [message, ..] = messages_of_numbers();
    let mut codec = Codec::default();
    assert!(read(&mut codec, "json", message.as_bytes(), "x"));
    assert!(codec.encode(index_of("block")));
    let mut block = codec.reply().to_vec();
    block[40] ^= 1;
    assert!(!read(&mut codec, "block", &block, "x"));
    assert!(codec.columns().times.is_empty());
    let why = String::from_utf8_lossy(codec.reply()).into_owned();
    assert!(why.contains("checksum"), "{why}");
}
