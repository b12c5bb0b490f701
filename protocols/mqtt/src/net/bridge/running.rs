//! One connection of a bridge: the client's machine, its socket, what comes in and what goes out.
//!
//! What it deliberately does not do: nothing leaves the socket that relies on what is not on disk. Where QoS 2
//! moves on (sent, released, taken), the bridge's record is written first and all that is to be sent waits
//! for it; a batch costs one record.

mod subscribing;

use super::Bridge;
use super::inward::{Inward, Taken};
use super::outward::{Outward, Way};
use super::settings::Speaks;
use crate::session::{Client, ClientEvent, Message};
use crate::wire::{QoS, ReasonCode};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll, ready};
use weir_binding::bridge::{self, Ticks, UNSENT_BYTES_MAX, count};
use weir_carrier::clock::{Timer, now};
use weir_carrier::driver::{Driven, Due, Heard, Leave};
use weir_carrier::outbox::Outbox;
use weir_hub::{ClientId, Ticket};
use weir_sansio::Instant;

/// Messages on their way to the disk before nothing more is read.
const TICKETS_MAX: usize = 1024;

/// Why a connection is over: a broker refuses by a code and what it said.
pub(super) type End = bridge::End<(ReasonCode, Option<String>)>;

/// A connection.
pub(super) struct Running<'b> {
    bridge: &'b mut Bridge,
    client: Client,
    /// Nobody: it is dropped when the gateway stops.
    host: (),
    own: ClientId,
    outward: Option<Outward>,
    /// What was taken since the last batch, and its last ticket.
    arrived: (Vec<u16>, Option<Ticket>),
    /// Whether one of those is of QoS 2.
    took_once: bool,
    /// Batches on their way to the disk.
    tickets: VecDeque<(Vec<u16>, Ticket)>,
    /// A message that the log could not take yet; nothing is read meanwhile.
    held: Option<Box<Message>>,
    /// Whether there are tickets that were not asked for yet.
    is_fresh: bool,
    ticks: Ticks,
    /// Whether QoS 2 has moved on since the last record.
    moved: bool,
    /// The record that must be on disk before anything is sent.
    barrier: Option<Ticket>,
    /// The request to subscribe that is not answered yet.
    asked: Option<u16>,
}

impl<'b> Running<'b> {
    pub(super) fn new(bridge: &'b mut Bridge) -> Self {
        Self {
            client: Client::new(now(), bridge.options()),
            bridge,
            host: (),
            own: ClientId::new(),
            outward: None,
            arrived: (Vec::new(), None),
            took_once: false,
            tickets: VecDeque::new(),
            held: None,
            is_fresh: false,
            ticks: Ticks::default(),
            moved: false,
            barrier: None,
            asked: None,
        }
    }

    fn is_open(&self) -> bool {
        self.outward.is_some()
    }

    /// Ready once nothing that is to be sent waits for the disk.
    fn poll_barrier(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if let Some(ticket) = &self.barrier {
            if ready!(ticket.poll(cx)).is_err() {
                return Poll::Ready(Err(End::Stopping));
            }
            self.barrier = None;
        }
        Poll::Ready(Ok(()))
    }

    fn hear(&mut self, event: ClientEvent) -> Result<(), End> {
        match event {
            ClientEvent::Connected(connected) => self.begin(connected.session_present)?,
            ClientEvent::Acknowledged(token, code) => {
                let outward = self.outward.iter_mut();
                outward.for_each(|outward| outward.acknowledged(token, code));
            }
            ClientEvent::Received(token) => {
                self.moved = true;
                let outward = self.outward.iter_mut();
                outward.for_each(|outward| outward.acknowledged(token, ReasonCode::SUCCESS));
            }
            ClientEvent::Released(id) => {
                self.moved = true;
                self.bridge.kept.received.retain(|known| *known != id);
            }
            ClientEvent::Answered(id, codes) if self.asked == Some(id) => self.subscribed(&codes),
            ClientEvent::Closed { code, reason } if self.is_open() => {
                let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
                let sentence = format!("the connection is over: {code}{reason}");
                return Err(match code {
                    ReasonCode::SERVER_SHUTTING_DOWN | ReasonCode::SESSION_TAKEN_OVER => {
                        End::Lost(sentence)
                    }
                    _ => End::Broken(sentence),
                });
            }
            ClientEvent::Closed { code, .. } if code == ReasonCode::KEEP_ALIVE_TIMEOUT => {
                let url = &self.bridge.plan.shown;
                return Err(End::Lost(format!("{url} does not answer in time")));
            }
            ClientEvent::Closed { code, reason } => return Err(End::Refused((code, reason))),
            _ => {}
        }
        Ok(())
    }

