//! What was forgotten: who reads on in the log is not given it, and its keys stand for nothing.
#![allow(clippy::unwrap_used)]

mod house;

use house::{
    acknowledged, at, drain, everyone, new, open, publication, publish, subscribe, wait, wish,
};
use std::sync::Arc;
use weir_hub::{Hub, Log, Publish, Since};
use weir_model::Cursor;

fn forget(hub: &Arc<Hub>, topic: &str) {
    let everyone = everyone();
    let caller = hub.caller(at(0), &everyone).unwrap();
    let ticket = caller.change(topic, None).unwrap();
    wait(|cx| ticket.poll(cx)).unwrap();
}

fn missed(hub: &Arc<Hub>, since: Cursor) -> Vec<String> {
    drain(&mut subscribe(hub, wish(&["#"], Since::Cursor(since))))
}

#[test]
fn who_resumes_is_not_given_what_was_forgotten() {
    let mut house = new();
    let begin = house.hub.positions().0;
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "b", 2.0);
    acknowledged(
        &house.hub,
        &everyone(),
        publication("c", r#"{"x":3,"y":4}"#),
    )
    .unwrap();
    assert_eq!(missed(&house.hub, begin), ["1", "2", "3\n4"]);
    forget(&house.hub, "a");
    forget(&house.hub, "c/x");
    publish(&house.hub, "a", 5.0);
    for _ in 0..3 {
        assert_eq!(missed(&house.hub, begin), ["2", "4", "5"]);
        house.log.close().unwrap();
        let disk = house.disk.clone();
        drop(house);
        house = open(disk);
    }
}

#[test]
fn a_key_of_what_was_forgotten_stands_for_nothing() {
    let mut house = new();
    let keyed = |topic: &str| Publish {
        key: Some(b"k".to_vec()),
        ..publication(topic, r#"{"value":1}"#)
    };
    let put = |hub: &Arc<Hub>, topic| acknowledged(hub, &everyone(), keyed(topic)).unwrap();
    let (first, other) = (put(&house.hub, "a"), put(&house.hub, "b"));
    assert_eq!(put(&house.hub, "a"), first);
    forget(&house.hub, "a");
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house);
    house = open(disk);
    let again = put(&house.hub, "a");
    assert!(again > other);
    assert_eq!([put(&house.hub, "a"), put(&house.hub, "b")], [again, other]);
    assert_eq!(missed(&house.hub, first), ["1", "1"]);
}
