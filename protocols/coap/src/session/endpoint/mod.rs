//! The machine of a datagram socket: every peer's messages, exchanges, blocks and observations.
//!
//! What it deliberately does not do: sockets, clocks, resources. Datagrams and answers go in;
//! datagrams, requests and notifications come out.

mod asks;
mod calls;
mod notify;
mod receive;
mod respond;
mod timers;

use super::assemblies::Assemblies;
use super::bodies::Bodies;
use super::echo::Challenger;
use super::event::{Event, Outgoing};
use super::ids::{Address, CallId, ObservationId};
use super::observers::Observers;
use super::parameters::Parameters;
use super::peers::Peers;
use super::random::Random;
use super::seen::Seen;
use super::slots::Slots;
use crate::limits::Limits;
use crate::wire::{Block, Code, Kind, Message, Options, Token, write_empty};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use calls::Underway;
use core::convert::Infallible;
use timers::Timer;
use weir_sansio::{Instant, Output, Session};

/// How a datagram came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// It was sent to a group.
    pub multicast: bool,
    /// The address may be forged: a large answer is given only to who proved it is its own (RFC 9175
    /// section 2.6).
    pub untrusted: bool,
}

/// A request that was not answered yet.
#[derive(Clone, Debug)]
struct Exchange<A> {
    peer: A,
    id: u16,
    token: Token,
    code: Code,
    confirmable: bool,
    acknowledged: bool,
    /// Whether it was not answered at once: then it is acknowledged in time, and its duplicates are known.
    settled: bool,
    /// Whether its answer is kept for duplicates.
    remembered: bool,
    arrival: Arrival,
    /// Bytes of the datagram, against which an answer's are held.
    bytes: usize,
    options: Options,
    block1: Option<Block>,
    asked: Option<Block>,
    wants_size: bool,
    observe: bool,
    /// Which classes of responses are not wanted (RFC 7967 section 2).
    unwanted: Option<u32>,
    due: Instant,
}

/// The machine of a datagram socket.
#[derive(Debug)]
pub struct Endpoint<A> {
    parameters: Parameters,
    limits: Limits,
    random: Random,
    challenger: Challenger,
    peers: Peers<A>,
    seen: Seen<A>,
    exchanges: Slots<Exchange<A>>,
    /// The request that came last and may still be answered at once.
    unsettled: Option<u64>,
    observers: Observers<A>,
    assemblies: Assemblies<A>,
    bodies: Bodies<A>,
    calls: BTreeMap<CallId, Underway<A>>,
    tokens: BTreeMap<Token, CallId>,
    /// Tokens of observations that were given up: what still comes is rejected.
    forgotten: VecDeque<Token>,
    delayed: BTreeMap<u64, Outgoing<A>>,
    timers: BTreeSet<(Instant, Timer<A>)>,
    sweeps: bool,
    out: VecDeque<Outgoing<A>>,
    events: VecDeque<Event<A>>,
    scratch: Vec<u8>,
    next: u64,
}

impl<A: Address> Endpoint<A> {
    /// Bytes of memory that bodies take which are not whole yet.
    pub fn arriving_bytes(&self) -> usize {
        self.assemblies.bytes()
    }

    /// Bytes of memory that answers take which are kept for repetitions of their requests.
    pub fn kept_bytes(&self) -> usize {
        self.seen.bytes()
    }

    /// A machine; `seed` is drawn so that nobody can guess it.
    pub fn new(parameters: Parameters, limits: Limits, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let keys = [random.next(), random.next()];
        Self {
            parameters,
            limits,
            challenger: Challenger::new(keys),
            random,
            peers: Peers::new(),
            seen: Seen::new(),
            exchanges: Slots::new(),
            unsettled: None,
            observers: Observers::new(),
            assemblies: Assemblies::new(),
            bodies: Bodies::new(),
            calls: BTreeMap::new(),
            tokens: BTreeMap::new(),
            forgotten: VecDeque::new(),
            delayed: BTreeMap::new(),
            timers: BTreeSet::new(),
            sweeps: false,
            out: VecDeque::new(),
            events: VecDeque::new(),
            scratch: Vec::new(),
            next: 0,
        }
    }

    /// Something to send, something to tell, or when to be called again.
    pub fn poll(&mut self) -> Output<Outgoing<A>, Event<A>> {
        if let Some(datagram) = self.out.pop_front() {
            return Output::Transmit(datagram);
        }
        if let Some(event) = self.events.pop_front() {
            return Output::Event(event);
        }
        self.settle();
        let next = self.timers.first();
        Output::Timeout(next.map_or(Instant::NEVER, |(at, _)| *at))
    }

    /// How much is kept, for metrics and tests: peers, observations, exchanges, calls.
    pub fn kept(&self) -> [usize; 4] {
        [
            self.peers.len(),
            self.observers.len(),
            self.exchanges.len(),
            self.calls.len(),
        ]
    }

    /// Every observation there is: to end them all.
    pub fn observations(&self) -> Vec<ObservationId> {
        self.observers.all().collect()
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn send(&mut self, peer: A, bytes: bytes::Bytes) {
        self.out.push_back(Outgoing { peer, bytes });
    }

    // [RFC7252-4.2-9]
    fn send_empty(&mut self, peer: A, kind: Kind, id: u16) -> bytes::Bytes {
        self.scratch.clear();
        write_empty(kind, id, &mut self.scratch);
        let bytes = bytes::Bytes::copy_from_slice(&self.scratch);
        self.send(peer, bytes.clone());
        bytes
    }

    fn written(&mut self, kind: Kind, id: u16, message: &Message) -> bytes::Bytes {
        self.scratch.clear();
        crate::wire::write_datagram(kind, id, message, &mut self.scratch);
        bytes::Bytes::copy_from_slice(&self.scratch)
    }
}

/// With one peer only, for tests and the simulator.
impl Session for Endpoint<()> {
    type Transmit = Outgoing<()>;
    type Event = Event<()>;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.receive(now, (), Arrival::default(), bytes);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.timeout(now);
    }

    fn poll_output(&mut self) -> Output<Outgoing<()>, Event<()>> {
        self.poll()
    }
}
