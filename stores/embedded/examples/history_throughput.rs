//! Prints what the history does on this machine: apply, maintain, read, open; and its size.
//!
//! `cargo run -p weir-embedded --example history_throughput [DIRECTORY]`
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a measurement"
)]

use std::time::Instant;
use weir_embedded::{EmbeddedHistory, Options};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Cursor, Time, Value};
use weir_storage::aggregate::Function;
use weir_storage::{Aggregate, History, Range};

const START: i64 = 1_700_000_000_000_000_000;

fn time(millis: i64) -> Time {
    Time::from_nanos(START + millis * 1_000_000)
}

/// `rows` observations of each datastream, a second apart, as one message.
fn message(topics: &[String], from: i64, rows: i64, noise: &mut u64) -> Batch {
    let mut builder = BatchBuilder::new();
    for second in from..from + rows {
        for topic in topics {
            *noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let wave = (second as f64 / 600.0).sin() * 10.0 + (*noise >> 60) as f64 / 100.0;
            builder.begin();
            builder.topic(Naming::Topic, topic);
            builder.value(Value::Number((wave * 100.0).round() / 100.0));
            builder.time(time(second * 1000));
            builder.end().unwrap();
        }
    }
    builder.finish()
}

fn rate(name: &str, count: usize, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{name}: {:.2} M observations/s ({:.0} ms)",
        count as f64 / seconds / 1e6,
        seconds * 1e3
    );
}

fn main() {
    let dir = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "target/history-throughput".into());
    for (streams, rows, messages) in [(50, 100, 1000), (50_000, 1, 40)] {
        println!(
            "{streams} datastreams, messages of {} observations",
            streams * rows as usize
        );
        let _none_before = std::fs::remove_dir_all(&dir);
        run(&dir, streams, rows, messages);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

fn run(dir: &str, streams: usize, rows: i64, messages: i64) {
    let topics: Vec<_> = (0..streams)
        .map(|n| format!("plant/{:03}/{n:05}/flow", n / 100))
        .collect();
    let mut noise = 1;
    let made: Vec<_> = (0..messages)
        .map(|index| message(&topics, index * rows, rows, &mut noise))
        .collect();
    let count: usize = made.iter().map(Batch::len).sum();
    let store = EmbeddedHistory::open(dir, Options::default()).unwrap();
    let (begun, mut upkeep) = (Instant::now(), 0.0);
    for (index, batch) in made.iter().enumerate() {
        store
            .apply(Cursor::new(1, index as u64 + 1), time(0), batch)
            .unwrap();
        if index % (messages as usize / 10) == 0 {
            let begun = Instant::now();
            store.maintain(time(0)).unwrap();
            upkeep += begun.elapsed().as_secs_f64();
        }
    }
    let apply = begun.elapsed().as_secs_f64() - upkeep;
    println!("apply: {:.2} M observations/s", count as f64 / apply / 1e6);
    println!("maintain, ten times: {:.0} ms", upkeep * 1e3);
    let begun = Instant::now();
    store.maintain(time(0)).unwrap();
    rate("the last maintain, of all", count, begun);
    let (bytes, stored) = store.stored();
    println!("{:.2} bytes an observation", bytes as f64 / stored as f64);
    drop(store);
    let begun = Instant::now();
    let store = EmbeddedHistory::open(dir, Options::default()).unwrap();
    println!("open: {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    read(&store, &topics, stored as usize);
}

fn read(store: &EmbeddedHistory, topics: &[String], stored: usize) {
    let names: Vec<_> = topics.iter().map(String::as_str).collect();
    let to = Time::from_nanos(i64::MAX);
    let query = Range {
        topics: &names,
        from: time(0),
        to,
        limit: 10_000_000,
        page: None,
        aggregate: None,
        hidden: None,
        units: None,
    };
    let begun = Instant::now();
    rate(
        "read all, by time",
        store.read(&query).unwrap().batch.len(),
        begun,
    );
    let begun = Instant::now();
    let one = Range {
        topics: &names[..1],
        ..query.clone()
    };
    rate(
        "read one datastream",
        store.read(&one).unwrap().batch.len(),
        begun,
    );
    let begun = Instant::now();
    store
        .read(&Range {
            limit: 100,
            ..query.clone()
        })
        .unwrap();
    println!(
        "a page of 100 from all: {:.2} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let window = std::time::Duration::from_secs(60);
    let aggregate = Some(Aggregate {
        function: Function::Mean,
        window,
    });
    let begun = Instant::now();
    let windows = store
        .read(&Range { aggregate, ..query })
        .unwrap()
        .batch
        .len();
    rate(&format!("aggregate into {windows} windows"), stored, begun);
}
