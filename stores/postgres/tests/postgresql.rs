//! What befalls a real PostgreSQL and those who feed it.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a server and waits for it"
)]

mod rows;
mod server;

use rows::{Row, TOPICS, at, batch, numbers, range, time, walk};
use server::{PASSWORD, Server, options, own, port, server, shared};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_disk::SimDisk;
use weir_embedded::EmbeddedHistory;
use weir_model::{Datastream, Description};
use weir_postgres::limits::{BUFFER_BYTES_MAX, CHUNK_ROWS};
use weir_postgres::{Options, Origin, PostgresHistory, Target};
use weir_storage::{History, HistoryFault};

/// What a test does with a server that it may kill.
type Test = fn(&mut Server);

#[test]
fn a_real_postgresql() {
    let Some(mut server) = server("a_real_postgresql", &[]) else {
        return;
    };
    let tests: [(&str, Test); 15] = [
        ("who may not in is told so, without the password", refusals),
        ("with TLS the certificate must hold", encrypted),
        ("two gateways feed one database at once", two_at_once),
        ("a history of another log is refused", another_log),
        ("a forgotten topic begins anew, and its rows go", forgotten),
        (
            "rows past their age go, the last one of each stays known",
            retention,
        ),
        (
            "what the server did not confirm is there once after it was killed",
            killed,
        ),
        ("while the server is away rows wait, up to a bound", away),
        ("a database that went back is not written over", restored),
        (
            "what the embedded store had is moved, all of it or nothing",
            moved,
        ),
        ("newest times of many are asked for at once", newest),
        ("a long question holds up no other", beside),
        ("the tables are of use to people", by_sql),
        (
            "tables of before are carried over, and who knows them alone writes no more",
            upgraded,
        ),
        ("many datastreams, in a time that is printed", figures),
    ];
    for (what, test) in tests {
        println!("{what}");
        test(&mut server);
    }
}

fn problem(options: Options, log: &Origin) -> String {
    match PostgresHistory::open(options, log) {
        Ok(_) => panic!("opened"),
        Err(problem) => problem,
    }
}

fn refusals(server: &mut Server) {
    let url = server.url("postgres");
    let wrong = problem(options(&url.replace("s3cret", "wr0ng")), &shared());
    assert!(wrong.contains("password authentication failed"), "{wrong}");
    assert!(!wrong.contains("wr0ng"), "{wrong}");
    let none = problem(options(&server.url("nowhere")), &shared());
    assert!(
        none.contains("database \"nowhere\" does not exist"),
        "{none}"
    );
    let closed = url.replace(&server.port.to_string(), &port().to_string());
    let closed = problem(options(&closed), &shared());
    assert!(
        closed.contains("refused") && !closed.contains(PASSWORD),
        "{closed}"
    );
    let plain = problem(options(&format!("{url}?sslmode=require")), &shared());
    assert!(plain.to_lowercase().contains("tls"), "{plain}");
}

fn encrypted(server: &mut Server) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let authority = server.encrypt(&made.cert.pem(), &made.signing_key.serialize_pem());
    let url = format!("{}?sslmode=require", server.url("postgres"));
    let strange = problem(options(&url), &shared());
    assert!(strange.contains("certificate"), "{strange}");
    let known = Options {
        target: Target::parse(&url)
            .unwrap()
            .with_authorities(&authority)
            .unwrap(),
        ..options(&url)
    };
    let _store = PostgresHistory::open(known, &shared()).unwrap();
    let seen = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                WHERE a.application_name = 'weir' AND NOT s.ssl";
    assert_eq!(server.sql("postgres", seen).unwrap(), "0");
}

/// A record of some rows each, of the first topic.
fn record(sequence: u64, rows: u64) -> Vec<Row> {
    let first = sequence * rows;
    (first..first + rows)
        .map(|number| (0, number as i64, number))
        .collect()
}

fn offer(store: &dyn History, sequence: u64, rows: u64) -> Result<(), HistoryFault> {
    store.apply(at(sequence), time(0), &batch(&record(sequence, rows)))
}

