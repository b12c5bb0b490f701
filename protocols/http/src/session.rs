//! The server's half of an HTTP/1.1 connection: bytes in, whole requests out.
//!
//! What it deliberately does not do: no socket, no clock, no answers; they are the driver's, which
//! sends them in the order of the requests. The decision worth arguing: a request is handed over only
//! with its whole body, since a message of observations is nothing until it is whole.

use crate::limits::{
    BODY_TIME_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, IDLE_TIME_MAX, TARGET_BYTES_MAX,
};
use crate::wire::body::{Chunked, too_large};
use crate::wire::head::{self, Framing, Refusal, Request};
use crate::wire::response::CONTINUE;
use crate::wire::{Version, head::target_too_long};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;
use core::convert::Infallible;
use weir_sansio::{Duration, Instant, Output};

/// What the layer above is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is whole.
    Request(Box<Request>),
    /// The peer must be told this, then the connection ends.
    Refused(Refusal),
    /// Nothing came for too long: close without a word (RFC 9112 section 9.5).
    Idle,
}

/// Reads one connection's requests.
pub struct Session {
    body_bytes_max: usize,
    state: State,
    /// Bytes of a head that is still incomplete.
    rest: Vec<u8>,
    /// How far `rest` was searched for the head's end.
    searched: usize,
    deadline: Instant,
    out: VecDeque<Output<&'static [u8], Event>>,
}

enum State {
    /// Between requests or inside a head.
    Head,
    /// Inside a body.
    Body(Box<Partial>),
    /// Nothing more is read.
    Over,
}

struct Partial {
    request: Box<Request>,
    bytes: Vec<u8>,
    left: Left,
}

enum Left {
    Length(usize),
    Chunks(Chunked),
}

impl Session {
    /// A session that takes bodies of at most so many bytes.
    pub fn new(now: Instant, body_bytes_max: usize) -> Self {
        Self {
            body_bytes_max,
            state: State::Head,
            rest: Vec::new(),
            searched: 0,
            deadline: now + IDLE_TIME_MAX,
            out: VecDeque::new(),
        }
    }

    /// Says whether it is between two requests.
    pub fn is_between(&self) -> bool {
        matches!(self.state, State::Head) && self.rest.is_empty()
    }

    /// Says whether a body comes.
    pub fn is_in_body(&self) -> bool {
        matches!(self.state, State::Body(_))
    }

    /// Says whether no request can come any more.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Bytes of memory that a request takes which is not whole yet.
    pub fn held(&self) -> usize {
        match &self.state {
            State::Body(partial) => partial.bytes.capacity(),
            _ => self.rest.capacity(),
        }
    }

    /// When [`weir_sansio::Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Reads nothing more; what is held is dropped.
    pub fn end(&mut self) {
        self.state = State::Over;
        self.rest = Vec::new();
        self.deadline = Instant::NEVER;
    }

    /// Counts idleness from now on, since an answer has been sent only now.
    pub fn touch(&mut self, now: Instant) {
        if self.is_between() {
            self.deadline = now + IDLE_TIME_MAX;
        }
    }

    fn read(&mut self, now: Instant, input: &mut &[u8]) -> Result<bool, Refusal> {
        match &mut self.state {
            State::Over => Ok(false),
            State::Body(partial) => {
                self.deadline = now + BODY_TIME_MAX;
                if !partial.read(input)? {
                    return Ok(false);
                }
                if let State::Body(partial) = core::mem::replace(&mut self.state, State::Head) {
                    self.whole(now, partial.finish());
                }
                Ok(true)
            }
            State::Head => self.read_head(now, input),
        }
    }

    fn read_head(&mut self, now: Instant, input: &mut &[u8]) -> Result<bool, Refusal> {
        // RFC 9112 section 2.2: empty lines before a request line are ignored.
        while let [b'\r', b'\n', rest @ ..] = *input {
            *input = rest;
        }
        if input.is_empty() || *input == b"\r" {
            return Ok(false);
        }
        let Some(end) = self.head_end(input)? else {
            return Ok(false);
        };
        let (request, framing) = head::read(&input[..end])?;
        *input = &input[end..];
        self.searched = 0;
        if request.method == "CONNECT" || request.method == "TRACE" {
            return Err(head::not_served(&request.method));
        }
        let left = match framing {
            Framing::Length(0) => {
                self.whole(now, Box::new(request));
                return Ok(true);
            }
            Framing::Length(length) if length > self.body_bytes_max => {
                return Err(too_large(self.body_bytes_max));
            }
            Framing::Length(length) => Left::Length(length),
            Framing::Chunked => Left::Chunks(Chunked::new(self.body_bytes_max)),
        };
        self.expect(&request, input.is_empty())?;
        self.deadline = now + BODY_TIME_MAX;
        self.state = State::Body(Box::new(Partial {
            request: Box::new(request),
            bytes: Vec::new(),
            left,
        }));
        Ok(true)
    }

