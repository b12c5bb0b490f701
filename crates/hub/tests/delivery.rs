//! What subscribers get: in order, without hole or duplicate, within bounds, as far as they may.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod house;

use house::{
    at, drain, everyone, new, open, publication, publish, subscribe, subscribe_as, wait, wish,
    words,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use weir_hub::{Fault, Grants, Next, Policy, Principal, Since, Verb};
use weir_model::{Cursor, Filter};

#[test]
fn a_subscriber_gets_what_its_filter_matches_in_order() {
    let house = new();
    let mut all = subscribe(&house.hub, wish(&["#"], Since::Now));
    let mut some = subscribe(&house.hub, wish(&["a/+"], Since::Now));
    for (topic, value) in [("a/x", 1.0), ("b", 2.0), ("a/y", 3.0)] {
        publish(&house.hub, topic, value);
    }
    assert_eq!(drain(&mut all), ["1", "2", "3"]);
    assert_eq!(drain(&mut some), ["1", "3"]);
}

#[test]
fn a_message_is_cut_to_what_the_filter_matches() {
    let house = new();
    let mut some = subscribe(&house.hub, wish(&["a/x", "a/z"], Since::Now));
    let body = r#"{"x":1,"y":2,"z":3}"#;
    house::acknowledged(&house.hub, &everyone(), publication("a", body)).unwrap();
    assert_eq!(drain(&mut some), ["1\n3"]);
}

#[test]
fn a_subscription_is_answered_only_with_what_the_policy_grants() {
    let house = new();
    let filter = Filter::parse("public/#").unwrap();
    let guest = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(vec![(Verb::Read, filter)])),
        standing: Default::default(),
    };
    let mut guest_sees = subscribe_as(&house.hub, &guest, wish(&["#"], Since::Now)).unwrap();
    publish(&house.hub, "secret/a", 1.0);
    publish(&house.hub, "public/a", 2.0);
    assert_eq!(drain(&mut guest_sees), ["2"]);
    let mut snapshot = subscribe_as(&house.hub, &guest, wish(&["#"], Since::Snapshot)).unwrap();
    assert_eq!(drain(&mut snapshot), ["2"]);
    let mut replay = subscribe_as(
        &house.hub,
        &guest,
        wish(&["#"], Since::Cursor(Cursor::new(1, 0))),
    )
    .unwrap();
    assert_eq!(drain(&mut replay), ["2"]);
    let refused = subscribe_as(&house.hub, &guest, wish(&["secret/#"], Since::Now));
    assert!(matches!(refused, Err(Fault::Denied { .. })));
    let refused = house::acknowledged(&house.hub, &guest, publication("public/a", "{\"value\":3}"));
    assert!(matches!(refused, Err(Fault::Denied { .. })));
}

/// Counts how often it was woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn who_asks_for_more_is_woken_and_takes_all_in_one() {
    let house = new();
    let mut subscription = subscribe(&house.hub, wish(&["#"], Since::Now));
    let bell = Arc::new(Bell::default());
    let waker = bell.clone().into();
    let cx = &mut Context::from_waker(&waker);
    assert!(subscription.poll_next(cx).is_pending());
    assert!(!subscription.poll_more(cx));
    assert_eq!(bell.0.load(Ordering::Relaxed), 0);
    for value in [1.0, 2.0, 3.0] {
        publish(&house.hub, "a", value);
        assert!(subscription.poll_more(cx));
    }
    assert_eq!(bell.0.load(Ordering::Relaxed), 1);
    let Poll::Ready(Ok(next)) = subscription.poll_next(cx) else {
        panic!("there is more");
    };
    assert_eq!(words(&next), ["1", "2", "3"]);
    assert!(!subscription.poll_more(cx));
    house.hub.stop();
    assert!(subscription.poll_more(cx));
}

