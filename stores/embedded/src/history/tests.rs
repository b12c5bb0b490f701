//! The store against a list, with restarts, kills and losses of power between and within its steps.
#![allow(clippy::unwrap_used)]

use super::*;
use extents::check_extents;
use proptest::prelude::*;
use std::collections::BTreeMap;
use weir_disk::SimDisk;
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Value};

mod bounds;
mod damage;
mod extents;
mod windows;

/// A simulated disk.
struct Scratch(SimDisk);

impl Scratch {
    fn new() -> Self {
        Self(SimDisk::new())
    }

    fn open(&self) -> EmbeddedHistory {
        self.open_with(Options::default()).unwrap()
    }

    fn open_with(&self, options: Options) -> io::Result<EmbeddedHistory> {
        EmbeddedHistory::on(Arc::new(self.0.clone()), options)
    }

    /// Lets so many more operations succeed.
    fn fail_after(&self, operations: u64) {
        self.0.die_at(self.0.operations() + operations);
    }
}

const TOPICS: [&str; 4] = ["a", "a/b", "c", "d/e"];

/// A row: index of its topic, time, and a number that says its place in the order of all.
type Row = (usize, i64, u64);

fn push(builder: &mut BatchBuilder, (topic, time, number): Row) {
    builder.begin();
    builder.topic(Naming::Topic, TOPICS[topic]);
    builder.time(Time::from_nanos(time));
    builder.description(description(topic, number));
    let text = format!("{{\"n\":{number}}}");
    builder.value(match topic {
        0 | 1 => Value::Number(number as f64),
        2 if number % 3 == 0 => Value::Null,
        2 if number % 3 == 1 => Value::Bool(number % 2 == 0),
        2 => Value::Text(&text),
        _ => Value::Json(&text),
    });
    if topic == 1 && number % 5 == 0 {
        builder.latitude(number as f64 / 1e7);
        builder.longitude(-(number as f64) / 1e7);
    }
    if topic == 3 && number % 4 == 0 {
        builder.extra(Extra {
            result_time: Some(Time::from_nanos(time + 5)),
            quality: Some("good"),
            parameters: (number % 8 == 0).then_some("{}"),
            ..Extra::default()
        });
    }
    builder.end().unwrap();
}

/// Of some topics a few in turn, each for a while.
fn description(topic: usize, number: u64) -> u8 {
    match topic % 2 {
        0 => 0,
        _ => (number / 8 % 3) as u8,
    }
}

fn batch(rows: &[Row]) -> Batch {
    let mut builder = BatchBuilder::new();
    rows.iter().for_each(|&row| push(&mut builder, row));
    builder.finish()
}

