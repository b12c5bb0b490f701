#![allow(clippy::unwrap_used)]
use super::*;

fn observe(entry: &mut Entry, sequence: u64, time: i64, arrival: i64, value: f64) {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.value(Value::Number(value));
    builder.time(Time::from_nanos(time));
    builder.end().unwrap();
    let batch = builder.finish();
    entry.observe(
        Cursor::new(1, sequence),
        Time::from_nanos(arrival),
        &batch.row(0),
    );
}

#[test]
fn the_latest_is_the_latest_in_time_unless_its_clock_ran_ahead() {
    let mut entry = Entry::new("a".into());
    let value = |entry: &Entry| entry.last.as_ref().unwrap().value().number();
    observe(&mut entry, 1, 100, 100, 1.0);
    observe(&mut entry, 2, 50, 110, 2.0);
    assert_eq!(
        value(&entry),
        Some(1.0),
        "a late one does not replace a newer one"
    );
    observe(&mut entry, 3, 9_999, 120, 3.0);
    observe(&mut entry, 4, 130, 130, 4.0);
    assert_eq!(
        value(&entry),
        Some(4.0),
        "a clock that ran ahead does not pin its value"
    );
}

#[test]
fn a_clock_that_was_ahead_leaves_no_value_and_no_mark() {
    let (year, second) = (365 * 86_400_000_000_000, 1_000_000_000);
    let mut entry = Entry::new("a".into());
    let mut publish = |sequence: u64, arrival: i64| {
        entry.seen(Time::from_nanos(arrival));
        observe(
            &mut entry,
            sequence,
            arrival - 1000,
            arrival,
            sequence as f64,
        );
        let online = |later: i64| entry.is_online(Time::from_nanos(arrival + later));
        let last = entry.last.as_ref().unwrap().value().number();
        (last, online(0), online(-year), online(1000 * second))
    };
    for sequence in 1..5 {
        let arrival = year + sequence as i64 * second;
        assert_eq!(
            publish(sequence, arrival),
            (Some(sequence as f64), true, false, false)
        );
    }
    assert_eq!(publish(5, second), (Some(4.0), true, false, false));
    assert_eq!(publish(6, 2 * second), (Some(6.0), true, false, false));
    // Set ahead while it runs: one silence more, and no year of patience.
    assert_eq!(publish(7, year), (Some(7.0), true, false, false));
}

#[test]
fn a_filter_lists_its_datastreams_in_order() {
    let mut catalog = Catalog::default();
    for topic in ["b/x", "a", "a/y", "ab/x", "a/x"] {
        catalog.intern(topic);
    }
    let list = |filter: &str| {
        let filters = [Filter::parse(filter).unwrap()];
        let (found, next) = catalog.page(&filters, None);
        assert_eq!(next, None);
        found
            .into_iter()
            .map(|e| e.topic.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(list("a/#"), "a a/x a/y");
    assert_eq!(list("a/+"), "a/x a/y");
    assert_eq!(list("+/x"), "a/x ab/x b/x");
    assert_eq!(list("a/x"), "a/x");
}

#[test]
fn a_long_list_comes_in_pages_and_each_entry_once() {
    let mut catalog = Catalog::default();
    for number in 0..COMPARISONS_MAX + 5 {
        catalog.intern(&format!("n/{number}"));
    }
    let filters = [Filter::parse("#").unwrap(), Filter::parse("n/7").unwrap()];
    let (mut after, mut topics, mut pages) = (None, Vec::new(), 0);
    loop {
        let (found, next) = catalog.page(&filters, after.as_deref());
        topics.extend(found.iter().map(|entry| entry.topic.clone()));
        pages += 1;
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((topics.len(), pages), (COMPARISONS_MAX + 5, 3));
    assert!(topics.is_sorted());
}
