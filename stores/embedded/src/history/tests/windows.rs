//! One observation a window: a number that is made of all, or the last as it is.

use super::*;
use weir_storage::Aggregate;
use weir_storage::aggregate::Function;

#[test]
fn the_last_of_each_window_is_the_observation_as_it_is() {
    let dir = Scratch::new();
    let store = dir.open();
    let rows: Vec<Row> = (0..60)
        .map(|index| (index % 4, (index / 4) as i64 * 700_000, index as u64 + 1))
        .collect();
    for (number, part) in rows.chunks(25).enumerate() {
        let cursor = Cursor::new(1, number as u64 + 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(part))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
    }
    for limit in [1, 3, 999] {
        let aggregate = Some(Aggregate {
            function: Function::Last,
            window: Duration::from_millis(2),
        });
        let query = Range {
            aggregate,
            ..range(&TOPICS, 1_000_000, 9_000_000, limit)
        };
        let within = |row: &&Row| (1_000_000..9_000_000).contains(&row.1);
        let last: BTreeMap<(i64, usize), Row> = rows
            .iter()
            .filter(within)
            .map(|&row| ((row.1 / 2_000_000, row.0), row))
            .collect();
        let last: Vec<Row> = last.into_values().collect();
        let seen = joined(&walk(&store, &query));
        assert_eq!(seen, batch(&last), "pages of {limit}");
    }
}

#[test]
fn every_function_gives_a_number_for_each_window() {
    let dir = Scratch::new();
    let store = dir.open();
    let rows: Vec<Row> = (0..40)
        .map(|index| (index % 3, index as i64 * 700_000, index as u64 + 1))
        .collect();
    store
        .apply(Cursor::new(1, 1), Time::from_nanos(0), &batch(&rows[..20]))
        .unwrap();
    store.maintain(Time::from_nanos(0)).unwrap();
    store
        .apply(Cursor::new(1, 2), Time::from_nanos(0), &batch(&rows[20..]))
        .unwrap();
    for (function, limit) in Function::ALL
        .iter()
        .filter(|(_, function)| *function != Function::Last)
        .flat_map(|(_name, f)| [(*f, 1), (*f, 4), (*f, 999)])
    {
        let aggregate = Some(Aggregate {
            function,
            window: Duration::from_millis(5),
        });
        let query = Range {
            aggregate,
            ..range(&TOPICS, 1_000_000, 24_000_000, limit)
        };
        let mut windows: BTreeMap<(i64, usize), Vec<f64>> = BTreeMap::new();
        let whole = batch(&rows);
        for (&(topic, time, _number), row) in rows.iter().zip(whole.rows()) {
            let within = (1_000_000..24_000_000).contains(&time);
            if let (true, Some(number)) = (within, row.value.number()) {
                windows
                    .entry((time / 5_000_000 * 5_000_000, topic))
                    .or_default()
                    .push(number);
            }
        }
        let expected: Vec<_> = windows
            .into_iter()
            .map(|((begin, topic), numbers)| {
                let mut window = weir_storage::aggregate::Window::default();
                numbers.into_iter().for_each(|number| window.add(number));
                (
                    TOPICS[topic].to_owned(),
                    begin,
                    window.value(function).unwrap(),
                )
            })
            .collect();
        let pages = walk(&store, &query);
        let seen: Vec<_> = pages
            .iter()
            .flat_map(|page| page.rows())
            .map(|row| {
                (
                    row.topic.to_owned(),
                    row.time.unwrap().nanos(),
                    row.value.number().unwrap(),
                )
            })
            .collect();
        assert_eq!(seen, expected, "{function:?} in pages of {limit}");
    }
}
