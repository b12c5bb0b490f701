//! What large messages, many messages and slow or foreign clients may cost, and whom.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod house;

use house::{
    Flag, Tally, acknowledged, at, drain, everyone, new, open_with, publication, publish,
    subscribe, take_all, wish,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;
use weir_hub::limits::{NAME_BYTES_MAX, NEW_DATASTREAMS_MAX};
use weir_hub::{Fault, Frame, Framing, FramingKey, Hub, Next, Policy, Principal, Shape, Since};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Cursor, Datastream, Filter, Value};

fn flood(house: &house::House, count: usize) {
    let body = format!("{{\"value\":\"{}\"}}", "x".repeat(60_000));
    for _ in 0..count {
        acknowledged(&house.hub, &everyone(), publication("big", &body)).unwrap();
    }
}

#[test]
fn who_was_ended_for_being_slow_leaves_while_the_queue_moves_on() {
    let house = new();
    let mut slow = wish(&["big"], Since::Now);
    slow.policy = Policy::Disconnect;
    let mut slow = subscribe(&house.hub, slow);
    let mut quick = subscribe(&house.hub, wish(&["big"], Since::Now));
    for _ in 0..20 {
        flood(&house, 10);
        assert_eq!(drain(&mut quick).len(), 10);
    }
    assert_eq!(drain(&mut slow), ["end: too slow"]);
    flood(&house, 1);
    assert_eq!(drain(&mut quick).len(), 1);
    assert_eq!(house.hub.gauges().2, 0, "nothing waits for who left");
}

#[test]
fn a_message_longer_than_the_queue_wakes_and_reaches_who_waits() {
    let house = new();
    let mut waits = subscribe(&house.hub, wish(&["a"], Since::Now));
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    assert!(
        waits
            .poll_next(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let body = format!("{{\"value\":1{}}}", " ".repeat(5 << 20));
    acknowledged(&house.hub, &everyone(), publication("a", &body)).unwrap();
    assert!(flag.take());
    assert_eq!(drain(&mut waits), ["1"]);
    publish(&house.hub, "a", 2.0);
    assert_eq!(drain(&mut waits), ["2"]);
}

fn publish_at(house: &house::House, millis: i64, body: &str) {
    house::accepted(&house.hub, millis, publication("a", body)).unwrap();
}

#[test]
fn a_window_takes_a_message_of_very_many_observations() {
    let house = new();
    let mut count = wish(&["a"], Since::Now);
    count.aggregate = Some("count:10s".parse().unwrap());
    let mut count = subscribe(&house.hub, count);
    let rows = vec!["{\"value\":1}"; 100_000].join(",");
    publish_at(&house, 0, &format!("{{\"observations\":[{rows}]}}"));
    house.hub.tick(at(10_000));
    assert_eq!(drain(&mut count), ["100000"]);
}

#[test]
fn windows_that_nobody_takes_are_bounded_too() {
    let house = new();
    let mut slow = wish(&["#"], Since::Now);
    slow.aggregate = Some("last:10ms".parse().unwrap());
    let mut slow = subscribe(&house.hub, slow);
    let members: Vec<_> = (0..1000).map(|n| format!("\"m{n}\":{n}")).collect();
    let body = format!("{{{}}}", members.join(","));
    for round in 0..100 {
        publish_at(&house, round * 10, &body);
        house.hub.tick(at(round * 10 + 10));
    }
    assert!(drain(&mut slow)[0].starts_with("[policy "));
}

fn over_limit(refused: Result<Cursor, Fault>) -> Option<(&'static str, usize)> {
    match refused {
        Err(Fault::OverLimit { what, limit }) => Some((what, limit)),
        _ => None,
    }
}

#[test]
fn a_message_brings_no_more_datastreams_than_the_limit() {
    let house = new();
    let count = NEW_DATASTREAMS_MAX;
    let members = |range: std::ops::RangeInclusive<usize>| {
        let members: Vec<_> = range.map(|n| format!("\"m{n}\":{n}")).collect();
        publication("a", &format!("{{{}}}", members.join(",")))
    };
    let all = acknowledged(&house.hub, &everyone(), members(0..=count));
    assert_eq!(
        over_limit(all),
        Some(("new datastreams of one message", count))
    );
    assert_eq!(house.hub.gauges().0, 0);
    acknowledged(&house.hub, &everyone(), members(1..=count)).unwrap();
    acknowledged(&house.hub, &everyone(), members(0..=count)).unwrap();
    assert_eq!(house.hub.gauges().0, count + 1);
}

#[test]
fn what_the_catalog_keeps_in_memory_has_a_length() {
    let house = new();
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    for (member, what) in [
        ("sensor", "bytes of a sensor"),
        ("type", "bytes of a type"),
        ("unit", "bytes of a unit"),
    ] {
        let body = format!("{{\"value\":1,\"{member}\":\"{long}\"}}");
        let refused = acknowledged(&house.hub, &everyone(), publication("a", &body));
        assert_eq!(over_limit(refused), Some((what, NAME_BYTES_MAX)));
    }
    let named = Datastream {
        name: Some(long.into()),
        ..Datastream::default()
    };
    let everyone = everyone();
    let caller = house.hub.caller(at(0), &everyone).unwrap();
    let refused = caller.change("a", Some(named)).err();
    assert!(matches!(
        refused,
        Some(Fault::OverLimit {
            what: "bytes of a name",
            ..
        })
    ));
    assert_eq!(house.hub.gauges().0, 0);
}

/// Frames like the others, and looks meanwhile whether a publisher is held up.
#[derive(Default)]
struct Meddling {
    house: OnceLock<Arc<Hub>>,
    frames: AtomicUsize,
    unhindered: Mutex<Option<bool>>,
}

impl Framing for Meddling {
    fn key(&self) -> FramingKey {
        ("meddling", 0)
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        house::Plain.frame(frame, out);
        self.frames.fetch_add(1, Ordering::SeqCst);
        let (Some(hub), 1) = (
            self.house.get().cloned(),
            self.frames.load(Ordering::SeqCst),
        ) else {
            return;
        };
        let (done, published) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            publish(&hub, "a", 2.0);
            done.send(()).unwrap();
        });
        // So long only where it is held up, for ever.
        let waited = published.recv_timeout(Duration::from_secs(20));
        *self.unhindered.lock().unwrap() = Some(waited.is_ok());
    }
}

