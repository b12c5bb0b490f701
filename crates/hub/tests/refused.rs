//! What nobody may publish: messages that say nothing, and at topics that are the gateway's own.
#![allow(clippy::unwrap_used)]

mod house;

use house::{acknowledged, at, drain, everyone, new, publication, subscribe, wish};
use std::sync::Arc;
use weir_codec::FORMATS;
use weir_hub::{Fault, Grants, Media, Principal, Publish, Since, Verb};
use weir_model::{BatchBuilder, BatchError, Datastream, Filter};

fn message(media: Media, body: &[u8]) -> Publish {
    Publish {
        media,
        body: body.to_vec().into(),
        ..publication("a", "")
    }
}

#[test]
fn a_message_without_observations_is_refused_in_every_format() {
    let house = new();
    let head = house.hub.positions().0;
    let nothing = BatchBuilder::new().finish();
    for format in FORMATS {
        let mut body = Vec::new();
        (format.encode)(&nothing, &mut body);
        let refused = acknowledged(
            &house.hub,
            &everyone(),
            message(Media::Format(format), &body),
        );
        let expected = Err(Fault::Message(BatchError::Nothing));
        assert_eq!(refused, expected, "{}", format.name);
    }
    for body in ["{}", "[]", "{\"observations\":[]}"] {
        let refused = acknowledged(&house.hub, &everyone(), publication("a", body));
        assert_eq!(refused, Err(Fault::Message(BatchError::Nothing)), "{body}");
    }
    assert_eq!(house.hub.positions().0, head, "nothing was stored");
    // An object without members is a value like others.
    acknowledged(&house.hub, &everyone(), publication("a", "{\"a\":{}}")).unwrap();
}

#[test]
fn what_says_no_format_and_no_observation_is_opaque() {
    let house = new();
    for body in [&b""[..], b"{}", b"[{}]"] {
        acknowledged(&house.hub, &everyone(), message(Media::Undeclared, body)).unwrap();
    }
}

#[test]
fn topics_with_a_dollar_are_the_gateways_to_publish_at() {
    let house = new();
    let everything = ["#", "$SYS/#", "$own/#"].map(|text| Filter::parse(text).unwrap());
    let rules = everything
        .iter()
        .flat_map(|filter| Verb::ALL.iter().map(move |verb| (verb.1, filter.clone())));
    let granted = Principal {
        name: "gateway".into(),
        grants: Arc::new(Grants::new(rules.collect())),
        standing: Default::default(),
    };
    for (who, topic) in [
        (everyone(), "$SYS/weir/x"),
        (granted.clone(), "$own/x"),
        (granted.clone(), "$"),
    ] {
        let refused = acknowledged(&house.hub, &who, publication(topic, "1"));
        assert_eq!(refused, Err(Fault::Reserved(topic.into())));
        let caller = house.hub.caller(at(0), &who).unwrap();
        let refused = caller.change(topic, Some(Datastream::default()));
        assert_eq!(refused.err(), Some(Fault::Reserved(topic.into())));
    }
    let inside = publication("a/$SYS", "{\"value\":1}");
    acknowledged(&house.hub, &granted, inside).unwrap();
}

#[test]
fn a_wildcard_at_the_beginning_matches_no_topic_of_the_gateway() {
    let house = new();
    let mut all = subscribe(&house.hub, wish(&["#", "+/weir/canary"], Since::Now));
    let mut own = subscribe(&house.hub, wish(&["$SYS/#"], Since::Now));
    let canary = publication("$SYS/weir/canary", "{\"value\":7}");
    acknowledged(&house.hub, &Principal::gateway(), canary).unwrap();
    acknowledged(&house.hub, &everyone(), publication("a", "{\"value\":1}")).unwrap();
    assert_eq!(drain(&mut all), ["1"]);
    assert_eq!(drain(&mut own), ["7"]);
    let everyone = everyone();
    let caller = house.hub.caller(at(0), &everyone).unwrap();
    let latest = caller.latest(&[Filter::parse("#").unwrap()]).unwrap();
    assert_eq!(latest.batch.len(), 1);
}

#[test]
fn who_may_change_and_not_read_is_not_told_what_there_is() {
    let house = new();
    acknowledged(&house.hub, &everyone(), publication("a", "{\"value\":1}")).unwrap();
    let blind = Principal {
        name: "blind".into(),
        grants: Arc::new(Grants::new(vec![(
            Verb::Change,
            Filter::parse("#").unwrap(),
        )])),
        standing: Default::default(),
    };
    let forget = |who: &Principal, topic: &str| {
        let forgotten = house
            .hub
            .caller(at(0), who)
            .and_then(|caller| caller.change(topic, None));
        forgotten.err()
    };
    assert_eq!(
        forget(&everyone(), "b"),
        Some(Fault::Unknown("b".into())),
        "who may read is told"
    );
    assert_eq!(["a", "b"].map(|topic| forget(&blind, topic)), [None, None]);
    assert_eq!(forget(&everyone(), "a"), Some(Fault::Unknown("a".into())));
}

#[test]
fn a_right_can_be_asked_before_anything_is_looked_up() {
    let house = new();
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let audited = told.clone();
    house.hub.audit(move |who, fault| {
        audited.lock().unwrap().push(format!("{who}: {fault}"));
    });
    let filter = |text: &str| Filter::parse(text).unwrap();
    let guest = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(vec![(Verb::Read, filter("a/+"))])),
        standing: Default::default(),
    };
    house.hub.check(&guest, Verb::Read, "a/b").unwrap();
    house
        .hub
        .check_some(&guest, Verb::Read, &filter("#"))
        .unwrap();
    assert!(told.lock().unwrap().is_empty());
    house.hub.check(&guest, Verb::Read, "b").unwrap_err();
    house
        .hub
        .check_some(&guest, Verb::Change, &filter("#"))
        .unwrap_err();
    let expected = [
        "guest: guest may not read `b`",
        "guest: guest may not change `#`",
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}
