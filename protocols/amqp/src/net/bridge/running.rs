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
use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll};
use weir_binding::bridge::{self, Ticks, UNSENT_BYTES_MAX, remember};
use weir_carrier::clock::Timer;
use weir_carrier::driver::{Driven, Due, Heard, Leave};
use weir_carrier::outbox::Outbox;
use weir_hub::{ClientId, Fault, Ticket};
use weir_sansio::Instant;

/// Messages on their way to the disk before nothing more is read.
const TICKETS_MAX: usize = 4096;

/// How a broker refuses.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It speaks another version.
    Version(String),
    /// It does not let this user do that, with what it said.
    User(String),
}

/// Why a connection is over.
pub(super) type End = bridge::End<Refused>;

/// A connection.
pub(super) struct Running<'b> {
    bridge: &'b mut Bridge,
    machine: Box<dyn Machine>,
    /// Nobody: it is dropped when the gateway stops.
    host: (),
    own: ClientId,
    outward: Option<Outward>,
    /// What is on its way to the disk, in its order.
    tickets: VecDeque<(u64, Settle, Ticket)>,
    /// A message that the log could not take yet; nothing is read meanwhile.
    held: Option<ClientEvent>,
    /// Whether there are tickets that were not asked for yet.
    is_fresh: bool,
    ticks: Ticks,
}

impl<'b> Running<'b> {
    pub(super) fn new(bridge: &'b mut Bridge) -> Self {
        Self {
            machine: bridge.machine(),
            bridge,
            host: (),
            own: ClientId::new(),
            outward: None,
            tickets: VecDeque::new(),
            held: None,
            is_fresh: false,
            ticks: Ticks::default(),
        }
    }

    fn is_open(&self) -> bool {
        self.outward.is_some()
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
            ClosedKind::Version => End::Refused(Refused::Version(reason)),
            ClosedKind::Refused => End::Refused(Refused::User(reason)),
            ClosedKind::Message if self.is_open() => {
                End::Lost(format!("the connection is over: {reason}"))
            }
            ClosedKind::Silent | ClosedKind::Lost if self.is_open() => {
                End::Broken(format!("the connection is over: {reason}"))
            }
            ClosedKind::Message | ClosedKind::Silent | ClosedKind::Lost => {
                End::Lost(format!("{url}: {reason}"))
            }
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

    /// Gives a message to the hub; it is kept until the log takes it.
    fn take(&mut self, event: ClientEvent) -> Result<Heard, End> {
        match take(self.bridge, self.own, &event) {
            Answer::Later(tag, settle, ticket) => {
                self.tickets.push_back((tag, settle, ticket));
                self.is_fresh = true;
            }
            Answer::Now(tag, settle) => self.machine.settle(tag, settle),
            Answer::Over => return Err(End::Stopping),
            Answer::Stands(reason) => return Err(End::Lost(reason)),
            Answer::Busy => {
                self.held = Some(event);
                self.ticks.busy();
                return Ok(Heard::Kept);
            }
        }
        Ok(Heard::Done)
    }

    /// Settles what has come to the disk.
    fn settle(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        while let Some((tag, settle, ticket)) = self.tickets.front() {
            match ticket.poll(cx) {
                Poll::Pending => return Ok(()),
                // What is not on disk is not settled: it comes again.
                Poll::Ready(Err(_)) => return Err(End::Stopping),
                Poll::Ready(Ok(_)) => self.machine.settle(*tag, *settle),
            }
            self.tickets.pop_front();
        }
        Ok(())
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
            context: &bridge.context,
        };
        work(outward, &mut way).map(Some).map_err(|_| End::Stopping)
    }

    fn confirmed(&mut self, token: u64, outcome: Result<(), String>) -> Result<(), End> {
        self.with_outward(|outward, way| outward.confirmed(way, token, outcome))?;
        Ok(())
    }

    /// Writes the bridge's record, where it is another than the log's.
    fn record(&mut self) {
        let bridge = &mut *self.bridge;
        let is_kept = bridge.recorded.as_ref() == Some(&bridge.kept);
        if !is_kept && remember(&*bridge.context, &bridge.origin, bridge.kept.write()) {
            bridge.recorded = Some(bridge.kept.clone());
        }
    }
}

impl Driven for Running<'_> {
    type Machine = dyn Machine;
    type Host = ();
    type End = End;

    const UNSENT_BYTES_MAX: usize = UNSENT_BYTES_MAX;

    fn machine(&mut self) -> &mut (dyn Machine + 'static) {
        &mut *self.machine
    }

    fn host(&mut self) -> &mut () {
        &mut self.host
    }

    fn poll_begin(
        &mut self,
        _: &Outbox,
        _: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), End>> {
        Poll::Ready(self.settle(cx))
    }

    fn take_leave(&mut self, _: Leave) -> Result<(), End> {
        Err(End::Stopping)
    }

    fn resume(&mut self) -> Result<Heard, End> {
        match self.held.take() {
            Some(held) => self.take(held),
            None => Ok(Heard::Done),
        }
    }

    fn on_event(&mut self, event: ClientEvent) -> Result<Heard, End> {
        match event {
            ClientEvent::Message(_) | ClientEvent::Poison { .. } => self.take(event),
            event => self.hear(event).map(|()| Heard::Done),
        }
    }

    fn may_read(&self, waiting: usize) -> bool {
        let waits = self.held.is_some() || self.tickets.len() >= TICKETS_MAX;
        !waits && waiting < UNSENT_BYTES_MAX
    }

    fn lost(&mut self, error: io::Error) -> End {
        End::broken_off(self.is_open(), &error.to_string())
    }

    fn broken(&mut self, error: Infallible) -> End {
        match error {}
    }

    fn ended(&mut self, _: &mut Outbox) -> Result<(), End> {
        let sentence = "the broker closed the connection";
        Err(End::broken_off(self.is_open(), sentence))
    }

    fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.is_fresh)
    }

    fn deliver(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<Due, End> {
        let more = self.with_outward(|outward, way| outward.send(way, outbox, cx))?;
        Ok(Due {
            sent: false,
            more: more.unwrap_or(false),
        })
    }

    fn deadline(&self) -> Instant {
        self.ticks.deadline()
    }

    fn on_time(&mut self, now: Instant) -> Result<(), End> {
        if self.ticks.is_record_due(now) {
            self.record();
            let bridge = &*self.bridge;
            bridge.told.progress(bridge.kept.confirmed, self.is_open());
        }
        Ok(())
    }
}

impl bridge::Running for Running<'_> {
    fn was_open(&self) -> bool {
        self.is_open()
    }

    fn over(&mut self, end: &End) {
        if let End::Broken(reason) = end {
            // Where the gateway is stopping, too, it is found out again.
            drop(self.with_outward(|outward, way| outward.ended(way, reason)));
        }
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