#[test]
fn subscribers_with_the_same_wish_and_rights_share_a_group() {
    let house = new();
    let _many: Vec<_> = (0..100)
        .map(|_| subscribe(&house.hub, wish(&["a", "b"], Since::Now)))
        .collect();
    let filter = Filter::parse("#").unwrap();
    let reader = || Principal {
        name: "reader".into(),
        grants: Arc::new(Grants::new(vec![(Verb::Read, filter.clone())])),
        standing: Default::default(),
    };
    let _readers: Vec<_> = (0..100)
        .map(|_| subscribe_as(&house.hub, &reader(), wish(&["b", "a"], Since::Now)))
        .collect();
    assert_eq!(house.hub.gauges().1, 2);
}

#[test]
fn a_repeated_idempotency_key_is_not_stored_again() {
    let house = new();
    let mut all = subscribe(&house.hub, wish(&["#"], Since::Now));
    let mut twice = publication("a", "{\"value\":1}");
    twice.key = Some(b"k".to_vec());
    let first = house::acknowledged(&house.hub, &everyone(), twice.clone()).unwrap();
    let again = house::acknowledged(&house.hub, &everyone(), twice.clone()).unwrap();
    assert_eq!((first, drain(&mut all).len()), (again, 1));
    house.hub.stop();
    drop((all, house.hub));
    weir_hub::Log::close(&*house.log).unwrap();
    let disk = house.disk.clone();
    drop(house.log);
    let house = open(disk);
    let after = house::acknowledged(&house.hub, &everyone(), twice.clone()).unwrap();
    assert_eq!(after, first, "the key outlives a restart");
    let other = weir_hub::Publish {
        body: "{\"value\":2}".into(),
        ..twice
    };
    let refused = house::acknowledged(&house.hub, &everyone(), other);
    assert_eq!(
        refused,
        Err(Fault::KeyReused(first)),
        "and so does its message"
    );
}

#[test]
fn an_idempotency_key_with_another_message_is_refused() {
    let house = new();
    let keyed = |body: &str| weir_hub::Publish {
        key: Some(b"k".to_vec()),
        ..publication("a", body)
    };
    let first = house::acknowledged(&house.hub, &everyone(), keyed("{\"value\":1}")).unwrap();
    let refused = house::acknowledged(&house.hub, &everyone(), keyed("{\"value\":2}"));
    assert_eq!(refused, Err(Fault::KeyReused(first)));
    assert_eq!(house.hub.counts().published_messages, 1);
}

#[test]
fn a_client_that_comes_back_misses_nothing() {
    let house = new();
    let first = publish(&house.hub, "a", 1.0);
    publish(&house.hub, "b", 2.0);
    publish(&house.hub, "a", 3.0);
    let mut back = subscribe(&house.hub, wish(&["a"], Since::Cursor(first)));
    publish(&house.hub, "a", 4.0);
    assert_eq!(drain(&mut back), ["3", "4"]);
    let disk = house.disk.clone();
    house.hub.stop();
    weir_hub::Log::close(&*house.log).unwrap();
    drop(back);
    drop((house.hub, house.log));
    let house = open(disk);
    let mut later = subscribe(&house.hub, wish(&["a"], Since::Cursor(first)));
    publish(&house.hub, "a", 5.0);
    assert_eq!(
        drain(&mut later),
        ["3", "4", "5"],
        "from the log of before the restart"
    );
}

#[test]
fn a_cursor_of_another_log_is_answered_with_a_gap() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    let mut lost = subscribe(&house.hub, wish(&["a"], Since::Cursor(Cursor::new(9, 9))));
    publish(&house.hub, "a", 2.0);
    let seen = drain(&mut lost);
    assert!(seen[0].starts_with("[foreign"), "{seen:?}");
    assert_eq!(seen.last().map(String::as_str), Some("2"));
}

#[test]
fn last_values_come_first_and_then_what_follows() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "a", 2.0);
    publish(&house.hub, "b", 3.0);
    let mut snapshot = subscribe(&house.hub, wish(&["#"], Since::Snapshot));
    publish(&house.hub, "b", 4.0);
    let seen = drain(&mut snapshot);
    assert_eq!(
        seen,
        ["2", "4"],
        "b was newer than the snapshot and came live"
    );
}

