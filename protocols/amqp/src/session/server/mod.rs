//! The server's half of a connection: protocol header, SASL, open, sessions, links.
//!
//! Authenticating, accepting links and settling what came are the driver's to decide, since they take a
//! policy and a disk; the machine keeps order, windows and credit.

mod channel;
mod deliver;
mod links;
mod login;
mod receive;
mod settle;

use super::link::{LinkId, Token};
use crate::limits::{
    FRAME_BYTES_MAX, FRAME_BYTES_MIN, FRAME_BYTES_SENT_MAX, IDLE_MILLIS_MIN, MESSAGE_BYTES_MAX,
    NAME_BYTES_MAX, OPEN_TIME_MAX, SESSIONS_MAX, STALL_TIME_MAX,
};
use crate::wire::{
    Attach, Condition, DeliveryState, Error, Fault, Framed, HEADER_BYTES, Open, Performative,
    ProtocolHeader, ProtocolId, Sasl, Tag, frame,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use channel::Channel;
use core::convert::Infallible;
use weir_sansio::{Duration, Instant, Output};

pub use deliver::Delivery;
pub use links::Accepted;
pub use login::{Login, Mechanisms};

/// One connection's server half.
pub struct Server {
    phase: Phase,
    limits: ServerLimits,
    mechanisms: Mechanisms,
    /// Whether SASL was spoken.
    sasl: bool,
    peer: Peer,
    /// Bytes of a frame that is not whole yet, or that came before the client was known.
    rest: Vec<u8>,
    out: Vec<u8>,
    events: VecDeque<ServerEvent>,
    channels: Vec<Channel>,
    next_key: u32,
    /// Deliveries that are accepted and not yet told so: channel, first and last.
    accepted: Option<(u16, u32, u32)>,
    /// When the last whole frame came.
    heard: Instant,
    /// When the last byte came.
    touched: Instant,
    /// When the client must be sent something, unless it was since the time before.
    beat: Instant,
    spoke: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A protocol header is awaited.
    Start,
    /// The client's choice of a mechanism is awaited.
    Sasl,
    /// The driver decides who the client is.
    Deciding,
    /// The header of AMQP is awaited, behind SASL.
    Header,
    /// The open is awaited.
    Opening,
    Open,
    Over,
}

/// What the server takes at most; told in open, begin and attach.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Largest frame, bytes.
    pub frame_bytes_max: usize,
    /// Largest message, bytes.
    pub message_bytes_max: usize,
    /// Idle time-out that is told, milliseconds; 0 for none. A client that is silent for twice as long is
    /// gone (AMQP 1.0 section 2.4.5).
    pub idle_millis: u32,
    /// What the gateway calls itself.
    pub container_id: String,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            frame_bytes_max: FRAME_BYTES_MAX,
            message_bytes_max: MESSAGE_BYTES_MAX,
            idle_millis: 60_000,
            container_id: "weir".into(),
        }
    }
}

/// What the client's open says.
struct Peer {
    container_id: String,
    frame_bytes_max: usize,
    /// How often it wants to hear something.
    idle: Option<Duration>,
    channel_max: u16,
}

/// What the layer above is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// Somebody wants in: let them with [`Server::admit`] or not; nothing else is read before.
    Login(Login),
    /// The connection is open.
    Opened,
    /// A link is wanted: accept or refuse it.
    Attach(LinkId, Box<Attach>),
    /// A message came; one that is not settled wants to be.
    Delivery(Box<Received>),
    /// The client is done with a message of a link, which had this outcome; none where it did not say.
    Settled(LinkId, Token, Option<DeliveryState>),
    /// The client has forgotten what it was told of its message of this tag.
    Forgotten(LinkId, Tag),
    /// The client has detached a link, or closed it for good.
    Detached(LinkId, bool),
    /// It is over: send what is left and close.
    Closed(Closed),
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The link.
    pub link: LinkId,
    /// The delivery's number in its session.
    pub delivery_id: u32,
    /// Its tag.
    pub tag: Tag,
    /// Whether the sender is done with it.
    pub settled: bool,
    /// Whether the sender settles it after us.
    pub second: bool,
    /// Whether it goes on with a delivery of an earlier connection.
    pub resume: bool,
    /// The message.
    pub payload: Bytes,
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// Why, unless the client took its leave; its error or ours.
    pub error: Option<Error>,
}

impl Server {
    /// A connection on which nothing has come yet.
    pub fn new(now: Instant, limits: ServerLimits, mechanisms: Mechanisms) -> Self {
        Self {
            phase: Phase::Start,
            limits,
            mechanisms,
            sasl: false,
            peer: Peer {
                container_id: String::new(),
                frame_bytes_max: FRAME_BYTES_MIN,
                idle: None,
                channel_max: u16::MAX,
            },
            rest: Vec::new(),
            out: Vec::new(),
            events: VecDeque::new(),
            channels: Vec::new(),
            next_key: 0,
            accepted: None,
            heard: now,
            touched: now,
            beat: Instant::NEVER,
            spoke: false,
        }
    }

