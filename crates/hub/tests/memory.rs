//! Memory that all messages take together: it is counted, bounded, and made room in.
#![allow(clippy::unwrap_used, clippy::panic)]

mod house;

use house::{acknowledged, at, everyone, new, publication};
use std::sync::Arc;
use std::task::{Context, Waker};
use weir_hub::{Exchange, Fault, Hub, Next, Policy, Request, Shape, Subscribe, Subscription};
use weir_model::Filter;

fn subscribe(hub: &Arc<Hub>, topic: &str) -> Box<Subscription> {
    let filters = vec![Filter::parse(topic).unwrap()];
    let subscribe = Subscribe {
        policy: Policy::DropOldest,
        ..Subscribe::new(filters, Shape::Items)
    };
    match hub.open(at(0), &everyone(), Request::Subscribe(subscribe)) {
        Ok(Exchange::Subscription(subscription)) => subscription,
        _ => panic!("not a subscription"),
    }
}

fn long(letters: usize) -> String {
    format!(r#"{{"value":"{}"}}"#, "x".repeat(letters))
}

/// Publishes at a time of the gateway's clock, and does not wait.
fn publish(hub: &Arc<Hub>, topic: &str, body: &str, millis: i64) -> Result<(), Fault> {
    let request = Request::Publish(publication(topic, body));
    hub.open(at(millis), &everyone(), request).map(drop)
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
fn the_slow_give_up_what_they_wait_for_before_a_publisher_is_refused() {
    let house = new();
    let hub = &house.hub;
    hub.limit_memory(24 << 20);
    let topics: Vec<String> = (0..16).map(|n| format!("slow/{n}")).collect();
    let mut slow: Vec<_> = topics.iter().map(|topic| subscribe(hub, topic)).collect();
    for round in 0..40 {
        for topic in &topics {
            let (clock, body) = (round * 100, long(100_000));
            publish(hub, topic, &body, clock).unwrap();
            house
                .log
                .wait_committed(weir_hub::Log::head(&*house.log))
                .unwrap();
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
