//! The store against the embedded one: whatever comes, both answer the same, page by page and token by token.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a server and waits for it"
)]

mod rows;
mod server;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rows::{Row, TOPICS, at, batch, range, time, walk};
use server::{Server, server};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use weir_disk::SimDisk;
use weir_embedded::EmbeddedHistory;
use weir_model::Cursor;
use weir_postgres::PostgresHistory;
use weir_storage::aggregate::Function;
use weir_storage::{Aggregate, Hidden, History, Range};

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<(usize, i64)>),
    Forget(usize),
    /// A store takes what follows of the log, so many records.
    Feed(usize, usize),
    Maintain(usize),
    Restart(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let extreme = prop_oneof![Just(i64::MIN + 1), Just(i64::MAX - 1), Just(i64::MIN + 7)];
    let nanos = prop_oneof![20 => -5_i64..25, 1 => extreme];
    let rows = proptest::collection::vec((0..TOPICS.len(), nanos), 1..40);
    let step = prop_oneof![
        8 => rows.prop_map(Step::Apply),
        1 => (0..TOPICS.len()).prop_map(Step::Forget),
        5 => (0..2_usize, 1..4_usize).prop_map(|(store, count)| Step::Feed(store, count)),
        2 => (0..2_usize).prop_map(Step::Maintain),
        1 => (0..2_usize).prop_map(Step::Restart),
    ];
    proptest::collection::vec(step, 1..40)
}

enum Logged {
    Rows(Vec<Row>),
    Forget(usize),
}

fn offer(store: &dyn History, cursor: Cursor, logged: &Logged) {
    match logged {
        Logged::Rows(rows) => store.apply(cursor, time(12), &batch(rows)).unwrap(),
        Logged::Forget(topic) => store.forget(cursor, TOPICS[*topic]).unwrap(),
    }
}

/// One of the gateways that feed the database.
struct Fed {
    store: PostgresHistory,
    next: usize,
}

struct Trial<'a> {
    server: &'a Server,
    database: String,
    log: Vec<Logged>,
    embedded: EmbeddedHistory,
    fed: [Fed; 2],
    count: u64,
}

impl<'a> Trial<'a> {
    fn new(server: &'a Server, number: usize) -> Self {
        let database = format!("trial_{number}");
        server.database(&database);
        let fed = || Fed {
            store: server.open(&database),
            next: 0,
        };
        Self {
            fed: [fed(), fed()],
            embedded: EmbeddedHistory::on(Arc::new(SimDisk::new()), Default::default()).unwrap(),
            server,
            log: Vec::new(),
            count: 0,
            database,
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Apply(rows) => {
                let numbered = rows.into_iter().map(|(topic, time)| {
                    self.count += 1;
                    (topic, time, self.count)
                });
                let rows = numbered.collect();
                self.append(Logged::Rows(rows));
            }
            Step::Forget(topic) => self.append(Logged::Forget(topic)),
            Step::Feed(of, count) => self.feed(of, count),
            Step::Maintain(of) => self.fed[of].store.maintain(time(0)).unwrap(),
            Step::Restart(of) => {
                self.fed[of].store = self.server.open(&self.database);
                // What it has not is fed again, as the hub does.
                let applied = self.fed[of].store.applied();
                self.fed[of].next = applied.sequence() as usize;
            }
        }
    }

    fn append(&mut self, logged: Logged) {
        let cursor = at(self.log.len() as u64 + 1);
        offer(&self.embedded, cursor, &logged);
        self.log.push(logged);
    }

    fn feed(&mut self, of: usize, count: usize) {
        let fed = &mut self.fed[of];
        for _ in 0..count.min(self.log.len() - fed.next) {
            let cursor = at(fed.next as u64 + 1);
            offer(&fed.store, cursor, &self.log[fed.next]);
            fed.store.advance(cursor);
            fed.next += 1;
        }
    }

    fn check(&mut self) {
        for of in 0..2 {
            self.feed(of, usize::MAX);
            let (embedded, store) = (&self.embedded, &self.fed[of].store);
            check_rows(embedded, store);
            check_windows(embedded, store);
            for topic in TOPICS {
                assert_eq!(embedded.extent(topic), store.extent(topic), "{topic}");
                assert_eq!(embedded.extents(topic), store.extents(topic), "{topic}");
                assert_eq!(embedded.newest(topic), store.newest(topic), "{topic}");
            }
            store.maintain(time(0)).unwrap();
            assert_eq!(latest(embedded), latest(store));
            assert_eq!(store.applied().sequence(), self.log.len() as u64);
        }
    }
}

fn check_rows(embedded: &dyn History, store: &dyn History) {
    for (topics, limit) in [
        (&TOPICS[..], 7),
        (&TOPICS[..], 1000),
        (&TOPICS[1..3], 2),
        (&TOPICS[..1], 1),
    ] {
        for (from, to) in [(i64::MIN, i64::MAX), (3, 20)] {
            let query = range(topics, from, to, limit);
            assert_eq!(walk(embedded, &query), walk(store, &query), "{query:?}");
        }
    }
}

fn check_windows(embedded: &dyn History, store: &dyn History) {
    let places = || BTreeSet::from([(1, 0), (3, 0), (3, 1)]);
    let some: Hidden = BTreeMap::from([(0, places()), (2, places())]);
    for &(_, function) in Function::ALL {
        for (hidden, limit) in [(None, 3), (None, 500), (Some(&some), 3)] {
            let window = Duration::from_nanos(6);
            let query = Range {
                aggregate: Some(Aggregate { function, window }),
                hidden,
                ..range(&TOPICS, -4, 22, limit)
            };
            assert_eq!(walk(embedded, &query), walk(store, &query), "{query:?}");
        }
    }
}

/// The last observation of each datastream, by topic.
fn latest(store: &dyn History) -> BTreeMap<String, (Cursor, String)> {
    let mut seen = BTreeMap::new();
    store
        .latest(&mut |cursor, row| {
            seen.insert(row.topic.to_owned(), (cursor, format!("{row:?}")));
        })
        .unwrap();
    seen
}

#[test]
fn a_real_postgresql_answers_as_the_embedded_store_does() {
    let name = "a_real_postgresql_answers_as_the_embedded_store_does";
    let Some(server) = server(name, &["fsync=off"]) else {
        return;
    };
    let number = std::cell::Cell::new(0);
    let config = Config {
        cases: 12,
        max_shrink_iters: 60,
        failure_persistence: None,
        ..Config::default()
    };
    let tried = TestRunner::new(config).run(&steps(), |steps| {
        number.set(number.get() + 1);
        let mut trial = Trial::new(&server, number.get());
        for (at, step) in steps.into_iter().enumerate() {
            trial.run(step);
            if at % 10 == 9 {
                trial.check();
            }
        }
        trial.check();
        Ok(())
    });
    tried.unwrap();
}