#[test]
fn last_values_of_an_origin_are_left_out_for_it() {
    let house = new();
    let through = |topic: &str, value: f64, origin: &str| {
        let mut publication = publication(topic, &format!(r#"{{"value":{value}}}"#));
        publication.origin = origin.into();
        house::acknowledged(&house.hub, &everyone(), publication).unwrap()
    };
    let first = through("a", 1.0, "dds/0");
    through("b", 2.0, "");
    through("c", 3.0, "dds/1");
    through("d", 4.0, "");
    through("d", 5.0, "dds/0");
    through("e", 6.0, "dds/0");
    through("e", 7.0, "");
    let wanted = || weir_hub::Subscribe {
        but_through: Some("dds/0".into()),
        ..wish(&["#"], Since::Snapshot)
    };
    assert_eq!(drain(&mut subscribe(&house.hub, wanted())), ["2\n3\n7"]);
    house.hub.stop();
    weir_hub::Log::close(&*house.log).unwrap();
    let disk = house.disk.clone();
    drop((house.hub, house.log));
    // Of what only the history remembers, nobody knows through what it came.
    let mut builder = weir_model::BatchBuilder::new();
    let json = weir_codec::by_name("json").unwrap();
    (json.decode)(b"{\"value\":8}", &mut builder, &Default::default()).unwrap();
    builder.complete("x", at(0)).unwrap();
    let tally = house::Tally::default();
    *tally.latest.lock().unwrap() = Some((first, builder.finish()));
    let house = house::open_with(disk, tally);
    assert_eq!(drain(&mut subscribe(&house.hub, wanted())), ["2\n3\n7"]);
    let all = wish(&["#"], Since::Snapshot);
    let all = drain(&mut subscribe(&house.hub, all));
    assert_eq!(all, ["1\n2\n3\n5\n7\n8"]);
}

fn flood(house: &house::House, count: usize) {
    let body = format!("{{\"value\":\"{}\"}}", "x".repeat(60_000));
    for _ in 0..count {
        house::acknowledged(&house.hub, &everyone(), publication("big", &body)).unwrap();
    }
}

#[test]
fn a_slow_subscriber_misses_the_oldest_and_is_told_how_many() {
    let house = new();
    let mut slow = subscribe(&house.hub, wish(&["big"], Since::Now));
    let mut quick = subscribe(&house.hub, wish(&["big"], Since::Now));
    let mut got = 0;
    for _ in 0..20 {
        flood(&house, 10);
        got += drain(&mut quick).len();
    }
    assert_eq!(got, 200, "who keeps up loses nothing to who does not");
    let seen = drain(&mut slow);
    let missed: usize = seen[0]
        .strip_prefix("[policy ")
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(missed + seen.len() - 1, 200);
    assert!(missed > 100, "the queue is bounded: {missed} missed");
}

#[test]
fn a_slow_subscriber_may_choose_the_newest_value_or_the_end() {
    let house = new();
    let with = |policy| weir_hub::Subscribe {
        policy,
        ..wish(&["big"], Since::Now)
    };
    let mut conflated = subscribe(&house.hub, with(Policy::Conflate));
    let mut disconnected = subscribe(&house.hub, with(Policy::Disconnect));
    flood(&house, 200);
    publish(&house.hub, "big", 7.0);
    assert_eq!(drain(&mut conflated), ["7"]);
    assert_eq!(drain(&mut disconnected), ["end: too slow"]);
}

#[test]
fn who_comes_late_gets_the_newest_of_each_datastream() {
    let house = new();
    let mut paced = subscribe(&house.hub, wish(&["a", "b"], Since::Now));
    publish(&house.hub, "a", 1.0);
    paced.thin();
    assert_eq!(drain(&mut paced), ["1"], "one message is the newest");
    for value in [2.0, 3.0, 4.0] {
        publish(&house.hub, "a", value);
    }
    publish(&house.hub, "b", 9.0);
    paced.thin();
    assert_eq!(drain(&mut paced), ["4\n9"], "one message of both");
    publish(&house.hub, "a", 5.0);
    publish(&house.hub, "a", 6.0);
    assert_eq!(
        drain(&mut paced),
        ["5", "6"],
        "nothing is passed over unasked"
    );
}

#[test]
fn windows_are_not_thinned_again() {
    let house = new();
    let mut mean = wish(&["a"], Since::Now);
    mean.aggregate = Some("mean:1s".parse().unwrap());
    let mut mean = subscribe(&house.hub, mean);
    for (millis, value) in [(0, 1.0), (1000, 2.0)] {
        let body = format!("{{\"value\":{value},\"time\":\"{}\"}}", at(millis));
        house::accepted(&house.hub, millis, publication("a", &body)).unwrap();
        house.hub.tick(at(millis + 1000));
    }
    mean.thin();
    assert_eq!(drain(&mut mean), ["1", "2"]);
}

#[test]
fn a_window_of_a_clock_that_was_ahead_closes_in_time() {
    let house = new();
    let mut mean = wish(&["a"], Since::Now);
    mean.aggregate = Some("mean:1s".parse().unwrap());
    let mut mean = subscribe(&house.hub, mean);
    let ahead = 400 * 86_400_000;
    for (millis, value) in [(ahead, 1.0), (0, 2.0), (100, 4.0), (5000, 8.0)] {
        let body = format!("{{\"value\":{value}}}");
        house::accepted(&house.hub, millis, publication("a", &body)).unwrap();
        house.hub.tick(at(millis));
    }
    assert_eq!(drain(&mut mean), ["1", "3"]);
    house.hub.tick(at(6000));
    assert_eq!(drain(&mut mean), ["8"]);
}

#[test]
fn a_condition_and_a_window_thin_out_at_the_server() {
    let house = new();
    let mut high = wish(&["a"], Since::Now);
    high.condition = Some("value>80".parse().unwrap());
    let mut high = subscribe(&house.hub, high);
    let mut mean = wish(&["a"], Since::Now);
    mean.aggregate = Some("mean:10s".parse().unwrap());
    let mut mean = subscribe(&house.hub, mean);
    for (millis, value) in [(0, 70.0), (1000, 90.0), (2000, 92.0)] {
        let time = at(millis);
        let body = format!("{{\"value\":{value},\"time\":\"{time}\"}}");
        house::accepted(&house.hub, millis, publication("a", &body)).unwrap();
    }
    assert_eq!(drain(&mut high), ["90", "92"]);
    assert_eq!(drain(&mut mean), Vec::<String>::new());
    house.hub.tick(at(10_000));
    assert_eq!(drain(&mut mean), ["84"]);
}

#[test]
fn last_values_are_new_once_their_datastream_is() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "b", 2.0);
    let latest = || {
        let filters = vec![Filter::parse("#").unwrap()];
        match house
            .hub
            .caller(at(0), &everyone())
            .and_then(|caller| caller.latest(&filters))
        {
            Ok(latest) => (latest.newest, latest.batch.len()),
            _ => panic!("not last values"),
        }
    };
    let change = |topic: &str, datastream| {
        let gateway = house.hub.internal().at(at(0));
        gateway.change(topic, datastream).unwrap();
    };
    let mut seen = vec![latest()];
    assert_eq!(seen[0], latest(), "nothing was changed");
    let watts = weir_model::Datastream {
        unit: Some("W".into()),
        ..Default::default()
    };
    change("a", Some(watts));
    seen.push(latest());
    let moved = "{\"value\":0,\"time\":\"2020-01-01T00:00:00Z\",\"lat\":1,\"lon\":2}";
    house::acknowledged(&house.hub, &everyone(), publication("a", moved)).unwrap();
    seen.push(latest());
    change("b", None);
    seen.push(latest());
    let all: BTreeSet<_> = seen.iter().collect();
    assert_eq!(all.len(), seen.len(), "{seen:?}");
}