    /// Where the head ends; refuses what is too long or has lines that end otherwise than with CR LF.
    fn head_end(&mut self, input: &[u8]) -> Result<Option<usize>, Refusal> {
        for at in memchr::memchr_iter(b'\n', &input[self.searched..]) {
            let at = self.searched + at;
            if at == 0 || input[at - 1] != b'\r' {
                return Err(ends_alone(input, at));
            }
            if at > HEAD_BYTES_MAX {
                break;
            }
            if at >= 3 && input[at - 2] == b'\n' {
                return Ok(Some(at + 1));
            }
        }
        // What is whole is read whole, its method first.
        head::check_method(input)?;
        self.searched = input.len();
        let line = memchr::memchr(b'\n', input);
        match (line, input.len()) {
            (None, length) if length > TARGET_BYTES_MAX + 64 => Err(target_too_long()),
            (Some(_), length) if length > HEAD_BYTES_MAX => {
                let reason = format!("the head is longer than {HEAD_BYTES_MAX} bytes");
                Err(Refusal::new(431, reason))
            }
            _ => Ok(None),
        }
    }

    fn expect(&mut self, request: &Request, waits: bool) -> Result<(), Refusal> {
        match request.header("expect") {
            None => Ok(()),
            Some(expected) if only_continue(expected) => {
                if waits && request.version == Version::Http11 {
                    self.out.push_back(Output::Transmit(CONTINUE));
                }
                Ok(())
            }
            Some(_) => Err(Refusal::new(417, "only `100-continue` can be expected")),
        }
    }

    fn whole(&mut self, now: Instant, request: Box<Request>) {
        self.deadline = now + IDLE_TIME_MAX;
        if !request.keep_alive {
            self.end();
        }
        self.out.push_back(Output::Event(Event::Request(request)));
    }

    /// Tells the peer why nothing more is read, and reads nothing more.
    pub fn refuse(&mut self, refusal: Refusal) {
        self.end();
        self.out.push_back(Output::Event(Event::Refused(refusal)));
    }

    fn read_all(&mut self, now: Instant, input: &mut &[u8]) {
        loop {
            match self.read(now, input) {
                Ok(true) => {}
                Ok(false) => return,
                Err(refusal) => return self.refuse(refusal),
            }
        }
    }

    fn keep(&mut self, now: Instant, input: &[u8], began: bool) {
        match self.state {
            State::Head if !input.is_empty() => {
                if !began {
                    self.deadline = now + HEAD_TIME_MAX;
                }
                self.rest.extend_from_slice(input);
            }
            _ => {}
        }
    }
}

/// A line that ends with LF alone, unless something before is wrong.
#[cold]
fn ends_alone(input: &[u8], at: usize) -> Refusal {
    let alone = || Refusal::at(at, "a line ends with LF alone");
    head::check_method(input).err().unwrap_or_else(alone)
}

impl weir_sansio::Session for Session {
    type Transmit = &'static [u8];
    type Event = Event;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        if self.rest.is_empty() {
            let mut input = bytes;
            self.read_all(now, &mut input);
            self.keep(now, input, false);
            return Ok(());
        }
        let mut held = core::mem::take(&mut self.rest);
        held.extend_from_slice(bytes);
        let mut input = held.as_slice();
        self.read_all(now, &mut input);
        let began = input.len() == held.len();
        self.keep(now, input, began);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.deadline || self.is_over() {
            return;
        }
        match (&self.state, self.rest.is_empty()) {
            (State::Head, true) => {
                self.end();
                self.out.push_back(Output::Event(Event::Idle));
            }
            (State::Head, false) => self.refuse(too_slow("head", HEAD_TIME_MAX)),
            _ => self.refuse(too_slow("body", BODY_TIME_MAX)),
        }
    }

    fn poll_output(&mut self) -> Output<&'static [u8], Event> {
        let Some(output) = self.out.pop_front() else {
            self.out = VecDeque::new();
            return Output::Timeout(self.deadline);
        };
        output
    }
}

/// Whether a list of expectations names no other (RFC 9110 section 10.1.1).
fn only_continue(expected: &str) -> bool {
    let mut all = expected.split(',');
    all.all(|one| one.trim().eq_ignore_ascii_case("100-continue"))
}

fn too_slow(what: &str, limit: Duration) -> Refusal {
    let reason = format!("the {what} did not come within {} s", limit.as_secs());
    Refusal::new(408, reason)
}

impl Partial {
    /// Takes what belongs to the body; says whether that was the last of it.
    fn read(&mut self, input: &mut &[u8]) -> Result<bool, Refusal> {
        match &mut self.left {
            Left::Chunks(chunks) => {
                chunks.read(input, &mut self.bytes)?;
                Ok(chunks.is_done())
            }
            Left::Length(left) => {
                if self.bytes.is_empty() {
                    self.bytes.reserve_exact((*left).min(1 << 20));
                }
                let taken = (*left).min(input.len());
                self.bytes.extend_from_slice(&input[..taken]);
                *input = &input[taken..];
                *left -= taken;
                Ok(*left == 0)
            }
        }
    }

    fn finish(self) -> Box<Request> {
        let mut request = self.request;
        request.body = self.bytes.into();
        request
    }
}
