//! CoAP over a byte stream or a WebSocket: one connection (RFC 8323).
//!
//! What it deliberately does not do: retransmit, tell duplicates, conflate. The transport does the
//! first two; who drives the connection holds notifications back while it is not writable.

mod calls;

use super::assemblies::{self, Assembled, Assemblies};
use super::bodies::{self, Bodies, Cut};
use super::calls::Call;
use super::event::{Event, Incoming};
use super::ids::{CallId, ExchangeId, ObservationId};
use super::random::Random;
use crate::limits::{Limits, STREAM_OVERHEAD_BYTES};
use crate::wire::{
    Abort, Block, Capabilities, Code, Framing, Message, Number, Options, RawOptions, Refusal,
    Signal, Token, check_request, head_of, parse_body, write_stream,
};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;
use weir_sansio::{Instant, Output, Session};

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionFault {
    /// The peer broke a rule; it was told by the abort that is still to be sent.
    PeerMisbehaved(String),
    /// The peer gave up.
    Aborted(String),
}

impl fmt::Display for ConnectionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectionFault::PeerMisbehaved(reason) => write!(f, "the peer misbehaved: {reason}"),
            ConnectionFault::Aborted(reason) => write!(f, "the peer gave up: {reason}"),
        }
    }
}

/// A request that was not answered yet.
#[derive(Debug)]
struct Exchange {
    token: Token,
    code: Code,
    options: Options,
    block1: Option<Block>,
    asked: Option<Block>,
    wants_size: bool,
    observe: bool,
    unwanted: u32,
}

#[derive(Debug)]
struct Observation {
    token: Token,
    code: Code,
    options: Options,
    asked: Option<Block>,
    sequence: u32,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    framing: Framing,
    limits: Limits,
    random: Random,
    /// What the peer can take, once it said so.
    peer: Option<Capabilities>,
    input: Vec<u8>,
    exchanges: BTreeMap<u64, Exchange>,
    observations: BTreeMap<ObservationId, Observation>,
    assemblies: Assemblies<()>,
    bodies: Bodies<()>,
    calls: BTreeMap<CallId, Call>,
    tokens: BTreeMap<Token, CallId>,
    /// Which observation's notification a request fetches the rest of.
    rests: BTreeMap<CallId, CallId>,
    held: Vec<CallId>,
    pongs: Vec<Message>,
    released: bool,
    out: VecDeque<Bytes>,
    out_bytes: usize,
    events: VecDeque<Event<()>>,
    next: u64,
}

/// Room beside a payload in a message.
const HEAD_BYTES: usize = 128;
/// Payloads up to here fit any peer (RFC 8323 section 5.3.1).
const ALWAYS_FITS: usize = 1024;

impl Connection {
    /// A connection that was just opened; the first message says what can be taken.
    pub fn new(framing: Framing, limits: Limits, seed: u64) -> Self {
        let mut connection = Self {
            framing,
            limits,
            random: Random::new(seed),
            peer: None,
            input: Vec::new(),
            exchanges: BTreeMap::new(),
            observations: BTreeMap::new(),
            assemblies: Assemblies::new(),
            bodies: Bodies::new(),
            calls: BTreeMap::new(),
            tokens: BTreeMap::new(),
            rests: BTreeMap::new(),
            held: Vec::new(),
            pongs: Vec::new(),
            released: false,
            out: VecDeque::new(),
            out_bytes: 0,
            events: VecDeque::new(),
            next: 0,
        };
        let own = Capabilities {
            message_bytes_max: connection.message_bytes_max() as u32,
            block_wise: true,
        };
        connection.send(&own.to_message());
        connection
    }

    /// Largest message taken, bytes.
    pub fn message_bytes_max(&self) -> usize {
        self.limits.body_bytes + STREAM_OVERHEAD_BYTES
    }

    /// Says whether nothing is under way that an idle connection would be kept for.
    pub fn is_idle(&self) -> bool {
        self.exchanges.is_empty() && self.observations.is_empty() && self.calls.is_empty()
    }

    /// Says whether the peer has said what it can take.
    pub fn is_greeted(&self) -> bool {
        self.peer.is_some()
    }

    /// Bytes that were not polled yet.
    pub fn unsent_bytes(&self) -> usize {
        self.out_bytes
    }

    /// Bytes of memory that messages and bodies take which are not whole yet.
    pub fn arriving_bytes(&self) -> usize {
        self.input.capacity() + self.assemblies.bytes()
    }

