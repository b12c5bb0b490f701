//! Raw readers: messages as published, whole where their own topic matches, else what matches of them.
#![allow(clippy::unwrap_used)]

mod house;

use house::{acknowledged, drain, everyone, new, publication, publish, subscribe, take_all, wish};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weir_hub::{
    Attributes, Content, Frame, Framing, FramingKey, Given, Grants, Hub, Item, Media, Next,
    Principal, Publish, Rows, Shape, Since, Subscribe, Subscription, Verb,
};
use weir_model::{Cursor, Filter};

/// Frames as `TOPIC BODY;`, with the datastreams' topics where a part is due.
struct AsPublished;

impl Framing for AsPublished {
    fn key(&self) -> FramingKey {
        ("as-published", 0)
    }
    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let (item, payload) = (frame.item.unwrap(), frame.payload.unwrap());
        out.extend_from_slice(item.message.topic.as_bytes());
        out.push(b' ');
        out.extend_from_slice(payload);
        if !item.whole {
            out.extend_from_slice(format!(" {:?}", parts(item)).as_bytes());
        }
        out.push(b';');
    }
}

/// Topic and rows of each datastream that is due.
fn parts(item: &Item) -> Vec<(String, usize)> {
    let each = item.datastreams().into_iter();
    each.map(|batch| (batch.stream(0).topic.to_owned(), batch.len()))
        .collect()
}

fn raw(filters: &[&str], since: Since) -> Subscribe {
    Subscribe {
        raw: true,
        shape: Shape::Items,
        ..wish(filters, since)
    }
}

fn framed(filters: &[&str]) -> Subscribe {
    let shape = Shape::Framed(&weir_codec::FORMATS[0], Arc::new(AsPublished));
    Subscribe {
        shape,
        ..raw(filters, Since::Now)
    }
}

/// What a raw reader was handed: `TOPIC*` whole, `TOPIC[DATASTREAMS]` in part.
fn seen(subscription: &mut Subscription) -> Vec<String> {
    let taken = take_all(subscription).into_iter();
    let items = taken.flat_map(|next| match next {
        Next::Items(items, _) => items.to_vec(),
        _ => Vec::new(),
    });
    let said = items.map(|item| {
        let topics: Vec<_> = parts(&item).into_iter().map(|(topic, _)| topic).collect();
        match item.whole {
            true => format!("{}*", item.message.topic),
            false => format!("{}[{}]", item.message.topic, topics.join(" ")),
        }
    });
    said.collect()
}

const FLAT: &str = r#"{"temperature":21.5,"humidity":40}"#;

fn undeclared(hub: &Arc<Hub>, topic: &str, body: &'static [u8]) {
    let publish = Publish::new(topic, Media::Undeclared, body);
    acknowledged(hub, &everyone(), publish).unwrap();
}

#[test]
fn a_message_comes_whole_where_its_own_topic_matches() {
    let house = new();
    let expected = [
        (&["kitchen"][..], "kitchen*"),
        (&["#"], "kitchen*"),
        (&["kitchen/#"], "kitchen*"),
        (
            &["kitchen/+"],
            "kitchen[kitchen/temperature kitchen/humidity]",
        ),
        (&["kitchen/humidity"], "kitchen[kitchen/humidity]"),
        (&["kitchen/humidity", "+"], "kitchen*"),
    ];
    let begin = house.hub.positions().0;
    let mut live: Vec<_> = expected
        .iter()
        .map(|(filters, _)| subscribe(&house.hub, raw(filters, Since::Now)))
        .collect();
    let mut elsewhere = subscribe(&house.hub, raw(&["cellar/#", "+/+/+"], Since::Now));
    acknowledged(&house.hub, &everyone(), publication("kitchen", FLAT)).unwrap();
    for (reader, (filters, expected)) in live.iter_mut().zip(expected) {
        assert_eq!(seen(reader), [expected], "live {filters:?}");
        let since = Since::Cursor(begin);
        let mut replayed = subscribe(&house.hub, raw(filters, since));
        assert_eq!(seen(&mut replayed), [expected], "replayed {filters:?}");
    }
    assert!(seen(&mut elsewhere).is_empty());
}

