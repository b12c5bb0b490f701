//! Under which description each row of a message was made.
#![allow(clippy::unwrap_used)]

mod house;

use house::{accepted, at, new, publication};
use std::task::{Context, Poll, Waker};
use weir_hub::{Fault, Next, Shape, Since, Subscribe};
use weir_model::Filter;

const DAY: i64 = 86_400_000;

fn row(value: u32, day: i64, more: &str) -> String {
    format!(
        r#"{{"topic":"a","value":{value},"time":"{}"{more}}}"#,
        at(day * DAY)
    )
}

#[test]
fn a_row_has_what_it_leaves_out_as_of_its_own_time() {
    let house = new();
    let begin = house.hub.positions().0;
    for (value, day, more) in [
        (1, 1, r#","unit":"m","sensor":"old""#),
        (2, 5, r#","unit":"m","sensor":"new""#),
    ] {
        let body = format!(r#"{{"observations":[{}]}}"#, row(value, day, more));
        accepted(&house.hub, 9 * DAY, publication("a", &body)).unwrap();
    }
    let unit = [r#","unit":"m""#, r#","unit":"cm""#];
    for (unit, value) in unit.into_iter().zip([10, 20]) {
        let rows = [row(value, 2, unit), row(value + 1, 6, unit)].join(",");
        let body = format!(r#"{{"observations":[{rows}]}}"#);
        accepted(&house.hub, 9 * DAY, publication("a", &body)).unwrap();
    }
    let wish = Subscribe {
        since: Since::Cursor(begin),
        ..Subscribe::new(vec![Filter::parse("#").unwrap()], Shape::Items)
    };
    let mut reader = house.hub.internal().at(at(0)).subscribe(wish).unwrap();
    let mut told = Vec::new();
    while let Poll::Ready(Ok(Next::Items(items, _))) =
        reader.poll_next(&mut Context::from_waker(Waker::noop()))
    {
        for batch in items.iter().filter_map(|item| item.message.batch()) {
            told.extend(batch.rows().map(|row| {
                let said = |text: Option<&str>| text.unwrap_or_default().to_owned();
                (
                    row.value.number().unwrap(),
                    said(row.sensor),
                    said(row.unit),
                )
            }));
        }
    }
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    let expected = [
        (1.0, "old", "m"),
        (2.0, "new", "m"),
        (10.0, "old", "m"),
        (11.0, "new", "m"),
        (20.0, "old", "cm"),
        (21.0, "new", "cm"),
    ];
    let expected = expected.map(|(value, sensor, unit)| (value, sensor.into(), unit.into()));
    assert_eq!(told, expected);
}

#[test]
fn a_message_of_too_many_descriptions_is_refused_whole() {
    for known in [false, true] {
        let house = new();
        if known {
            accepted(&house.hub, 0, publication("a", r#"{"value":1,"unit":"m"}"#)).unwrap();
        }
        let of = |count: u32| {
            let rows: Vec<_> = (0..count)
                .map(|n| row(n, 2, &format!(r#","unit":"u{n}""#)))
                .collect();
            format!(r#"{{"observations":[{}]}}"#, rows.join(","))
        };
        let refused = accepted(&house.hub, 9 * DAY, publication("a", &of(300))).err();
        assert!(
            matches!(refused, Some(Fault::OverLimit { .. })),
            "{refused:?}"
        );
        accepted(&house.hub, 9 * DAY, publication("a", &of(200))).unwrap();
    }
}