#[test]
fn a_stopped_hub_ends_its_subscriptions_and_refuses() {
    let house = new();
    let mut all = subscribe(&house.hub, wish(&["#"], Since::Now));
    house.hub.stop();
    assert_eq!(drain(&mut all), ["end: stopping"]);
    let refused = house::acknowledged(&house.hub, &everyone(), publication("a", "{\"value\":1}"));
    assert_eq!(refused, Err(Fault::Stopping));
}

#[test]
fn what_a_crash_undoes_was_never_acknowledged_and_is_told() {
    let house = new();
    let kept = publish(&house.hub, "a", 1.0);
    house.disk.die_at(house.disk.operations());
    let ticket = house::accepted(&house.hub, 0, publication("a", "{\"value\":2}"));
    let ticket = ticket.expect("the live tail accepts");
    let undone = ticket.cursor();
    assert!(wait(|cx| ticket.poll(cx)).is_err(), "not acknowledged");
    let disk = house.disk.clone();
    drop((ticket, house.hub, house.log));
    disk.crash(7);
    let house = open(disk);
    let mut back = subscribe(&house.hub, wish(&["a"], Since::Cursor(undone)));
    publish(&house.hub, "a", 3.0);
    let seen = drain(&mut back);
    assert!(seen[0].starts_with("[rollback"), "{seen:?}");
    assert_eq!(seen[1..], ["3"]);
    let mut whole = subscribe(&house.hub, wish(&["a"], Since::Cursor(kept)));
    assert_eq!(drain(&mut whole), ["3"]);
}