    /// Gives the peer up, and says why (RFC 8323 section 5.6); what it sent is dropped.
    pub fn give_up(&mut self, reason: &str) {
        self.input = Vec::new();
        self.assemblies = Assemblies::new();
        self.send(&Abort::because(reason).to_message());
    }

    /// Says whether either side said that the connection will be closed.
    pub fn is_released(&self) -> bool {
        self.released
    }

    /// Requests that were not answered yet.
    pub fn open_requests(&self) -> usize {
        self.exchanges.len()
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn send(&mut self, message: &Message) {
        let mut bytes = Vec::new();
        write_stream(self.framing, message, &mut bytes);
        self.out_bytes += bytes.len();
        self.out.push_back(bytes.into());
    }

    fn capabilities(&self) -> Capabilities {
        self.peer.unwrap_or_default()
    }

    /// Payloads up to here go whole to this peer.
    // [RFC8323-5.3.1-1]
    fn whole_bytes(&self) -> usize {
        let most = self.capabilities().message_bytes_max as usize;
        most.saturating_sub(HEAD_BYTES).max(ALWAYS_FITS)
    }

    fn cut(&self, asked: Option<Block>, size: bool) -> Cut {
        let bert = self.capabilities().message_bytes_max > 1152 && self.capabilities().block_wise;
        Cut {
            asked,
            size,
            exponent: if bert { Block::BERT } else { Block::LARGEST },
            whole_bytes: self.whole_bytes(),
        }
    }

    /// Says that the connection will be closed: no more requests, please (RFC 8323 section 5.5).
    // [RFC8323-5.5-1]
    pub fn release(&mut self) {
        if !self.released {
            self.released = true;
            self.send(&Message::new(Code::RELEASE));
        }
    }

    /// Asks for a sign of life (RFC 8323 section 5.4).
    pub fn ping(&mut self) {
        self.send(&Message::new(Code::PING));
    }

    fn abort(&mut self, abort: &Abort) -> ConnectionFault {
        self.send(&abort.to_message());
        ConnectionFault::PeerMisbehaved(abort.reason.clone())
    }

    // [RFC8323-3.3-1] [RFC8323-5.3-1]
    fn take(&mut self, now: Instant, message: Message) -> Result<(), ConnectionFault> {
        let code = message.code;
        if self.peer.is_none() && !matches!(code, Code::CSM | Code::ABORT | Code::EMPTY) {
            let abort = Abort::because("the first message must be a CSM");
            return Err(self.abort(&abort));
        }
        if code.is_signal() {
            return self.signal(now, &message);
        }
        if code.is_request() {
            self.request_arrived(now, message);
        } else if code.is_response() {
            self.response_arrived(now, message);
        }
        Ok(())
    }

    fn signal(&mut self, now: Instant, message: &Message) -> Result<(), ConnectionFault> {
        let signal = Signal::read(message, self.capabilities());
        match signal.map_err(|abort| self.abort(&abort))? {
            Signal::Capabilities(capabilities) => {
                self.peer = Some(capabilities);
                let held = core::mem::take(&mut self.held);
                held.into_iter().for_each(|call| self.send_call(call));
            }
            // With custody, once what was sent before is done (RFC 8323 section 5.4.1).
            Signal::Ping(pong) if pong.options.as_bytes().is_empty() => self.send(&pong),
            Signal::Ping(pong) => {
                self.pongs.push(pong);
                self.flush_pongs();
            }
            Signal::Abort(abort) => return Err(ConnectionFault::Aborted(abort.reason)),
            // No more requests of ours; the connection ends once the peer's are answered.
            Signal::Release(..) => self.released = true,
            Signal::Pong(_) | Signal::Unknown => {}
        }
        let _no_timers = now;
        Ok(())
    }

    // [RFC8323-5.4.1-1]
    fn flush_pongs(&mut self) {
        if self.exchanges.is_empty() {
            let pongs = core::mem::take(&mut self.pongs);
            pongs.iter().for_each(|pong| self.send(pong));
        }
    }

    fn request_arrived(&mut self, now: Instant, message: Message) {
        let raw = raw_of(&message);
        let mut exchange = Exchange {
            token: message.token,
            code: message.code,
            options: Options::new(),
            block1: None,
            asked: None,
            wants_size: false,
            observe: false,
            unwanted: 0,
        };
        let options = match check_request(&raw) {
            Ok(options) => options,
            Err(refusal) => {
                let code = match refusal {
                    Refusal::Option(_) => Code::BAD_OPTION,
                    Refusal::Proxy(_) => Code::PROXYING_NOT_SUPPORTED,
                };
                let answer = Message::diagnostic(code, &alloc::format!("{refusal}"));
                return self.answer(now, &exchange, answer);
            }
        };
        exchange.options = options.clone();
        let message = Message { options, ..message };
        match self.admit(now, &mut exchange, message) {
            Err(answer) => self.answer(now, &exchange, answer),
            Ok(message) => self.hand_up(exchange, message),
        }
    }

    /// Takes what is meant for this layer out of a request; an error is its answer.
    fn admit(
        &mut self,
        now: Instant,
        exchange: &mut Exchange,
        mut message: Message,
    ) -> Result<Message, Message> {
        let options = &message.options;
        exchange.unwanted = options.uint(Number::NO_RESPONSE).unwrap_or(0);
        exchange.asked = options.uint(Number::BLOCK2).map(Block::of);
        exchange.block1 = options.uint(Number::BLOCK1).map(Block::of);
        exchange.wants_size = options.uint(Number::SIZE2) == Some(0);
        if message.code.method().is_none() {
            let reason = alloc::format!("there is no method {}", message.code);
            return Err(Message::diagnostic(Code::METHOD_NOT_ALLOWED, &reason));
        }
        if options.uint(Number::HOP_LIMIT) == Some(0) {
            return Err(Message::diagnostic(
                Code::BAD_REQUEST,
                "Hop-Limit is 1 to 255",
            ));
        }
        if matches!(message.code, Code::GET | Code::FETCH) {
            match options.uint(Number::OBSERVE) {
                Some(0) => exchange.observe = true,
                Some(1) => self.end_observation_of(exchange.token),
                _ => {}
            }
        }
        if let Some(block) = exchange.block1 {
            let key = assemblies::key_of((), exchange.code, &exchange.options);
            let taken = self
                .assemblies
                .take(now, key, block, &message, &self.limits);
            match taken {
                Assembled::Answer(answer) => return Err(answer),
                Assembled::Whole(body) => message.payload = body,
            }
        }
        if let Some(asked) = exchange.asked.filter(|block| block.number > 0) {
            let key = bodies::key_of((), exchange.code, &exchange.options);
            let cut = self.cut(None, exchange.wants_size);
            if let Some(answer) = self.bodies.further(now, &key, asked, cut) {
                return Err(answer);
            }
        }
        for number in [Number::BLOCK1, Number::BLOCK2, Number::SIZE1] {
            message.options.remove(number);
        }
        Ok(message)
    }

    fn hand_up(&mut self, exchange: Exchange, message: Message) {
        if self.exchanges.len() >= self.limits.exchanges {
            let mut answer =
                Message::diagnostic(Code::SERVICE_UNAVAILABLE, "too many requests wait");
            answer.options.push_uint(Number::MAX_AGE, 1);
            answer.token = exchange.token;
            return self.send(&answer);
        }
        let number = self.fresh();
        self.events.push_back(Event::Request(Incoming {
            exchange: ExchangeId(number),
            peer: (),
            message,
            multicast: false,
            observe: exchange.observe,
        }));
        self.exchanges.insert(number, exchange);
    }

    /// Answers a request; where `observe` is set and the peer asked for it, [`Connection::notify`]
    /// follows.
    pub fn respond(
        &mut self,
        now: Instant,
        id: ExchangeId,
        mut response: Message,
        observe: bool,
    ) -> Option<ObservationId> {
        let exchange = self.exchanges.remove(&id.0)?;
        let room = self.observations.len() < self.limits.observations_a_peer;
        let wanted = observe && exchange.observe && response.code.is_success();
        if exchange.observe {
            self.end_observation_of(exchange.token);
        }
        let registered = (wanted && room).then(|| {
            let id = ObservationId(self.fresh());
            let observation = Observation {
                token: exchange.token,
                code: exchange.code,
                options: exchange.options.clone(),
                asked: exchange.asked,
                sequence: 0,
            };
            self.observations.insert(id, observation);
            response.options.set_uint(Number::OBSERVE, 0);
            id
        });
        self.answer(now, &exchange, response);
        self.flush_pongs();
        registered
    }

    fn answer(&mut self, now: Instant, exchange: &Exchange, mut response: Message) {
        if let Some(block) = exchange.block1
            && response.options.first(Number::BLOCK1).is_none()
            && response.code != Code::REQUEST_ENTITY_INCOMPLETE
        {
            response.options.push_uint(Number::BLOCK1, block.value());
        }
        if response.options.first(Number::BLOCK2).is_none() {
            let asked = exchange.asked.filter(|_| response.code.is_success());
            let cut = self.cut(asked, exchange.wants_size);
            let key = || bodies::key_of((), exchange.code, &exchange.options);
            response = self.bodies.cut(now, key, cut, response, &self.limits);
        }
        if exchange.unwanted >> (response.code.class().saturating_sub(1)) & 1 == 0 {
            response.token = exchange.token;
            self.send(&response);
        }
    }

    /// Tells an observer what the resource is now; an error is the last it hears.
    pub fn notify(&mut self, now: Instant, id: ObservationId, mut message: Message) {
        let Some(observation) = self.observations.get_mut(&id) else {
            return;
        };
        message.token = observation.token;
        let last = !message.code.is_success();
        if !last {
            observation.sequence = (observation.sequence + 1) & 0xff_ffff;
            message
                .options
                .set_uint(Number::OBSERVE, observation.sequence);
        }
        let (code, options, asked) = (observation.code, &observation.options, observation.asked);
        let key = bodies::key_of((), code, options);
        let cut = self.cut(asked, false);
        let message = self.bodies.cut(now, || key, cut, message, &self.limits);
        self.send(&message);
        if last {
            self.observations.remove(&id);
            self.events.push_back(Event::Ended(id));
        }
    }

    fn end_observation_of(&mut self, token: Token) {
        let mut all = self.observations.iter();
        let found = all.find(|(_, observation)| observation.token == token);
        if let Some(id) = found.map(|(id, _)| *id) {
            self.observations.remove(&id);
            self.events.push_back(Event::Ended(id));
        }
    }
}

impl Session for Connection {
    type Transmit = Bytes;
    type Event = Event<()>;
    type Error = ConnectionFault;