    /// The broker accepted: subscribes there, and takes up what goes out.
    fn begin(&mut self, session_present: bool) -> Result<(), End> {
        let bridge = &mut *self.bridge;
        bridge.begin_session(session_present);
        let opened = Outward::open(&bridge.plan, &bridge.kept, &*bridge.context, &bridge.told);
        self.outward = Some(opened.map_err(|fault| End::Lost(fault.to_string()))?);
        let version = match bridge.speaks {
            Speaks::V5 => "MQTT 5",
            Speaks::V311Bridge => "MQTT 3.1.1 as a bridge",
            Speaks::V311 => "MQTT 3.1.1",
        };
        bridge.told.connected(&bridge.plan.shown, version);
        if bridge.speaks == Speaks::V311
            && !bridge.plan.inward.is_empty()
            && !bridge.plan.outward.is_empty()
        {
            bridge.told.warn(
                "the other broker knows neither MQTT 5 nor bridges: of what goes out, all that comes \
                 in by a line too comes back once",
            );
        }
        self.subscribe(session_present)
    }

    /// Gives a message to the hub; it is kept until the log takes it.
    fn take(&mut self, message: Box<Message>) -> Result<Heard, End> {
        let bridge = &mut *self.bridge;
        let mut inward = Inward {
            plan: &bridge.plan,
            here: &bridge.here,
            origin: &bridge.origin,
            kept: &mut bridge.kept,
            told: &bridge.told,
            client: self.own,
            context: &bridge.context,
        };
        let ticket = match inward.take(&message) {
            Taken::Logged(ticket) => Some(ticket),
            Taken::Passed => None,
            Taken::Over => return Err(End::Stopping),
            Taken::Stands(reason) => return Err(End::Lost(reason)),
            Taken::Busy => {
                self.held = Some(message);
                self.ticks.busy();
                return Ok(Heard::Kept);
            }
        };
        count(&bridge.told.received);
        let received = &mut bridge.kept.received;
        if message.qos == QoS::ExactlyOnce && !received.contains(&message.packet_id) {
            received.push(message.packet_id);
        }
        if message.qos != QoS::AtMostOnce {
            self.arrived.0.push(message.packet_id);
            self.is_fresh = true;
            self.took_once |= message.qos == QoS::ExactlyOnce;
            self.arrived.1 = ticket.or(self.arrived.1.take());
        }
        Ok(Heard::Done)
    }

    /// What was taken of this batch is acknowledged once it is on disk; with QoS 2, that it was taken too.
    fn settle(&mut self) {
        // What has moved on needs a record of its own, before which nothing is sent.
        if self.arrived.0.is_empty() || (self.took_once && self.moved) {
            return;
        }
        let ticket = if self.took_once {
            match self.record() {
                Some(ticket) => Some(ticket),
                None => return,
            }
        } else {
            self.arrived.1.take()
        };
        self.took_once = false;
        let (ids, _) = std::mem::take(&mut self.arrived);
        match ticket {
            Some(ticket) => {
                self.tickets.push_back((ids, ticket));
                self.is_fresh = true;
            }
            None => self.say_taken(&ids),
        }
    }

    fn say_taken(&mut self, ids: &[u16]) {
        for id in ids {
            self.client.acknowledge(now(), *id, ReasonCode::SUCCESS);
        }
    }

    /// Acknowledges what has come to the disk.
    fn acknowledge(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        while let Some((_, ticket)) = self.tickets.front() {
            match ticket.poll(cx) {
                Poll::Pending => return Ok(()),
                // What is not on disk is not acknowledged: it comes again.
                Poll::Ready(Err(_)) => return Err(End::Stopping),
                Poll::Ready(Ok(_)) => {}
            }
            let ids = self.tickets.pop_front().map(|(ids, _)| ids);
            self.say_taken(&ids.unwrap_or_default());
        }
        Ok(())
    }

