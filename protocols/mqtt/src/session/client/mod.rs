//! The client's half: for publishers, subscribers and bridges.

mod connack;
mod receive;
mod send;

use super::alias::{Received, Sent as SentAliases};
use super::inbound::Inbound;
use super::input;
use super::message::{Message, Will};
use super::outbound::{InFlight, Outbound, Token};
use crate::limits::{CONNECT_TIME_MAX, PACKET_BYTES_MAX, STALL_TIME_MAX};
use crate::wire::{Fault, Framed, QoS, ReasonCode, Version, frame};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use weir_sansio::{Duration, Instant, Output};

/// How a client connects.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The protocol's version.
    pub version: Version,
    /// Whether it says with 3.1.1 that it is a bridge: bit 7 of the protocol level, by which brokers that
    /// know it spare it its own messages and leave the retain flag as published; others refuse it.
    pub bridge: bool,
    /// The client identifier; empty to be given one.
    pub client_id: String,
    /// Whether a session that exists is discarded.
    pub clean_start: bool,
    /// Seconds; 0 for off.
    pub keep_alive: u16,
    /// Seconds that the session is to live on (5.0).
    pub session_expiry_secs: u32,
    /// The user name.
    pub user_name: Option<String>,
    /// The password.
    pub password: Option<Vec<u8>>,
    /// What is published when this client is gone.
    pub will: Option<Will>,
    /// QoS 1 and 2 messages taken at once (5.0).
    pub receive_max: u16,
    /// Largest packet taken, bytes.
    pub packet_bytes_max: usize,
    /// Topic aliases taken (5.0).
    pub topic_aliases_max: u16,
    /// What is under way since an earlier connection of this session.
    pub in_flight: Vec<InFlight>,
    /// QoS 2 messages received on an earlier connection and not released.
    pub received: Vec<u16>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            version: Version::V5,
            bridge: false,
            client_id: String::new(),
            clean_start: true,
            keep_alive: 60,
            session_expiry_secs: 0,
            user_name: None,
            password: None,
            will: None,
            receive_max: 1024,
            packet_bytes_max: PACKET_BYTES_MAX,
            topic_aliases_max: 16,
            in_flight: Vec::new(),
            received: Vec::new(),
        }
    }
}

/// What the server said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Whether it holds the session.
    pub session_present: bool,
    /// The client identifier that it assigned.
    pub client_id: Option<String>,
    /// The highest quality of service that it takes.
    pub qos_max: QoS,
    /// Whether it retains messages.
    pub retains: bool,
}

/// What the layer above is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The server accepted.
    Connected(Connected),
    /// A message came; one with QoS 1 or 2 wants to be acknowledged.
    Message(Box<Message>),
    /// The server has a QoS 1 or 2 message, or has refused it.
    Acknowledged(Token, ReasonCode),
    /// The server has a QoS 2 message and is told to release it: from here on it is not sent again.
    Received(Token),
    /// The server has released the QoS 2 message of this identifier, which stands for a new one then.
    Released(u16),
    /// How a request to subscribe or unsubscribe went, a code for each filter.
    Answered(u16, Vec<u8>),
    /// It is over.
    Closed {
        /// Why.
        code: ReasonCode,
        /// What the server said, or the rule that it broke.
        reason: Option<String>,
    },
}

/// One connection's client half.
pub struct Client {
    options: Box<ConnectOptions>,
    phase: Phase,
    server: Peer,
    rest: Vec<u8>,
    out: Vec<u8>,
    events: VecDeque<ClientEvent>,
    inbound: Inbound,
    outbound: Outbound,
    aliases: (Received, SentAliases),
    /// Requests to subscribe and unsubscribe that wait for their answer.
    asked: Vec<u16>,
    last_asked: u16,
    heard: Instant,
    touched: Instant,
    /// When something was last sent.
    sent: Instant,
    pinged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// CONNACK is awaited.
    Connecting,
    Open,
    Over,
}

/// What the server takes, as its CONNACK says.
struct Peer {
    packet_bytes_max: usize,
    topic_aliases_max: u16,
    qos_max: QoS,
    retains: bool,
    keep_alive: u16,
}

impl Client {
    /// A connection on which CONNECT is sent first.
    pub fn new(now: Instant, options: ConnectOptions) -> Self {
        let server = Peer {
            packet_bytes_max: usize::MAX,
            topic_aliases_max: 0,
            qos_max: QoS::ExactlyOnce,
            retains: true,
            keep_alive: options.keep_alive,
        };
        let mut client = Self {
            phase: Phase::Connecting,
            server,
            rest: Vec::new(),
            out: Vec::new(),
            events: VecDeque::new(),
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            aliases: Default::default(),
            asked: Vec::new(),
            last_asked: 0,
            heard: now,
            touched: now,
            sent: now,
            pinged: false,
            options: Box::new(options),
        };
        client.connect();
        client
    }

    /// The version that is spoken.
    pub fn version(&self) -> Version {
        self.options.version
    }

    /// Says whether messages may be sent.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Says whether it is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Messages under way, for a later connection.
    pub fn in_flight(&self) -> Vec<InFlight> {
        self.outbound.entries().copied().collect()
    }

    /// Forgets messages of an earlier connection that cannot be found any more to be sent again.
    pub fn abandon(&mut self, lost: impl Fn(&Token) -> bool) {
        self.outbound.abandon(lost);
    }

    /// QoS 2 messages received and not released, for a later connection.
    pub fn received(&self) -> Vec<u16> {
        self.inbound.received()
    }

    /// When [`weir_sansio::Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        let stalled = if self.rest.is_empty() {
            Instant::NEVER
        } else {
            self.touched + STALL_TIME_MAX
        };
        match self.phase {
            Phase::Over => Instant::NEVER,
            Phase::Connecting => self.sent + CONNECT_TIME_MAX,
            Phase::Open if self.server.keep_alive == 0 => stalled,
            Phase::Open if self.pinged => stalled.min(self.sent + self.patience()),
            Phase::Open => {
                let keep_alive = Duration::from_secs(u64::from(self.server.keep_alive));
                stalled.min(self.sent + keep_alive)
            }
        }
    }

    /// How long an answer to PINGREQ may take.
    fn patience(&self) -> Duration {
        Duration::from_secs(u64::from(self.server.keep_alive).max(5))
    }

    fn consume(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, Fault> {
        let mut taken = 0;
        while self.phase != Phase::Over {
            match frame(&bytes[taken..], self.options.packet_bytes_max)? {
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
                self.say_farewell(fault.code);
                self.over(fault.code, Some(fault.rule.into()));
                bytes.len()
            }
        }
    }

    fn over(&mut self, code: ReasonCode, reason: Option<String>) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.rest = Vec::new();
            self.events.push_back(ClientEvent::Closed { code, reason });
        }
    }
}

impl weir_sansio::Session for Client {
    type Transmit = Vec<u8>;
    type Event = ClientEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.touched = now;
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
        let stalled = !self.rest.is_empty() && now >= self.touched + STALL_TIME_MAX;
        if self.phase == Phase::Open && !self.pinged && !stalled {
            self.ping(now);
        } else {
            let reason = "the server does not answer in time";
            self.say_farewell(ReasonCode::KEEP_ALIVE_TIMEOUT);
            self.over(ReasonCode::KEEP_ALIVE_TIMEOUT, Some(reason.into()));
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
