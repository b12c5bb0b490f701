//! Several hubs of one log.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::stream::{Gateway, Nothing, Stream};
use crate::caller::Caller;
use crate::fault::Fault;
use crate::requests::{Media, Publish};
use crate::state::withdrawn::Place;
use crate::ticket::Ticket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use weir_model::{Cursor, Datastream, Filter, Time};

fn caller(gateway: &Gateway) -> Caller<'_> {
    gateway.hub.internal().at(Time::from_nanos(1))
}

fn publish(gateway: &Gateway, topic: &str, body: &'static str) -> Result<Ticket, Fault> {
    let publish = Publish::new(topic, Media::Undeclared, body);
    caller(gateway).publish(publish)
}

fn poll(ticket: &Ticket) -> Poll<Result<Cursor, Fault>> {
    ticket.poll(&mut Context::from_waker(Waker::noop()))
}

fn values(gateway: &Gateway) -> Vec<(String, Option<f64>)> {
    let filters = vec![Filter::parse("#").unwrap()];
    let latest = caller(gateway).latest(&filters).unwrap();
    let rows = latest.batch.rows();
    rows.map(|row| (row.topic.to_owned(), row.value.number()))
        .collect()
}

#[test]
fn a_datastream_too_many_is_refused_unless_the_log_has_it() {
    let stream = Arc::new(Stream::default());
    let gateway = stream.gateway(Arc::new(Nothing::default()));
    gateway.hub.core().catalog.most = 1;
    let both = ["a", "b"].map(|topic| publish(&gateway, topic, r#"{"value":1}"#).unwrap());
    stream.settle(&[&gateway]);
    // There was room for each as it came.
    both.iter()
        .for_each(|ticket| assert!(poll(ticket).is_ready()));
    let taken = ["a", "b"].map(|topic| (topic.to_owned(), Some(1.0)));
    assert_eq!(values(&gateway), taken);
    for body in [r#"{"value":1}"#, "\0\u{1}"] {
        let refused = publish(&gateway, "c", body).err();
        assert!(matches!(
            refused,
            Some(Fault::OverLimit {
                what: "datastreams",
                ..
            })
        ));
    }
    assert!(publish(&gateway, "a", r#"{"value":2}"#).is_ok());
}

fn number(gateway: &Gateway, topic: &str) -> Option<u32> {
    gateway.hub.stood(topic).map(|stood| stood.number)
}

/// The numbers of topics on each gateway, all of which the log says.
fn numbers(gateways: &[&Gateway], topics: &[&str]) -> Vec<Vec<Option<u32>>> {
    let of = |gateway: &&Gateway| {
        let core = gateway.hub.core();
        assert_eq!(core.catalog.unnumbered().count(), 0);
        drop(core);
        topics.iter().map(|topic| number(gateway, topic)).collect()
    };
    gateways.iter().map(of).collect()
}

#[test]
fn a_restarted_gateway_numbers_what_is_new_as_others_do() {
    let stream = Arc::new(Stream::default());
    let [a, b] = [0, 1].map(|_| stream.gateway(Arc::new(Nothing::default())));
    publish(&a, "bytes", "\0\u{1}").unwrap();
    publish(&a, "one", r#"{"value":1}"#).unwrap();
    publish(&a, "two", r#"{"value":1}"#).unwrap();
    stream.settle(&[&a, &b]);
    let known = caller(&a).change("one", Some(Default::default())).unwrap();
    stream.settle(&[&a, &b]);
    assert!(poll(&known).is_ready());
    assert_eq!(number(&a, "bytes"), None);
    drop(b);
    let b = stream.gateway(Arc::new(Nothing::default()));
    publish(&b, "three", r#"{"value":1}"#).unwrap();
    stream.settle(&[&a, &b]);
    let found = numbers(&[&a, &b], &["one", "two", "three"]);
    assert_eq!(found, vec![vec![Some(1), Some(2), Some(3)]; 2]);
}

#[test]
fn gateways_that_count_otherwise_take_the_logs_first_number() {
    let stream = Arc::new(Stream::default());
    let a = stream.gateway(Arc::new(Nothing::default()));
    for topic in ["one", "two"] {
        publish(&a, topic, r#"{"value":1}"#).unwrap();
    }
    stream.settle(&[&a]);
    // The greatest number is of one that was forgotten: who starts now does not know it.
    caller(&a).change("two", None).unwrap();
    stream.settle(&[&a]);
    let b = stream.gateway(Arc::new(Nothing::default()));
    for (at, topic) in [(&b, "three"), (&a, "four"), (&b, "five"), (&a, "six")] {
        caller(at).change(topic, Some(Default::default())).unwrap();
        publish(at, &format!("{topic}/more"), r#"{"value":1}"#).unwrap();
    }
    while stream.keep(false) {}
    b.take();
    a.take();
    stream.settle(&[&a, &b]);
    let topics = [
        "one",
        "three",
        "four",
        "five",
        "six",
        "three/more",
        "six/more",
    ];
    let found = numbers(&[&a, &b], &topics);
    assert_eq!(found[0], found[1]);
    let mut given = found[0].clone();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), given[0].is_some()), (topics.len(), true));
    let again = stream.gateway(Arc::new(Nothing::default()));
    assert_eq!(numbers(&[&again], &topics)[0], found[0]);
}

#[test]
fn entities_put_together_wait_until_the_log_has_all() {
    let stream = Arc::new(Stream::default());
    let a = stream.gateway(Arc::new(Nothing::default()));
    let both = ["s/1", "s/2"].map(|key| (key.to_owned(), Some("{}".into())));
    let ticket = caller(&a).put(both.into()).unwrap();
    assert!(stream.keep(true) && stream.keep(false));
    a.take();
    assert!(poll(&ticket).is_pending(), "the first one is kept nowhere");
    let both = ["s/1", "s/2"].map(|key| (key.to_owned(), Some("{}".into())));
    let ticket = caller(&a).put(both.into()).unwrap();
    stream.settle(&[&a]);
    assert!(poll(&ticket).is_ready());
}

#[test]
fn how_a_datastream_stood_before_a_message_is_known() {
    let stream = Arc::new(Stream::default());
    let [a, b] = [0, 1].map(|_| stream.gateway(Arc::new(Nothing::default())));
    let tickets = [&a, &b, &a].map(|at| publish(at, "one", r#"{"value":1}"#).unwrap());
    stream.settle(&[&a, &b]);
    let count = |at: &Gateway, ticket: &Ticket| {
        assert!(poll(ticket).is_ready());
        let stood = at.hub.stood_before("one", ticket).unwrap();
        (stood.number, stood.newest.of(Time::from_nanos(1)))
    };
    assert_eq!(count(&a, &tickets[0]), (1, Some(0)));
    assert_eq!(count(&b, &tickets[1]), (1, Some(1)));
    assert_eq!(count(&a, &tickets[2]), (1, Some(2)));
}

#[test]
fn who_follows_the_log_waits_for_no_withdrawal() {
    let stream = Arc::new(Stream::default());
    let history = Arc::new(Nothing::default());
    let a = stream.gateway(history.clone());
    publish(&a, "one", r#"{"value":1}"#).unwrap();
    stream.settle(&[&a]);
    history.is_away.store(true, Ordering::SeqCst);
    let place = Place {
        topic: "one".into(),
        time: Time::from_nanos(1),
        ordinal: 0,
    };
    caller(&a).withdraw(&place).unwrap();
    publish(&a, "two", r#"{"value":2}"#).unwrap();
    stream.settle(&[&a]);
    assert_eq!(history.reads.load(Ordering::SeqCst), 0);
    assert_eq!(values(&a).len(), 2);
    assert!(a.hub.feed().is_err());
    history.is_away.store(false, Ordering::SeqCst);
    a.hub.feed().unwrap();
    assert_eq!(values(&a), [("two".to_owned(), Some(2.0))]);
}

#[test]
fn a_declaration_that_a_message_overtakes_loses_no_description() {
    let stream = Arc::new(Stream::default());
    let [a, b] = [0, 1].map(|_| stream.gateway(Arc::new(Nothing::default())));
    publish(&a, "river", r#"{"value":1,"unit":"m"}"#).unwrap();
    stream.settle(&[&a, &b]);
    publish(&b, "river", r#"{"value":50,"unit":"cm"}"#).unwrap();
    let named = Datastream {
        name: Some("the river".into()),
        ..Datastream::default()
    };
    caller(&a).change("river", Some(named)).unwrap();
    stream.settle(&[&a, &b]);
    let again = stream.gateway(Arc::new(Nothing::default()));
    for gateway in [&a, &b, &again] {
        let known = gateway
            .hub
            .internal()
            .entries(&[Filter::parse("river").unwrap()])
            .remove(0);
        let units: Vec<_> = known
            .datastream
            .descriptions
            .iter()
            .map(|own| own.unit.as_deref())
            .collect();
        assert_eq!(units, [Some("m"), Some("cm")]);
        assert_eq!(known.datastream.name.as_deref(), Some("the river"));
    }
}
