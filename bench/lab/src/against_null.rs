//! The whole load against null servers, in one process: what is published arrives, once.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;

use crate::targets::{Target, list};
use weir_bench_load::load::job::{ReadsPlan, ReplayPlan, TrafficOutcome, TrafficPlan};
use weir_bench_load::load::message::REPLAY_TOPIC;
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_load::load::{reads, replay, traffic};
use weir_bench_load::null::Null;
use weir_bench_model::body::Body;
use weir_bench_model::cell::Scheme;
use weir_bench_model::pace::Pace;

const PACE: Pace = Pace::Open {
    rate: 500.0,
    warm_up_ms: 20,
    measure_ms: 100,
};

fn null_server(coalesce: bool) -> SocketAddr {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (null, address) = Null::listen(std::net::Ipv4Addr::LOCALHOST, coalesce).unwrap();
        sender.send(address).unwrap();
        null.serve()
    });
    receiver.recv().unwrap()
}

fn publish(topic: &str) -> PublishWire {
    null_target().publish.map(|publish| publish(topic)).unwrap()
}

fn null_target() -> &'static Target {
    list::named("null_coalescing").unwrap()
}

fn deliver(address: SocketAddr, subscribe: SubscribeWire) -> Result<TrafficOutcome, String> {
    let plan = TrafficPlan {
        publish: publish("bench/x"),
        publishers: 2,
        body: Body::Stamped,
        subscribe: Some(subscribe),
        subscribers: 5,
        subscribe_at: None,
        pace: PACE,
        share: None,
    };
    traffic::run(address, &plan)
}

#[test]
fn every_message_reaches_every_subscriber_by_every_scheme() {
    for coalesce in [false, true] {
        for scheme in [
            Scheme::Sse,
            Scheme::WebSocket,
            Scheme::Streaming,
            Scheme::LongPolling,
        ] {
            let address = null_server(coalesce);
            let wire = (null_target().subscribe)(scheme, "bench/x").unwrap();
            let outcome = deliver(address, wire).unwrap();
            assert_eq!(outcome.sent, 50, "{scheme:?}");
            assert_eq!(outcome.acknowledged, outcome.sent, "{scheme:?}");
            assert_eq!(
                (outcome.expected, outcome.received),
                (250, 250),
                "{scheme:?}"
            );
            assert_eq!(outcome.delivery.count(), 250, "{scheme:?}");
        }
    }
}

#[test]
fn a_window_counts_what_is_acknowledged() {
    let plan = TrafficPlan {
        publish: publish("bench"),
        publishers: 3,
        body: Body::JsonBatch(10),
        subscribe: None,
        subscribers: 0,
        subscribe_at: None,
        pace: Pace::Window {
            outstanding: 2,
            warm_up_ms: 0,
            measure_ms: 50,
        },
        share: None,
    };
    let outcome = traffic::run(null_server(true), &plan).unwrap();
    assert!(outcome.sent >= 6);
    assert_eq!((outcome.acknowledged, outcome.refused), (outcome.sent, 0));
}

#[test]
fn a_subscription_that_is_refused_says_with_which_answer() {
    let request = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n".into();
    let wire = SubscribeWire::Stream { request };
    let error = deliver(null_server(false), wire).unwrap_err();
    assert!(
        error.contains("connection 1") && error.contains("404 Not Found"),
        "{error}"
    );
}

#[test]
fn a_target_that_is_gone_is_named_as_such() {
    let wire = (null_target().subscribe)(Scheme::Sse, "bench/x").unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = deliver(nobody, wire).unwrap_err();
    assert!(error.contains("connect: "), "{error}");
}

#[test]
fn a_replay_gives_back_all_that_was_published() {
    let requests = (null_target().replay.unwrap())(REPLAY_TOPIC);
    let plan = ReplayPlan {
        publish: publish(REPLAY_TOPIC),
        body: Body::JsonBatch(100),
        messages: 30,
        cursor_request: requests.cursor_request,
        replay_request: requests.replay_request,
    };
    let outcome = replay::run(null_server(true), &plan).unwrap();
    assert_eq!((outcome.expected, outcome.received), (3000, 3000));
}

#[test]
fn lines_are_read_to_the_last_and_one_too_few_is_no_answer() {
    let address = null_server(true);
    let plan = |expected| ReadsPlan {
        request: "GET /lines?count=30000&width=27 HTTP/1.1\r\nHost: localhost\r\n\r\n".into(),
        marker: "\n".into(),
        expected,
        warm_up_ms: 0,
        measure_ms: 20,
    };
    let outcome = reads::measure(address, &plan(30_000)).unwrap();
    assert!(outcome.times_us.len() >= 3);
    assert_eq!(outcome.answer_bytes, 30_000 * 27);
    assert!(outcome.times_us.iter().sum::<f64>() <= outcome.seconds * 1e6);
    let few = reads::measure(address, &plan(30_001)).unwrap_err();
    assert_eq!(few, "30000 observations in an answer, of 30001");
}