/// Subscribes again and again while another thread writes; every subscriber must see the tail of the
/// sequence without hole or duplicate, whatever instant it came at.
#[test]
fn a_racing_writer_leaves_no_hole_and_no_duplicate() {
    const COUNT: u32 = 3000;
    let house = new();
    let hub = house.hub.clone();
    let start = publish(&hub, "race", -1.0);
    let writer = thread::spawn(move || {
        for number in 0..COUNT {
            let body = format!("{{\"value\":{number}}}");
            house::accepted(&hub, i64::from(number), publication("race", &body)).unwrap();
        }
    });
    let mut subscribers = Vec::new();
    while !writer.is_finished() {
        if subscribers.len() >= 90 {
            thread::yield_now();
            continue;
        }
        let since = match subscribers.len() % 3 {
            0 => Since::Now,
            1 => Since::Snapshot,
            _ => Since::Cursor(start),
        };
        subscribers.push((
            since,
            subscribe(&house.hub, wish(&["race"], since)),
            Vec::new(),
        ));
        for (_, subscription, seen) in &mut subscribers {
            take_some(subscription, seen);
        }
    }
    writer.join().unwrap();
    for (since, subscription, seen) in &mut subscribers {
        seen.extend(drain(subscription));
        let numbers: Vec<i64> = seen.iter().map(|word| word.parse().unwrap()).collect();
        let distinct: BTreeSet<_> = numbers.iter().copied().collect();
        assert_eq!(distinct.len(), numbers.len(), "a duplicate after {since:?}");
        assert!(numbers.is_sorted(), "out of order after {since:?}");
        let Some(&first) = numbers.first() else {
            continue;
        };
        assert_eq!(
            numbers.len() as i64,
            i64::from(COUNT) - first,
            "a hole after {since:?}"
        );
        if matches!(since, Since::Cursor(_)) {
            assert_eq!(first, 0, "all after the cursor");
        }
    }
}

fn take_some(subscription: &mut weir_hub::Subscription, seen: &mut Vec<String>) {
    for _ in 0..4 {
        match subscription.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(next @ Next::Bytes(..))) => seen.extend(words(&next)),
            _ => return,
        }
    }
}
