//! What a builder keeps, completes and refuses.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::flaw::FlawKind;
use alloc::vec::Vec;

fn add(builder: &mut BatchBuilder, naming: Naming, name: &str, value: f64) {
    builder.begin();
    builder.topic(naming, name);
    builder.value(Value::Number(value));
    builder.end().unwrap();
}

#[test]
fn names_repeated_in_a_message_are_kept_once() {
    let mut builder = BatchBuilder::new();
    for round in 0..10 {
        for name in ["a/x", "a/y", "a/z"] {
            add(&mut builder, Naming::Topic, name, f64::from(round));
        }
    }
    let batch = builder.finish();
    assert_eq!(
        (batch.len(), batch.stream_count(), batch.names.len()),
        (30, 3, 9)
    );
    assert_eq!(batch.row(29).topic, "a/z");
}

#[test]
fn a_complete_batch_names_every_topic_and_time() {
    let mut builder = BatchBuilder::new();
    add(&mut builder, Naming::Below, "temperature", 21.5);
    add(&mut builder, Naming::Topic, "kitchen/humidity", 40.0);
    add(&mut builder, Naming::Name, "urn:dev:ow:1;t", 3.0);
    builder.begin();
    builder.value(Value::Bool(true));
    builder.end().unwrap();
    let mut batch = builder.finish();
    batch.complete("kitchen", Time::from_nanos(7)).unwrap();
    let topics: Vec<_> = batch.rows().map(|row| row.topic).collect();
    let expected = [
        "kitchen/temperature",
        "kitchen/humidity",
        "kitchen/urn:dev:ow:1;t",
        "kitchen",
    ];
    assert_eq!(topics, expected);
    assert!(
        batch
            .rows()
            .all(|row| row.time == Some(Time::from_nanos(7)))
    );
}

#[test]
fn a_senml_time_near_zero_counts_from_the_arrival() {
    let mut builder = BatchBuilder::new();
    for (naming, seconds) in [
        (Naming::Name, -5),
        (Naming::Topic, -5),
        (Naming::Name, 1 << 29),
    ] {
        builder.begin();
        builder.topic(naming, "a/b");
        builder.value(Value::Number(1.0));
        builder.time(Time::from_millis(seconds * 1000));
        builder.end().unwrap();
    }
    let mut batch = builder.finish();
    batch
        .complete("a", Time::from_millis(1_700_000_000_000))
        .unwrap();
    let times: Vec<_> = batch
        .rows()
        .map(|row| row.time.unwrap().seconds())
        .collect();
    assert_eq!(times, [1_699_999_995.0, -5.0, f64::from(1 << 29)]);
}

#[test]
fn an_observation_elsewhere_is_refused() {
    let mut builder = BatchBuilder::new();
    add(&mut builder, Naming::Topic, "cooling/x", 1.0);
    let error = builder
        .finish()
        .complete("heating", Time::from_nanos(0))
        .unwrap_err();
    assert_eq!(
        error,
        BatchError::Elsewhere {
            topic: "cooling/x".into(),
            sent_to: "heating".into()
        }
    );
}

#[test]
fn kept_names_serve_many_rows() {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, "a/b");
    builder.unit("Cel");
    let names = builder.keep();
    for value in [1.0, 2.0] {
        for names in [names, KeptNames::NONE] {
            builder.begin_as(names);
            builder.value(Value::Number(value));
            builder.end().unwrap();
        }
    }
    let batch = builder.finish();
    assert_eq!((batch.len(), batch.stream_count()), (4, 2));
    assert_eq!(
        (batch.row(2).topic, batch.row(2).unit),
        ("a/b", Some("Cel"))
    );
    assert_eq!(batch.row(3).naming, Naming::Sent);
    assert_eq!(batch.names, "a/bCel");
}

#[test]
fn blank_names_say_nothing_and_leave_what_was_said() {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.unit("m");
    for blank in ["", " ", "\t\n", "\u{a0}"] {
        builder.unit(blank);
        builder.sensor(blank);
        builder.property(blank);
        builder.extra(Extra {
            quality: Some(blank),
            feature: Some(blank),
            ..Extra::default()
        });
    }
    builder.value(Value::Null);
    builder.end().unwrap();
    let batch = builder.finish();
    let row = batch.row(0);
    assert_eq!(
        (row.unit, row.sensor, row.property),
        (Some("m"), None, None)
    );
    assert!(row.extra.is_empty());
    assert_eq!(batch.names, "m");
}