    /// What the client calls itself.
    pub fn container_id(&self) -> &str {
        &self.peer.container_id
    }

    /// Says whether links may be attached and messages sent.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Says whether it is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Bytes of memory that frames and messages take which are not whole yet.
    pub fn arriving_bytes(&self) -> usize {
        self.rest.capacity() + self.partial_bytes()
    }

    /// When [`weir_sansio::Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        let patience = match self.phase {
            Phase::Over | Phase::Deciding => return Instant::NEVER,
            Phase::Open if self.limits.idle_millis == 0 => Instant::NEVER,
            Phase::Open => self.heard + self.idle(),
            _ => self.heard + OPEN_TIME_MAX,
        };
        let stalled = if self.rest.is_empty() {
            Instant::NEVER
        } else {
            self.touched + STALL_TIME_MAX
        };
        patience.min(stalled).min(self.beat)
    }

    /// For how long a client may be silent.
    fn idle(&self) -> Duration {
        Duration::from_millis(u64::from(self.limits.idle_millis) * 2)
    }

    /// What is to be sent, whatever else happened.
    pub fn take_bytes(&mut self) -> Option<Vec<u8>> {
        self.flush_accepted();
        (!self.out.is_empty()).then(|| core::mem::take(&mut self.out))
    }

    /// Ends the conversation from this side, telling the client why if it can be told.
    pub fn close(&mut self, condition: Condition, sentence: &str) {
        self.end(Some(Error::new(condition, sentence)));
    }

    fn end(&mut self, error: Option<Error>) {
        self.flush_accepted();
        match self.phase {
            Phase::Over => return,
            // An open comes before a close (section 2.4.3).
            // [AMQP-2.4.3-1]
            Phase::Opening => {
                self.write_open();
                self.write(0, &Performative::Close(error.clone()));
            }
            Phase::Open => self.write(0, &Performative::Close(error.clone())),
            Phase::Start | Phase::Sasl | Phase::Deciding | Phase::Header => {}
        }
        self.over(error);
    }

    fn over(&mut self, error: Option<Error>) {
        self.phase = Phase::Over;
        self.rest = Vec::new();
        for channel in core::mem::take(&mut self.channels) {
            self.detach_all(&channel);
        }
        self.beat = Instant::NEVER;
        self.events.push_back(ServerEvent::Closed(Closed { error }));
    }

    fn write(&mut self, channel: u16, performative: &Performative) {
        self.spoke = true;
        performative.write(channel, 0, &mut self.out);
    }

    /// Section 2.7.1.
    fn write_open(&mut self) {
        let open = Open {
            container_id: self.limits.container_id.clone(),
            max_frame_size: self.limits.frame_bytes_max as u32,
            channel_max: (SESSIONS_MAX - 1) as u16,
            idle_time_out: (self.limits.idle_millis > 0).then_some(self.limits.idle_millis),
            ..Open::default()
        };
        self.write(0, &Performative::Open(Box::new(open)));
    }

    /// Reads whole headers and frames off the front; says how many bytes they took.
    fn consume(&mut self, now: Instant, bytes: &[u8]) -> Result<usize, Fault> {
        let mut taken = 0;
        loop {
            let left = &bytes[taken..];
            // [AMQP-2.4.1-1]
            match self.phase {
                Phase::Deciding | Phase::Over => return Ok(taken),
                Phase::Start | Phase::Header => {
                    let Some(header) = left.first_chunk::<HEADER_BYTES>() else {
                        return Ok(taken);
                    };
                    self.heard = now;
                    self.take_header(header);
                    taken += HEADER_BYTES;
                }
                Phase::Sasl | Phase::Opening | Phase::Open => {
                    // Before the open nothing larger than 512 bytes may come but the open itself and
                    // what SASL needs (sections 2.4.1, 5.3.1); both fit the usual maximum.
                    let Framed::Whole(header) = frame(left, self.limits.frame_bytes_max)? else {
                        return Ok(taken);
                    };
                    self.heard = now;
                    self.take_frame(now, &header, &left[..header.end])?;
                    taken += header.end;
                }
            }
        }
    }

    /// Section 2.2: a header that is not taken is answered with one that would be, and the end.
    fn take_header(&mut self, bytes: &[u8; HEADER_BYTES]) {
        let header = ProtocolHeader::read(bytes).filter(|header| header.version == [1, 0, 0]);
        let id = header.map(|header| header.id);
        match (self.phase, id) {
            (Phase::Start, Some(ProtocolId::Sasl)) => {
                self.sasl = true;
                self.out.extend_from_slice(&ProtocolHeader::SASL.bytes());
                // [AMQP-5.3.2-1]
                Sasl::Mechanisms(self.mechanisms.names()).write(&mut self.out);
                self.phase = Phase::Sasl;
            }
            (Phase::Start, Some(ProtocolId::Amqp)) => {
                self.phase = Phase::Deciding;
                self.events.push_back(ServerEvent::Login(Login::Unsaid));
            }
            (Phase::Header, Some(ProtocolId::Amqp)) => {
                self.out.extend_from_slice(&ProtocolHeader::AMQP.bytes());
                self.phase = Phase::Opening;
            }
            (phase, _) => {
                // [AMQP-2.2-1]
                let right = match phase {
                    Phase::Header => ProtocolHeader::AMQP,
                    _ => ProtocolHeader::SASL,
                };
                self.out.extend_from_slice(&right.bytes());
                let sentence = "another protocol or version than AMQP 1.0";
                self.over(Some(Error::new(Condition::FRAMING_ERROR, sentence)));
            }
        }
    }

    fn take_frame(
        &mut self,
        now: Instant,
        header: &crate::wire::FrameHeader,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        if header.is_sasl != (self.phase == Phase::Sasl) {
            let rule = "a SASL frame outside of SASL, or another inside";
            return Err(Fault::new(Condition::FRAMING_ERROR, 5, rule));
        }
        if header.is_sasl {
            let sasl = Sasl::read(header, bytes)?;
            return self.take_sasl(sasl);
        }
        let Some((performative, payload)) = Performative::read(header, bytes)? else {
            return Ok(());
        };
        match performative {
            Performative::Open(open) if self.phase == Phase::Opening => self.take_open(now, *open),
            Performative::Close(error) if self.phase == Phase::Open => {
                self.flush_accepted();
                self.write(0, &Performative::Close(None));
                self.over(error);
                Ok(())
            }
            other if self.phase == Phase::Open => self.receive(header.channel, other, payload),
            _ => {
                let rule = "the first frame is an open, and there is one";
                Err(Fault::new(Condition::NOT_ALLOWED, header.body, rule))
            }
        }
    }

    /// Section 2.7.1.
    fn take_open(&mut self, now: Instant, open: Open) -> Result<(), Fault> {
        let refused = |rule| Err(Fault::new(Condition::INVALID_FIELD, 8, rule));
        if open.container_id.len() > NAME_BYTES_MAX {
            return refused("a container identifier longer than is taken");
        }
        // Section 2.7.1: nobody may have a smaller maximum than 512.
        if (open.max_frame_size as usize) < FRAME_BYTES_MIN {
            return refused("a maximum frame size of less than 512");
        }
        let idle = open.idle_time_out.filter(|millis| *millis > 0);
        if idle.is_some_and(|millis| millis < IDLE_MILLIS_MIN) {
            return refused("an idle time-out shorter than is kept");
        }
        let every = idle.map(|millis| Duration::from_millis(u64::from(millis) / 3));
        self.peer = Peer {
            container_id: open.container_id,
            frame_bytes_max: (open.max_frame_size as usize).min(FRAME_BYTES_SENT_MAX),
            idle: every,
            channel_max: open.channel_max,
        };
        self.beat = every.map_or(Instant::NEVER, |every| now + every);
        // [AMQP-2.7.1-1]
        self.write_open();
        self.phase = Phase::Open;
        self.events.push_back(ServerEvent::Opened);
        Ok(())
    }

    fn take(&mut self, now: Instant, bytes: &[u8]) -> usize {
        match self.consume(now, bytes) {
            Ok(taken) => taken,
            Err(fault) => {
                self.end(Some(Error::new(fault.condition, fault.to_string())));
                bytes.len()
            }
        }
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
        let mut rest = core::mem::take(&mut self.rest);
        let left = if rest.is_empty() {
            let taken = self.take(now, bytes);
            bytes[taken..].to_vec()
        } else {
            rest.extend_from_slice(bytes);
            let taken = self.take(now, &rest);
            if taken == rest.len() {
                Vec::new()
            } else {
                rest.drain(..taken);
                rest
            }
        };
        if self.phase != Phase::Over {
            self.rest = left;
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.deadline() {
            return;
        }
        if now >= self.beat {
            // Section 2.4.5.
            // [AMQP-2.4.5-1]
            if !core::mem::take(&mut self.spoke) {
                Performative::write_heartbeat(&mut self.out);
            }
            self.beat = self.peer.idle.map_or(Instant::NEVER, |every| now + every);
        }
        if now < self.deadline() {
            return;
        }
        match self.phase {
            // [AMQP-2.4.5-2]
            Phase::Open => self.close(
                Condition::RESOURCE_LIMIT_EXCEEDED,
                "nothing came within the idle time-out",
            ),
            _ => self.close(
                Condition::FRAMING_ERROR,
                "the connection was not opened in time",
            ),
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, ServerEvent> {
        if let Some(bytes) = self.take_bytes() {
            return Output::Transmit(bytes);
        }
        if let Some(event) = self.events.pop_front() {
            return Output::Event(event);
        }
        self.events = VecDeque::new();
        Output::Timeout(self.deadline())
    }
}