    /// Takes bytes of a stream in pieces of any size, or one whole frame.
    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), ConnectionFault> {
        self.input.extend_from_slice(bytes);
        let mut input = core::mem::take(&mut self.input);
        let mut at = 0;
        let taken = loop {
            match self.next_message(&input[at..]) {
                Ok(None) => break Ok(()),
                Err(fault) => break Err(fault),
                Ok(Some((message, length))) => {
                    at += length;
                    if let Err(fault) = self.take(now, message) {
                        break Err(fault);
                    }
                }
            }
        };
        input.drain(..at);
        if input.is_empty() {
            input = Vec::new();
        }
        self.input = input;
        taken
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_output(&mut self) -> Output<Bytes, Event<()>> {
        if let Some(bytes) = self.out.pop_front() {
            self.out_bytes -= bytes.len();
            return Output::Transmit(bytes);
        }
        match self.events.pop_front() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(Instant::NEVER),
        }
    }
}

impl Connection {
    /// The message that bytes begin with, and its length; none where some are missing.
    fn next_message(&mut self, bytes: &[u8]) -> Result<Option<(Message, usize)>, ConnectionFault> {
        let refused = |connection: &mut Self, reason: String| {
            let abort = Abort::because(reason);
            connection.abort(&abort)
        };
        let head = match head_of(self.framing, bytes) {
            Ok(Some(head)) => head,
            Ok(None) if self.framing == Framing::Frames && !bytes.is_empty() => {
                return Err(refused(self, "a frame shorter than a head".into()));
            }
            Ok(None) => return Ok(None),
            Err(malformed) => return Err(refused(self, alloc::format!("{malformed}"))),
        };
        let length = head.message_bytes();
        if length > self.message_bytes_max() {
            let most = self.message_bytes_max();
            return Err(refused(
                self,
                alloc::format!("a message has at most {most} bytes"),
            ));
        }
        if bytes.len() < length && self.framing == Framing::Stream {
            return Ok(None);
        }
        match parse_body(head, bytes) {
            Ok(message) => Ok(Some((message, length))),
            Err(malformed) => Err(refused(self, alloc::format!("{malformed}"))),
        }
    }
}

fn raw_of(message: &Message) -> RawOptions<'_> {
    let split = RawOptions::split(message.options.as_bytes(), 0);
    split.map(|(raw, _)| raw).unwrap_or_default()
}
