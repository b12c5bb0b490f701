//! Retained messages: set, replaced, removed, expired, restored, read as far as granted, and then live.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod house;

use house::{House, acknowledged, at, everyone, new, open, subscribe, take_all, wish};
use std::sync::Arc;
use std::thread;
use weir_hub::{
    Attributes, Fault, Given, Grants, Hub, Log, Media, Message, Next, Principal, Publish, Shape,
    Since, Subscribe, Subscription, Verb,
};
use weir_model::{Cursor, Filter, Time};

fn publication(topic: &str, body: &str) -> Publish {
    Publish::new(topic, Media::Undeclared, body.to_owned())
}

fn retain(topic: &str, body: &str) -> Publish {
    Publish {
        retain: true,
        ..publication(topic, body)
    }
}

fn put(hub: &Arc<Hub>, publish: Publish) -> Cursor {
    acknowledged(hub, &everyone(), publish).unwrap()
}

fn opaque(topic: &str, body: &'static [u8]) -> Publish {
    Publish {
        retain: true,
        ..Publish::new(topic, Media::Undeclared, body)
    }
}

fn retained(hub: &Arc<Hub>, who: &Principal, now: Time, filter: &str) -> Vec<Arc<Message>> {
    let filters = vec![Filter::parse(filter).unwrap()];
    match hub
        .caller(now, who)
        .and_then(|caller| caller.retained(&filters))
    {
        Ok(messages) => messages,
        _ => unreachable!("retained messages were asked for"),
    }
}

fn topics(hub: &Arc<Hub>, filter: &str) -> Vec<String> {
    let messages = retained(hub, &everyone(), at(0), filter);
    messages
        .iter()
        .map(|message| message.topic.to_string())
        .collect()
}

fn wanted(filters: &[&str], since: Since) -> Subscribe {
    Subscribe {
        raw: true,
        retained: true,
        shape: Shape::Items,
        ..wish(filters, since)
    }
}

/// `TOPIC=BODY`, behind `!` where it is live.
fn seen(subscription: &mut Subscription) -> Vec<String> {
    let taken = take_all(subscription).into_iter();
    let items = taken.flat_map(|next| match next {
        Next::Items(items, _) => items.to_vec(),
        _ => Vec::new(),
    });
    let said = items.map(|item| {
        let body = String::from_utf8_lossy(&item.message.body).into_owned();
        let live = if item.retained { "" } else { "!" };
        format!("{live}{}={body}", item.message.topic)
    });
    said.collect()
}

fn restarted(house: House) -> House {
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house);
    open(disk)
}

#[test]
fn a_message_is_retained_until_another_takes_its_place() {
    let house = new();
    put(&house.hub, retain("a/x", "1"));
    put(&house.hub, publication("a/x", "2"));
    put(&house.hub, retain("a/y", "3"));
    put(&house.hub, opaque("a/photo", b"\xff"));
    assert_eq!(topics(&house.hub, "#"), ["a/photo", "a/x", "a/y"]);
    put(&house.hub, retain("a/y", "4"));
    let mut reader = subscribe(&house.hub, wanted(&["a/+"], Since::Now));
    put(&house.hub, retain("a/x", ""));
    assert_eq!(seen(&mut reader), ["a/photo=\u{fffd}", "a/y=4", "!a/x="]);
    assert_eq!(topics(&house.hub, "a/#"), ["a/photo", "a/y"]);
    put(&house.hub, retain("a/y", ""));
    put(&house.hub, opaque("a/photo", b""));
    assert_eq!(house.hub.retained_counts(), (0, 0));
}

#[test]
fn to_remove_what_never_was_brings_no_datastream_into_being() {
    let house = new();
    put(&house.hub, opaque("never/was", b""));
    assert_eq!(house.hub.gauges().0, 0);
}