fn two_at_once(server: &mut Server) {
    const RECORDS: u64 = 300;
    server.database("two");
    let stores = [server.open("two"), server.open("two")];
    std::thread::scope(|scope| {
        for store in &stores {
            scope.spawn(move || {
                for sequence in 1..=RECORDS {
                    offer(store, sequence, 100).unwrap();
                    store.advance(at(sequence));
                    if sequence % 7 == 0 {
                        store.maintain(time(0)).unwrap();
                    }
                }
                store.maintain(time(0)).unwrap();
            });
        }
    });
    let all: Vec<u64> = (100..(RECORDS + 1) * 100).collect();
    for store in &stores {
        assert_eq!(store.applied(), at(RECORDS));
        assert_eq!(numbers(store, "a"), all);
    }
}

fn another_log(server: &mut Server) {
    server.database("own");
    let (disk, other) = (SimDisk::new(), SimDisk::new());
    let url = server.url("own");
    let open = |disk: &SimDisk| PostgresHistory::open(options(&url), &own(disk));
    let store = open(&disk).unwrap();
    // It is this log's before a row is there.
    let told = problem(options(&url), &own(&other));
    assert!(told.contains("another log"), "{told}");
    offer(&store, 1, 3).unwrap();
    store.maintain(time(0)).unwrap();
    drop(store);
    assert_eq!(open(&disk).unwrap().applied(), at(1));
    let told = problem(options(&url), &own(&other));
    assert!(told.contains("another log"), "{told}");
    let told = problem(options(&url), &shared());
    assert!(told.contains("another log"), "{told}");
}

fn forgotten(server: &mut Server) {
    server.database("forgotten");
    let store = server.open("forgotten");
    offer(&store, 1, 50).unwrap();
    store.maintain(time(0)).unwrap();
    store.forget(at(2), "a").unwrap();
    offer(&store, 3, 2).unwrap();
    assert_eq!(numbers(&store, "a"), [6, 7]);
    store.maintain(time(0)).unwrap();
    let left =
        "SELECT (SELECT count(*) FROM weir.observation), (SELECT count(*) FROM weir.forgotten)";
    assert_eq!(server.sql("forgotten", left).unwrap(), "2|0");
}

fn retention(server: &mut Server) {
    server.database("old");
    let kept = Options {
        retention_age: Duration::from_nanos(1000),
        ..options(&server.url("old"))
    };
    let store = PostgresHistory::open(kept, &shared()).unwrap();
    let rows: Vec<Row> = (0..100)
        .map(|number| (0, number as i64 * 10, number))
        .collect();
    store.apply(at(1), time(5000), &batch(&rows)).unwrap();
    store.maintain(time(1500)).unwrap();
    assert_eq!(numbers(&store, "a"), (50..100).collect::<Vec<_>>());
    store.maintain(time(9000)).unwrap();
    assert_eq!(store.extent("a"), None);
    let mut last = Vec::new();
    let visit = &mut |_, row: &weir_model::Observation<'_>| last.push(row.time);
    store.latest(visit).unwrap();
    assert_eq!(last, [Some(time(990))]);
}

fn killed(server: &mut Server) {
    server.database("killed");
    let mut stores = [server.open("killed"), server.open("killed")];
    let mut next = [1_u64; 2];
    for round in 0..4 {
        for (of, store) in stores.iter_mut().enumerate() {
            for _ in 0..40 + of as u64 {
                offer(store, next[of], 50).unwrap();
                store.advance(at(next[of]));
                next[of] += 1;
            }
        }
        std::thread::scope(|scope| {
            let writing = stores
                .iter()
                .map(|store| scope.spawn(|| store.maintain(time(0))));
            let writing: Vec<_> = writing.collect();
            server.kill();
            // It may have been quicker than the kill.
            writing.into_iter().for_each(|it| drop(it.join().unwrap()));
        });
        let fault = stores[0].read(&range(&["a"], 0, i64::MAX, 1)).unwrap_err();
        assert!(
            fault.to_string().contains("PostgreSQL at weir@127.0.0.1"),
            "{fault}"
        );
        server.start();
        if round == 2 {
            stores[1] = again(server, "killed");
            next[1] = stores[1].applied().sequence() + 1;
        }
    }
    for sequence in next[1]..next[0] {
        offer(&stores[1], sequence, 50).unwrap();
    }
    let last = next[0].max(next[1]);
    let all: Vec<u64> = (50..last * 50).collect();
    let until = Instant::now() + Duration::from_secs(60);
    while stores.iter().any(|store| store.maintain(time(0)).is_err()) {
        assert!(Instant::now() < until, "they do not come back");
    }
    for store in &stores {
        assert_eq!(numbers(store, "a"), all);
    }
}

