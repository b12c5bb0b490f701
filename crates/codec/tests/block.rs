//! The columnar coder: exact to the bit, small, and calm whatever bytes arrive.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weir_codec::block::{
    CHUNK_ROWS, Chunk, Columns, HEAD_BYTES, NO_TIME, count, decode_series, encode_series,
};
use weir_codec::{Fault, by_name, sample};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Limits, Time, Value};

#[path = "../examples/block.rs"]
#[allow(dead_code)]
mod example;

const WIDE: Limits = Limits {
    message_bytes: 1 << 26,
    observations: 1 << 20,
    depth: 8,
    text_bytes: 1 << 20,
};

fn back(times: &[i64], numbers: &[f64]) -> usize {
    let mut bytes = Vec::new();
    encode_series(times, numbers, &mut bytes);
    let (mut times_back, mut numbers_back) = (Vec::new(), Vec::new());
    decode_series(&bytes, &WIDE, &mut times_back, &mut numbers_back).unwrap();
    assert_eq!(times_back, times);
    let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&numbers_back), bits(numbers));
    assert_eq!(count(&bytes, &WIDE).unwrap(), times.len());
    bytes.len()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-100_000_i32..100_000).prop_map(|cents| f64::from(cents) / 100.0),
        any::<i32>().prop_map(f64::from),
        any::<i32>().prop_map(|number| f64::from(number) / 3.0),
        Just(-0.0),
        Just(f64::MAX),
    ]
}

/// Columns as sensors have them: all of one kind, with some that are not.
fn column() -> impl Strategy<Value = Vec<f64>> {
    let of = |strategy: BoxedStrategy<f64>| prop::collection::vec(strategy, 0..3000);
    let cents = (-3000_i32..3000).prop_map(|cents| f64::from(cents) / 100.0);
    prop_oneof![
        of(number().boxed()),
        of(cents.clone().boxed()),
        of(prop_oneof![99 => cents, 1 => number()].boxed()),
        of((0..100_i32)
            .prop_map(|step| f64::from(step) * 0.0244)
            .boxed()),
        of((-1.0..1.0).boxed()),
        of(prop::sample::select(vec![0.1 + 0.2, 1e-9, 5e300]).boxed()),
    ]
}

fn times(len: usize) -> impl Strategy<Value = Vec<i64>> {
    let steps = prop_oneof![
        Just(prop::collection::vec(Just(1_000_000_000_i64), len).boxed()),
        Just(prop::collection::vec((0..5000_i64).prop_map(|step| step * 1_000_000), len).boxed()),
        Just(prop::collection::vec(any::<i64>(), len).boxed()),
    ];
    let walk = |steps: Vec<i64>| {
        let mut time = 1_700_000_000_000_000_000_i64;
        let next = |step: i64| {
            time = time.wrapping_add(step);
            time
        };
        steps.into_iter().map(next).collect::<Vec<_>>()
    };
    steps.prop_flat_map(|steps| steps).prop_map(walk)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_series_comes_back_to_the_bit(
        (times, numbers) in column().prop_flat_map(|numbers| (times(numbers.len()), Just(numbers))),
    ) {
        back(&times, &numbers);
    }

    #[test]
    fn a_body_with_bytes_changed_is_read_or_refused_with_its_place(
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6),
        wide in any::<bool>(),
    ) {
        let mut bytes = Vec::new();
        let message = sample::message(if wide { 60 } else { 2 }, 5);
        (by_name("block").unwrap().encode)(&message, &mut bytes);
        let mut body = bytes[HEAD_BYTES..].to_vec();
        for (at, byte) in changes {
            let at = usize::from(at) % body.len();
            body[at] = byte;
        }
        let read = Chunk::body(&body, 12, &WIDE)
            .and_then(|chunk| Columns::default().read(&chunk, &WIDE));
        if let Err(error) = read {
            prop_assert!((12..=12 + body.len()).contains(&error.at), "{}", error);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let body = [&[40, 3][..], &bytes].concat();
        let read = Chunk::body(&body, 0, &WIDE)
            .and_then(|chunk| Columns::default().read(&chunk, &WIDE));
        let _either = read;
    }
}

