//! Several hubs of one log.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::stream::{Gateway, Nothing, Stream};
use crate::access::Principal;
use crate::exchange::{Exchange, Fault, Media, Publish, Request, Ticket};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_model::{Cursor, Filter, Time};

fn ask(gateway: &Gateway, request: Request) -> Result<Ticket, Fault> {
    let who = Principal::gateway();
    match gateway.hub.open(Time::from_nanos(1), &who, request)? {
        Exchange::Accepted(ticket) => Ok(ticket),
        _ => panic!("not a ticket"),
    }
}

fn publish(gateway: &Gateway, topic: &str, body: &'static str) -> Result<Ticket, Fault> {
    let publish = Publish::new(topic, Media::Undeclared, body);
    ask(gateway, Request::Publish(publish))
}

fn poll(ticket: &Ticket) -> Poll<Result<Cursor, Fault>> {
    ticket.poll(&mut Context::from_waker(Waker::noop()))
}

fn values(gateway: &Gateway) -> Vec<(String, Option<f64>)> {
    let filters = vec![Filter::parse("#").unwrap()];
    let who = Principal::gateway();
    let now = Time::from_nanos(1);
    match gateway.hub.open(now, &who, Request::Latest(filters)) {
        Ok(Exchange::Latest(latest)) => {
            let rows = latest.batch.rows();
            rows.map(|row| (row.topic.to_owned(), row.value.number()))
                .collect()
        }
        _ => panic!("not the last values"),
    }
}

#[test]
fn a_datastream_too_many_is_refused_before_it_is_logged_and_taken_where_the_log_has_it() {
    let stream = Arc::new(Stream::default());
    let gateway = stream.gateway(Arc::new(Nothing));
    gateway.hub.core().catalog.most = 1;
    let both = ["a", "b"].map(|topic| publish(&gateway, topic, r#"{"value":1}"#).unwrap());
    stream.settle(&[&gateway]);
    // There was room for each as it came.
    both.iter()
        .for_each(|ticket| assert!(poll(ticket).is_ready()));
    let taken = ["a", "b"].map(|topic| (topic.to_owned(), Some(1.0)));
    assert_eq!(values(&gateway), taken);
    for body in [r#"{"value":1}"#, "bytes"] {
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