#[test]
fn what_is_retained_survives_a_restart_as_it_was() {
    let mut house = new();
    let attributes = Attributes::from(Given {
        content_type: Some("image/png".into()),
        ..Given::default()
    });
    put(&house.hub, retain("kitchen", r#"{"temperature":21.5}"#));
    put(&house.hub, retain("gone", "1"));
    put(&house.hub, retain("gone", ""));
    let photo = Publish {
        attributes: attributes.clone(),
        ..opaque("photo", b"\x89PNG")
    };
    put(&house.hub, photo);
    for _ in 0..2 {
        house = restarted(house);
        let messages = retained(&house.hub, &everyone(), at(0), "#");
        let [kitchen, photo] = &messages[..] else {
            unreachable!("two are retained: {messages:?}");
        };
        assert_eq!(
            kitchen.batch().unwrap().stream(0).topic,
            "kitchen/temperature"
        );
        assert_eq!(
            (&photo.body[..], &photo.attributes),
            (&b"\x89PNG"[..], &attributes)
        );
        assert!(photo.retain && photo.batch().is_none() && !photo.declared);
        let mut reader = subscribe(&house.hub, wanted(&["photo"], Since::Now));
        assert_eq!(seen(&mut reader), ["photo=\u{fffd}PNG"]);
    }
}

#[test]
fn an_expired_message_is_retained_no_more_by_the_log_either() {
    let mut house = new();
    let expires = |millis| {
        Attributes::from(Given {
            expires: Some(at(millis)),
            ..Given::default()
        })
    };
    for (topic, millis) in [("soon", 1000), ("later", 5000)] {
        let attributes = expires(millis);
        let publish = Publish {
            attributes,
            ..retain(topic, "1")
        };
        put(&house.hub, publish);
    }
    let named = |hub: &Arc<Hub>, millis| retained(hub, &everyone(), at(millis), "#").len();
    assert_eq!((named(&house.hub, 999), named(&house.hub, 1000)), (2, 1));
    assert_eq!(house.hub.next_tick(), Some(at(1000).nanos()));
    let mut reader = subscribe(&house.hub, wanted(&["#"], Since::Now));
    house.hub.tick(at(1000));
    assert_eq!(
        seen(&mut reader),
        ["later=1"],
        "and nothing live is told of it"
    );
    assert_eq!(house.hub.next_tick(), Some(at(5000).nanos()));
    drop(reader);
    house = restarted(house);
    assert_eq!(house.hub.retained_counts().0, 1, "the log forgot the other");
    house.hub.tick(at(5000));
    assert_eq!(house.hub.retained_counts(), (0, 0));
}

#[test]
fn retained_messages_are_read_as_far_as_the_policy_grants() {
    let house = new();
    put(&house.hub, retain("kitchen", r#"{"temperature":21.5}"#));
    put(&house.hub, retain("secret/x", "1"));
    let of = |filter: &str| {
        let rules = vec![(Verb::Read, Filter::parse(filter).unwrap())];
        Principal {
            name: "guest".into(),
            grants: Arc::new(Grants::new(rules)),
            standing: Default::default(),
        }
    };
    for (grant, expected) in [("kitchen/#", 1), ("kitchen", 0), ("#", 2)] {
        let who = of(grant);
        assert_eq!(
            retained(&house.hub, &who, at(0), "#").len(),
            expected,
            "{grant}"
        );
        let wanted = wanted(&["#"], Since::Now);
        let mut reader = house::subscribe_as(&house.hub, &who, wanted).unwrap();
        assert_eq!(seen(&mut reader).len(), expected, "{grant}");
    }
    let filters = vec![Filter::parse("secret/#").unwrap()];
    let refused = house
        .hub
        .caller(at(0), &of("kitchen/#"))
        .and_then(|caller| caller.retained(&filters));
    assert!(matches!(refused, Err(Fault::Denied { .. })));
    let stranger = acknowledged(&house.hub, &of("#"), retain("kitchen", ""));
    assert!(
        matches!(stranger, Err(Fault::Denied { .. })),
        "nor removed without a grant"
    );
}

#[test]
fn a_resume_gets_what_was_retained_and_the_rest_as_published() {
    let house = new();
    put(&house.hub, retain("a", "1"));
    let cursor = put(&house.hub, retain("b", "2"));
    put(&house.hub, retain("c", "3"));
    let mut reader = subscribe(&house.hub, wanted(&["#"], Since::Cursor(cursor)));
    assert_eq!(seen(&mut reader), ["a=1", "b=2", "!c=3"]);
    put(&house.hub, publication("d", "4"));
    assert_eq!(seen(&mut reader), ["!d=4"]);
}

/// The numbers at a topic, retained or live.
fn numbers(subscription: &mut Subscription) -> Vec<u32> {
    let words = seen(subscription).into_iter();
    words
        .map(|word| word.split('=').nth(1).unwrap().parse().unwrap())
        .collect()
}

#[test]
fn retained_then_live_leaves_no_hole_beside_a_racing_writer() {
    const LAST: u32 = 3000;
    let house = new();
    put(&house.hub, retain("a/n", "0"));
    let hub = house.hub.clone();
    let writer = thread::spawn(move || {
        for number in 1..=LAST {
            let publish = retain("a/n", &number.to_string());
            assert!(
                hub.caller(at(0), &everyone())
                    .and_then(|caller| caller.publish(publish))
                    .is_ok()
            );
        }
    });
    let mut readers = Vec::new();
    while !writer.is_finished() {
        let mut reader = subscribe(&house.hub, wanted(&["a/#"], Since::Now));
        let first = numbers(&mut reader);
        readers.push((reader, first));
        if readers.len() > 200 {
            readers.remove(0);
        }
    }
    writer.join().unwrap();
    for (mut reader, mut all) in readers {
        all.extend(numbers(&mut reader));
        let begin = all[0];
        let expected: Vec<u32> = (begin..=LAST).collect();
        assert_eq!(all, expected);
    }
}