#[test]
fn extremes_are_exact() {
    let numbers = [
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        5e-324,
        0.1 + 0.2,
        1e22,
        f64::NAN,
    ];
    let times = [i64::MAX, -i64::MAX, 0, -1, 1, i64::MAX, 7, -7, 0];
    back(&times, &numbers);
    back(&[], &[]);
    back(&[5], &[1.0]);
    back(&[NO_TIME, 5, NO_TIME], &[1.0, 2.0, 3.0]);
}

fn batch(rows: &[(i64, Value<'_>)]) -> Vec<u8> {
    let mut builder = BatchBuilder::new();
    for (time, value) in rows {
        builder.begin();
        builder.topic(Naming::Topic, "a");
        builder.time(Time::from_nanos(*time));
        builder.value(*value);
        builder.end().unwrap();
    }
    let mut bytes = Vec::new();
    (by_name("block").unwrap().encode)(&builder.finish(), &mut bytes);
    bytes
}

/// Observations of so many datastreams, each of the one that `of` says; numbers alone, or a text too.
fn ordered(len: usize, of: impl Fn(usize) -> usize, numbers_alone: bool) -> weir_model::Batch {
    let mut builder = BatchBuilder::new();
    for row in 0..len {
        builder.begin();
        builder.topic(Naming::Topic, &format!("a/{}", of(row)));
        if row % 7 != 3 {
            builder.time(Time::from_nanos(row as i64 * 1_000_000_000));
        }
        let is_text = !numbers_alone && row % 5 == 4;
        builder.value(if is_text {
            Value::Text("x")
        } else {
            Value::Number(row as f64 / 4.0)
        });
        builder.end().unwrap();
    }
    builder.finish()
}

#[test]
fn observations_keep_their_order_however_datastreams_take_turns() {
    let format = by_name("block").unwrap();
    // Longer than a chunk, so that a series may go on in the next.
    let len = CHUNK_ROWS + 300;
    type Of = fn(usize) -> usize;
    let orders: [(&str, Of); 6] = [
        ("one", |_| 0),
        ("after each other", |row| row / 5000),
        ("by turns", |row| row % 3),
        ("mixed", |row| row * row % 7),
        ("one again and again", |row| row / 100 % 4),
        ("the last alone", |row| row / 16_683),
    ];
    for (name, of) in orders {
        for (len, numbers_alone) in [(len, true), (len, false), (4, true), (1, false), (64, true)] {
            let batch = ordered(len, of, numbers_alone);
            let mut bytes = Vec::new();
            (format.encode)(&batch, &mut bytes);
            let mut builder = BatchBuilder::new();
            (format.decode)(&bytes, &mut builder, &WIDE).unwrap();
            assert!(builder.finish() == batch, "{name}, {len}, {numbers_alone}");
        }
    }
}

#[test]
fn observations_of_a_chunk_are_there_before_the_next_has_come() {
    let rows: Vec<_> = (0..2 * CHUNK_ROWS as i64 + 10)
        .map(|row| (row * 1_000_000_000, Value::Number((row % 100) as f64)))
        .collect();
    let bytes = batch(&rows);
    let mut reader = by_name("block").unwrap().reader(&Limits::default());
    let mut builder = BatchBuilder::new();
    let mut seen = Vec::new();
    for piece in bytes.chunks(50) {
        reader.push(piece, &mut builder).unwrap();
        if seen.last() != Some(&builder.len()) {
            seen.push(builder.len());
        }
    }
    reader.finish(&mut builder).unwrap();
    assert_eq!(seen, [0, CHUNK_ROWS, 2 * CHUNK_ROWS, rows.len()]);
}

#[test]
fn messages_joined_are_one_message() {
    let one = batch(&[(1, Value::Number(1.5)), (2, Value::Text("x"))]);
    let two = [&one[..], &batch(&[(3, Value::Null)])].concat();
    let mut builder = BatchBuilder::new();
    let decode = by_name("block").unwrap().decode;
    decode(&two, &mut builder, &Limits::default()).unwrap();
    let values: Vec<_> = builder.batch().rows().map(|row| row.value).collect();
    assert_eq!(values, [Value::Number(1.5), Value::Text("x"), Value::Null]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let good = batch(&[(1, Value::Number(1.5)), (2, Value::Number(2.5))]);
    let decode = by_name("block").unwrap().decode;
    let fault = |bytes: &[u8]| {
        let mut builder = BatchBuilder::new();
        let error = decode(bytes, &mut builder, &Limits::default()).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        fault(b"WBX"),
        "expected a chunk, which begins with WBK at byte 2"
    );
    assert_eq!(fault(b"WBK\x02"), "expected version 1 of block at byte 3");
    assert_eq!(fault(&good[..5]), "the message ends too early at byte 5");
    assert_eq!(fault(&good[..20]), "the message ends too early at byte 20");
    let mut bad = good.clone();
    bad[14] ^= 1;
    assert_eq!(
        fault(&bad),
        "expected another checksum: the chunk was changed or damaged at byte 8"
    );
    let behind = good.len();
    bad = [&good[..], b"?"].concat();
    assert_eq!(
        fault(&bad),
        format!("expected a chunk, which begins with WBK at byte {behind}")
    );
}

#[test]
fn a_small_message_cannot_become_a_large_one() {
    let long = "x".repeat(100_000);
    let rows: Vec<_> = (0..1000).map(|row| (row, Value::Text(&long))).collect();
    let bytes = batch(&rows);
    assert!(bytes.len() < 1000, "{}", bytes.len());
    let mut builder = BatchBuilder::new();
    let decode = by_name("block").unwrap().decode;
    let error = decode(&bytes, &mut builder, &Limits::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::OverLimit { .. }), "{error}");
    assert!(builder.is_empty());
    let steady: Vec<_> = (0..1 << 18).collect();
    let mut bytes = Vec::new();
    encode_series(&steady, &vec![1.0; steady.len()], &mut bytes);
    let error = decode(&bytes, &mut builder, &Limits::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::OverLimit { .. }), "{error}");
    assert!(builder.len() <= Limits::default().observations);
}

#[test]
fn the_published_table_is_up_to_date() {
    let published = include_str!("../../../docs/reference/block.md");
    assert!(
        published.ends_with(&example::table(false)),
        "end docs/reference/block.md with what this prints: \
         cargo run -p weir-codec --example block"
    );
}

#[test]
fn a_message_with_what_only_a_store_counts_is_refused() {
    struct Described(usize);
    impl weir_codec::block::Rows for Described {
        fn len(&self) -> usize {
            3
        }
        fn time(&self, row: usize) -> Option<Time> {
            Some(Time::from_nanos(row as i64))
        }
        fn value(&self, row: usize) -> Value<'_> {
            Value::Number(row as f64)
        }
        fn place(&self, _row: usize) -> Option<weir_model::Place> {
            None
        }
        fn extra(&self, _row: usize) -> weir_model::Extra<'_> {
            weir_model::Extra::default()
        }
        fn descriptions(&self) -> Option<&[u8]> {
            [None, Some(&[0, 255, 255][..])][self.0]
        }
    }
    for described in [0, 1] {
        let mut encoder = Box::<weir_codec::block::Encoder>::default();
        let (mut body, mut message) = (Vec::new(), Vec::new());
        encoder.encode_body(&Described(described), &mut body);
        encoder.encode(&Described(described), &mut message);
        let mut columns = Box::<Columns>::default();
        columns
            .read(&Chunk::body(&body, 0, &WIDE).unwrap(), &WIDE)
            .unwrap();
        let numbers = [0, 1, 2].map(|row| columns.description(row));
        assert_eq!(numbers, [[0; 3], [0, 255, 255]][described]);
        let taken = Chunk::take(&mut &message[..], 0, &WIDE);
        assert_eq!(taken.is_err(), described == 1);
    }
}
