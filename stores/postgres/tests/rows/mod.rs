//! Rows of every kind, and what a history says of them.
#![allow(dead_code, reason = "each file of tests uses its part")]

use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Cursor, Extra, Time, Value};
use weir_storage::{History, Range};

/// Sorted.
pub(crate) const TOPICS: [&str; 5] = ["a", "a/b", "c", "d/e", "küche/température/\u{1f525}"];

/// A row: index of its topic, time, and a number that says its place in the order of all.
pub(crate) type Row = (usize, i64, u64);

pub(crate) fn at(sequence: u64) -> Cursor {
    Cursor::new(0xfeed, sequence)
}

pub(crate) fn time(nanos: i64) -> Time {
    Time::from_nanos(nanos)
}

fn push(builder: &mut BatchBuilder, (topic, nanos, number): Row) {
    builder.begin();
    builder.topic(Naming::Topic, TOPICS[topic]);
    builder.time(time(nanos));
    if topic < 2 {
        let number = (number % 3) as u8;
        builder.description(number);
        builder.unit(["m", "cm", "mm"][usize::from(number)]);
    }
    let text = format!("{{\"n\":{number},\"t\":\"\\u0000é\"}}");
    builder.value(match topic {
        0 | 1 | 4 => Value::Number(number as f64 / 4.0 - 3.0),
        2 if number % 4 == 0 => Value::Null,
        2 if number % 4 == 1 => Value::Bool(number % 3 == 0),
        2 if number % 4 == 2 => Value::Text("a\0b \"quoted\" \u{1f525}"),
        2 => Value::Text(&text),
        _ => Value::Json(&text),
    });
    if topic == 1 && number % 5 == 0 {
        builder.latitude(number as f64 / 1e7);
        builder.longitude(-(number as f64) / 1e7);
    }
    if topic == 3 && number % 4 == 0 {
        builder.extra(Extra {
            end: (number % 3 == 0).then_some(time(nanos.saturating_add(9))),
            result_time: Some(time(nanos.saturating_add(5))),
            valid: (number % 5 == 0).then_some((time(i64::MIN), time(i64::MAX))),
            quality: Some(if number % 7 == 0 { "go\0d" } else { "good" }),
            feature: (number % 8 == 0).then_some("urn:feature:ü"),
            parameters: (number % 8 == 0).then_some("{\"p\":[1,null]}"),
        });
    }
    builder.end().unwrap();
}

pub(crate) fn batch(rows: &[Row]) -> Batch {
    let mut builder = BatchBuilder::new();
    rows.iter().for_each(|&row| push(&mut builder, row));
    builder.finish()
}

pub(crate) fn range<'a>(topics: &'a [&'a str], from: i64, to: i64, limit: usize) -> Range<'a> {
    Range {
        topics,
        from: time(from),
        to: time(to),
        limit,
        page: None,
        aggregate: None,
        hidden: None,
        units: None,
    }
}

/// All pages of a query with their tokens and what came before them.
pub(crate) fn walk(store: &dyn History, query: &Range<'_>) -> Vec<(Batch, Option<String>, u32)> {
    let mut pages: Vec<(Batch, Option<String>, u32)> = Vec::new();
    loop {
        let page = pages.last().and_then(|(_, next, _)| next.clone());
        let is_first = pages.is_empty();
        if !is_first && page.is_none() {
            return pages;
        }
        let asked = Range {
            page: page.as_deref(),
            ..query.clone()
        };
        let answer = store.read(&asked).unwrap();
        pages.push((answer.batch, answer.next, answer.before));
    }
}

/// The numbers of the first topic in their order: its rows' places in the order of all.
pub(crate) fn numbers(store: &dyn History, topic: &str) -> Vec<u64> {
    let pages = walk(store, &range(&[topic], i64::MIN, i64::MAX, 10_000));
    let rows = pages.iter().flat_map(|(batch, _, _)| batch.rows());
    rows.map(|row| ((row.value.number().unwrap() + 3.0) * 4.0) as u64)
        .collect()
}

/// One number of each of these topics.
pub(crate) fn many(topics: &[&str], nanos: i64) -> Batch {
    let mut builder = BatchBuilder::new();
    for (index, topic) in topics.iter().enumerate() {
        builder.begin();
        builder.topic(Naming::Topic, topic);
        builder.time(time(nanos));
        builder.value(Value::Number(index as f64));
        builder.end().unwrap();
    }
    builder.finish()
}
