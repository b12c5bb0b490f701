//! Memory that all messages take together: it is counted, bounded, and made room in.
#![allow(clippy::unwrap_used, clippy::panic)]

mod house;

use house::{acknowledged, at, everyone, new, open, publication};
use std::sync::Arc;
use std::task::{Context, Waker};
use weir_hub::{Fault, Hub, Log, Next, Policy, Shape, Subscribe, Subscription};
use weir_model::Filter;

fn subscribe(hub: &Arc<Hub>, topic: &str) -> Box<Subscription> {
    let filters = vec![Filter::parse(topic).unwrap()];
    let subscribe = Subscribe {
        policy: Policy::DropOldest,
        ..Subscribe::new(filters, Shape::Items)
    };
    let everyone = everyone();
    let caller = hub.caller(at(0), &everyone).unwrap();
    caller.subscribe(subscribe).unwrap()
}

fn long(letters: usize) -> String {
    format!(r#"{{"value":"{}"}}"#, "x".repeat(letters))
}

/// Publishes at a time of the gateway's clock, and does not wait.
fn publish(hub: &Arc<Hub>, topic: &str, body: &str, millis: i64) -> Result<(), Fault> {
    house::accepted(hub, millis, publication(topic, body)).map(drop)
}

#[test]
fn a_message_counts_until_nobody_has_it() {
    let house = new();
    let hub = &house.hub;
    let slow = subscribe(hub, "a");
    acknowledged(hub, &everyone(), publication("a", &long(100_000))).unwrap();
    hub.settle();
    let held = hub.memory().held();
    assert!(held >= 100_000, "{held}");
    drop(slow);
    // The recent messages keep it; many others take its place.
    for _ in 0..200 {
        acknowledged(hub, &everyone(), publication("b", &long(100_000))).unwrap();
        hub.feed().unwrap();
    }
    assert!(hub.memory().held() < 20 << 20, "{}", hub.memory().held());
}

#[test]
fn the_slow_give_up_before_a_publisher_is_refused() {
    let house = new();
    let hub = &house.hub;
    hub.limit_memory(24 << 20);
    let topics: Vec<String> = (0..16).map(|n| format!("slow/{n}")).collect();
    let mut slow: Vec<_> = topics.iter().map(|topic| subscribe(hub, topic)).collect();
    for round in 0..40 {
        for topic in &topics {
            let (clock, body) = (round * 100, long(100_000));
            publish(hub, topic, &body, clock).unwrap();
            house.log.wait_committed(Log::head(&*house.log)).unwrap();
            hub.feed().unwrap();
            assert!(hub.memory().held() <= 24 << 20);
        }
    }
    let mut cx = Context::from_waker(Waker::noop());
    for subscription in &mut slow {
        let told = subscription.poll_next(&mut cx);
        let told = match told {
            std::task::Poll::Ready(Ok(Next::Gap(gap, _))) => gap.count,
            _ => panic!("it is told what it missed"),
        };
        assert!(told.unwrap() > 0);
    }
}

#[test]
fn who_fills_the_catalog_is_refused_and_numbers_go_on() {
    let house = new();
    let hub = &house.hub;
    hub.limit_catalog(500_000);
    let publish = |topic: &str, body: &str| {
        let published = publish(hub, topic, body, 0);
        hub.settle();
        published
    };
    let full = Err(Fault::Crowded {
        what: "bytes of names, descriptions and last values",
        limit: 500_000,
    });
    assert_eq!(publish("number", r#"{"value":1}"#), Ok(()));
    for number in 0..4 {
        assert_eq!(publish(&format!("text/{number}"), &long(100_000)), Ok(()));
    }
    let (held, most) = hub.catalog_bytes();
    assert!((400_000..=500_000).contains(&held), "{held}");
    assert_eq!(most, 500_000);
    assert_eq!(publish("text/4", &long(100_000)), full);
    assert_eq!(publish("number", &long(100_000)), full);
    assert_eq!(
        publish("text/0", &long(100_001)),
        Ok(()),
        "there is so much room"
    );
    for value in 0..100 {
        assert_eq!(
            publish("number", &format!(r#"{{"value":{value}}}"#)),
            Ok(())
        );
    }
    let several = r#"[{"topic":"many/a","value":"x"},{"topic":"many/b","value":"y"}]"#;
    assert_eq!(publish("many", several), Ok(()));
    // What is shorter gives back.
    assert_eq!(publish("text/0", r#"{"value":"short"}"#), Ok(()));
    assert_eq!(publish("text/4", &long(100_000)), Ok(()));
    let before = hub.catalog_bytes().0;
    drop(hub.internal().at(at(0)).change("text/4", None).unwrap());
    assert!(hub.catalog_bytes().0 <= before - 100_000);
}

#[test]
fn what_is_in_the_log_is_taken_at_a_start_and_weighs_the_same() {
    let house = new();
    let hub = &house.hub;
    for topic in ["a", "b"] {
        acknowledged(hub, &everyone(), publication(topic, &long(50_000))).unwrap();
    }
    hub.settle();
    let (held, _) = hub.catalog_bytes();
    assert!(held >= 100_000);
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house);
    let again = open(disk);
    assert_eq!(again.hub.catalog_bytes().0, held);
}

#[test]
fn the_oldest_windows_close_early_where_memory_is_tight() {
    let house = new();
    let hub = &house.hub;
    hub.limit_memory(16 << 20);
    let filters = vec![Filter::parse("w/#").unwrap()];
    let subscribe = Subscribe {
        aggregate: Some("last:1d".parse().unwrap()),
        ..Subscribe::new(filters, Shape::Items)
    };
    let gateway = hub.internal().at(at(0));
    let mut daily = gateway.subscribe(subscribe).unwrap();
    let message = |number: usize| publication(&format!("w/{number}"), &long(100_000));
    acknowledged(hub, &everyone(), message(0)).unwrap();
    hub.feed().unwrap();
    let one = hub.memory().held();
    assert!(one >= 200_000, "the message and its window: {one}");
    for number in 1..200 {
        acknowledged(hub, &everyone(), message(number)).unwrap();
        hub.feed().unwrap();
        assert!(hub.memory().held() <= 12 << 20, "{}", hub.memory().held());
    }
    hub.tick(at(1));
    let mut cx = Context::from_waker(Waker::noop());
    let told = daily.poll_next(&mut cx);
    assert!(
        matches!(told, std::task::Poll::Ready(Ok(Next::Items(..)))),
        "the first windows"
    );
    let held = hub.memory().held();
    drop(daily);
    hub.settle();
    assert!(hub.memory().held() + 3_000_000 <= held, "{held}");
}

#[test]
fn retained_messages_leave_half_of_the_memory() {
    let house = new();
    let hub = &house.hub;
    hub.limit_memory(8 << 20);
    let retained = |number: usize| {
        let mut message = publication(&format!("r/{number}"), &long(100_000));
        message.retain = true;
        let taken = acknowledged(hub, &everyone(), message);
        hub.feed().unwrap();
        taken.map(drop)
    };
    let refused = (0..100).find_map(|number| retained(number).err());
    let limit = 4 << 20;
    let what = "bytes of retained messages";
    assert_eq!(refused, Some(Fault::Crowded { what, limit }));
    assert_eq!(publish(hub, "other", &long(100_000), 0), Ok(()));
}

#[test]
fn a_publisher_is_told_to_come_back_and_may_once_there_is_room() {
    let house = new();
    let hub = &house.hub;
    hub.limit_memory(1 << 20);
    let taken = hub.memory().room(900_000).unwrap();
    let refused = publish(hub, "a", &long(100_000), 0);
    assert_eq!(refused, Err(Fault::Short));
    assert_eq!(
        publish(hub, "a", r#"{"value":1}"#, 0),
        Ok(()),
        "a short one fits"
    );
    drop(taken);
    assert_eq!(publish(hub, "a", &long(100_000), 0), Ok(()));
}