fn framed_by(framing: &Arc<Meddling>) -> weir_hub::Subscribe {
    weir_hub::Subscribe {
        shape: Shape::Framed(weir_codec::by_name("plain").unwrap(), framing.clone()),
        ..wish(&["a"], Since::Now)
    }
}

#[test]
fn a_publisher_waits_for_nobodys_encoding() {
    let house = new();
    let framing = Arc::new(Meddling::default());
    assert!(framing.house.set(house.hub.clone()).is_ok());
    let mut reader = subscribe(&house.hub, framed_by(&framing));
    publish(&house.hub, "a", 1.0);
    assert_eq!(drain(&mut reader), ["1", "2"]);
    assert_eq!(*framing.unhindered.lock().unwrap(), Some(true));
}

#[test]
fn who_joins_a_group_encodes_nothing() {
    let house = new();
    let framing = Arc::new(Meddling::default());
    let mut first = subscribe(&house.hub, framed_by(&framing));
    let mut second = subscribe(&house.hub, framed_by(&framing));
    for number in [1.0, 2.0, 3.0] {
        publish(&house.hub, "a", number);
    }
    let mut late = subscribe(&house.hub, framed_by(&framing));
    assert_eq!(framing.frames.load(Ordering::SeqCst), 0);
    assert_eq!(drain(&mut first), ["1", "2", "3"]);
    assert_eq!(drain(&mut second), ["1", "2", "3"]);
    assert_eq!(drain(&mut late), Vec::<String>::new());
    assert_eq!(framing.frames.load(Ordering::SeqCst), 3);
    assert_eq!(house.hub.gauges().2, 0);
}

#[test]
fn a_damaged_old_segment_is_a_gap_and_the_rest_is_served() {
    let house = new();
    let large = "x".repeat(100_000);
    let body = |number: usize| format!("{{\"value\":\"{number} {large}\"}}");
    for number in 1..=40 {
        acknowledged(&house.hub, &everyone(), publication("a", &body(number))).unwrap();
    }
    weir_hub::Log::close(&*house.log).unwrap();
    let mut names = weir_log::Disk::list(&*house.disk).unwrap();
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    house.disk.rot(&names[1], 300_000);
    let disk = house.disk.clone();
    drop(house);
    let house = house::open(disk);
    let mut reader = subscribe(&house.hub, wish(&["a"], Since::Cursor(Cursor::START)));
    let seen = drain(&mut reader);
    let numbers = seen.iter().filter(|word| word.ends_with('x')).count();
    assert_eq!(numbers, 39, "one message was hit");
    assert_eq!(seen.iter().filter(|word| **word == "[damage 1]").count(), 1);
    publish(&house.hub, "a", 41.0);
    assert_eq!(drain(&mut reader), ["41"]);
}

