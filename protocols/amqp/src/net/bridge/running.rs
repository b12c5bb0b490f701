//! One connection of a bridge: the client's machine, its socket, what comes in and what goes out.
//!
//! What it deliberately does not do: nothing is settled that is not on disk, and the bridge's record never runs
//! ahead of what the broker has confirmed. So a crash of either costs repeats and no message.

use super::Bridge;
use super::inward::{Answer, take};
use super::outward::{Outward, Way};
use crate::client::names::swapped;
use crate::client::{ClientEvent, Closed, ClosedKind, Machine, Settle};
use std::collections::VecDeque;
use std::task::{Context, Poll};
use weir_binding::bridge::{measure, remember};
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{Outbox, poll_read};
use weir_hub::{ClientId, Fault, Ticket};
use weir_sansio::{Duration, Instant, Output};

/// Reads of one turn, so that a bridge does not hold up its thread.
const READS_MAX: usize = 8;
/// Messages on their way to the disk before nothing more is read.
const TICKETS_MAX: usize = 4096;
/// Bytes that may wait for the socket before nothing more is read.
const UNSENT_BYTES_MAX: usize = 256 << 10;
/// How long the record may lag behind what was confirmed: so much may go out twice after a crash.
const RECORD_TIME: Duration = Duration::from_secs(1);
/// How soon the log is asked again that could take nothing.
const BUSY_TIME: Duration = Duration::from_millis(5);
/// So many records behind, the bridge's own state is told again, by which its position moves.
const BEHIND_MAX: u64 = 10_000;

/// Why a connection is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As a sentence.
    Lost(String),
    /// The same of one that was open, and nobody said why.
    Broken(String),
    /// Before there was an answer.
    Unanswered,
    /// The broker speaks another version.
    Version(String),
    /// The broker refuses, with what it said.
    Refused(String),
    /// The gateway is stopping.
    Stopping,
}

/// A connection.
pub(super) struct Running<'b> {
    bridge: &'b mut Bridge,
    machine: Box<dyn Machine>,
    stream: Stream,
    outbox: Outbox,
    timer: Timer,
    own: ClientId,
    outward: Option<Outward>,
    /// What is on its way to the disk, in its order.
    tickets: VecDeque<(u64, Settle, Ticket)>,
    /// A message that the log could not take yet; nothing is read meanwhile.
    held: Option<ClientEvent>,
    retry: Instant,
    record_at: Instant,
}

impl<'b> Running<'b> {
    pub(super) fn new(bridge: &'b mut Bridge, stream: Stream) -> Self {
        Self {
            machine: bridge.machine(),
            bridge,
            stream,
            outbox: Outbox::default(),
            timer: Timer::default(),
            own: ClientId::new(),
            outward: None,
            tickets: VecDeque::new(),
            held: None,
            retry: Instant::NEVER,
            record_at: now() + RECORD_TIME,
        }
    }

    /// Whether the broker granted all.
    pub(super) fn was_open(&self) -> bool {
        self.outward.is_some()
    }

