//! The server's half: what a client may send when, and what it is answered.
//!
//! Accepting, refusing and acknowledging are the driver's to decide, since they take a policy and a
//! disk; the machine keeps the order and the quotas, and says what a breach of the rules costs.

mod connect;
mod receive;
mod send;

use super::alias::{Received, Sent as SentAliases};
use super::inbound::Inbound;
use super::input;
use super::message::{ConnectRequest, Message, SubscribeRequest};
use super::outbound::{InFlight, Outbound, Token};
use crate::limits::{
    CONNECT_BYTES_MAX, CONNECT_TIME_MAX, PACKET_BYTES_MAX, RECEIVE_MAX, STALL_TIME_MAX,
    TOPIC_ALIASES_MAX,
};
use crate::wire::{Fault, Framed, ReasonCode, Version, frame};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use weir_sansio::{Duration, Instant, Output};

pub use send::{Acceptance, Delivery, Sent};

/// One connection's server half.
pub struct Server {
    phase: Phase,
    version: Option<Version>,
    /// The client is a bridge of another broker.
    is_bridge: bool,
    limits: ServerLimits,
    peer: Peer,
    /// Bytes of a packet that is not whole yet, or that came before the client was accepted.
    rest: Vec<u8>,
    out: Vec<u8>,
    events: VecDeque<ServerEvent>,
    inbound: Inbound,
    outbound: Outbound,
    /// Gone with the connection [MQTT-3.3.2-7].
    aliases: Option<Box<(Received, SentAliases)>>,
    /// When the last whole packet came.
    heard: Instant,
    /// When the last byte came.
    touched: Instant,
    /// One and a half times the keep alive; nothing for off.
    patience: Option<Duration>,
    session_expiry_secs: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// CONNECT is awaited.
    Connecting,
    /// The driver decides about a CONNECT.
    Deciding,
    Open,
    Over,
}

/// What the server takes at most; told in CONNACK.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Largest packet, bytes.
    pub packet_bytes_max: usize,
    /// QoS 1 and 2 messages not acknowledged.
    pub receive_max: u16,
    /// Topic aliases.
    pub topic_aliases_max: u16,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            packet_bytes_max: PACKET_BYTES_MAX,
            receive_max: RECEIVE_MAX,
            topic_aliases_max: TOPIC_ALIASES_MAX,
        }
    }
}

/// What the client takes at most, as its CONNECT says.
#[derive(Clone, Copy, Debug)]
struct Peer {
    packet_bytes_max: usize,
    receive_max: u16,
    topic_aliases_max: u16,
    /// Whether reason strings may stand in acknowledgments.
    problem_information: bool,
}

/// What the layer above is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// A client wants to connect: accept or refuse it; nothing else is read before.
    Connect(Box<ConnectRequest>),
    /// A message came; one with QoS 1 or 2 wants to be acknowledged.
    Publish(Box<Message>),
    /// A QoS 2 message came that had come on an earlier connection of the session: it is to be acknowledged,
    /// and taken if it was not.
    PublishAgain(Box<Message>),
    /// Subscriptions are wanted: answer with their codes.
    Subscribe(Box<SubscribeRequest>),
    /// Subscriptions of the packet with this identifier are to end: answer with their codes.
    Unsubscribe(u16, Vec<String>),
    /// A QoS 2 message came through to the client: only its release is still under way.
    Received(Token),
    /// The client has acknowledged a message.
    Delivered(Token),
    /// The client has released its QoS 2 message of this identifier, which is free now: complete it.
    Released(u16),
    /// It is over: send what is left and close.
    Closed(Closed),
}

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Why; success where the client took its leave.
    pub code: ReasonCode,
    /// The rule that was broken, if one was.
    pub fault: Option<Fault>,
    /// Whether the will is to be published.
    pub publish_will: bool,
    /// Seconds that the session lives on; `u32::MAX` for ever.
    pub session_expiry_secs: u32,
}

/// What of a session outlives its connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Identifiers of QoS 2 messages received and not released.
    pub received: Vec<u16>,
    /// Messages sent and not acknowledged, in the order in which they were sent.
    pub in_flight: Vec<InFlight>,
    /// The identifier that was given last. Who goes on behind it gives the messages that follow the
    /// identifiers that they had, should they have been sent after the state was written down.
    pub last_id: u16,
}

