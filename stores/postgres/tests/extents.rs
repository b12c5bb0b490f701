//! From when to when each description has rows, which the database says without reading all of them.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a server and waits for it"
)]

mod rows;
mod server;

use rows::{Row, at, batch, time};
use server::{Server, server};
use weir_postgres::PostgresHistory;
use weir_storage::{Extent, History};

const SECOND: i64 = 1_000_000_000;
const ROWS: i64 = 100_000;
/// As it was asked before: of all rows.
const ALL: &str = "SELECT coalesce(o.description, 0), min(o.time), max(o.time), max(o.time_end),
         min(o.result_time), max(o.result_time)
     FROM weir.observation o JOIN weir.datastream d ON d.id = o.datastream
     WHERE d.topic = 'a' GROUP BY 1 ORDER BY 1";

#[test]
fn extents_of_descriptions_are_found_by_the_index() {
    let Some(server) = server(
        "extents_of_descriptions_are_found_by_the_index",
        &["fsync=off"],
    ) else {
        return;
    };
    of_many(&server);
    of_tables_of_before(&server);
}

/// A row of the first topic under a description.
fn row(seconds: i64, description: u64) -> Row {
    (
        0,
        seconds * SECOND,
        3 * seconds.unsigned_abs() + description,
    )
}

fn of_many(server: &Server) {
    server.database("many");
    let store = server.open("many");
    let rows = |upto: i64| (0..upto).map(move |at| row(at, u64::from(at >= upto / 2)));
    let all: Vec<_> = rows(ROWS).collect();
    for (record, part) in (1..).zip(all.chunks(2000)) {
        store.apply(at(record), time(0), &batch(part)).unwrap();
    }
    // One that comes late, one that is ahead, and one of a third description between others.
    let late = [row(-9, 1), row(60_000, 0), row(70_000, 2)];
    store.apply(at(99), time(0), &batch(&late)).unwrap();
    store.maintain(time(0)).unwrap();
    let found = store.extents("a").unwrap();
    let ends = |number, first: i64, last: i64| (number, (first * SECOND, last * SECOND));
    let expected = [
        ends(0, 0, 60_000),
        ends(1, -9, ROWS - 1),
        ends(2, 70_000, 70_000),
    ];
    let times = |(number, it): &(u8, Extent)| (*number, (it.first.nanos(), it.last.nanos()));
    assert_eq!(found.iter().map(times).collect::<Vec<_>>(), expected);
    same(server, "many", &store);
    for analyze in ["", "ANALYZE weir.observation"] {
        server.sql("many", analyze).unwrap();
        let asked = include_str!("../src/extents.sql").replace("$1", "'a'");
        let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {asked}");
        let plan = server.sql("many", &explain).unwrap();
        assert!(!plan.contains("Seq Scan on observation"), "{plan}");
        let left_out = plan.lines().filter_map(|line| {
            let count = line.trim().strip_prefix("Rows Removed by Filter: ")?;
            count.parse::<i64>().ok()
        });
        // Within the hour that bounds have to spare; the third is a mean of three looks.
        assert!(left_out.sum::<i64>() < ROWS / 10, "{plan}");
    }
    // What retention drops makes the rest begin later.
    let old = format!(
        "DELETE FROM weir.observation WHERE time < {}",
        40_000 * SECOND
    );
    server.sql("many", &old).unwrap();
    same(server, "many", &store);
    server
        .sql("many", "DELETE FROM weir.observation WHERE description = 2")
        .unwrap();
    same(server, "many", &store);
    store.forget(at(100), "a").unwrap();
    store.apply(at(101), time(0), &batch(&[row(5, 1)])).unwrap();
    store.maintain(time(0)).unwrap();
    same(server, "many", &store);
    assert_eq!(store.extents("a").unwrap().len(), 1);
}

/// The answer is that of reading all rows.
fn same(server: &Server, database: &str, store: &PostgresHistory) {
    let told = store.extents("a").unwrap().into_iter().map(|(number, it)| {
        let text = |time: Option<weir_model::Time>| {
            time.map_or(String::new(), |time| time.nanos().to_string())
        };
        let (first, last) = (text(Some(it.first)), text(Some(it.last)));
        let (from, to) = (
            text(it.result.map(|of| of.0)),
            text(it.result.map(|of| of.1)),
        );
        format!("{number}|{first}|{last}|{}|{from}|{to}", text(it.end))
    });
    assert_eq!(
        told.collect::<Vec<_>>().join("\n"),
        server.sql(database, ALL).unwrap()
    );
}

fn of_tables_of_before(server: &Server) {
    server.database("before");
    let sql = |sql: &str| server.sql("before", sql);
    sql(include_str!("../src/schema-1.sql")).unwrap();
    sql(include_str!("../src/schema-2.sql")).unwrap();
    sql("INSERT INTO weir.version VALUES (1), (2)").unwrap();
    sql("INSERT INTO weir.datastream (topic) VALUES ('a')").unwrap();
    sql("INSERT INTO weir.observation
            (datastream, time, cursor, item, number, time_end, result_time, description)
         SELECT 1, n, 1, n, n, CASE WHEN n % 7 = 0 THEN n + 5 END, CASE WHEN n > 50 THEN n + 1 END,
             n % 3 FROM generate_series(1, 100) n")
    .unwrap();
    let store = server.open("before");
    same(server, "before", &store);
    // A weir that does not count them writes no more.
    let latest = "INSERT INTO weir.latest (datastream, time, cursor, item, seen, description)
         VALUES (1, 1, 1, 1, 1, 0)";
    let refused = sql(latest).unwrap_err();
    assert!(
        refused.contains("tables of version 3: upgrade the gateway"),
        "{refused}"
    );
    // Some come before the others are counted.
    store
        .apply(at(2), time(9), &batch(&[(0, -3, 0), (0, 500, 1)]))
        .unwrap();
    same(server, "before", &store);
    store.maintain(time(0)).unwrap();
    assert_eq!(sql("SELECT counted FROM weir.datastream").unwrap(), "t");
    assert_eq!(sql("SELECT count(*) FROM weir.extent").unwrap(), "3");
    same(server, "before", &store);
}