    /// Goes on until the connection is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        match self.turn(cx) {
            Ok(()) => Poll::Pending,
            Err(end) => Poll::Ready(end),
        }
    }

    fn turn(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        let mut reads = 0;
        loop {
            self.pump()?;
            if self.settle(cx)? {
                continue;
            }
            if self.may_read() && reads < READS_MAX && self.read(cx)? {
                reads += 1;
                continue;
            }
            let more = self.send(cx)?;
            self.flush(cx)?;
            if self.poll_time(cx) {
                continue;
            }
            if (more && self.outbox.waiting() == 0) || reads == READS_MAX {
                cx.waker().wake_by_ref();
            }
            return Ok(());
        }
    }

    fn may_read(&self) -> bool {
        self.held.is_none()
            && self.tickets.len() < TICKETS_MAX
            && self.outbox.waiting() < UNSENT_BYTES_MAX
    }

    /// Says whether something was read.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let machine = &mut self.machine;
        let read = poll_read(&mut self.stream, cx, |bytes| {
            let Ok(()) = machine.handle_input(now(), bytes);
            !bytes.is_empty()
        });
        match read {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(true)) => Ok(true),
            Poll::Ready(Ok(false)) => Err(self.broken("the broker closed the connection")),
            Poll::Ready(Err(error)) => Err(self.broken(&error.to_string())),
        }
    }

    fn broken(&self, sentence: &str) -> End {
        match self.was_open() {
            true => End::Broken(format!("the connection is lost: {sentence}")),
            false => End::Unanswered,
        }
    }

    /// Does what the machine wants.
    fn pump(&mut self) -> Result<(), End> {
        if let Some(held) = self.held.take()
            && !self.take(held)?
        {
            return Ok(());
        }
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.outbox.push(bytes.into()),
                Output::Timeout(_) => return Ok(()),
                Output::Event(event) => match event {
                    ClientEvent::Message(_) | ClientEvent::Poison { .. } => {
                        if !self.take(event)? {
                            return Ok(());
                        }
                    }
                    event => self.hear(event)?,
                },
            }
        }
    }

    fn hear(&mut self, event: ClientEvent) -> Result<(), End> {
        match event {
            ClientEvent::Ready(product) => self.begin(&product),
            ClientEvent::Confirmed(token, outcome) => self.confirmed(token, outcome),
            // It goes again by the next connection.
            ClientEvent::Returned(_, reason) => Err(End::Lost(format!("not now: {reason}"))),
            ClientEvent::Closed(closed) => {
                if closed.kind == ClosedKind::Message {
                    self.with_outward(|outward, way| outward.ended_over(way, &closed.reason))?;
                }
                Err(self.closed(closed))
            }
            ClientEvent::Held(Some(why)) => {
                let sentence = format!("the broker takes nothing for now: {why}");
                self.bridge.told.warn(&sentence);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn closed(&self, Closed { kind, reason }: Closed) -> End {
        let url = &self.bridge.plan.shown;
        match kind {
            ClosedKind::Version => End::Version(reason),
            ClosedKind::Refused => End::Refused(reason),
            ClosedKind::Message if self.was_open() => {
                End::Lost(format!("the connection is over: {reason}"))
            }
            ClosedKind::Silent | ClosedKind::Lost if self.was_open() => {
                End::Broken(format!("the connection is over: {reason}"))
            }
            ClosedKind::Message | ClosedKind::Silent | ClosedKind::Lost => {
                End::Lost(format!("{url}: {reason}"))
            }
        }
    }

    /// Where connections always end over the same message, that is not to hold up the others.
    pub(super) fn ended(&mut self, end: &End) {
        if let End::Broken(reason) = end {
            // Where the gateway is stopping, too, it is found out again.
            drop(self.with_outward(|outward, way| outward.ended(way, reason)));
        }
    }

    /// The broker granted all: takes up what goes out.
    fn begin(&mut self, product: &str) -> Result<(), End> {
        let bridge = &mut *self.bridge;
        let staying = self.machine.staying();
        bridge.kept.bound = bridge.plan.remote_filters();
        bridge.kept.bound.extend_from_slice(staying);
        let from = bridge.kept.confirmed;
        let opened = Outward::open(&bridge.plan, from, &bridge.context, &bridge.told);
        self.outward = Some(opened.map_err(|fault| End::Lost(fault.to_string()))?);
        let version = format!("{} of {product}", bridge.version().name());
        bridge.told.connected(&bridge.plan.shown, &version);
        for filter in staying {
            bridge.told.warn(&still_bound(filter));
        }
        self.record();
        Ok(())
    }

    /// Gives a message to the hub; `false` where it is held until the log takes it.
    fn take(&mut self, event: ClientEvent) -> Result<bool, End> {
        match take(self.bridge, self.own, &event) {
            Answer::Later(tag, settle, ticket) => self.tickets.push_back((tag, settle, ticket)),
            Answer::Now(tag, settle) => self.machine.settle(tag, settle),
            Answer::Over => return Err(End::Stopping),
            Answer::Stands(reason) => return Err(End::Lost(reason)),
            Answer::Busy => {
                self.held = Some(event);
                self.retry = now() + BUSY_TIME;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Settles what has come to the disk; says whether anything has.
    fn settle(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let mut any = false;
        while let Some((tag, settle, ticket)) = self.tickets.front() {
            match ticket.poll(cx) {
                Poll::Pending => return Ok(any),
                // What is not on disk is not settled: it comes again.
                Poll::Ready(Err(_)) => return Err(End::Stopping),
                Poll::Ready(Ok(_)) => self.machine.settle(*tag, *settle),
            }
            self.tickets.pop_front();
            any = true;
        }
        Ok(any)
    }

    /// Works with what goes out, where the broker has granted that.
    fn with_outward<T>(
        &mut self,
        work: impl FnOnce(&mut Outward, &mut Way<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, End> {
        let Some(outward) = &mut self.outward else {
            return Ok(None);
        };
        let bridge = &mut *self.bridge;
        let mut way = Way {
            plan: &bridge.plan,
            here: &bridge.here,
            origin: &bridge.origin,
            kept: &mut bridge.kept,
            wary: &mut bridge.wary,
            told: &bridge.told,
            machine: &mut *self.machine,
            outbox: &mut self.outbox,
            context: &bridge.context,
        };
        work(outward, &mut way).map(Some).map_err(|_| End::Stopping)
    }

    /// Sends what is due; says whether there may be more.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let more = self.with_outward(|outward, way| outward.send(way, cx))?;
        Ok(more.unwrap_or(false))
    }

    fn confirmed(&mut self, token: u64, outcome: Result<(), String>) -> Result<(), End> {
        self.with_outward(|outward, way| outward.confirmed(way, token, outcome))?;
        Ok(())
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        match self.outbox.poll_flush(&mut self.stream, cx) {
            Poll::Ready(Err(error)) => Err(self.broken(&error.to_string())),
            _ => Ok(()),
        }
    }

    /// Writes the bridge's record, where it is another than the log's.
    fn record(&mut self) {
        let bridge = &mut *self.bridge;
        let is_kept = bridge.recorded.as_ref() == Some(&bridge.kept);
        if !is_kept && remember(&*bridge.context, &bridge.origin, bridge.kept.write()) {
            bridge.recorded = Some(bridge.kept.clone());
        }
    }

    /// Says whether something was due.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.machine.deadline().min(self.retry).min(self.record_at);
        if !self.timer.poll_due(cx, deadline) {
            return false;
        }
        let time = now();
        if time >= self.retry {
            self.retry = Instant::NEVER;
        }
        if time >= self.record_at {
            self.record_at = time + RECORD_TIME;
            self.record();
            let bridge = &*self.bridge;
            let behind = measure(&*bridge.context, &bridge.told, bridge.kept.confirmed);
            if behind > BEHIND_MAX && self.was_open() {
                bridge.told.state(true);
            }
        }
        self.machine.handle_timeout(time);
        true
    }
}

fn still_bound(filter: &str) -> String {
    let key = swapped(filter);
    format!(
        "no line takes `{filter}` any more, and AMQP 1.0 cannot unbind `{key}` from the queue: \
         unbind it at the broker, or connect once by 0.9.1"
    )
}

/// However it ends, what is known is taken down.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.record();
    }
}