/// Opens it while the server recovers, which is waited for.
fn again(server: &Server, database: &str) -> PostgresHistory {
    let options = Options {
        wait: Duration::from_secs(30),
        ..options(&server.url(database))
    };
    PostgresHistory::open(options, &shared()).unwrap()
}

fn away(server: &mut Server) {
    server.database("away");
    let store = server.open("away");
    server.kill();
    let mut sequence = 0;
    let refused = loop {
        sequence += 1;
        if let Err(fault) = offer(&store, sequence, CHUNK_ROWS as u64) {
            break fault;
        }
    };
    assert!(refused.to_string().contains("PostgreSQL at"), "{refused}");
    let rows = BUFFER_BYTES_MAX / (sequence as usize * CHUNK_ROWS);
    assert!((16..1000).contains(&rows), "{rows} bytes a row");
    server.start();
    let until = Instant::now() + Duration::from_secs(60);
    while offer(&store, sequence, CHUNK_ROWS as u64).is_err() {
        assert!(Instant::now() < until, "it does not come back");
    }
    store.maintain(time(0)).unwrap();
    let count = server.sql("away", "SELECT count(*) FROM weir.observation");
    assert_eq!(count.unwrap(), (sequence * CHUNK_ROWS as u64).to_string());
}

fn restored(server: &mut Server) {
    server.database("restored");
    let store = server.open("restored");
    for sequence in 1..=2 {
        offer(&store, sequence, 3).unwrap();
        store.maintain(time(0)).unwrap();
    }
    let back = format!("UPDATE weir.progress SET cursor = {}", at(1).bits() as i64);
    server.sql("restored", &back).unwrap();
    offer(&store, 3, 3).unwrap();
    let fault = store.maintain(time(0)).unwrap_err();
    assert!(fault.to_string().contains("gone back to feed-1"), "{fault}");
}

fn by_sql(server: &mut Server) {
    server.database("people");
    let store = server.open("people");
    let nanos = 1_700_000_000_123_456_000;
    let rows: Vec<Row> = (0..5).map(|topic| (topic, nanos, 6)).collect();
    store.apply(at(1), time(nanos), &batch(&rows)).unwrap();
    store
        .apply(at(2), time(nanos), &batch(&[(2, nanos, 7), (2, nanos, 9)]))
        .unwrap();
    store.maintain(time(0)).unwrap();
    let ask = |sql: &str| server.sql("people", sql).unwrap();
    assert_eq!(
        ask("SELECT number, time AT TIME ZONE 'UTC' FROM weir.observations WHERE topic = 'a'"),
        "-1.5|2023-11-14 22:13:20.123456"
    );
    // As text, since this one has a zero byte, which `->>` refuses.
    let json = "SELECT json::text LIKE '{\"n\":6,%' FROM weir.observations WHERE topic = 'd/e'";
    assert_eq!(ask(json), "t");
    assert_eq!(
        ask("SELECT truth FROM weir.observations WHERE topic = 'c' AND truth IS NOT NULL"),
        "t"
    );
    let recent = "SELECT count(*) FROM weir.observations WHERE nanoseconds >= \
                  weir.nanoseconds('2023-11-14 22:13:20.123456Z')";
    assert_eq!(ask(recent), "7");
    let latest = ask("SELECT topic FROM weir.latest_observations");
    let latest: BTreeSet<&str> = latest.lines().collect();
    assert_eq!(latest, TOPICS.into_iter().collect());
}