#[test]
fn a_refused_observation_leaves_nothing_behind() {
    let mut builder = BatchBuilder::new();
    add(&mut builder, Naming::Topic, "a", 1.0);
    builder.begin();
    builder.topic(Naming::Topic, "b");
    assert_eq!(builder.end(), Err(BatchError::NoValue));
    builder.begin();
    builder.value(Value::Number(1.0));
    builder.latitude(91.0);
    builder.longitude(0.0);
    assert_eq!(builder.end(), Err(BatchError::Place));
    assert_eq!((builder.batch().len(), builder.batch().names.len()), (1, 1));
}

#[test]
fn a_selection_keeps_rows_with_all_they_carry() {
    let mut builder = BatchBuilder::new();
    add(&mut builder, Naming::Topic, "a", 1.0);
    builder.begin();
    builder.topic(Naming::Topic, "b");
    builder.value(Value::Text("open"));
    builder.latitude(44.8);
    builder.longitude(20.4);
    builder.extra(Extra {
        quality: Some("good"),
        ..Extra::default()
    });
    builder.end().unwrap();
    let batch = builder.finish();
    let selected = batch.select(|row| row == 1);
    assert_eq!(selected, batch.only(1));
    assert_eq!(selected.len(), 1);
    assert_eq!(selected.row(0), batch.row(1));
    assert_eq!(selected.row(0).extra.quality, Some("good"));
}

#[test]
fn datastreams_are_found_again_however_many_there_are() {
    let mut builder = BatchBuilder::new();
    for count in [
        1,
        SCANNED_STREAMS_MAX - 1,
        SCANNED_STREAMS_MAX,
        SCANNED_STREAMS_MAX + 1,
        50,
    ] {
        for round in 0..3 {
            for number in (0..count).rev() {
                builder.begin();
                builder.topic(Naming::Topic, &format!("a/{number}"));
                builder.value(Value::Number(f64::from(round)));
                builder.end().unwrap();
            }
        }
        let batch = builder.finish();
        assert_eq!(batch.stream_count(), count);
        assert_eq!(batch.len(), 3 * count);
        let topics = |row: usize| batch.stream(batch.stream_of(row)).topic;
        assert!((0..count).all(|row| topics(row) == topics(row + count)));
    }
}

fn complete(
    forgive: bool,
    rows: &[(Naming, &str)],
) -> Result<(Vec<String>, Vec<Flaw>), BatchError> {
    let mut builder = BatchBuilder::new();
    for (naming, name) in rows {
        add(&mut builder, *naming, name, 1.0);
    }
    if forgive {
        builder.forgive();
    }
    builder.complete("a", Time::from_nanos(7))?;
    let flaws = builder.take_flaws();
    let batch = builder.finish();
    Ok((batch.rows().map(|row| row.topic.into()).collect(), flaws))
}

#[test]
fn a_name_that_can_be_no_topic_is_escaped_and_that_is_noted() {
    let rows = [
        (Naming::Below, "t"),
        (Naming::Below, "pm2.5+"),
        (Naming::Below, "#\n%"),
        (Naming::Below, "u"),
    ];
    let (topics, flaws) = complete(false, &rows).unwrap();
    assert_eq!(topics, ["a/t", "a/pm2.5%2B", "a/%23%0A%25", "a/u"]);
    assert_eq!(crate::percent::decode("pm2.5%2B").unwrap(), "pm2.5+");
    let below: Vec<_> = flaws.iter().map(|flaw| (flaw.kind, &*flaw.below)).collect();
    assert_eq!(
        below,
        [(FlawKind::Name, "pm2.5%2B"), (FlawKind::Name, "%23%0A%25")]
    );
}

#[test]
fn what_can_be_nowhere_is_left_out_where_forgiven() {
    let long = "n".repeat(2000);
    let rows = [
        (Naming::Below, &*long),
        (Naming::Topic, "other"),
        (Naming::Topic, "a/+"),
        (Naming::Topic, "a/b"),
    ];
    assert!(matches!(complete(false, &rows), Err(BatchError::Topic(_))));
    let (topics, flaws) = complete(true, &rows).unwrap();
    assert_eq!((topics, flaws.len()), (["a/b".into()].into(), 3));
    assert!(matches!(
        complete(true, &rows[..3]),
        Err(BatchError::Topic(_))
    ));
}
