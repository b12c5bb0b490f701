//! The server: its records, and what happens when something is published.

use crate::connection::{Connection, Phase};
use crate::cookie::Key;
use crate::hosts::Hosts;
use crate::partial::Partial;
use crate::ring::{Ring, TooLong};
use crate::rtt::Rtt;
use crate::site::{Kind, Site};
use crate::{COAP, Milliseconds};

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
    pub(crate) counters: Counters,
    pub(crate) key: Key,
    pub(crate) hosts: Hosts<HOSTS>,
    pub(crate) partial: Partial,
    pub(crate) ring: Ring<ITEMS, ITEM_BYTES>,
    pub(crate) connections: [Connection; CONNECTIONS],
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
    pub resets: u16,
    /// Times that a slow listener was sent the newest instead of all.
    pub conflated: u16,
    /// Connections that were accepted.
    pub accepted: u16,
    /// Handshakes that found no room.
    pub refused: u16,
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
            counters: Counters {
                segments: 0,
                repeated: 0,
                messages: 0,
                resets: 0,
                conflated: 0,
                accepted: 0,
                refused: 0,
            },
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
        let slot = self.ring.next();
        if self.ring.fits(text) {
            (0..CONNECTIONS).for_each(|index| self.overwrite(index, slot));
        }
        self.ring.put(topic, text)?;
        for index in 0..CONNECTIONS {
            let connection = *self.connection(index);
            match connection.phase() {
                Phase::Waiting if connection.topic() == topic => {
                    self.change(index, |connection| connection.answer(topic, slot, false));
                    self.start_timer(index, now, 0);
                }
                Phase::Opening | Phase::Streaming => self.append(index, now, slot),
                Phase::Observing if COAP && connection.stays() && connection.topic() == topic => {
                    self.notify(index);
                }
                _ => {}
            }
        }
        self.is_busy = true;
        Ok(self.ring.published())
    }

    /// A slot has new content: who was being answered with the old one cannot be sent it again.
    fn overwrite(&mut self, index: usize, slot: u8) {
        let connection = self.connection(index);
        if !self.is_value(connection) || connection.slot() != slot {
            return;
        }
        match self.in_flight(connection) > 0 || connection.position(true) > 0 {
            true => self.reset(index),
            false => self.counters.conflated = self.counters.conflated.wrapping_add(1),
        }
    }

    /// A listener has a slot more to be sent.
    fn append(&mut self, index: usize, now: Milliseconds, slot: u8) {
        let connection = *self.connection(index);
        let heads = u8::from(connection.phase() == Phase::Opening);
        let is_started = connection.sent() > heads || heads == 0 && connection.offset() > 0;
        let is_lapped = connection.first() == self.ring.next();
        match (is_lapped, is_started) {
            (true, true) => self.reset(index),
            (true, false) => {
                let newest = self.ring.newest(connection.topic());
                self.change(index, |connection| {
                    connection.set_first(newest.unwrap_or(slot))
                });
                self.counters.conflated = self.counters.conflated.wrapping_add(1);
            }
            (false, false) => {
                self.skip_others(index);
                let is_idle = connection.first() == slot && heads == 0;
                if is_idle {
                    self.start_timer(index, now, 0);
                }
            }
            (false, true) => {}
        }
    }

    /// A listener that nothing was sent of its oldest slot passes over those of other topics.
    pub(crate) fn skip_others(&mut self, index: usize) {
        let connection = self.connection(index);
        let (topic, mut first) = (connection.topic(), connection.first());
        while self.ring.behind(first) > 0 && self.ring.item(first, topic).is_none() {
            first = self.ring.after(first, 1);
        }
        self.record(index).set_first(first);
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        let live = |connection: &&Connection| connection.phase() != Phase::Free;
        self.connections.iter().filter(live).count()
    }

    /// How many connections are listeners, observers or long polls.
    pub fn listeners(&self) -> usize {
        let waits = |connection: &&Connection| {
            connection.listens() || matches!(connection.phase(), Phase::Waiting | Phase::Observing)
        };
        self.connections.iter().filter(waits).count()
    }

    /// What happened since the start.
    pub fn counters(&self) -> Counters {
        self.counters
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

    /// A record for a new connection, and the number of its peer's address: a free one, or that of who has
    /// been silent longest.
    pub(crate) fn room(&mut self, now: Milliseconds, address: u32) -> Option<(usize, u8)> {
        let mut connections = self.connections.iter();
        let free = connections.position(|connection| connection.phase() == Phase::Free);
        let index = free.or_else(|| self.most_silent(now))?;
        let connections = &self.connections;
        let host = self.hosts.intern(address, |host| {
            let uses = |connection: &Connection| {
                connection.host == host && connection.phase() != Phase::Free
            };
            connections.iter().any(uses)
        })?;
        Some((index, host))
    }

    /// Of those that wait for a request of which nothing came, the one that has for longest.
    fn most_silent(&self, now: Milliseconds) -> Option<usize> {
        let connections = self.connections.iter().enumerate();
        let waiting = connections.filter(|(index, connection)| {
            connection.phase() == Phase::Reading && self.partial.request(*index).is_none()
        });
        let silent = |(_, connection): &(usize, &Connection)| {
            connection.elapsed(now, crate::timers::IDLE_SHIFT)
        };
        let (index, connection) = waiting.max_by_key(silent)?;
        // Whoever has only just come or been answered stays.
        (connection.elapsed(now, crate::timers::IDLE_SHIFT) > 0).then_some(index)
    }

    /// The record of a number, which is one of a record that was found.
    #[inline(never)]
    pub(crate) fn connection(&self, index: usize) -> &Connection {
        &self.connections[index]
    }

    /// A record that is changed, so that it may have something to send.
    #[inline(never)]
    pub(crate) fn record(&mut self, index: usize) -> &mut Connection {
        self.is_busy = true;
        &mut self.connections[index]
    }

    #[inline]
    pub(crate) fn change(&mut self, index: usize, change: impl FnOnce(&mut Connection)) {
        change(self.record(index));
    }

    /// Frees the record.
    pub(crate) fn free(&mut self, index: usize) {
        self.rtt.forget(index);
        self.partial.forget(index);
        *self.record(index) = Connection::FREE;
    }

    /// Ends a connection with a reset.
    pub(crate) fn reset(&mut self, index: usize) {
        self.counters.resets = self.counters.resets.wrapping_add(1);
        self.rtt.forget(index);
        self.partial.forget(index);
        let flight = self.in_flight(self.connection(index));
        self.change(index, |connection| connection.reset(flight));
    }

    /// Whether the connection is answered with a notification.
    pub(crate) fn is_value(&self, connection: &Connection) -> bool {
        let resource = self
            .site
            .and_then(|site| site.resource(usize::from(connection.task())));
        connection.phase() == Phase::Answering
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
