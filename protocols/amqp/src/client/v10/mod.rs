//! A client of a peer that speaks AMQP 1.0: one session, a link out, a link in for each filter.
//!
//! What it deliberately does not do: no transactions, no resuming of deliveries (what was unsettled when a
//! connection ended is sent again under a new number). It settles first (section 2.6.12): at least once.

mod ending;
mod incoming;
mod opening;
mod outgoing;
mod peer;
mod receive;

use super::{ClientEvent, Closed, ClosedKind, Machine, Options, Outgoing, Sent, Settle};
use crate::limits::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, INCOMING_WINDOW, OPEN_TIME_MAX};
use crate::wire::{DeliveryState, Disposition, Error, Performative, ProtocolHeader, Role};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use ending::Ending;
use incoming::Incoming;
use opening::Phase;
use outgoing::Way;
use peer::Peer;
use weir_sansio::{Duration, Instant, Output, Session};

/// One connection's client half.
pub struct Client {
    options: Box<Options>,
    /// What the connection is called, and its links.
    name: String,
    phase: Phase,
    peer: Peer,
    product: String,
    rest: Vec<u8>,
    out: Vec<u8>,
    events: VecDeque<ClientEvent>,
    /// Largest frame that the peer takes.
    frame_bytes_max: usize,
    /// Within which the peer wants to hear something, and we of it.
    idle: (Option<Duration>, Option<Duration>),
    heard: Instant,
    sent: Instant,
    /// Links that the peer has not attached yet.
    awaited: usize,
    way: Way,
    links: Vec<Incoming>,
    /// Subscriptions that are to be closed before anything else begins.
    ending: Vec<Ending>,
    /// Number of the next transfer that comes, and how many were counted since the peer was told.
    next_incoming: (u32, u32),
    /// What came and is not answered: delivery, link, and whether the peer has settled it.
    unsettled: VecDeque<(u32, usize, bool)>,
}

impl Client {
    /// A client that begins with SASL. Its name tells its links apart and is that of a subscription which is
    /// kept: it is the peer's to know it again.
    pub fn new(now: Instant, options: Options, name: String) -> Self {
        let links = options
            .filters
            .iter()
            .map(|_| Incoming::default())
            .collect();
        Self {
            options: Box::new(options),
            name,
            phase: Phase::SaslHeader,
            peer: Peer::Plain,
            product: String::new(),
            rest: Vec::new(),
            out: ProtocolHeader::SASL.bytes().to_vec(),
            events: VecDeque::new(),
            frame_bytes_max: FRAME_BYTES_MIN,
            idle: (None, None),
            heard: now,
            sent: now,
            awaited: 0,
            way: Way::default(),
            links,
            ending: Vec::new(),
            next_incoming: (0, 0),
            unsettled: VecDeque::new(),
        }
    }

    fn end(&mut self, kind: ClosedKind, reason: &str) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            let reason = reason.to_owned();
            self.events
                .push_back(ClientEvent::Closed(Closed { kind, reason }));
        }
    }

    fn write(&mut self, performative: &Performative) {
        performative.write(0, 0, &mut self.out);
    }

    fn answer(&mut self, id: u32, answer: Settle) {
        let state = match answer {
            Settle::Accept => DeliveryState::Accepted,
            Settle::Reject => self.peer.refusal(),
        };
        self.write(&Performative::Disposition(Disposition {
            role: Role::Receiver,
            first: id,
            last: None,
            settled: true,
            state: Some(state),
            batchable: false,
        }));
    }

    /// Tells a link's peer how many messages it may send, and the session's how many transfers.
    fn grant(&mut self, link: usize) {
        let credit = u32::from(self.options.prefetch).saturating_sub(self.links[link].unsettled);
        let next = self.next_incoming.0;
        let flow = self.links[link].flow(link, credit, next, &self.way);
        self.next_incoming.1 = 0;
        self.write(&Performative::Flow(flow));
    }
}

impl Session for Client {
    type Transmit = Vec<u8>;
    type Event = ClientEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.heard = now;
        self.receive(bytes);
        if !self.out.is_empty() {
            self.sent = now;
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        let (theirs, ours) = self.idle;
        if self.phase == Phase::Over {
            return;
        }
        if ours.is_some_and(|idle| now.since(self.heard) >= idle) {
            return self.end(
                ClosedKind::Silent,
                "the peer was silent for its idle time-out",
            );
        }
        if self.phase.is_opening() && now.since(self.heard) >= OPEN_TIME_MAX {
            return self.end(ClosedKind::Silent, "the peer does not answer");
        }
        // An empty frame in time (section 2.4.5).
        if theirs.is_some_and(|idle| now.since(self.sent) >= idle / 2) {
            Performative::write_heartbeat(&mut self.out);
            self.sent = now;
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, ClientEvent> {
        if !self.out.is_empty() {
            return Output::Transmit(core::mem::take(&mut self.out));
        }
        match self.events.pop_front() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(self.deadline()),
        }
    }
}

impl Machine for Client {
    fn publish(&mut self, now: Instant, message: &Outgoing<'_>, out: &mut Vec<u8>) -> Sent {
        if self.phase != Phase::Ready {
            return Sent::Full;
        }
        let settled = !self.options.confirmed;
        let named = self.peer.named(message.topic);
        let sent = self
            .way
            .send(message, named, settled, self.frame_bytes_max, out);
        if sent == Sent::Done {
            self.sent = now;
        }
        sent
    }

    fn settle(&mut self, tag: u64, answer: Settle) {
        let id = tag as u32;
        let Some(at) = self.unsettled.iter().position(|of| of.0 == id) else {
            return;
        };
        let Some((_, link, is_settled)) = self.unsettled.remove(at) else {
            return;
        };
        if !is_settled {
            self.answer(id, answer);
        }
        let granted = self.links[link].settled();
        let window_is_low = self.next_incoming.1 >= INCOMING_WINDOW / 2;
        if window_is_low || granted >= u32::from(self.options.prefetch.max(2)) / 2 {
            self.grant(link);
        }
    }

    fn close(&mut self) {
        if self.phase == Phase::Ready {
            self.write(&Performative::Close(None::<Error>));
        }
        self.phase = Phase::Over;
    }

    fn staying(&self) -> &[String] {
        match self.peer {
            Peer::RabbitMq => &self.options.ended,
            Peer::Plain | Peer::BrokerJ => &[],
        }
    }

    fn deadline(&self) -> Instant {
        let (theirs, ours) = self.idle;
        let after =
            |since: Instant, span: Option<Duration>| span.map_or(Instant::NEVER, |it| since + it);
        let opening = self.phase.is_opening().then_some(OPEN_TIME_MAX);
        match self.phase {
            Phase::Over => Instant::NEVER,
            _ => after(self.heard, ours)
                .min(after(self.sent, theirs.map(|idle| idle / 2)))
                .min(after(self.heard, opening)),
        }
    }
}

/// The largest frame that is taken, as the open says it.
const TAKEN_BYTES_MAX: u32 = FRAME_BYTES_MAX as u32;
