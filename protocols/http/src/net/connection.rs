//! One HTTP/1.1 connection: its phases, each with no more state than it needs.
//!
//! Written as one future by hand: what a phase held is freed when the next begins, which an `async fn`
//! would keep until the end.

use super::clock::{Timer, now};
use super::linger::Linger;
use super::requests::Requests;
use super::route::Shared;
use super::socket::Sockets;
use super::streaming::Streaming;
use crate::limits::HEARTBEAT_TIME;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use weir_binding::LocalFuture;
use weir_carrier::Stream;

/// A connection on its way.
pub(super) struct Connection {
    stream: Stream,
    shared: Shared,
    phase: Phase,
    timer: Timer,
    /// Ready once the gateway stops; gone then.
    draining: Option<LocalFuture<'static, ()>>,
}

/// What a connection is doing.
pub(super) enum Phase {
    Requests(Box<Requests>),
    Streaming(Box<Streaming>),
    Socket(Box<Sockets>),
    Linger(Box<Linger>),
    Done,
}

impl Connection {
    pub(super) fn new(stream: Stream, shared: Shared) -> Self {
        let draining = shared.context.draining();
        Self {
            stream,
            phase: Phase::Requests(Box::new(Requests::new(&shared))),
            shared,
            timer: Timer::new(now() + HEARTBEAT_TIME),
            draining: Some(draining),
        }
    }

    fn poll_draining(&mut self, cx: &mut Context<'_>) -> bool {
        let ready = match &mut self.draining {
            None => return true,
            Some(draining) => draining.as_mut().poll(cx).is_ready(),
        };
        if ready {
            self.draining = None;
        }
        ready
    }
}

impl Future for Connection {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let draining = this.poll_draining(cx);
        loop {
            let (stream, timer, shared) = (&mut this.stream, &mut this.timer, &this.shared);
            let next = match &mut this.phase {
                Phase::Requests(phase) => phase.poll(stream, shared, draining, timer, cx)?,
                Phase::Streaming(phase) => phase.poll(stream, draining, timer, cx)?,
                Phase::Socket(phase) => phase.poll(stream, shared, draining, timer, cx)?,
                Phase::Linger(phase) => phase.poll(stream, timer, cx)?.map(|()| Phase::Done),
                Phase::Done => return Poll::Ready(Ok(())),
            };
            match next {
                Poll::Ready(phase) => this.phase = phase,
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
