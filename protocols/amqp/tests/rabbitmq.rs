//! The client's machines against a real RabbitMQ, by AMQP 0.9.1 and by 1.0: one node, one test after the other.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a broker and waits for it"
)]

mod broker;

use broker::{Broker, Client, broker};
use weir_amqp::client::{ClientEvent, ClosedKind, Incoming, Options, Settle};

const VERSIONS: [&str; 2] = ["0.9.1", "1.0"];

/// What a test does with a broker that it may restart.
type Test = fn(&mut Broker, &str);

#[test]
fn a_real_rabbitmq() {
    let Some(mut rabbitmq) = broker("a_real_rabbitmq") else {
        return;
    };
    let tests: [(&str, Test); 6] = [
        (
            "a message comes with its topic, type and properties",
            there_and_back,
        ),
        (
            "a wildcard is a wildcard, a point in a topic is none",
            topics,
        ),
        (
            "credentials that are wrong are refused as such",
            wrong_credentials,
        ),
        (
            "no more than the prefetch is under way, and all comes",
            prefetch,
        ),
        (
            "what is no message for the hub is rejected, and the rest flows on",
            poison,
        ),
        ("a body of many frames comes whole", large),
    ];
    for version in VERSIONS {
        for (what, test) in tests {
            println!("{version}: {what}");
            test(&mut rabbitmq, version);
        }
    }
    println!("0.9.1: what a broker has confirmed is there after it was killed");
    restarted(&mut rabbitmq);
}

/// Nobody here has a clock that tells of silence.
fn quiet() -> Options {
    Options {
        idle_secs: 0,
        ..Options::default()
    }
}

fn to(filter: &str) -> Options {
    Options {
        filters: vec![filter.into()],
        ..quiet()
    }
}

fn from_here() -> Options {
    Options {
        publishes: true,
        ..quiet()
    }
}

fn publish(client: &mut Client, topic: &str, payload: &[u8]) {
    client.publish(topic, payload, 7);
    assert_eq!(
        client.next(),
        Some(ClientEvent::Confirmed(7, Ok(()))),
        "{topic}"
    );
}

fn message(client: &mut Client) -> Incoming {
    match client.next() {
        Some(ClientEvent::Message(message)) => *message,
        other => panic!("no message but {other:?}"),
    }
}

fn accept(client: &mut Client) -> Incoming {
    let message = message(client);
    client.machine.settle(message.tag, Settle::Accept);
    message
}

fn there_and_back(rabbitmq: &mut Broker, version: &str) {
    let mut subscriber = rabbitmq.client(version, to("site/a"));
    let mut publisher = rabbitmq.client(version, from_here());
    publish(&mut publisher, "site/a", b"21.5");
    let came = accept(&mut subscriber);
    assert_eq!(
        (came.topic.as_str(), &came.payload[..]),
        ("site/a", &b"21.5"[..])
    );
    assert_eq!(came.content_type.as_deref(), Some("text/plain"));
    let via = ("weir-via".to_owned(), "here".to_owned());
    assert!(came.headers.contains(&via), "{:?}", came.headers);
}

fn topics(rabbitmq: &mut Broker, version: &str) {
    let mut subscriber = rabbitmq.client(version, to("site/+/t"));
    let mut publisher = rabbitmq.client(version, from_here());
    for topic in [
        "site/a/b/t",
        "site/v1.5/t",
        "site/a.b/t",
        "site/x",
        "site/b/t",
    ] {
        publish(&mut publisher, topic, topic.as_bytes());
    }
    for topic in ["site/v1.5/t", "site/a.b/t", "site/b/t"] {
        assert_eq!(accept(&mut subscriber).topic, topic);
    }
}

fn wrong_credentials(rabbitmq: &mut Broker, version: &str) {
    let options = Options {
        login: Some(("guest".into(), "wrong".into())),
        ..Options::default()
    };
    match rabbitmq.connect(version, options).next() {
        Some(ClientEvent::Closed(closed)) => {
            assert_eq!(closed.kind, ClosedKind::Refused, "{closed:?}")
        }
        // Its plug-in of 1.0 closes the socket without an outcome.
        None => assert_eq!(version, "1.0"),
        other => panic!("{version}: {other:?}"),
    }
}

fn prefetch(rabbitmq: &mut Broker, version: &str) {
    let options = Options {
        prefetch: 2,
        ..to("p/#")
    };
    let mut subscriber = rabbitmq.client(version, options);
    let mut publisher = rabbitmq.client(version, from_here());
    let mut other = rabbitmq.client(version, to("p/#"));
    for number in 0..6 {
        publish(&mut publisher, "p/a", &[number]);
    }
    // The other has all six, so the broker has sent what it may to the first: two.
    for _ in 0..6 {
        accept(&mut other);
    }
    let held = [message(&mut subscriber), message(&mut subscriber)];
    for message in &held {
        subscriber.machine.settle(message.tag, Settle::Accept);
    }
    let rest: Vec<u8> = (0..4).map(|_| accept(&mut subscriber).payload[0]).collect();
    assert_eq!(rest, [2, 3, 4, 5]);
}

fn poison(rabbitmq: &mut Broker, version: &str) {
    let mut subscriber = rabbitmq.client(version, to("q/#"));
    let mut publisher = rabbitmq.client(version, from_here());
    // A routing key with a wildcard of AMQP in it, which as a topic would be a filter.
    publish(&mut publisher, "q/+", b"bad");
    publish(&mut publisher, "q/good", b"good");
    match subscriber.next() {
        Some(ClientEvent::Poison {
            tag, key, reason, ..
        }) => {
            assert!(key == "q.*" && reason.contains('*'), "{key} {reason}");
            subscriber.machine.settle(tag, Settle::Reject);
        }
        other => panic!("{version}: {other:?}"),
    }
    assert_eq!(accept(&mut subscriber).topic, "q/good");
}

fn large(rabbitmq: &mut Broker, version: &str) {
    let body: Vec<u8> = (0..700_000_u32).map(|number| number as u8).collect();
    let mut subscriber = rabbitmq.client(version, to("large"));
    let mut publisher = rabbitmq.client(version, from_here());
    publish(&mut publisher, "large", &body);
    assert!(
        accept(&mut subscriber).payload == body,
        "{version}: another body came"
    );
}

fn restarted(rabbitmq: &mut Broker) {
    let kept = || Options {
        queue: Some("weir-test".into()),
        ..to("kept/#")
    };
    let mut subscriber = rabbitmq.client("0.9.1", kept());
    let mut publisher = rabbitmq.client("0.9.1", from_here());
    publish(&mut publisher, "kept/a", b"1");
    // It comes, and is not acknowledged.
    assert_eq!(message(&mut subscriber).payload, "1");
    rabbitmq.stop();
    assert!(!matches!(subscriber.next(), Some(ClientEvent::Message(_))));
    rabbitmq.start();
    let mut subscriber = rabbitmq.client("0.9.1", kept());
    let again = accept(&mut subscriber);
    assert_eq!((&again.payload[..], again.redelivered), (&b"1"[..], true));
}