#[test]
fn a_resume_of_windows_is_told_that_some_are_missing() {
    let house = new();
    let first = publish(&house.hub, "a", 1.0);
    let mut mean = wish(&["a"], Since::Cursor(first));
    mean.aggregate = Some("mean:10s".parse().unwrap());
    assert_eq!(drain(&mut subscribe(&house.hub, mean)), ["[policy 0]"]);
}

#[test]
fn history_misses_nothing_where_its_queue_overflows() {
    let house = new();
    let before: Vec<_> = (0..3)
        .map(|n| publish(&house.hub, "a", f64::from(n)))
        .collect();
    let (hub, body) = (
        house.hub.clone(),
        format!("{{\"value\":\"{}\"}}", "x".repeat(900_000)),
    );
    *house.tally.meanwhile.lock().unwrap() = Some(Box::new(move || {
        for _ in 0..80 {
            acknowledged(&hub, &everyone(), publication("big", &body)).unwrap();
        }
    }));
    for _ in 0..3 {
        house.hub.feed().unwrap();
    }
    let applied = house.tally.applied.lock().unwrap();
    let cursors: Vec<_> = applied.iter().map(|(cursor, _)| *cursor).collect();
    assert_eq!(cursors.len(), 83, "each once");
    assert!(cursors.is_sorted() && cursors.starts_with(&before));
}

#[test]
fn who_may_publish_nothing_there_learns_nothing_of_the_body() {
    let house = new();
    let stranger = Principal {
        name: "stranger".into(),
        grants: Arc::default(),
        standing: Default::default(),
    };
    let refused = acknowledged(&house.hub, &stranger, publication("a", "{"));
    assert!(matches!(refused, Err(Fault::Denied { .. })), "{refused:?}");
}

#[test]
fn two_sensors_with_like_keys_do_not_silence_each_other() {
    let house = new();
    let mut all = subscribe(&house.hub, wish(&["#"], Since::Now));
    for topic in ["a", "b", "a"] {
        let mut message = publication(topic, "{\"value\":1}");
        message.key = Some(b"1".to_vec());
        acknowledged(&house.hub, &everyone(), message).unwrap();
    }
    assert_eq!(drain(&mut all), ["1", "1"]);
}

#[test]
fn who_comes_back_from_far_behind_is_served_in_pieces() {
    let house = new();
    let first = publish(&house.hub, "a", -1.0);
    let body = format!("{{\"value\":\"{}\"}}", "x".repeat(1000));
    for _ in 0..1000 {
        publish_at(&house, 0, &body);
    }
    let mut back = subscribe(&house.hub, wish(&["a"], Since::Cursor(first)));
    let lengths: Vec<_> = take_all(&mut back)
        .iter()
        .map(|next| house::words(next).concat().len())
        .collect();
    assert!(lengths.iter().sum::<usize>() >= 1_000_000);
    assert!(lengths.iter().all(|&length| length < 80_000), "{lengths:?}");
}

#[test]
fn a_clock_that_ran_ahead_pins_no_value_over_a_restart() {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, "a");
    builder.value(Value::Number(99.0));
    builder.time(at(1_000_000_000));
    builder.end().unwrap();
    let tally = Tally::default();
    *tally.latest.lock().unwrap() = Some((Cursor::new(1, 0), builder.finish()));
    let house = open_with(Arc::default(), tally);
    publish(&house.hub, "a", 1.0);
    let filters = vec![Filter::parse("a").unwrap()];
    let latest = house
        .hub
        .caller(at(0), &everyone())
        .and_then(|caller| caller.latest(&filters));
    let Ok(latest) = latest else {
        panic!("no last values")
    };
    assert_eq!(latest.batch.value(0), Value::Number(1.0));
}

#[test]
fn a_snapshot_of_many_datastreams_comes_in_pieces() {
    let house = new();
    for part in 0..21 {
        let members: Vec<_> = (0..1000).map(|n| format!("\"{part}-{n}\":1")).collect();
        publish_at(&house, 0, &format!("{{{}}}", members.join(",")));
    }
    let head = house.hub.positions().0;
    let mut all = subscribe(&house.hub, wish(&["#"], Since::Snapshot));
    let (mut positions, mut values) = (Vec::new(), 0);
    for next in take_all(&mut all) {
        let Next::Bytes(_, cursor) = &next else {
            panic!("not bytes")
        };
        positions.push(*cursor);
        values += house::words(&next).concat().split('\n').count();
    }
    assert_eq!(positions, [Cursor::START, head]);
    assert_eq!(values, 21_000);
    let all = [Filter::parse("#").unwrap()];
    let latest = house.hub.internal().at(at(0)).latest(&all).unwrap();
    assert_eq!((latest.batch.len(), latest.head), (21_000, head));
}
