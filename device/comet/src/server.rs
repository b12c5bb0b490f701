//! The server: its records, and what happens when something is published.

use crate::connection::{Connection, Phase};
use crate::cookie::Key;
use crate::features::{COAP, COUNTERS, LONG_POLLING, VALUES};
use crate::hosts::Hosts;
use crate::partial::Partial;
use crate::ring::{Ring, TooLong};
use crate::rtt::Rtt;
use crate::site::{Kind, Site};
use crate::time::Milliseconds;
use crate::timers::IDLE_SHIFT;

/// A Web server for so many connections, from so many addresses, with a ring of so many notifications of
/// at most so many bytes.
///
/// It begins as zeros, so that it lies in memory that is cleared and not copied from flash; it serves once
/// it was started. What is small comes first: an instruction reaches it in fewer bytes.
#[repr(C)]
pub struct Server<
    const CONNECTIONS: usize,
    const HOSTS: usize,
    const ITEMS: usize,
    const ITEM_BYTES: usize,
> {
    pub(crate) address: u32,
    pub(crate) site: Option<&'static Site>,
    pub(crate) port: u16,
    /// That of CoAP which was given last.
    pub(crate) message_id: u16,
    /// Whose turn it is to send.
    pub(crate) turn: u16,
    /// Whether anyone may have something to send.
    pub(crate) is_busy: bool,
    /// Whether anyone waits for an acknowledgement.
    pub(crate) is_urgent: bool,
    pub(crate) rtt: Rtt,
    /// None where nothing is counted.
    counters: [Counters; COUNTERS as usize],
    pub(crate) key: Key,
    pub(crate) hosts: Hosts<HOSTS>,
    pub(crate) partial: Partial,
    pub(crate) ring: Ring<ITEMS, ITEM_BYTES>,
    pub(crate) connections: [Connection; CONNECTIONS],
}

/// A record that is worked on: a copy, until it is kept.
pub(crate) struct Held {
    pub(crate) index: usize,
    pub(crate) now: Milliseconds,
    pub(crate) record: Connection,
}

/// What happened since the start; each wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments that were sent for a connection.
    pub segments: u32,
    /// Those that repeated what had been sent.
    pub repeated: u32,
    /// Answers and notifications that were sent, each counted once for each whom it was sent to.
    pub messages: u32,
    /// Connections that were reset because what they lacked is gone, or as dead.
    pub resets: u32,
    /// Times that a slow listener was sent the newest instead of all.
    pub conflated: u32,
    /// Connections that were accepted.
    pub accepted: u32,
    /// Handshakes that found no room.
    pub refused: u32,
}

