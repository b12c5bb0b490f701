//! What goes with a message: to subscribers, through the log, and what waits for the disk.
#![allow(clippy::unwrap_used)]

mod house;

use house::{acknowledged, at, drain, everyone, new, open, publication, subscribe, take_all, wish};
use weir_hub::{
    Attributes, ClientId, Fault, Given, Item, Log, Next, Publish, Quality, Shape, Since, Subscribe,
    Subscription,
};
use weir_model::{Cursor, Time};

fn given() -> Attributes {
    Attributes::from(Given {
        content_type: Some("json".into()),
        response_topic: Some("answers/1".into()),
        correlation: Some(vec![0, 1, 255].into()),
        payload_is_text: Some(true),
        expires: Some(at(60_000)),
        properties: vec![("a".into(), "1".into()), ("a".into(), "2".into())],
        native: Some(vec![0, 7].into()),
    })
}

fn items(subscription: &mut Subscription) -> Vec<Item> {
    let taken = take_all(subscription).into_iter();
    taken.flat_map(items_of).collect()
}

fn items_of(next: Next) -> Vec<Item> {
    match next {
        Next::Items(items, _) => items.to_vec(),
        _ => Vec::new(),
    }
}

fn as_items(since: Since) -> Subscribe {
    Subscribe {
        shape: Shape::Items,
        ..wish(&["a"], since)
    }
}

#[test]
fn attributes_and_quality_survive_a_restart() {
    let house = new();
    let mut live = subscribe(&house.hub, as_items(Since::Now));
    let client = ClientId::new();
    let publish = Publish {
        attributes: given(),
        quality: Quality::ExactlyOnce,
        client: Some(client),
        ..publication("a", "{\"value\":1}")
    };
    acknowledged(&house.hub, &everyone(), publish).unwrap();
    acknowledged(&house.hub, &everyone(), publication("a", "{\"value\":2}")).unwrap();
    let seen = items(&mut live);
    let first = &seen[0].message;
    assert_eq!(
        (&first.attributes, first.quality),
        (&given(), Quality::ExactlyOnce)
    );
    assert_eq!((first.client, seen[1].message.client), (Some(client), None));
    assert!(seen[1].message.attributes.is_empty());
    drop(live);
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house);
    let house = open(disk);
    let replayed = items(&mut subscribe(
        &house.hub,
        as_items(Since::Cursor(Cursor::START)),
    ));
    let first = &replayed[0].message;
    assert_eq!(
        (&first.attributes, first.quality),
        (&given(), Quality::ExactlyOnce)
    );
    assert_eq!((first.declared, first.client), (true, None));
    assert!(replayed[1].message.attributes.is_empty());
    assert_eq!(replayed[1].message.quality, Quality::AtLeastOnce);
}

#[test]
fn more_than_may_go_with_a_message_is_refused_unstored() {
    let house = new();
    let head = house.hub.positions().0;
    let long = vec![("n".to_owned(), "x".repeat(200_000))];
    let publish = Publish {
        attributes: Attributes::from(Given {
            properties: long,
            ..Given::default()
        }),
        ..publication("a", "{\"value\":1}")
    };
    let refused = acknowledged(&house.hub, &everyone(), publish);
    assert!(
        matches!(refused, Err(Fault::OverLimit { .. })),
        "{refused:?}"
    );
    assert_eq!(house.hub.positions().0, head);
}

#[test]
fn what_is_promised_to_nobody_is_live_and_waits_for_a_tick() {
    let house = new();
    let mut reader = subscribe(&house.hub, wish(&["a"], Since::Now));
    assert_eq!(house.hub.next_tick(), None);
    let publish = Publish {
        quality: Quality::AtMostOnce,
        ..publication("a", "{\"value\":1}")
    };
    let opened = house
        .hub
        .caller(at(0), &everyone())
        .and_then(|caller| caller.publish(publish));
    let Ok(ticket) = opened else {
        unreachable!("a publication is answered with a ticket");
    };
    drop(ticket);
    assert_eq!(drain(&mut reader), ["1"], "it is live at once");
    let due = house.hub.next_tick();
    house.hub.tick(at(0));
    assert_eq!(house.hub.next_tick(), due, "others may join it");
    house.hub.tick(due.map_or(at(0), Time::from_nanos));
    assert_eq!(house.hub.next_tick(), None);
}