fn range<'a>(topics: &'a [&'a str], from: i64, to: i64, limit: usize) -> Range<'a> {
    let (from, to) = (Time::from_nanos(from), Time::from_nanos(to));
    Range {
        topics,
        from,
        to,
        limit,
        page: None,
        aggregate: None,
        hidden: None,
        units: None,
    }
}

/// All pages of a query.
fn walk(store: &EmbeddedHistory, query: &Range<'_>) -> Vec<Batch> {
    let mut pages = Vec::new();
    let mut page = None;
    loop {
        let answer = store
            .read(&Range {
                page: page.as_deref(),
                ..query.clone()
            })
            .unwrap();
        assert!(answer.batch.len() <= query.limit);
        assert!(answer.next.is_none() || answer.batch.len() == query.limit);
        pages.push(answer.batch);
        page = answer.next;
        if page.is_none() {
            return pages;
        }
    }
}

/// What a query must give: by time, topic, order of cursors.
fn expected(rows: &[Row], query: &Range<'_>) -> Batch {
    let mut rows: Vec<_> = rows
        .iter()
        .copied()
        .filter(|(topic, time, _number)| {
            query.topics.contains(&TOPICS[*topic])
                && (query.from.nanos()..query.to.nanos()).contains(time)
        })
        .collect();
    rows.sort_by_key(|&(topic, time, number)| (time, topic, number));
    batch(&rows)
}

fn joined(pages: &[Batch]) -> Batch {
    let mut builder = BatchBuilder::new();
    for row in pages.iter().flat_map(|page| page.rows()) {
        builder.push(&row).unwrap();
    }
    builder.finish()
}

fn check(store: &EmbeddedHistory, rows: &[Row]) {
    for (topics, limit) in [(&TOPICS[..], 7), (&TOPICS[1..3], 1000), (&TOPICS[..1], 1)] {
        for (from, to) in [(i64::MIN, i64::MAX), (3, 20)] {
            let query = range(topics, from, to, limit);
            assert_eq!(
                joined(&walk(store, &query)),
                expected(rows, &query),
                "{query:?}"
            );
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<(usize, i64)>),
    Maintain,
    Restart,
    KillWithin(u64),
    PowerLossWithin(u64, u64),
    FailWithin(u64),
    Forget(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = proptest::collection::vec((0..TOPICS.len(), -5_i64..25), 1..12);
    let step = prop_oneof![
        8 => rows.prop_map(Step::Apply),
        4 => Just(Step::Maintain),
        1 => Just(Step::Restart),
        2 => (0_u64..12).prop_map(Step::KillWithin),
        3 => (0_u64..14, any::<u64>()).prop_map(|(last, seed)| Step::PowerLossWithin(last, seed)),
        2 => (0_u64..12).prop_map(Step::FailWithin),
        1 => (0..TOPICS.len()).prop_map(Step::Forget),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Feeds what a restarted store has not kept, as the hub does from its log.
fn feed(store: &EmbeddedHistory, log: &[(Cursor, Logged)]) {
    let applied = store.applied();
    for (cursor, logged) in log.iter().filter(|(cursor, _logged)| *cursor > applied) {
        match logged {
            Logged::Rows(rows) => store
                .apply(*cursor, Time::from_nanos(0), &batch(rows))
                .unwrap(),
            Logged::Forget(topic) => store.forget(*cursor, TOPICS[*topic]).unwrap(),
        }
    }
}

enum Logged {
    Rows(Vec<Row>),
    Forget(usize),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_store_is_a_list_through_failures_restarts_and_kills(steps in steps()) {
        let dir = Scratch::new();
        let mut store = dir.open();
        let (mut log, mut model, mut next) = (Vec::new(), Vec::<Row>::new(), 0_u64);
        let mut cursor = Cursor::new(1, 0);
        let mut durable = Cursor::START;
        for step in steps {
            match step {
                Step::Apply(new) => {
                    cursor = cursor.next();
                    let numbered = new.into_iter().map(|(topic, time)| {
                        next += 1;
                        (topic, time, next)
                    });
                    let rows: Vec<Row> = numbered.collect();
                    store.apply(cursor, Time::from_nanos(0), &batch(&rows)).unwrap();
                    model.extend(&rows);
                    log.push((cursor, Logged::Rows(rows)));
                }
                Step::Forget(topic) => {
                    cursor = cursor.next();
                    store.forget(cursor, TOPICS[topic]).unwrap();
                    model.retain(|row| row.0 != topic);
                    log.push((cursor, Logged::Forget(topic)));
                }
                Step::Maintain => {
                    store.maintain(Time::from_nanos(0)).unwrap();
                    prop_assert_eq!(store.applied(), store.state().seen);
                    durable = store.applied();
                }
                Step::Restart => {
                    drop(store);
                    store = dir.open();
                    feed(&store, &log);
                }
                Step::FailWithin(operations) => {
                    dir.fail_after(operations);
                    let _failed = store.maintain(Time::from_nanos(0));
                    dir.0.die_at(u64::MAX);
                }
                Step::KillWithin(operations) => {
                    dir.fail_after(operations);
                    let _killed = store.maintain(Time::from_nanos(0));
                    check(&store, &model);
                    dir.0.kill();
                    drop(store);
                    store = dir.open();
                    feed(&store, &log);
                }
                Step::PowerLossWithin(operations, seed) => {
                    dir.fail_after(operations);
                    let _down = store.maintain(Time::from_nanos(0));
                    dir.0.crash(seed);
                    drop(store);
                    store = dir.open();
                    let kept = store.applied();
                    prop_assert!(kept >= durable, "the log was released up to {}", durable);
                    feed(&store, &log);
                }
            }
            check(&store, &model);
            check_extents(&store, &model);
        }
    }
}

#[test]
fn pages_give_every_row_once_while_rows_are_applied_and_merged() {
    let dir = Scratch::new();
    let store = dir.open();
    let mut cursor = Cursor::new(1, 0);
    let mut number = 0;
    let mut add = |times: std::ops::Range<i64>| {
        let rows: Vec<Row> = times
            .flat_map(|time| [(0, time / 3, 0), (1, time / 3, 0)])
            .map(|(topic, time, _number)| {
                number += 1;
                (topic, time, number)
            })
            .collect();
        cursor = cursor.next();
        store
            .apply(cursor, Time::from_nanos(0), &batch(&rows))
            .unwrap();
        rows
    };
    let before = add(0..3000);
    let query = range(&TOPICS, 0, i64::MAX, 113);
    let (mut page, mut seen) = (None::<String>, Vec::new());
    for round in 0.. {
        let answer = store
            .read(&Range {
                page: page.as_deref(),
                ..query.clone()
            })
            .unwrap();
        seen.extend(
            answer
                .batch
                .rows()
                .map(|row| row.value.number().unwrap() as u64),
        );
        page = answer.next;
        if page.is_none() {
            break;
        }
        if round < 30 {
            add(round * 100..round * 100 + 50);
            store.maintain(Time::from_nanos(0)).unwrap();
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
    assert!(before.iter().all(|row| seen.binary_search(&row.2).is_ok()));
}

#[test]
fn readers_meet_no_hole_while_others_apply_and_maintain() {
    const MESSAGES: u64 = 300;
    let dir = Scratch::new();
    let store = dir.open();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 1..=MESSAGES {
                let rows = (0..20).map(|row| (row as usize % 4, index as i64, index * 20 + row));
                let made = batch(&rows.collect::<Vec<Row>>());
                store
                    .apply(Cursor::new(1, index), Time::from_nanos(0), &made)
                    .unwrap();
            }
        });
        scope.spawn(|| {
            while store.applied() < Cursor::new(1, MESSAGES) {
                store.maintain(Time::from_nanos(0)).unwrap();
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut before = 0;
                while before < MESSAGES as usize * 20 {
                    let pages = walk(&store, &range(&TOPICS, 0, i64::MAX, 997));
                    let times = pages
                        .iter()
                        .flat_map(|page| page.rows())
                        .map(|row| row.time.unwrap());
                    let times: Vec<_> = times.collect();
                    assert!(times.is_sorted());
                    let whole = times
                        .chunk_by(|a, b| a == b)
                        .rev()
                        .skip(1)
                        .all(|of| of.len() == 20);
                    assert!(whole && times.len() >= before);
                    before = times.len();
                }
            });
        }
    });
}

#[test]
fn a_token_of_another_query_is_refused() {
    let dir = Scratch::new();
    let store = dir.open();
    let rows: Vec<Row> = (0..10).map(|time| (0, time, time as u64)).collect();
    store
        .apply(Cursor::new(1, 1), Time::from_nanos(0), &batch(&rows))
        .unwrap();
    let query = range(&TOPICS, 0, 100, 3);
    let token = store.read(&query).unwrap().next.unwrap();
    let other = Range {
        page: Some(&token),
        ..range(&TOPICS, 1, 100, 3)
    };
    assert_eq!(store.read(&other).unwrap_err(), HistoryFault::BadPage);
    let spoilt = Range {
        page: Some("AAAA"),
        ..query
    };
    assert_eq!(store.read(&spoilt).unwrap_err(), HistoryFault::BadPage);
}

#[test]
fn the_latest_is_by_the_lesser_of_time_and_arrival() {
    let dir = Scratch::new();
    let store = dir.open();
    let arrival = Time::from_nanos;
    // A clock that runs far ahead does not stay the latest for ever.
    store
        .apply(Cursor::new(1, 1), arrival(10), &batch(&[(0, 1_000_000, 1)]))
        .unwrap();
    store
        .apply(
            Cursor::new(1, 2),
            arrival(20),
            &batch(&[(0, 19, 2), (1, 5, 3)]),
        )
        .unwrap();
    store
        .apply(Cursor::new(1, 3), arrival(30), &batch(&[(0, 4, 4)]))
        .unwrap();
    store.maintain(arrival(30)).unwrap();
    drop(store);
    let store = dir.open();
    let mut seen = Vec::new();
    let mut visit = |cursor: Cursor, row: &Observation<'_>| {
        seen.push((row.topic.to_owned(), cursor.sequence(), row.value.number()));
    };
    store.latest(&mut visit).unwrap();
    assert_eq!(
        seen,
        [("a".into(), 2, Some(2.0)), ("a/b".into(), 2, Some(3.0))]
    );
    assert_eq!(store.applied(), Cursor::new(1, 3));
}

#[test]
fn an_advance_without_observations_is_kept_too() {
    let dir = Scratch::new();
    let store = dir.open();
    store.advance(Cursor::new(1, 77));
    assert_eq!(store.applied(), Cursor::START);
    store.maintain(Time::from_nanos(0)).unwrap();
    drop(store);
    assert_eq!(dir.open().applied(), Cursor::new(1, 77));
}

#[test]
fn retention_drops_chunks_that_are_old_or_too_many() {
    let dir = Scratch::new();
    let options = Options {
        retention_age: Duration::from_nanos(1000),
        retention_bytes: 1 << 40,
        ..Options::default()
    };
    let store = dir.open_with(options).unwrap();
    let rows = |from: i64| {
        (from..from + 100)
            .map(|time| (0, time, 1))
            .collect::<Vec<Row>>()
    };
    for (index, from) in [0, 5000, 9500].into_iter().enumerate() {
        let cursor = Cursor::new(1, index as u64 + 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&rows(from)))
            .unwrap();
        store.maintain(Time::from_nanos(100)).unwrap();
    }
    store.maintain(Time::from_nanos(10_000)).unwrap();
    let count = |store: &EmbeddedHistory| store.stored().1;
    assert_eq!(count(&store), 100);
    drop(store);
    assert_eq!(count(&dir.open()), 100);
    let options = Options {
        retention_bytes: 0,
        ..Options::default()
    };
    let store = dir.open_with(options).unwrap();
    store.maintain(Time::from_nanos(0)).unwrap();
    assert_eq!(count(&store), 0);
}

#[test]
fn small_chunks_become_large_and_forgotten_ones_give_room() {
    let dir = Scratch::new();
    let store = dir.open();
    for index in 0..512_i64 {
        let rows: Vec<Row> = (0..8).map(|row| (0, index * 8 + row, 1)).collect();
        let cursor = Cursor::new(1, index as u64 + 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&rows))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
    }
    let chunks = store.state().stream_of("a").unwrap().parts.len();
    assert!(chunks < 24, "{chunks} chunks");
    assert_eq!(
        walk(&store, &range(&TOPICS, 0, i64::MAX, 10_000))[0].len(),
        4096
    );
    store.forget(Cursor::new(1, 600), "a").unwrap();
    assert!(walk(&store, &range(&TOPICS, 0, i64::MAX, 10_000))[0].is_empty());
    store.maintain(Time::from_nanos(0)).unwrap();
    drop(store);
    let store = dir.open();
    assert_eq!(store.stored(), (0, 0));
    assert!(!dir.0.list().unwrap().contains(&"00000001.dat".to_owned()));
}

#[test]
fn a_damaged_chunk_takes_its_own_rows_and_is_told() {
    let dir = Scratch::new();
    let store = dir.open();
    for (cursor, topic) in [(1, 0), (2, 1)] {
        let rows: Vec<Row> = (0..50)
            .map(|time| (topic, time, time as u64 * 77))
            .collect();
        store
            .apply(Cursor::new(1, cursor), Time::from_nanos(0), &batch(&rows))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
    }
    drop(store);
    dir.0.rot("00000001.dat", 10);
    let store = dir.open();
    let page = store.read(&range(&TOPICS[..1], 0, 99, 99)).unwrap();
    assert_eq!((page.batch.len(), page.lost), (0, 50));
    let page = store.read(&range(&TOPICS[..2], 0, 99, 99)).unwrap();
    assert_eq!((page.batch.len(), page.lost), (50, 50));
    assert_eq!(store.damage(), 1, "told once");
}

#[test]
fn a_second_store_in_one_directory_is_refused() {
    let dir = Scratch::new();
    let _first = dir.open();
    let second = dir.open_with(Options::default()).err().unwrap();
    assert!(
        second
            .to_string()
            .contains("another gateway has the history"),
        "{second}"
    );
}