impl Counters {
    const ZERO: Self = Self {
        segments: 0,
        repeated: 0,
        messages: 0,
        resets: 0,
        conflated: 0,
        accepted: 0,
        refused: 0,
    };
}

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    const SIZE: () = assert!(CONNECTIONS >= 1 && CONNECTIONS < u16::MAX as usize);

    /// A server that does nothing yet.
    pub const fn new() -> Self {
        let () = Self::SIZE;
        Self {
            connections: [Connection::FREE; CONNECTIONS],
            hosts: Hosts::new(),
            ring: Ring::new(),
            partial: Partial::new(),
            rtt: Rtt::new(),
            key: Key::ZERO,
            address: 0,
            port: 0,
            message_id: 0,
            site: None,
            turn: 0,
            is_busy: false,
            is_urgent: false,
            counters: [Counters::ZERO; COUNTERS as usize],
        }
    }

    /// Serves the site at an address and a port, and its topics by CoAP at
    /// [`COAP_PORT`](crate::limits::COAP_PORT); `key` makes sequence numbers that nobody can guess, and
    /// must be another at each start.
    pub fn start(&mut self, site: &'static Site, address: [u8; 4], port: u16, key: u64) {
        self.site = Some(site);
        self.address = u32::from_be_bytes(address);
        self.port = port;
        // Drawn (RFC 7252 section 4.4).
        self.message_id = key as u16;
        self.key = Key::new(key);
    }

    /// Publishes a notification of the topic with this number in the site, to all who listen or wait.
    /// Its number is what `ETag` and `id` say.
    pub fn publish(&mut self, now: Milliseconds, topic: u8, text: &[u8]) -> Result<u32, TooLong> {
        if !self.ring.fits(text) {
            return Err(TooLong);
        }
        let slot = self.ring.next();
        for index in 0..CONNECTIONS {
            let mut held = self.hold(index, now);
            self.overwrite(&mut held, slot);
            self.keep(&held);
        }
        self.ring.put(topic, text)?;
        for index in 0..CONNECTIONS {
            let mut held = self.hold(index, now);
            self.hand_on(&mut held, topic, slot);
            self.keep(&held);
        }
        self.is_busy = true;
        Ok(self.ring.published())
    }

    /// A slot gets new content: who is being answered with the old one cannot be sent it again.
    fn overwrite(&mut self, held: &mut Held, slot: u8) {
        if !VALUES || !self.is_value(&held.record) || held.record.slot() != slot {
            return;
        }
        match self.in_flight(&held.record) > 0 || held.record.position(true) > 0 {
            true => self.reset(held),
            false => self.count(|counters| &mut counters.conflated),
        }
    }

    /// What was published, for whom it is.
    fn hand_on(&mut self, held: &mut Held, topic: u8, slot: u8) {
        let is_its = held.record.topic() == topic;
        match held.record.phase() {
            Phase::Waiting if LONG_POLLING && is_its => {
                held.record.answer(topic, slot, false);
                self.start_timer(held, 0);
            }
            // What it was to be answered with is gone.
            Phase::Answering
                if !is_its && self.is_value(&held.record) && held.record.slot() == slot =>
            {
                self.answer_newest(held, held.record.task(), held.record.is_head());
            }
            Phase::Opening | Phase::Streaming => self.append(held, slot),
            Phase::Observing if COAP && is_its && held.record.stays() => held.record.notify(),
            _ => {}
        }
    }

    /// A listener has a slot more to be sent.
    fn append(&mut self, held: &mut Held, slot: u8) {
        let record = &mut held.record;
        let heads = u8::from(record.phase() == Phase::Opening);
        let is_started = record.sent() > heads || heads == 0 && record.offset() > 0;
        let is_lapped = record.first() == self.ring.next();
        if is_started {
            if is_lapped {
                self.reset(held);
            }
            return;
        }
        if is_lapped {
            let newest = self.ring.newest(record.topic());
            record.set_first(newest.unwrap_or(slot));
            self.count(|counters| &mut counters.conflated);
            return;
        }
        self.skip_others(record);
        if record.first() == slot && heads == 0 {
            self.start_timer(held, 0);
        }
    }

    /// A listener that nothing was sent of its oldest slot passes over those of other topics.
    pub(crate) fn skip_others(&self, record: &mut Connection) {
        let (topic, mut first) = (record.topic(), record.first());
        while self.ring.behind(first) > 0 && self.ring.item(first, topic).is_none() {
            first = self.ring.after(first, 1);
        }
        record.set_first(first);
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        let live = |connection: &&Connection| connection.phase() != Phase::Free;
        self.connections.iter().filter(live).count()
    }

    /// How many connections are listeners, observers or long polls.
    pub fn listeners(&self) -> usize {
        let waits = |connection: &&Connection| {
            matches!(
                connection.phase(),
                Phase::Waiting | Phase::Opening | Phase::Streaming | Phase::Observing
            )
        };
        self.connections.iter().filter(waits).count()
    }

    /// What happened since the start; nothing without the Cargo feature `counters`.
    pub fn counters(&self) -> Counters {
        self.counters.first().copied().unwrap_or(Counters::ZERO)
    }

    pub(crate) fn count(&mut self, counter: impl Fn(&mut Counters) -> &mut u32) {
        self.count_all(1, counter);
    }

    pub(crate) fn count_all(&mut self, more: u32, counter: impl Fn(&mut Counters) -> &mut u32) {
        if let Some(counters) = self.counters.first_mut() {
            let counter = counter(counters);
            *counter = counter.wrapping_add(more);
        }
    }

    /// The retransmission timeout in force, milliseconds.
    pub fn retransmission_timeout(&self) -> Milliseconds {
        self.rtt.timeout()
    }

    /// Bytes of a connection's record.
    pub const CONNECTION_BYTES: usize = size_of::<Connection>();

    /// The connection with a peer.
    pub(crate) fn find(&self, address: u32, port: u16) -> Option<usize> {
        let host = self.hosts.find(address)?;
        self.connections.iter().position(|connection| {
            let is_tcp = !matches!(connection.phase(), Phase::Free | Phase::Observing);
            connection.port == port && connection.host == host && is_tcp
        })
    }

    /// A record for a new connection, and the number of its peer's address: a free one, or that of who waits
    /// for a request, of which nothing came, for longest. Whoever has only just come or been answered stays.
    #[inline(never)]
    pub(crate) fn room(&mut self, now: Milliseconds, address: u32) -> Option<(usize, u8)> {
        let (mut found, mut longest) = (None, 0);
        for (index, record) in self.connections.iter().enumerate() {
            let silence = match record.phase() {
                Phase::Free => u8::MAX,
                Phase::Reading if self.partial.is_empty(index) => record.elapsed(now, IDLE_SHIFT),
                _ => 0,
            };
            if silence > longest {
                (found, longest) = (Some(index), silence);
            }
        }
        let connections = &self.connections;
        let host = self.hosts.intern(address, |host| {
            let uses = |record: &Connection| record.host == host && record.phase() != Phase::Free;
            connections.iter().any(uses)
        })?;
        Some((found?, host))
    }

    /// The record of a number, to be worked on.
    #[inline(never)]
    pub(crate) fn hold(&self, index: usize, now: Milliseconds) -> Held {
        Held {
            index,
            now,
            record: self.connections[index],
        }
    }

    /// The record as it is now.
    #[inline(never)]
    pub(crate) fn keep(&mut self, held: &Held) {
        if let Some(record) = self.connections.get_mut(held.index) {
            *record = held.record;
        }
    }

    /// Frees the record.
    pub(crate) fn free(&mut self, held: &mut Held) {
        self.forget(held.index);
        held.record = Connection::FREE;
    }

    /// Ends a connection with a reset.
    pub(crate) fn reset(&mut self, held: &mut Held) {
        self.count(|counters| &mut counters.resets);
        self.forget(held.index);
        let flight = self.in_flight(&held.record);
        held.record.reset(flight);
        self.is_busy = true;
    }

    /// Forgets what is known of a record elsewhere.
    pub(crate) fn forget(&mut self, index: usize) {
        self.rtt.forget(index);
        self.partial.forget(index);
    }

    /// Whether the connection is answered with a notification.
    pub(crate) fn is_value(&self, connection: &Connection) -> bool {
        let resource = self
            .site
            .and_then(|site| site.resource(usize::from(connection.task())));
        VALUES
            && connection.phase() == Phase::Answering
            && resource.is_some_and(|resource| matches!(resource.kind, Kind::Topic))
    }
}

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Default for Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    fn default() -> Self {
        Self::new()
    }
}
