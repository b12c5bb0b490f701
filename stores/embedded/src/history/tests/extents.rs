//! From when to when there are observations, against a list.

use super::*;

/// From when to when each datastream has observations, looked up row by row.
pub(super) fn check_extents(store: &EmbeddedHistory, rows: &[Row]) {
    for (topic, name) in TOPICS.iter().enumerate() {
        let of_topic = rows.iter().filter(|row| row.0 == topic);
        let expected = |number: Option<u8>| {
            let rows = of_topic.clone();
            let rows = rows.filter(|row| number.is_none_or(|own| own == description(topic, row.2)));
            let times = rows.clone().map(|row| row.1);
            let results = rows.filter(|row| topic == 3 && row.2 % 4 == 0);
            let results = results.map(|row| Time::from_nanos(row.1 + 5));
            let span = times.clone().min().zip(times.max());
            span.map(|(first, last)| Extent {
                first: Time::from_nanos(first),
                last: Time::from_nanos(last),
                end: None,
                result: results.clone().min().zip(results.max()),
            })
        };
        assert_eq!(store.extent(name), expected(None), "{name}");
        let each = (0..3).filter_map(|number| Some((number, expected(Some(number))?)));
        assert_eq!(
            store.extents(name).unwrap(),
            each.collect::<Vec<_>>(),
            "{name}"
        );
    }
}

#[test]
fn what_was_observed_long_ago_stays_unless_told_otherwise() {
    let dir = Scratch::new();
    let store = dir.open();
    let long_ago: Vec<Row> = vec![(0, 1, 1)];
    store
        .apply(Cursor::new(1, 1), Time::from_nanos(0), &batch(&long_ago))
        .unwrap();
    store.maintain(Time::from_nanos(i64::MAX)).unwrap();
    assert_eq!(store.stored().1, 1);
}
