//! Durable consumers: what they remember, and what they are fed.
#![allow(clippy::unwrap_used)]

mod house;

use bytes::Bytes;
use house::{at, drain, new, open, publication, subscribe, wait, wish};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_hub::limits::{CONSUMER_BYTES_MAX, CONSUMER_KEY_BYTES_MAX};
use weir_hub::{Fault, Hub, Log, Since, Subscribe};
use weir_model::Cursor;

fn remember(hub: &Arc<Hub>, key: &str, state: &'static [u8]) -> Cursor {
    let state = Bytes::from_static(state);
    let ticket = hub.internal().remember(at(0), key, state).unwrap();
    wait(|cx| ticket.poll(cx)).unwrap()
}

fn all(hub: &Arc<Hub>, prefix: &str) -> Vec<(String, Bytes)> {
    let mut all = Vec::new();
    hub.consumers(prefix, &mut |key, state| {
        all.push((key.to_owned(), state.clone()))
    });
    all
}

#[test]
fn the_last_state_of_each_consumer_is_restored() {
    let mut house = new();
    remember(&house.hub, "mqtt/a", b"1");
    remember(&house.hub, "mqtt/b", b"2");
    remember(&house.hub, "mqtt/a", b"3");
    remember(&house.hub, "mqtt/gone", b"4");
    remember(&house.hub, "mqtu/x", b"5");
    let ticket = house.hub.internal().forget(at(0), "mqtt/gone").unwrap();
    wait(|cx| ticket.poll(cx)).unwrap();
    drop(ticket);
    for _ in 0..2 {
        let expected = [("mqtt/a", &b"3"[..]), ("mqtt/b", b"2")];
        let expected = expected.map(|(key, state)| (key.to_owned(), Bytes::from_static(state)));
        assert_eq!(all(&house.hub, "mqtt/"), expected);
        assert_eq!(house.hub.consumer("mqtu/x").as_deref(), Some(&b"5"[..]));
        assert_eq!(house.hub.consumer("mqtt/gone"), None);
        house.log.close().unwrap();
        let disk = house.disk.clone();
        drop(house);
        house = open(disk);
    }
}

#[test]
fn what_is_remembered_has_limits() {
    let house = new();
    let long = "k".repeat(CONSUMER_KEY_BYTES_MAX + 1);
    let much = Bytes::from(vec![0; CONSUMER_BYTES_MAX + 1]);
    for (key, state) in [(&*long, Bytes::from_static(b"1")), ("mqtt/a", much)] {
        let refused = house.hub.internal().remember(at(0), key, state).err();
        assert!(
            matches!(refused, Some(Fault::OverLimit { .. })),
            "{refused:?}"
        );
    }
    assert!(all(&house.hub, "").is_empty());
}

#[test]
fn states_are_no_messages_and_no_gap() {
    let house = new();
    let begin = house.hub.positions().0;
    let mut live = subscribe(&house.hub, wish(&["#"], Since::Now));
    remember(&house.hub, "mqtt/a", b"1");
    house::publish(&house.hub, "a", 1.0);
    remember(&house.hub, "mqtt/a", b"2");
    assert_eq!(drain(&mut live), ["1"]);
    drop(live);
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house);
    let house = open(disk);
    let mut resumed = subscribe(&house.hub, wish(&["#"], Since::Cursor(begin)));
    assert_eq!(drain(&mut resumed), ["1"]);
}

#[test]
fn who_keeps_what_it_gets_is_fed_only_what_is_on_disk() {
    let house = new();
    let mut live = subscribe(&house.hub, wish(&["a"], Since::Now));
    let mut kept = subscribe(
        &house.hub,
        Subscribe {
            committed: true,
            ..wish(&["a"], Since::Now)
        },
    );
    let begin = kept.position();
    let ticket = house::accepted(&house.hub, 0, publication("a", "{\"value\":1}")).unwrap();
    assert_eq!(drain(&mut live), ["1"]);
    let (mut cx, log) = (Context::from_waker(Waker::noop()), &house.log);
    // The disk may be done at any moment: what was handed over before it said so would be wrong.
    while kept.poll_next(&mut cx).is_pending() {
        assert_eq!(kept.position(), begin);
        wait(|cx| ticket.poll(cx)).unwrap();
    }
    assert!(log.committed() >= ticket.cursor());
    assert_eq!(kept.position(), ticket.cursor());
    assert!(matches!(kept.poll_next(&mut cx), Poll::Pending));
}