    /// Sends what is due; says whether there may be more.
    fn send(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<bool, End> {
        let Some(outward) = self.outward.as_mut().filter(|_| !self.moved) else {
            return Ok(false);
        };
        let bridge = &mut *self.bridge;
        let mut way = Way {
            plan: &bridge.plan,
            here: &bridge.here,
            origin: &bridge.origin,
            kept: &mut bridge.kept,
            careful: &mut bridge.careful,
            told: &bridge.told,
            client: &mut self.client,
            outbox,
            context: &bridge.context,
        };
        let more = outward.send(&mut way, cx);
        self.moved |= std::mem::take(&mut outward.promised);
        more.map_err(|_| End::Stopping)
    }

    /// Writes the bridge's record: as if the gateway ended now. `None` where the log takes nothing now.
    fn record(&mut self) -> Option<Ticket> {
        self.note();
        let bridge = &mut *self.bridge;
        let (gateway, now_there) = (bridge.context.hub().internal(), bridge.context.now());
        self.ticks.recorded();
        match gateway.remember(now_there, &bridge.origin, bridge.kept.write()) {
            Ok(ticket) => {
                self.moved = false;
                bridge.recorded = Some(bridge.kept.clone());
                Some(ticket)
            }
            _ => {
                self.ticks.busy();
                None
            }
        }
    }

    /// Writes it, where it is another than the log's.
    fn record_changes(&mut self) {
        if self.bridge.recorded.as_ref() != Some(&self.bridge.kept) {
            drop(self.record());
        }
    }

    /// Takes down what is under way.
    fn note(&mut self) {
        let kept = &mut self.bridge.kept;
        // Before the broker has answered, what was under way is as it was.
        if let Some(outward) = &self.outward {
            outward.note(&self.client, kept);
        }
    }
}

impl Driven for Running<'_> {
    type Machine = Client;
    type Host = ();
    type End = End;

    const UNSENT_BYTES_MAX: usize = UNSENT_BYTES_MAX;

    fn machine(&mut self) -> &mut Client {
        &mut self.client
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
        ready!(self.poll_barrier(cx))?;
        Poll::Ready(self.acknowledge(cx))
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
            ClientEvent::Message(message) => self.take(message),
            event => self.hear(event).map(|()| Heard::Done),
        }
    }

    fn may_read(&self, waiting: usize) -> bool {
        let waits = self.held.is_some() || self.moved || self.tickets.len() >= TICKETS_MAX;
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
        self.settle();
        let more = self.send(outbox, cx)?;
        Ok(Due { sent: false, more })
    }

    /// What the machine wants to be sent before its events are heard waits for them.
    fn may_send(&mut self, cx: &mut Context<'_>) -> bool {
        if self.moved && !self.ticks.is_busy() {
            self.barrier = self.record();
        }
        // Where it is there at once, the next turn finds it so.
        let is_there = self.barrier.is_none();
        if !is_there {
            cx.waker().wake_by_ref();
        }
        is_there && !self.moved && self.held.is_none()
    }

    fn deadline(&self) -> Instant {
        self.ticks.deadline()
    }

    fn on_time(&mut self, now: Instant) -> Result<(), End> {
        if self.ticks.is_record_due(now) {
            self.note();
            if self.moved {
                self.barrier = self.record();
            } else {
                self.record_changes();
            }
            let bridge = &*self.bridge;
            bridge.told.progress(bridge.kept.delivered, self.is_open());
        }
        Ok(())
    }
}

impl bridge::Running for Running<'_> {
    fn was_open(&self) -> bool {
        self.is_open()
    }

    fn over(&mut self, end: &End) {
        if let (End::Broken(reason), Some(outward)) = (end, &mut self.outward) {
            let bridge = &mut *self.bridge;
            outward.ended(&mut bridge.careful, &*bridge.context, &bridge.told, reason);
        }
    }
}

/// However it ends, what is known is taken down.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.note();
        self.record_changes();
    }
}