/// More rows than are written at once, some of one time, some late, some ahead of the clock.
fn upgraded(server: &mut Server) {
    let sql = |sql: &str| server.sql("version_1", sql);
    server.database("version_1");
    sql(include_str!("../src/schema-1.sql")).unwrap();
    sql("INSERT INTO weir.version VALUES (1)").unwrap();
    sql("INSERT INTO weir.datastream (topic) VALUES ('a')").unwrap();
    let row = |time: u64| {
        let values = format!("VALUES (1, {time}, 1, {time}, {time})");
        format!("INSERT INTO weir.observation (datastream, time, cursor, item, number) {values}")
    };
    let latest = "INSERT INTO weir.latest SELECT o.*, o.time FROM weir.observation o";
    for number in 0..3 {
        sql(&row(number)).unwrap();
    }
    sql(&format!("{latest} WHERE o.time = 2")).unwrap();
    let store = server.open("version_1");
    assert_eq!(numbers(&store, "a").len(), 3);
    assert_eq!(last_rows(&store).len(), 1);
    store
        .apply(at(2), time(9), &batch(&[(0, 7, 7), (0, 8, 8)]))
        .unwrap();
    store.maintain(time(0)).unwrap();
    let page = walk(&store, &range(&["a"], 0, 99, 99));
    let made = (0..5).map(|row| page[0].0.description(row));
    assert_eq!(made.collect::<Vec<_>>(), [0, 0, 0, 1, 2]);
    let told =
        "SELECT string_agg(concat(number, unit), ' ' ORDER BY nanoseconds) FROM weir.observations";
    assert_eq!(sql(told).unwrap(), "0 1 2 -1.25cm -1mm");
    assert_eq!(
        sql("SELECT unit FROM weir.latest_observations").unwrap(),
        "mm"
    );
    let refused = sql(&row(9)).unwrap_err();
    assert!(refused.contains("upgrade the gateway"), "{refused}");
}

fn embedded() -> EmbeddedHistory {
    let store = EmbeddedHistory::on(Arc::new(SimDisk::new()), Default::default()).unwrap();
    let mut number = 0;
    for record in 1..=40_i64 {
        let rows: Vec<Row> = (0..500)
            .map(|row| {
                number += 1;
                ((row % 5) as usize, record * 7 - row % 13, number)
            })
            .collect();
        store
            .apply(at(record as u64), time(record * 7), &batch(&rows))
            .unwrap();
    }
    let ahead = [(0, 1_000_000, 77), (1, 300, 78), (1, 300, 79)];
    store.apply(at(41), time(290), &batch(&ahead)).unwrap();
    store.maintain(time(0)).unwrap();
    store
}

/// What the catalog knows: the embedded store has the numbers of descriptions alone.
fn described() -> BTreeMap<String, Datastream> {
    let description = |unit: &str| Description {
        from: time(0),
        learned: time(0),
        declared: false,
        sensor: None,
        property: None,
        unit: Some(unit.into()),
    };
    let datastream = Datastream {
        unit: Some("mm".into()),
        descriptions: ["m", "cm", "mm"].map(description).to_vec(),
        ..Datastream::default()
    };
    TOPICS[..2]
        .iter()
        .map(|&topic| (topic.to_owned(), datastream.clone()))
        .collect()
}

fn last_rows(store: &dyn History) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    store
        .latest(&mut |_, row| _ = rows.insert(format!("{row:?}")))
        .unwrap();
    rows
}

fn moved(server: &mut Server) {
    server.database("moved");
    let before = Arc::new(embedded());
    let disk = SimDisk::new();
    let open = || PostgresHistory::open(options(&server.url("moved")), &own(&disk)).unwrap();
    let count = open()
        .take_over(before.clone(), described(), |_| {})
        .unwrap();
    assert_eq!(count, 20_003);
    let after = open();
    assert_eq!(after.applied(), before.applied());
    let same = |after: &PostgresHistory| {
        for limit in [1000, 4099] {
            let query = range(&TOPICS, i64::MIN, i64::MAX, limit);
            let (old, new) = (walk(&*before, &query), walk(after, &query));
            assert_eq!(old.len(), new.len(), "pages of {limit}");
            for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                let ((rows, next, before), (rows2, next2, before2)) = (old, new);
                assert_eq!(next, next2, "page {at} of {limit}");
                assert_eq!(before, before2, "page {at} of {limit}");
                assert!(rows == rows2, "page {at} of {limit}");
            }
        }
        assert_eq!(last_rows(&*before), last_rows(after));
    };
    same(&after);
    let units = "SELECT string_agg(DISTINCT concat(number % 3, unit), ' ') FROM \
        (SELECT CAST((number + 3) * 4 AS bigint) AS number, unit \
        FROM weir.observations WHERE topic = 'a') rows";
    assert_eq!(server.sql("moved", units).unwrap(), "0m 1cm 2mm");
    // What follows in the log stands behind it, and it is not moved once more.
    for store in [&*before as &dyn History, &after] {
        store
            .apply(at(42), time(300), &batch(&[(1, 300, 80), (2, 1, 81)]))
            .unwrap();
        store.maintain(time(0)).unwrap();
    }
    same(&after);
    let again = after
        .take_over(before.clone(), described(), |_| {})
        .unwrap_err();
    assert!(again.contains("has a history already"), "{again}");
    same(&after);
}

