//! Sockets: what finds the device, and what pushes to event sinks.
#![allow(
    clippy::disallowed_methods,
    reason = "drivers run a task for each event sink"
)]

pub(crate) mod discovery;
pub(crate) mod sinks;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Both, to the end of either.
pub(crate) async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (false, false);
    poll_fn(|cx| {
        first = first || one.as_mut().poll(cx).is_ready();
        second = second || other.as_mut().poll(cx).is_ready();
        if first && second {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}
