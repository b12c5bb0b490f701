//! The phase of a response that never ends: a subscription, and the bytes that the socket has not
//! taken yet.

use super::connection::Phase;
use super::route::Shared;
use crate::limits::{HEARTBEAT_TIME, LOOK_TIME};
use crate::wire::response::LAST_CHUNK;
use bytes::Bytes;
use std::io;
use std::task::{Context, Poll, ready};
use weir_binding::{Delivery, Short};
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::crowd::Place;
use weir_carrier::linger::Linger;
use weir_carrier::outbox::{poll_read, poll_write};
use weir_hub::Fault;
use weir_sansio::{Duration, Instant};

/// A stream on its way.
pub(super) struct Streaming {
    delivery: Delivery,
    /// What the socket has not taken yet; nothing is pulled before it is gone.
    rest: Bytes,
    pulse: Pulse,
    turn: Turn,
    chunked: bool,
}

/// Heartbeats and stalls from one timer, which no message moves.
pub(super) struct Pulse {
    every: Duration,
    at: Instant,
    /// Whether anything was sent since the last beat.
    sent: bool,
    /// Since when nothing can be sent.
    blocked: Option<Instant>,
}

/// When a client has its turn: where it sets the pace not before that, and one after the other where many
/// are told the same.
pub(super) struct Turn {
    at: Instant,
    place: Place,
}

/// What is due at a beat.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beat {
    Nothing,
    Heartbeat,
    Stalled,
}

impl Pulse {
    pub(super) fn new(every: Duration) -> Self {
        Self {
            every,
            at: now() + every,
            sent: false,
            blocked: None,
        }
    }

    /// Notes that the socket took something.
    pub(super) fn sent(&mut self) {
        self.sent = true;
        self.blocked = None;
    }

    /// Says what is due, once a beat; a heartbeat after one to two beats of silence. A peer that is `blocked` has as
    /// long as there is patience.
    pub(super) fn poll(
        &mut self,
        blocked: bool,
        patience: impl FnOnce() -> Duration,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Beat {
        if blocked {
            let since = *self.blocked.get_or_insert_with(now);
            if now() >= since + patience() {
                return Beat::Stalled;
            }
            // Patience may become less meanwhile.
            timer.poll_due(cx, now() + LOOK_TIME);
            return Beat::Nothing;
        }
        self.blocked = None;
        if !timer.poll_due(cx, self.at) {
            return Beat::Nothing;
        }
        self.at = now() + self.every;
        // Waits for the next beat.
        timer.poll_due(cx, self.at);
        if std::mem::take(&mut self.sent) {
            Beat::Nothing
        } else {
            Beat::Heartbeat
        }
    }
}

impl Turn {
    pub(super) fn new() -> Self {
        Self {
            at: Instant::START,
            place: Place::default(),
        }
    }

    /// The next piece of a delivery, once its client can take one; then the rest after it begins.
    pub(super) fn poll_next(
        &mut self,
        delivery: &mut Delivery,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Fault>> {
        if delivery.rest().is_some() && !timer.poll_due(cx, self.at) {
            return Poll::Pending;
        }
        let told = self.place.waker(cx);
        let next = ready!(delivery.poll_next(&mut Context::from_waker(&told)));
        if let Some(rest) = delivery.rest() {
            self.at = now() + rest;
        }
        Poll::Ready(next.map(|piece| piece.map(|(bytes, _)| bytes)))
    }

    /// Ends a turn in which something was taken; where there is more, another comes after those of all others.
    pub(super) fn end(&mut self, delivery: &mut Delivery, cx: &Context<'_>) {
        let told = self.place.waker(cx);
        let is_paced = delivery.rest().is_some();
        if is_paced || delivery.poll_more(&mut Context::from_waker(&told)) {
            told.wake();
        }
    }
}

impl Streaming {
    pub(super) fn new(delivery: Delivery, first: Bytes, chunked: bool) -> Self {
        let every = delivery
            .heartbeat
            .as_ref()
            .map_or(HEARTBEAT_TIME, |beat| beat.0);
        Self {
            delivery,
            rest: first,
            pulse: Pulse::new(every),
            turn: Turn::new(),
            chunked,
        }
    }

    /// Sends what is due; ready with the phase that follows.
    pub(super) fn poll(
        &mut self,
        stream: &mut Stream,
        shared: &Shared,
        draining: bool,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Phase>> {
        let patience = || shared.context.patience();
        loop {
            if draining {
                return Poll::Ready(Ok(self.end(true)));
            }
            if let Poll::Ready(ended) = self.poll_send(stream, timer, cx)? {
                return Poll::Ready(Ok(ended));
            }
            while let Poll::Ready(received) = poll_read(stream, cx, <[u8]>::len)? {
                if received == 0 {
                    return Poll::Ready(Ok(Phase::Done));
                }
            }
            match self.pulse.poll(!self.rest.is_empty(), patience, timer, cx) {
                Beat::Nothing => return Poll::Pending,
                Beat::Stalled => {
                    shared.context.hub().stalled();
                    return Poll::Ready(Err(Short::Stalled.into()));
                }
                Beat::Heartbeat => {
                    let beat = self.delivery.heartbeat.as_ref();
                    self.rest = beat.map(|beat| beat.1.clone()).unwrap_or_default();
                    self.pulse.sent();
                }
            }
        }
    }

    /// Takes and sends one chunk a turn.
    fn poll_send(
        &mut self,
        stream: &mut Stream,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Phase>> {
        let mut taken = false;
        loop {
            let before = self.rest.len();
            let written = poll_write(stream, cx, &mut self.rest)?;
            if self.rest.len() < before {
                self.pulse.sent();
            }
            if written.is_pending() {
                return Poll::Pending;
            }
            if taken {
                self.delivery.subscription.delivered();
                self.rest = Bytes::new();
                self.turn.end(&mut self.delivery, cx);
                return Poll::Pending;
            }
            match self.turn.poll_next(&mut self.delivery, timer, cx) {
                Poll::Pending => {
                    self.rest = Bytes::new();
                    return Poll::Pending;
                }
                Poll::Ready(Ok(Some(bytes))) => (self.rest, taken) = (bytes, true),
                Poll::Ready(Ok(None)) => return Poll::Ready(Ok(self.end(false))),
                // Without the last chunk the client knows that the stream is broken.
                Poll::Ready(Err(fault)) => {
                    return Poll::Ready(Err(io::Error::other(fault)));
                }
            }
        }
    }

    fn end(&mut self, farewell: bool) -> Phase {
        let mut last = self.rest.to_vec();
        if farewell {
            last.extend_from_slice(&self.delivery.farewell);
        }
        if self.chunked {
            last.extend_from_slice(LAST_CHUNK);
        }
        Phase::Linger(Box::new(Linger::begin(Bytes::from(last).into())))
    }
}