fn newest(server: &mut Server) {
    server.database("newest");
    let store = server.open("newest");
    store
        .apply(at(1), time(9), &batch(&[(0, 5, 1), (2, 7, 2), (0, 3, 3)]))
        .unwrap();
    let asked = ["nowhere", "c", "a"];
    let never = Some(time(i64::MIN));
    let found = store.newest_of(&asked);
    assert_eq!(found, [never, Some(time(7)), Some(time(5))]);
    assert_eq!(found, asked.map(|topic| store.newest(topic)));
    server.kill();
    assert_eq!(store.newest_of(&asked), [None; 3]);
    server.start();
}

fn beside(server: &mut Server) {
    server.database("beside");
    let store = Arc::new(server.open("beside"));
    store.apply(at(1), time(9), &batch(&[(0, 5, 1)])).unwrap();
    store.maintain(time(0)).unwrap();
    let holder = server.hold("beside", "LOCK TABLE weir.observation");
    let long = {
        let store = store.clone();
        std::thread::spawn(move || numbers(&*store, "a"))
    };
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while server.sql("beside", waits).unwrap() == "0" {
        std::thread::sleep(Duration::from_millis(10));
    }
    // `weir.latest` is another table.
    assert_eq!(last_rows(&*store).len(), 1);
    assert!(!long.is_finished());
    drop(holder);
    assert_eq!(long.join().unwrap(), [1]);
}

fn figures(server: &mut Server) {
    const STREAMS: usize = 400;
    const ROUNDS: i64 = 500;
    server.database("figures");
    let store = server.open("figures");
    let topics: Vec<_> = (0..STREAMS).map(|at| format!("site/{at:03}/t")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let begun = Instant::now();
    for round in 1..=ROUNDS {
        let nanos = round * 1_000_000_000;
        store
            .apply(at(round as u64), time(nanos), &rows::many(&topics, nanos))
            .unwrap();
    }
    store.maintain(time(0)).unwrap();
    let written = begun.elapsed();
    let begun = Instant::now();
    let page = store.read(&range(&topics, 0, i64::MAX, 1000)).unwrap();
    let page_of_many = begun.elapsed();
    assert_eq!(page.batch.len(), 1000);
    let begun = Instant::now();
    let page = store.read(&range(&topics[..1], 0, i64::MAX, 500)).unwrap();
    let page_of_one = begun.elapsed();
    assert_eq!(page.batch.len(), 500);
    let begun = Instant::now();
    let mut count = 0;
    store.latest(&mut |_, _| count += 1).unwrap();
    let latest = begun.elapsed();
    assert_eq!(count, STREAMS);
    let begun = Instant::now();
    let count: usize = walk(&store, &range(&topics, 0, i64::MAX, 10_000))
        .iter()
        .map(|(batch, _, _)| batch.len())
        .sum();
    let walked = begun.elapsed();
    assert_eq!(count, STREAMS * ROUNDS as usize);
    let bytes =
        "SELECT pg_total_relation_size('weir.observation') / count(*) FROM weir.observation";
    let bytes = server.sql("figures", bytes).unwrap();
    let rate = count as f64 / written.as_secs_f64();
    println!(
        "{rate:.0} rows a second written, {bytes} bytes each; a page of 1,000 of 400: {page_of_many:?}, of 500 of one: \
         {page_of_one:?}; latest of 400: {latest:?}; all {count} in pages of 10,000: {walked:?}"
    );
}
