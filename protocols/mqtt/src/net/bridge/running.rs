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
use std::task::{Context, Poll};
use weir_binding::bridge::{count, state_topic};
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{Outbox, poll_read};
use weir_hub::{ClientId, Ticket};
use weir_sansio::{Duration, Instant, Output, Session};

/// Reads of one turn, so that a bridge does not hold up its thread.
const READS_MAX: usize = 8;
/// Messages on their way to the disk before nothing more is read.
const TICKETS_MAX: usize = 1024;
/// Bytes that may wait for the socket before nothing more is read.
const UNSENT_BYTES_MAX: usize = 256 << 10;
/// How long the record may lag behind what was acknowledged: so much may go out twice after a crash.
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
    /// The same of one that was open, and may be over for the sake of a message.
    Broken(String),
    /// Before there was an answer to CONNECT.
    Unanswered,
    /// The broker refuses, with what it said.
    Refused(ReasonCode, Option<String>),
    /// The gateway is stopping.
    Stopping,
}

/// A connection.
pub(super) struct Running<'b> {
    bridge: &'b mut Bridge,
    client: Client,
    stream: Stream,
    outbox: Outbox,
    timer: Timer,
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
    retry: Instant,
    /// Whether QoS 2 has moved on since the last record.
    moved: bool,
    /// The record that must be on disk before anything is sent.
    barrier: Option<Ticket>,
    record_at: Instant,
    /// The request to subscribe that is not answered yet.
    asked: Option<u16>,
}

impl<'b> Running<'b> {
    pub(super) fn new(bridge: &'b mut Bridge, stream: Stream) -> Self {
        Self {
            client: Client::new(now(), bridge.options()),
            bridge,
            stream,
            outbox: Outbox::default(),
            timer: Timer::default(),
            own: ClientId::new(),
            outward: None,
            arrived: (Vec::new(), None),
            took_once: false,
            tickets: VecDeque::new(),
            held: None,
            retry: Instant::NEVER,
            moved: false,
            barrier: None,
            record_at: now() + RECORD_TIME,
            asked: None,
        }
    }