#[test]
fn raw_bytes_are_framed_once_as_published_and_not_with_others() {
    let house = new();
    let mut readers: Vec<_> = (0..3)
        .map(|_| subscribe(&house.hub, framed(&["kitchen/#"])))
        .collect();
    let mut encoded = subscribe(&house.hub, wish(&["kitchen/#"], Since::Now));
    assert_eq!(house.hub.gauges().1, 2);
    undeclared(&house.hub, "kitchen", b"{ \"temperature\" : 21.50 }");
    undeclared(&house.hub, "kitchen/photo", b"\xff\xd8");
    for reader in &mut readers {
        let taken = take_all(reader);
        let [Next::Bytes(bytes, _)] = &taken[..] else {
            unreachable!("one chunk of all: {taken:?}");
        };
        let expected = b"kitchen { \"temperature\" : 21.50 };kitchen/photo \xff\xd8;";
        assert_eq!(bytes[..], expected[..]);
    }
    assert_eq!(drain(&mut encoded), ["21.5"]);
}

/// Frames as `NUMBER;`, counted over all frames that were made.
struct Aging(AtomicU32);

impl Framing for Aging {
    fn key(&self) -> FramingKey {
        ("aging", 0)
    }
    fn frame(&self, _frame: &Frame<'_>, out: &mut Vec<u8>) {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        out.extend_from_slice(format!("{number};").as_bytes());
    }
    fn ages(&self) -> bool {
        true
    }
}

#[test]
fn frames_of_what_expires_are_made_when_they_are_taken() {
    let house = new();
    let aging: Arc<dyn Framing> = Arc::new(Aging(AtomicU32::new(0)));
    let mut readers: Vec<_> = (0..2)
        .map(|_| {
            let shape = Shape::Framed(&weir_codec::FORMATS[0], aging.clone());
            let wish = raw(&["a"], Since::Now);
            subscribe(&house.hub, Subscribe { shape, ..wish })
        })
        .collect();
    let mut taken = |expires: Option<i64>| -> Vec<String> {
        let mut publish = Publish::new("a", Media::Undeclared, "1");
        publish.attributes = Attributes::from(Given {
            expires: expires.map(house::at),
            ..Given::default()
        });
        acknowledged(&house.hub, &everyone(), publish).unwrap();
        let taken = readers
            .iter_mut()
            .map(|reader| match take_all(reader).pop() {
                Some(Next::Bytes(bytes, _)) => String::from_utf8(bytes.to_vec()).unwrap(),
                _ => panic!("nothing came"),
            });
        taken.collect()
    };
    assert_eq!(taken(None), ["0;", "0;"]);
    assert_eq!(taken(Some(1000)), ["1;", "2;"]);
}

#[test]
fn bytes_of_no_format_have_the_content_type_that_was_given() {
    let house = new();
    let mut reader = subscribe(&house.hub, raw(&["a"], Since::Now));
    for (given, expected) in [
        (None, "application/octet-stream"),
        (Some("image/png"), "image/png"),
    ] {
        let mut publish = Publish::new("a", Media::Undeclared, &b"\xff\xd8"[..]);
        publish.attributes = Attributes::from(Given {
            content_type: given.map(Into::into),
            ..Given::default()
        });
        acknowledged(&house.hub, &everyone(), publish).unwrap();
        let taken = take_all(&mut reader).pop();
        let Some(Next::Items(items, _)) = taken else {
            panic!("nothing came");
        };
        assert!(
            matches!(&items[0].message.content, Content::Opaque(media) if **media == *expected)
        );
    }
}

#[test]
fn opaque_messages_reach_raw_readers_only() {
    let house = new();
    let begin = house.hub.positions().0;
    let items = Subscribe {
        raw: false,
        ..raw(&["#"], Since::Now)
    };
    let mut ordinary = subscribe(&house.hub, items.clone());
    let mut reader = subscribe(&house.hub, raw(&["#"], Since::Now));
    undeclared(&house.hub, "door/photo", b"\xff\xd8");
    undeclared(&house.hub, "door/empty", b"");
    assert_eq!(seen(&mut reader), ["door/photo*", "door/empty*"]);
    assert!(seen(&mut ordinary).is_empty());
    let resumed = Subscribe {
        since: Since::Cursor(begin),
        ..items
    };
    assert!(seen(&mut subscribe(&house.hub, resumed)).is_empty());
    let mut resumed = subscribe(&house.hub, raw(&["door/+"], Since::Cursor(begin)));
    assert_eq!(seen(&mut resumed), ["door/photo*", "door/empty*"]);
}

