//! What is acknowledged is kept: as bytes at the least, to be read by raw readers, also after a restart.
#![allow(clippy::unwrap_used)]

mod house;

use house::{House, acknowledged, at, everyone, new, open, publication, subscribe, take_all, wish};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_codec::by_name;
use weir_hub::{
    Attributes, EntryProblem, Fault, Given, Grants, Hub, Media, Next, Outcome, Principal, Publish,
    Shape, Since, Subscribe, Subscription, Verb,
};
use weir_model::{Cursor, Datastream, Filter, Limits};

/// Payloads that look like observations and can be none, of a publisher at `a`.
fn odd() -> Vec<Vec<u8>> {
    let leaves: Vec<String> = (0..5000).map(|leaf| format!("\"l{leaf}\":1")).collect();
    let deep = vec!["d"; 80].join("/");
    let unit = "u".repeat(2000);
    let name = "n".repeat(2000);
    let texts = [
        r#"{"value":1,"topic":"other"}"#.to_owned(),
        r#"{"value":1,"topic":"a/+"}"#.to_owned(),
        r#"{"observations":[{"unit":"m"}]}"#.to_owned(),
        r#"[{"n":"a","v":1},{"n":"b+","v":1}"#.to_owned(),
        format!(r#"{{"value":1,"unit":"{unit}"}}"#),
        format!(r#"{{"{deep}":1}}"#),
        format!(r#"{{"{name}":1}}"#),
        format!("{{{}}}", leaves.join(",")),
    ];
    texts.map(String::into_bytes).into()
}

fn raw(hub: &Arc<Hub>, filter: &str, since: Since) -> Subscription {
    let subscribe_to = Subscribe {
        raw: true,
        shape: Shape::Items,
        ..wish(&[filter], since)
    };
    subscribe(hub, subscribe_to)
}

/// The bodies that a raw reader was handed.
fn bodies(reader: &mut Subscription) -> Vec<Vec<u8>> {
    let items = take_all(reader).into_iter().flat_map(|next| match next {
        Next::Items(items, _) => items.to_vec(),
        _ => Vec::new(),
    });
    items.map(|item| item.message.body.to_vec()).collect()
}

fn again(house: House) -> House {
    let disk = house.disk.clone();
    drop(house);
    open(disk)
}

fn unread(hub: &Hub) -> u64 {
    let [_, (outcome, causes), _] = hub.problems();
    assert_eq!(outcome, Outcome::Bytes);
    causes.iter().map(|(_, count)| count).sum()
}

#[test]
fn what_can_be_no_observations_is_kept_as_bytes_and_counted() {
    for retain in [false, true] {
        let house = new();
        let begin = house.hub.positions().0;
        let mut live = raw(&house.hub, "a", Since::Now);
        let told = Arc::new(AtomicUsize::new(0));
        let counted = told.clone();
        house.hub.watch_problems(move |problem| {
            assert_eq!((problem.topic, problem.outcome), ("a", Outcome::Bytes));
            counted.fetch_add(1, Ordering::SeqCst);
        });
        for body in odd() {
            let text = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            let publish = Publish {
                retain,
                ..Publish::new("a", Media::Undeclared, body)
            };
            let before = unread(&house.hub);
            let taken = acknowledged(&house.hub, &everyone(), publish);
            assert!(taken.is_ok(), "{text}: {taken:?}");
            assert_eq!(unread(&house.hub), before + 1, "{text}");
        }
        assert_eq!(bodies(&mut live), odd());
        assert_eq!(unread(&house.hub), odd().len() as u64);
        assert_eq!(told.load(Ordering::SeqCst), odd().len());
        assert_eq!(house.hub.counts().refused, 0);
        drop(live);
        let house = again(house);
        let mut later = raw(&house.hub, "a", Since::Cursor(begin));
        assert_eq!(bodies(&mut later), odd());
        assert_eq!(house.hub.retained_counts().0, usize::from(retain));
    }
}

#[test]
fn who_cannot_be_told_of_a_refusal_has_his_bytes_kept() {
    let house = new();
    let json = by_name("json").unwrap();
    for body in [
        r##"{"value":5,"topic":"#"}"##,
        "{",
        "{}",
        "21.5 C",
        r#"{"value":1,"topic":"x"}"#,
    ] {
        let refused = acknowledged(&house.hub, &everyone(), publication("a", body));
        assert!(refused.is_err(), "{body}");
        let mut live = raw(&house.hub, "a", Since::Now);
        let claimed = Publish::new("a", Media::Claimed(json), body.to_owned());
        acknowledged(&house.hub, &everyone(), claimed).unwrap();
        assert_eq!(bodies(&mut live), [body.as_bytes()]);
    }
    let claimed = Publish::new("a", Media::Claimed(json), r#"{"value":7}"#);
    acknowledged(&house.hub, &everyone(), claimed).unwrap();
    let mut last = subscribe(&house.hub, wish(&["a"], Since::Snapshot));
    assert_eq!(house::drain(&mut last), ["7"]);
}

fn granted(topics: &[&str]) -> Principal {
    let rules = topics
        .iter()
        .map(|text| (Verb::Publish, Filter::parse(text).unwrap()));
    Principal {
        name: "device".into(),
        grants: Arc::new(Grants::new(rules.collect())),
        standing: Default::default(),
    }
}

#[test]
fn bytes_are_kept_only_where_their_publisher_may_publish() {
    let house = new();
    let state = r#"{"state":"ON","watts":5}"#;
    let publish = || Publish::new("zz/lamp", Media::Undeclared, state);
    let mut live = raw(&house.hub, "zz/#", Since::Now);
    acknowledged(&house.hub, &granted(&["zz/lamp"]), publish()).unwrap();
    assert_eq!(bodies(&mut live), [state.as_bytes()]);
    for others in [&["zz/lamp/state"][..], &["other"], &[]] {
        let refused = acknowledged(&house.hub, &granted(others), publish());
        assert!(matches!(refused, Err(Fault::Denied { .. })), "{others:?}");
    }
    assert!(bodies(&mut live).is_empty());
    let [(_, mut refused), ..] = house.hub.problems();
    refused.retain(|(_, count)| *count > 0);
    assert_eq!(refused, [("rights", 3)]);
}

#[test]
fn bytes_are_known_again_by_their_key() {
    let house = new();
    let publish = |hub: &Arc<Hub>, body: &'static str| {
        let publish = Publish {
            key: Some(b"k".to_vec()),
            ..Publish::new("a", Media::Undeclared, body)
        };
        acknowledged(hub, &everyone(), publish)
    };
    let first = publish(&house.hub, r##"{"value":5,"topic":"#"}"##).unwrap();
    assert_eq!(
        publish(&house.hub, r##"{"value":5,"topic":"#"}"##),
        Ok(first)
    );
    let other = publish(&house.hub, r##"{"value":6,"topic":"#"}"##);
    assert_eq!(other, Err(Fault::KeyReused(first)));
    let house = again(house);
    assert_eq!(
        publish(&house.hub, r##"{"value":5,"topic":"#"}"##),
        Ok(first)
    );
}

#[test]
fn a_full_catalog_takes_bytes_of_what_is_known_alone() {
    let house = new();
    let publish = |topic: &str, body: String| {
        acknowledged(
            &house.hub,
            &everyone(),
            Publish::new(topic, Media::Undeclared, body),
        )
    };
    publish("a", "1".into()).unwrap();
    house.hub.limit_catalog(house.hub.catalog_bytes().0 + 100);
    let mut live = raw(&house.hub, "a", Since::Now);
    let leaves = r#"{"b":1,"c":2}"#;
    publish("a", leaves.into()).unwrap();
    assert_eq!(bodies(&mut live), [leaves.as_bytes()]);
    assert!(matches!(
        publish("b", "1".into()),
        Err(Fault::Crowded { .. })
    ));
    let own = Publish::new("$aside/mqtt", Media::Opaque("a/b".into()), "1");
    acknowledged(&house.hub, &Principal::gateway(), own).unwrap();
}

#[test]
fn what_is_retained_at_the_gateways_topics_can_be_removed() {
    let house = new();
    let publish = |who: &Principal, body: &'static str| {
        let publish = Publish {
            retain: true,
            ..Publish::new("$aside/mqtt/1", Media::Opaque("a/b".into()), body)
        };
        acknowledged(&house.hub, who, publish)
    };
    publish(&Principal::gateway(), "set aside").unwrap();
    let operator = granted(&["$aside/mqtt/#"]);
    let kept = || house.hub.retained_counts().0;
    assert!(publish(&operator, "other").is_err() && publish(&granted(&["#"]), "").is_err());
    assert_eq!(kept(), 1);
    publish(&operator, "").unwrap();
    assert_eq!(kept(), 0);
}

#[test]
fn what_does_not_decode_under_the_limits_of_today_is_bytes() {
    let house = new();
    let two = r#"{"a":1,"b":2}"#;
    acknowledged(&house.hub, &everyone(), publication("a", two)).unwrap();
    let limits = Limits {
        observations: 1,
        ..Limits::default()
    };
    let begin = Cursor::new(house.hub.positions().0.epoch(), 0);
    let (log, tally) = (house.log.clone(), house.tally.clone());
    drop(house);
    let hub = Hub::start(log, tally, limits, at(0)).unwrap();
    let mut later = raw(&hub, "a", Since::Cursor(begin));
    assert_eq!(bodies(&mut later), [two.as_bytes()]);
}

fn problem_of(hub: &Arc<Hub>, topic: &str) -> Option<EntryProblem> {
    let filter = Filter::parse(topic).unwrap();
    let opened = hub
        .caller(at(0), &everyone())
        .and_then(|caller| caller.entries(&[filter]));
    let entries = opened.unwrap();
    let [entry] = &entries[..] else {
        panic!("no datastream {topic}");
    };
    entry.problem.as_deref().cloned()
}

/// Kinds that were counted, of whole messages and of parts.
fn counted(hub: &Hub) -> Vec<(&'static str, u64)> {
    let [_, (_, bytes), (_, parts)] = hub.problems();
    let both = bytes.into_iter().chain(parts);
    both.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn what_is_not_understood_is_seen_at_its_datastream() {
    for (body, last, kind, place) in [
        (r#"{"pm2.5+":1,"t":2}"#, ("a/t", "2"), "name", "a/pm2.5%2B"),
        (r##"{"#":5}"##, ("a/%23", "5"), "name", "a/%23"),
        (r#"{"x":NaN,"b":2}"#, ("a/b", "2"), "not-finite", "a/x"),
        (r#"{"value":1,"unit":5}"#, ("a", "1"), "member", "a"),
        (
            r#"{"value":1,"lat":100,"lon":0}"#,
            ("a", "1"),
            "member",
            "a",
        ),
        (
            r#"{"observations":[{"value":1,"topic":"a/b"},{"value":2,"topic":"x"}]}"#,
            ("a/b", "1"),
            "name",
            "a/b",
        ),
        (
            r#"{"observations":[{"value":3,"id":7}]}"#,
            ("a", "3"),
            "unknown-member",
            "a",
        ),
    ] {
        let house = new();
        let begin = house.hub.positions().0;
        for round in 1..=2 {
            let publish = Publish::new("a", Media::Undeclared, body);
            acknowledged(&house.hub, &everyone(), publish).unwrap();
            let problem = problem_of(&house.hub, place).unwrap();
            assert_eq!((problem.kind, problem.count), (kind, round), "{body}");
            assert!(problem.what.ends_with('.'), "{}", problem.what);
        }
        assert_eq!(counted(&house.hub), [(kind, 2)], "{body}");
        let house = again(house);
        let mut latest = subscribe(&house.hub, wish(&[last.0], Since::Snapshot));
        assert_eq!(house::drain(&mut latest), [last.1], "{body}");
        let mut later = raw(&house.hub, "a", Since::Cursor(begin));
        assert_eq!(bodies(&mut later), [body.as_bytes(), body.as_bytes()]);
    }
}

#[test]
fn of_undeclared_bytes_it_is_seen_what_they_look_like() {
    let house = new();
    for (topic, body, kind) in [
        ("a", &b"21.5 \xb0C"[..], "text"),
        ("b", b"\xff\xd8\xff\xe0\0", "bytes"),
        ("c", br#"{"a":"#, "format"),
    ] {
        let publish = Publish::new(topic, Media::Undeclared, body);
        acknowledged(&house.hub, &everyone(), publish).unwrap();
        assert_eq!(problem_of(&house.hub, topic).unwrap().kind, kind);
    }
    let said = Publish {
        attributes: Attributes::from(Given {
            content_type: Some("image/jpeg".into()),
            ..Given::default()
        }),
        ..Publish::new("d", Media::Undeclared, &b"\xff\xd8"[..])
    };
    acknowledged(&house.hub, &everyone(), said).unwrap();
    assert_eq!(problem_of(&house.hub, "d"), None);
    assert_eq!(
        counted(&house.hub),
        [("format", 1), ("text", 1), ("bytes", 1)]
    );
}

#[test]
fn what_is_claimed_and_is_none_of_that_is_read_as_what_it_is() {
    let house = new();
    let json = by_name("json").unwrap();
    for (topic, body, last) in [
        ("a", "21.5", "21.5"),
        ("b", "\"ON\"", "ON"),
        ("c", "true", "true"),
    ] {
        let claimed = Publish::new(topic, Media::Claimed(json), body);
        acknowledged(&house.hub, &everyone(), claimed).unwrap();
        let mut latest = subscribe(&house.hub, wish(&[topic], Since::Snapshot));
        assert_eq!(house::drain(&mut latest), [last]);
    }
    assert_eq!(counted(&house.hub), []);
}

#[test]
fn a_declared_message_is_refused_where_wrong_seen_where_odd() {
    let house = new();
    for body in [
        r#"{"value":1,"unit":5}"#,
        r#"{"observations":[{"value":1},{}]}"#,
    ] {
        let refused = acknowledged(&house.hub, &everyone(), publication("a", body));
        assert!(matches!(refused, Err(Fault::Undecodable { .. })), "{body}");
    }
    acknowledged(
        &house.hub,
        &everyone(),
        publication("a", r#"{"x":NaN,"b+":2}"#),
    )
    .unwrap();
    assert_eq!(counted(&house.hub), [("not-finite", 1), ("name", 1)]);
}

#[test]
fn a_value_is_taken_without_what_may_not_be_published() {
    let json = by_name("json").unwrap();
    for media in [Media::Undeclared, Media::Claimed(json), Media::Format(json)] {
        let house = new();
        let body = r#"{"value":1,"battery":80}"#;
        let device = granted(&["zz/lamp"]);
        let mut live = raw(&house.hub, "zz/#", Since::Now);
        let begin = house.hub.positions().0;
        let publish = Publish::new("zz/lamp", media, body);
        acknowledged(&house.hub, &device, publish).unwrap();
        assert_eq!(bodies(&mut live), [body.as_bytes()]);
        assert_eq!(counted(&house.hub), [("rights", 1)]);
        assert_eq!(problem_of(&house.hub, "zz/lamp").unwrap().kind, "rights");
        drop(live);
        let house = again(house);
        let mut later = subscribe(&house.hub, wish(&["zz/#"], Since::Cursor(begin)));
        assert_eq!(house::drain(&mut later), ["1"]);
        let mut latest = subscribe(&house.hub, wish(&["zz/#"], Since::Snapshot));
        assert_eq!(house::drain(&mut latest), ["1"]);
        let everything = granted(&["zz/#"]);
        let publish = Publish::new("zz/lamp", Media::Undeclared, body);
        acknowledged(&house.hub, &everything, publish).unwrap();
        assert_eq!(house::drain(&mut latest), ["1\n80"]);
    }
    let house = new();
    let flat = Publish::new("zz/lamp", Media::Format(json), r#"{"state":"ON"}"#);
    let refused = acknowledged(&house.hub, &granted(&["zz/lamp"]), flat);
    assert!(matches!(refused, Err(Fault::Denied { .. })));
}

#[test]
fn who_can_be_told_that_he_contradicts_a_declaration_is_told() {
    let house = new();
    let declared = Datastream {
        unit: Some("m".into()),
        ..Datastream::default()
    };
    let who = everyone();
    let caller = house.hub.caller(at(0), &who).unwrap();
    caller.change("a", Some(declared)).unwrap();
    let json = by_name("json").unwrap();
    let body = r#"{"value":5,"unit":"s"}"#;
    let mut live = raw(&house.hub, "a", Since::Now);
    for media in [Media::Undeclared, Media::Claimed(json), Media::Format(json)] {
        let told = Publish {
            is_answered: true,
            ..Publish::new("a", media, body)
        };
        let refused = acknowledged(&house.hub, &everyone(), told);
        assert!(matches!(refused, Err(Fault::Contradicted { .. })));
    }
    assert!(bodies(&mut live).is_empty());
    assert_eq!((unread(&house.hub), house.hub.counts().refused), (0, 3));
    for media in [Media::Undeclared, Media::Claimed(json)] {
        acknowledged(&house.hub, &everyone(), Publish::new("a", media, body)).unwrap();
        assert_eq!(bodies(&mut live), [body.as_bytes()]);
    }
    assert_eq!(unread(&house.hub), 2);
    let problem = problem_of(&house.hub, "a").unwrap();
    assert!(problem.what.contains("`m`") && problem.what.contains("PUT /catalog"));
    // What is not understood at all stays bytes, told or not.
    let odd = Publish {
        is_answered: true,
        ..Publish::new("a", Media::Undeclared, "{")
    };
    acknowledged(&house.hub, &everyone(), odd).unwrap();
}
