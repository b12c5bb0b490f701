//! Spans of a message's way, as a tracer gets them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod house;

use house::{acknowledged, at, everyone, new, publication};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use weir_hub::trace::{Fact, Incoming, Parent, Span, SpanKind, Tracer};
use weir_hub::{Attributes, Given, Publish, Shape, Subscribe};
use weir_model::Filter;

/// Keeps all spans; its clock goes on by one whenever it is asked.
#[derive(Default)]
struct All {
    spans: Mutex<Vec<Span>>,
    clock: AtomicU64,
}

const BEGIN: u64 = 2_000_000_000_000_000_000;

impl Tracer for All {
    fn now(&self) -> u64 {
        BEGIN + self.clock.fetch_add(1, Ordering::Relaxed)
    }
    fn begin(&self, parent: Option<&Parent>) -> Option<[u8; 16]> {
        Some(parent.map_or([7; 16], |parent| parent.trace))
    }
    fn span_id(&self) -> [u8; 8] {
        self.clock.fetch_add(1, Ordering::Relaxed).to_be_bytes()
    }
    fn take(&self, span: Span) {
        self.spans.lock().unwrap().push(span);
    }
}

impl All {
    fn names(&self) -> Vec<&'static str> {
        let spans = self.spans.lock().unwrap();
        spans.iter().map(|span| span.name).collect()
    }
}

fn traced() -> (house::House, Arc<All>) {
    let (house, all) = (new(), Arc::new(All::default()));
    house.hub.trace(all.clone());
    assert!(house.hub.is_traced());
    (house, all)
}

const PARENT: Parent = Parent {
    trace: [1; 16],
    span: [2; 8],
    sampled: true,
};

#[test]
fn the_steps_of_a_publication_are_parts_of_it() {
    let (house, all) = traced();
    let publish = Publish {
        incoming: Incoming {
            parent: Some(PARENT),
            began: Some(at(0)),
        },
        ..publication("a/b", r#"{"value":1}"#)
    };
    acknowledged(&house.hub, &everyone(), publish).unwrap();
    let steps = ["receive", "decode", "append", "route", "commit", "publish"];
    assert_eq!(all.names(), steps);
    let spans = all.spans.lock().unwrap();
    let (root, parts) = spans.split_last().unwrap();
    assert_eq!((root.trace, root.parent), ([1; 16], Some([2; 8])));
    assert_eq!(root.kind, SpanKind::Server);
    assert_eq!(
        root.begin,
        at(0).nanos() as u64,
        "as its first bytes were there"
    );
    assert!(
        root.facts
            .contains(&("messaging.destination.name", Fact::Text("a/b".into())))
    );
    assert!(parts.iter().all(|part| part.parent == Some(root.id)));
}

#[test]
fn a_refusal_is_one_too() {
    let (house, all) = traced();
    let refused = acknowledged(&house.hub, &everyone(), publication("a", "["));
    assert!(refused.is_err());
    assert_eq!(all.names(), ["receive", "publish"]);
    let fault = all.spans.lock().unwrap()[1].fault.clone().unwrap();
    assert!(fault.contains("json"), "{fault}");
}

#[test]
fn a_delivery_lasts_until_the_subscriber_comes_back() {
    let (house, all) = traced();
    let filters = vec![Filter::parse("#").unwrap()];
    let gateway = house.hub.internal().at(at(0));
    let wish = Subscribe::new(filters, Shape::Items);
    let mut reader = gateway.subscribe(wish).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let count = |name| all.names().iter().filter(|it| **it == name).count();
    for round in 1..=2 {
        acknowledged(&house.hub, &everyone(), publication("a", r#"{"value":1}"#)).unwrap();
        assert!(reader.poll_next(&mut cx).is_ready());
        assert_eq!(count("deliver"), round - 1, "it has it, and is not back");
        assert!(round == 2 || reader.poll_next(&mut cx).is_pending());
        assert_eq!(count("deliver"), 1);
    }
    drop(reader);
    assert_eq!(count("deliver"), 2);
}

#[test]
fn a_property_of_the_message_names_its_trace() {
    let (house, all) = traced();
    let field = format!("00-{}-{}-01", "01".repeat(16), "02".repeat(8));
    let given = Given {
        properties: vec![("traceparent".into(), field)],
        ..Given::default()
    };
    let publish = Publish {
        attributes: Attributes::from(given),
        ..publication("a", r#"{"value":1}"#)
    };
    acknowledged(&house.hub, &everyone(), publish).unwrap();
    let spans = all.spans.lock().unwrap();
    let root = spans.last().unwrap();
    assert_eq!((root.trace, root.parent), ([1; 16], Some([2; 8])));
}
