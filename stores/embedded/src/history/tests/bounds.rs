//! What waits in memory is bounded, and what is merged, however short a text is once it is packed.

use super::*;
use crate::limits::{CHUNK_TEXT_BYTES, MERGE_FAN};

const BOUND: usize = 1 << 20;

fn text(time: i64, text: &str) -> Batch {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, TOPICS[2]);
    builder.time(Time::from_nanos(time));
    builder.value(Value::Text(text));
    builder.end().unwrap();
    builder.finish()
}

fn applied(
    store: &EmbeddedHistory,
    times: std::ops::Range<i64>,
    value: &str,
) -> Result<(), HistoryFault> {
    for time in times {
        let cursor = Cursor::new(1, time as u64 + 1);
        store.apply(cursor, Time::from_nanos(0), &text(time, value))?;
    }
    Ok(())
}

fn bounded() -> Options {
    Options {
        unwritten_bytes_max: BOUND,
        ..Options::default()
    }
}

#[test]
fn rows_beyond_the_bound_are_written_without_maintenance() {
    let dir = Scratch::new();
    let store = dir.open_with(bounded()).unwrap();
    applied(&store, 0..64, &"x".repeat(BOUND / 8)).unwrap();
    assert!(store.state().unwritten <= 2 * BOUND);
    let applied = store.applied();
    assert!(applied > Cursor::new(1, 48), "{applied}");
    drop(store);
    let rows = walk(&dir.open(), &range(&TOPICS, 0, i64::MAX, 99))[0].len();
    assert_eq!(Cursor::new(1, rows as u64), applied);
}

#[test]
fn rows_that_cannot_be_written_are_not_taken() {
    let dir = Scratch::new();
    let store = dir.open_with(bounded()).unwrap();
    dir.fail_after(0);
    assert!(applied(&store, 0..64, &"x".repeat(BOUND / 8)).is_err());
    assert!(store.state().unwritten <= 2 * BOUND);
}

#[test]
fn long_texts_are_not_merged_into_longer_ones() {
    let dir = Scratch::new();
    let store = dir.open();
    let long = "x".repeat(CHUNK_TEXT_BYTES / 2);
    let count = 2 * MERGE_FAN as i64;
    for time in 0..count {
        applied(&store, time..time + 1, &long).unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
    }
    let parts = |store: &EmbeddedHistory| store.state().stream_of(TOPICS[2]).unwrap().parts.len();
    assert_eq!(parts(&store), count as usize);
    applied(&store, count..count + MERGE_FAN as i64, "short").unwrap();
    store.maintain(Time::from_nanos(0)).unwrap();
    drop(store);
    let store = dir.open();
    store.maintain(Time::from_nanos(0)).unwrap();
    let pages = walk(&store, &range(&TOPICS, 0, i64::MAX, 99));
    assert_eq!(pages[0].len(), count as usize + MERGE_FAN);
}
