//! Entities: put whole or not at all, read as far as granted, there again after a restart; what a
//! datastream is known by besides; and what changed since one looked.
#![allow(clippy::unwrap_used)]

mod house;

use bytes::Bytes;
use house::{House, at, everyone, new, open, publication, publish, wait};
use std::sync::Arc;
use weir_hub::{Change, Fault, Grants, Hub, Log, Place, Principal, Verb};
use weir_model::{Datastream, Filter};

fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap()
}

fn put(hub: &Arc<Hub>, who: &Principal, entities: &[(&str, Option<&str>)]) -> Result<(), Fault> {
    let owned = entities.iter().map(|(key, body)| {
        let body = body.map(|body| Bytes::from(body.to_owned()));
        ((*key).to_owned(), body)
    });
    let ticket = hub.caller(at(0), who)?.put(owned.collect())?;
    wait(|cx| ticket.poll(cx)).map(drop)
}

fn keys(hub: &Arc<Hub>, who: &Principal, of: &str) -> Vec<String> {
    let all = hub.caller(at(0), who).unwrap().entities(&[filter(of)]);
    let keys = all.unwrap().into_iter();
    keys.map(|entity| entity.key.to_string()).collect()
}

fn number(hub: &Arc<Hub>, topic: &str) -> Option<u32> {
    hub.internal().entries(&[filter(topic)])[0]
        .datastream
        .number
}

fn restarted(house: House) -> House {
    house.log.close().unwrap();
    let disk = house.disk.clone();
    drop(house.hub);
    drop(house.log);
    open(disk)
}

fn guest() -> Principal {
    let rules = [(Verb::Read, "s/+"), (Verb::Change, "s/1")];
    let rules = rules.map(|(verb, of)| (verb, filter(of)));
    Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules.to_vec())),
        standing: Default::default(),
    }
}

#[test]
fn entities_are_put_whole_and_read_as_far_as_granted() {
    let house = new();
    let both = [("s/1", Some("{}")), ("t/1", Some("{}"))];
    let refused = put(&house.hub, &guest(), &both);
    assert!(matches!(refused, Err(Fault::Denied { verb: "change", .. })));
    assert_eq!(keys(&house.hub, &everyone(), "#"), [""; 0]);
    put(&house.hub, &everyone(), &both).unwrap();
    assert_eq!(keys(&house.hub, &everyone(), "#"), ["s/1", "t/1"]);
    assert_eq!(keys(&house.hub, &guest(), "#"), ["s/1"]);
    put(&house.hub, &guest(), &[("s/1", None)]).unwrap();
    assert_eq!(keys(&house.hub, &everyone(), "#"), ["t/1"]);
    let reserved = put(&house.hub, &everyone(), &[("$x/1", Some("{}"))]);
    assert!(matches!(reserved, Err(Fault::Reserved(_))));
}

#[test]
fn entities_and_numbers_are_there_again_after_a_restart() {
    let house = new();
    put(
        &house.hub,
        &everyone(),
        &[("s/1", Some("{}")), ("s/2", Some("{}"))],
    )
    .unwrap();
    put(&house.hub, &everyone(), &[("s/1", None)]).unwrap();
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "b", 1.0);
    let known = Datastream {
        about: Some(r#"{"Thing":1}"#.into()),
        ..Datastream::default()
    };
    let changed = house
        .hub
        .caller(at(0), &everyone())
        .and_then(|caller| caller.change("b", Some(known)));
    let Ok(ticket) = changed else {
        unreachable!("a datastream was described")
    };
    wait(|cx| ticket.poll(cx)).unwrap();
    drop(ticket);
    let before = (number(&house.hub, "a"), number(&house.hub, "b"));
    assert_ne!(before.0, before.1);
    let again = restarted(house);
    assert_eq!(keys(&again.hub, &everyone(), "#"), ["s/2"]);
    assert_eq!((number(&again.hub, "a"), number(&again.hub, "b")), before);
    publish(&again.hub, "c", 1.0);
    assert!(number(&again.hub, "c") > before.1, "a number is given once");
}

#[test]
fn who_follows_the_descriptions_is_told_what_changed() {
    let house = new();
    let begin = house.hub.changed_since(u64::MAX);
    assert_eq!(begin.names, None, "all is new at first");
    put(&house.hub, &everyone(), &[("s/1", Some("{}"))]).unwrap();
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "a", 2.0);
    let since = house.hub.changed_since(begin.revision);
    let names: Vec<_> = since
        .names
        .unwrap()
        .iter()
        .map(|it| it.to_string())
        .collect();
    assert_eq!(names, ["s/1", "a"], "a second value describes nothing");
}

#[test]
fn an_only_observation_that_is_withdrawn_leaves_no_last_value() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    let place = Place {
        topic: "a".into(),
        time: at(0),
        ordinal: 0,
    };
    let withdrawn = house
        .hub
        .caller(at(1), &everyone())
        .and_then(|caller| caller.withdraw(&place));
    assert!(withdrawn.is_ok());
    assert_eq!(last_value(&house.hub), None);
}

#[test]
fn what_comes_during_a_withdrawal_stays_the_last_value() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    let hub = house.hub.clone();
    *house.tally.while_read.lock().unwrap() = Some(Box::new(move || {
        publish(&hub, "a", 2.0);
    }));
    let place = Place {
        topic: "a".into(),
        time: at(0),
        ordinal: 0,
    };
    let withdrawn = house
        .hub
        .caller(at(1), &everyone())
        .and_then(|caller| caller.withdraw(&place));
    assert!(withdrawn.is_ok());
    assert_eq!(last_value(&house.hub), Some(2.0));
}

fn last_value(hub: &Arc<Hub>) -> Option<f64> {
    match hub
        .caller(at(1), &everyone())
        .and_then(|caller| caller.latest(&[filter("#")]))
    {
        Ok(latest) => {
            let mut rows = latest.batch.rows();
            rows.next().and_then(|row| row.value.number())
        }
        _ => unreachable!("last values were asked for"),
    }
}

#[test]
fn what_would_be_refused_is_told_before() {
    let house = new();
    publish(&house.hub, "s/1", 1.0);
    let of = |topic: &str| {
        Change::Withdraw(Place {
            topic: topic.into(),
            time: at(0),
            ordinal: 0,
        })
    };
    let would = |who: &Principal, topic: &str| house.hub.would_take(who, &of(topic));
    assert_eq!(would(&guest(), "s/1"), Ok(()));
    assert!(matches!(would(&guest(), "s/2"), Err(Fault::Denied { .. })));
    assert!(matches!(would(&everyone(), "s/2"), Err(Fault::Unknown(_))));
    let would = |who: &Principal, topic: &str| {
        let sent = publication(topic, "{\"value\":1}");
        house.hub.would_publish(who, &sent)
    };
    assert_eq!(would(&everyone(), "t"), Ok(()));
    assert!(matches!(would(&guest(), "s/1"), Err(Fault::Denied { .. })));
    assert!(matches!(
        would(&everyone(), "$SYS/a"),
        Err(Fault::Reserved(_))
    ));
}

#[test]
fn the_newest_of_one_time_is_not_guessed_after_a_restart() {
    let house = new();
    publish(&house.hub, "a", 1.0);
    publish(&house.hub, "a", 2.0);
    assert!(house.hub.newest_of("a").is_some_and(|(_, others)| others));
    let again = restarted(house);
    assert!(again.hub.newest_of("a").is_none());
}