    /// Whether the broker accepted.
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
            if !self.pass_barrier(cx)? {
                return Ok(());
            }
            self.pump()?;
            self.settle();
            if self.acknowledge(cx)? {
                continue;
            }
            if self.may_read() && reads < READS_MAX && self.read(cx)? {
                reads += 1;
                continue;
            }
            let more = self.send(cx)?;
            if self.moved && self.retry == Instant::NEVER {
                self.barrier = self.record();
                continue;
            }
            // What the machine wants to be sent before its events are heard waits for them.
            if !self.moved && self.held.is_none() {
                self.flush(cx)?;
            }
            if self.poll_time(cx) {
                continue;
            }
            if (more && self.outbox.waiting() == 0) || reads == READS_MAX {
                cx.waker().wake_by_ref();
            }
            return Ok(());
        }
    }

    /// `false` while what is to be sent waits for the disk.
    fn pass_barrier(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let Some(ticket) = &self.barrier else {
            return Ok(true);
        };
        match ticket.poll(cx) {
            Poll::Pending => Ok(false),
            Poll::Ready(Err(_)) => Err(End::Stopping),
            Poll::Ready(Ok(_)) => {
                self.barrier = None;
                Ok(true)
            }
        }
    }

    fn may_read(&self) -> bool {
        self.held.is_none()
            && !self.moved
            && self.tickets.len() < TICKETS_MAX
            && self.outbox.waiting() < UNSENT_BYTES_MAX
    }

    /// Says whether something was read.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let client = &mut self.client;
        let read = poll_read(&mut self.stream, cx, |bytes| {
            let Ok(()) = client.handle_input(now(), bytes);
            !bytes.is_empty()
        });
        match read {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(true)) => Ok(true),
            Poll::Ready(Ok(false)) => Err(self.broken("the broker closed the connection")),
            Poll::Ready(Err(error)) => Err(self.broken(&error.to_string())),
        }
    }

    fn broken(&mut self, sentence: &str) -> End {
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
            match self.client.poll_output() {
                Output::Transmit(bytes) => self.outbox.push(bytes.into()),
                Output::Timeout(_) => return Ok(()),
                Output::Event(ClientEvent::Message(message)) => {
                    if !self.take(message)? {
                        return Ok(());
                    }
                }
                Output::Event(event) => self.hear(event)?,
            }
        }
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
            ClientEvent::Closed { code, reason } if self.was_open() => {
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
            ClientEvent::Closed { code, reason } => return Err(End::Refused(code, reason)),
            _ => {}
        }
        Ok(())
    }

    /// The broker accepted: subscribes there, and takes up what goes out.
    fn begin(&mut self, session_present: bool) -> Result<(), End> {
        let bridge = &mut *self.bridge;
        bridge.begin_session(session_present);
        let topic = state_topic(&bridge.plan.name);
        let opened = Outward::open(&bridge.plan, &bridge.kept, &bridge.context, &topic);
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

    /// Gives a message to the hub; `false` where it is held until the log takes it.
    fn take(&mut self, message: Box<Message>) -> Result<bool, End> {
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
                self.retry = now() + BUSY_TIME;
                return Ok(false);
            }
        };
        count(&bridge.told.received);
        let received = &mut bridge.kept.received;
        if message.qos == QoS::ExactlyOnce && !received.contains(&message.packet_id) {
            received.push(message.packet_id);
        }
        if message.qos != QoS::AtMostOnce {
            self.arrived.0.push(message.packet_id);
            self.took_once |= message.qos == QoS::ExactlyOnce;
            self.arrived.1 = ticket.or(self.arrived.1.take());
        }
        Ok(true)
    }

    /// What was taken of this batch is acknowledged once it is on disk; with QoS 2, that it was taken too.
    fn settle(&mut self) {
        if self.arrived.0.is_empty() {
            return;
        }
        let ticket = match self.took_once {
            true => match self.record() {
                Some(ticket) => Some(ticket),
                None => return,
            },
            false => self.arrived.1.take(),
        };
        self.took_once = false;
        let (ids, _) = std::mem::take(&mut self.arrived);
        match ticket {
            Some(ticket) => self.tickets.push_back((ids, ticket)),
            None => self.say_taken(&ids),
        }
    }

    fn say_taken(&mut self, ids: &[u16]) {
        for id in ids {
            self.client.acknowledge(now(), *id, ReasonCode::SUCCESS);
        }
    }

    /// Acknowledges what has come to the disk; says whether anything has.
    fn acknowledge(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let mut any = false;
        while let Some((_, ticket)) = self.tickets.front() {
            match ticket.poll(cx) {
                Poll::Pending => return Ok(any),
                // What is not on disk is not acknowledged: it comes again.
                Poll::Ready(Err(_)) => return Err(End::Stopping),
                Poll::Ready(Ok(_)) => {}
            }
            let ids = self.tickets.pop_front().map(|(ids, _)| ids);
            self.say_taken(&ids.unwrap_or_default());
            any = true;
        }
        Ok(any)
    }

    /// Sends what is due; says whether there may be more.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let Some(outward) = self.outward.as_mut().filter(|_| !self.moved) else {
            return Ok(false);
        };
        let bridge = &mut *self.bridge;
        let topic = state_topic(&bridge.plan.name);
        let mut way = Way {
            plan: &bridge.plan,
            here: &bridge.here,
            origin: &bridge.origin,
            kept: &mut bridge.kept,
            careful: &mut bridge.careful,
            told: &bridge.told,
            client: &mut self.client,
            outbox: &mut self.outbox,
            context: &bridge.context,
        };
        let more = outward.send(&mut way, cx, &topic);
        self.moved |= std::mem::take(&mut outward.promised);
        more.map_err(|_| End::Stopping)
    }

    /// Where connections always end over the same message, that is not to hold up the others.
    pub(super) fn ended(&mut self, end: &End) {
        if let (End::Broken(reason), Some(outward)) = (end, &mut self.outward) {
            let bridge = &mut *self.bridge;
            outward.ended(&mut bridge.careful, &*bridge.context, &bridge.told, reason);
        }
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        match self.outbox.poll_flush(&mut self.stream, cx) {
            Poll::Ready(Err(error)) => Err(self.broken(&error.to_string())),
            _ => Ok(()),
        }
    }

    /// Writes the bridge's record: as if the gateway ended now. `None` where the log takes nothing now.
    fn record(&mut self) -> Option<Ticket> {
        self.note();
        let bridge = &mut *self.bridge;
        let (gateway, now_there) = (bridge.context.hub().internal(), bridge.context.now());
        self.record_at = now() + RECORD_TIME;
        match gateway.remember(now_there, &bridge.origin, bridge.kept.write()) {
            Ok(ticket) => {
                self.moved = false;
                bridge.recorded = Some(bridge.kept.clone());
                Some(ticket)
            }
            _ => {
                self.retry = now() + BUSY_TIME;
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

    /// Says whether something was due.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.client.deadline().min(self.retry).min(self.record_at);
        if !self.timer.poll_due(cx, deadline) {
            return false;
        }
        let time = now();
        if time >= self.retry {
            self.retry = Instant::NEVER;
        }
        if time >= self.record_at {
            self.record_at = time + RECORD_TIME;
            self.note();
            self.record_changes();
            if self.bridge.measure() > BEHIND_MAX && self.outward.is_some() {
                self.bridge.told.state(true);
            }
        }
        self.client.handle_timeout(time);
        true
    }
}

/// However it ends, what is known is taken down.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.note();
        self.record_changes();
    }
}