#[test]
fn a_message_comes_whole_to_who_may_read_all_in_it() {
    let house = new();
    let of = |filters: &[&str]| {
        let rules = filters
            .iter()
            .map(|text| (Verb::Read, Filter::parse(text).unwrap()));
        Principal {
            name: "guest".into(),
            grants: Arc::new(Grants::new(rules.collect())),
            standing: Default::default(),
        }
    };
    let begin = house.hub.positions().0;
    let cases = [
        (of(&["kitchen/#"]), vec!["kitchen*"]),
        (
            of(&["kitchen/+"]),
            vec!["kitchen[kitchen/temperature kitchen/humidity]"],
        ),
        (
            of(&["kitchen", "kitchen/humidity"]),
            vec!["kitchen[kitchen/humidity]"],
        ),
        (of(&["kitchen"]), vec![]),
    ];
    let wanted = |since| raw(&["kitchen/#"], since);
    let mut live: Vec<_> = cases
        .iter()
        .map(|(who, _)| house::subscribe_as(&house.hub, who, wanted(Since::Now)).unwrap())
        .collect();
    acknowledged(&house.hub, &everyone(), publication("kitchen", FLAT)).unwrap();
    for (reader, (who, expected)) in live.iter_mut().zip(&cases) {
        assert_eq!(&seen(reader), expected, "{:?}", who.grants);
        let since = wanted(Since::Cursor(begin));
        let mut replayed = house::subscribe_as(&house.hub, who, since).unwrap();
        assert_eq!(&seen(&mut replayed), expected, "{:?}", who.grants);
    }
}

#[test]
fn readers_that_come_and_go_are_found_anew() {
    let house = new();
    undeclared(&house.hub, "a", b"1");
    let mut first = subscribe(&house.hub, raw(&["a"], Since::Now));
    undeclared(&house.hub, "a", b"2");
    let mut second = subscribe(&house.hub, raw(&["+"], Since::Now));
    undeclared(&house.hub, "a", b"3");
    assert_eq!((seen(&mut first).len(), seen(&mut second).len()), (2, 1));
    drop(first);
    undeclared(&house.hub, "a", b"4");
    assert_eq!(seen(&mut second).len(), 1);
}

#[test]
fn a_condition_leaves_of_a_raw_message_what_satisfies_it() {
    let house = new();
    let wanted = Subscribe {
        condition: Some("value>30".parse().unwrap()),
        ..raw(&["kitchen"], Since::Now)
    };
    let mut reader = subscribe(&house.hub, wanted);
    acknowledged(&house.hub, &everyone(), publication("kitchen", FLAT)).unwrap();
    undeclared(&house.hub, "kitchen", b"\xff");
    let taken = take_all(&mut reader);
    let [Next::Items(items, _)] = &taken[..] else {
        unreachable!("one message is due: {taken:?}");
    };
    assert_eq!(items.len(), 1);
    assert!(items[0].whole && matches!(&items[0].rows, Rows::Some(rows) if **rows == [1]));
}

#[test]
fn raw_readers_resume_from_the_log_as_from_memory() {
    let house = new();
    undeclared(&house.hub, "a", b"\xff");
    publish(&house.hub, "b/c", 1.0);
    weir_hub::Log::close(&*house.log).unwrap();
    let disk = house.disk.clone();
    drop(house);
    let house = house::open(disk);
    let mut reader = subscribe(&house.hub, raw(&["#"], Since::Cursor(Cursor::START)));
    assert_eq!(seen(&mut reader), ["a*", "b/c*"]);
    publish(&house.hub, "b/c", 2.0);
    assert_eq!(seen(&mut reader), ["b/c*"]);
}