impl Server {
    /// A connection on which nothing has come yet.
    pub fn new(now: Instant, limits: ServerLimits) -> Self {
        let peer = Peer {
            packet_bytes_max: usize::MAX,
            receive_max: u16::MAX,
            topic_aliases_max: 0,
            problem_information: true,
        };
        Self {
            phase: Phase::Connecting,
            version: None,
            is_bridge: false,
            limits,
            peer,
            rest: Vec::new(),
            out: Vec::new(),
            events: VecDeque::new(),
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            aliases: None,
            heard: now,
            touched: now,
            patience: Some(CONNECT_TIME_MAX),
            session_expiry_secs: 0,
        }
    }

    /// The version that the client speaks, once it said so.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Says whether messages may be sent.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Says whether it is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Messages received that wait for their acknowledgment.
    pub fn unacknowledged(&self) -> usize {
        self.inbound.waiting()
    }

    /// What of the session is to outlive the connection [MQTT-3.1.2-23].
    pub fn state(&self) -> State {
        State {
            received: self.inbound.received(),
            in_flight: self.outbound.entries().copied().collect(),
            last_id: self.outbound.last_id(),
        }
    }

    /// Bytes of memory that a packet takes which is not whole yet.
    pub fn arriving_bytes(&self) -> usize {
        self.rest.capacity()
    }

    /// When [`weir_sansio::Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        if matches!(self.phase, Phase::Over | Phase::Deciding) {
            return Instant::NEVER;
        }
        let patience = self
            .patience
            .map_or(Instant::NEVER, |patience| self.heard + patience);
        if self.rest.is_empty() {
            patience
        } else {
            patience.min(self.touched + STALL_TIME_MAX)
        }
    }

    /// Ends the conversation from this side, telling the client why if it can be told.
    pub fn close(&mut self, code: ReasonCode, publish_will: bool) {
        self.say_farewell(code, None);
        self.over(code, None, publish_will);
    }

    fn packet_bytes_max(&self) -> usize {
        match self.phase {
            Phase::Connecting => self.limits.packet_bytes_max.min(CONNECT_BYTES_MAX),
            _ => self.limits.packet_bytes_max,
        }
    }

    /// Reads whole packets off the front; says how many bytes they took.
    fn consume(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, Fault> {
        let mut taken = 0;
        while matches!(self.phase, Phase::Connecting | Phase::Open) {
            match frame(&bytes[taken..], self.packet_bytes_max())? {
                Framed::Incomplete(_) => break,
                Framed::Whole(header) => {
                    self.heard = now;
                    self.receive(&header, &bytes[taken..])?;
                    taken += header.end;
                }
            }
        }
        Ok(taken)
    }

    fn take(&mut self, now: Instant, bytes: &[u8]) -> usize {
        match self.consume(now, bytes) {
            Ok(taken) => taken,
            Err(fault) => {
                self.fail(fault, bytes);
                bytes.len()
            }
        }
    }

    /// A broken rule: the client is told where it can be, and the conversation ends [MQTT-4.13.1-1].
    fn fail(&mut self, fault: Fault, bytes: &[u8]) {
        match self.phase {
            Phase::Connecting => self.refuse_unread(&fault, bytes),
            _ => self.say_farewell(fault.code, Some(fault.rule)),
        }
        self.over(fault.code, Some(fault), true);
    }

    /// Nothing more is read or sent [MQTT-3.1.4-6] [MQTT-3.2.2-7] [MQTT-4.13.2-1].
    fn over(&mut self, code: ReasonCode, fault: Option<Fault>, publish_will: bool) {
        if self.phase == Phase::Over {
            return;
        }
        let publish_will = publish_will && self.phase == Phase::Open;
        self.phase = Phase::Over;
        self.rest = Vec::new();
        self.aliases = None;
        self.events.push_back(ServerEvent::Closed(Closed {
            code,
            fault,
            publish_will,
            session_expiry_secs: self.session_expiry_secs,
        }));
    }
}

impl weir_sansio::Session for Server {
    type Transmit = Vec<u8>;
    type Event = ServerEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        if !bytes.is_empty() {
            self.touched = now;
        }
        let rest = core::mem::take(&mut self.rest);
        let rest = input::feed(rest, bytes, |bytes| self.take(now, bytes));
        if self.phase != Phase::Over {
            self.rest = rest;
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.deadline() {
            return;
        }
        match self.phase {
            Phase::Connecting => self.over(ReasonCode::KEEP_ALIVE_TIMEOUT, None, false),
            // [MQTT-3.1.2-22]
            _ => self.close(ReasonCode::KEEP_ALIVE_TIMEOUT, true),
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, ServerEvent> {
        if !self.out.is_empty() {
            return Output::Transmit(core::mem::take(&mut self.out));
        }
        if let Some(event) = self.events.pop_front() {
            return Output::Event(event);
        }
        self.events = VecDeque::new();
        Output::Timeout(self.deadline())
    }
}
