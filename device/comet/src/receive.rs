//! What comes in: packets, segments, requests (RFC 9293 section 3.10.7).

use crate::answer::Status;
use crate::connection::{Connection, Ending, Phase, STATUS};
use crate::cookie::{Handshake, Peer};
use crate::features::{ANSWERS, COAP, ECHO, LONG_POLLING, PAGES, POLLING, RESUMPTION, STREAMING};
use crate::icmp;
use crate::ipv4;
use crate::limits::{RECEIVE_WINDOW, SEGMENT_BYTES_MAX};
use crate::request::{NO_RESOURCE, Request, said};
use crate::server::{Held, Server};
use crate::site::Kind;
use crate::tcp::{self, ACK, FIN, RST, SYN, Segment};
use crate::time::Milliseconds;

/// How long a poll waits that does not say it, seconds.
const WAIT_S: u8 = 30;
/// What says that a request is a listener's.
const LISTENS: u32 = if STREAMING {
    said::EVENTS | said::STREAM
} else {
    said::EVENTS
};

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    /// Takes a packet. What can be answered without a record (an echo, a handshake, what belongs to no
    /// connection) is answered in place: the bytes of `packet` to be sent back, or 0.
    #[inline(never)]
    pub fn receive(&mut self, now: Milliseconds, packet: &mut [u8]) -> usize {
        let Some(header) = ipv4::read(packet, self.address) else {
            return 0;
        };
        if ECHO && header.protocol == ipv4::ICMP {
            return icmp::echo(packet, &header, self.address);
        }
        if COAP && header.protocol == ipv4::UDP {
            return self.receive_datagram(now, packet, &header);
        }
        let bytes = packet.get(header.payload.0..header.payload.1);
        let read = bytes
            .filter(|_| header.protocol == ipv4::TCP)
            .and_then(|bytes| tcp::read(bytes, header.sum));
        let Some((port, segment, options, data)) = read else {
            return 0;
        };
        let is_ours = port == self.port;
        let found = self.find(header.source, segment.port);
        let held = match found.filter(|_| is_ours) {
            Some(index) => Ok(self.hold(index, now)),
            None => self.knock((header.source, is_ours), now, &segment, options, data),
        };
        let reply = held.map_or_else(
            |reply| reply,
            |mut held| {
                let reply = self.arrive(&mut held, &segment, data);
                self.keep(&held);
                self.is_busy = true;
                reply
            },
        );
        let ends = [self.address, header.source];
        reply.map_or(0, |reply| tcp::write(packet, ends, port, &reply, 0))
    }

    /// A segment of no connection: a handshake, which may make one, or a mistake; the answer where it makes none.
    fn knock(
        &mut self,
        (address, is_ours): (u32, bool),
        now: Milliseconds,
        segment: &Segment,
        options: &[u8],
        data: &[u8],
    ) -> Result<Held, Option<Segment>> {
        let mut peer = Peer {
            address,
            port: segment.port,
            sequence: segment.sequence,
        };
        let kind = match is_ours {
            true => segment.flags & (SYN | ACK | RST),
            // Nobody is there, whatever it wants.
            false => 0,
        };
        if kind == SYN {
            return Err(Some(self.greet(peer, now, options)));
        }
        peer.sequence = segment.sequence.wrapping_sub(1);
        let cookie = segment.acknowledgement.wrapping_sub(1);
        let handshake = match kind {
            ACK => self.key.handshake(now, peer, cookie),
            _ => Handshake::None,
        };
        match handshake {
            Handshake::Done => self.accept(peer, now, segment),
            Handshake::Ahead => return Err(None),
            Handshake::None => None,
        }
        .ok_or_else(|| refusal(segment, data))
    }

    /// Answers a SYN with a number that holds all there is to know.
    fn greet(&mut self, peer: Peer, now: Milliseconds, options: &[u8]) -> Segment {
        let next = peer.sequence.wrapping_add(1);
        match usize::from(tcp::largest_segment(options)) < SEGMENT_BYTES_MAX {
            true => tcp::bare(peer.port, 0, next, RST | ACK),
            false => tcp::bare(peer.port, self.key.cookie(now, peer), next, SYN | ACK),
        }
    }

    /// Makes a record for who has our cookie.
    fn accept(&mut self, peer: Peer, now: Milliseconds, segment: &Segment) -> Option<Held> {
        let Some((index, host)) = self.room(now, peer.address) else {
            self.count(|counters| &mut counters.refused);
            return None;
        };
        self.forget(index);
        self.count(|counters| &mut counters.accepted);
        let (una, received) = (segment.acknowledgement, segment.sequence);
        let mut held = Held {
            index,
            now,
            record: Connection::new(host, peer.port, una, received),
        };
        self.start_timer(&mut held, 0);
        Some(held)
    }

    /// A segment of a connection; what must be answered at once and leaves no trace.
    fn arrive(&mut self, held: &mut Held, segment: &Segment, data: &[u8]) -> Option<Segment> {
        let ahead = segment.sequence.wrapping_sub(held.record.received);
        let is_reset = segment.has(RST);
        if !is_acceptable(ahead, segment.length(data)) {
            // RFC 9293 section 3.10.7.4, first check.
            return (!is_reset).then(|| self.position(&held.record));
        }
        if is_reset && ahead == 0 {
            self.free(held);
            return None;
        }
        if segment.has(RST | SYN) {
            // A challenge (RFC 5961): who means it comes back with the right number.
            return Some(self.position(&held.record));
        }
        let is_bare = data.is_empty() && !segment.has(FIN);
        if !segment.has(ACK)
            || !self.acknowledge(held, segment, is_bare)
            || held.record.phase() == Phase::Free
        {
            return None;
        }
        let reply = self.take(held, segment, data, ahead);
        self.was_heard(held);
        reply
    }

    /// Where we are, for a peer that is elsewhere.
    fn position(&self, record: &Connection) -> Segment {
        let sequence = record.una.wrapping_add(self.in_flight(record));
        tcp::bare(record.port, sequence, record.received, ACK)
    }

    /// A sign of life: what is not about an acknowledgement begins to wait anew.
    fn was_heard(&mut self, held: &mut Held) {
        let phase = held.record.phase();
        if !matches!(phase, Phase::Free | Phase::Waiting | Phase::Ending)
            && !self.awaits_acknowledgement(&held.record)
        {
            self.start_timer(held, 0);
        }
    }

    /// Takes the text of a segment, and its FIN, where they are next.
    fn take(
        &mut self,
        held: &mut Held,
        segment: &Segment,
        data: &[u8],
        ahead: u32,
    ) -> Option<Segment> {
        let seen = ahead.wrapping_neg() as usize;
        let is_later = (ahead as i32) > 0;
        if is_later && segment.length(data) > 0 {
            // Something before it is missing; that it came says so at once (RFC 5681 section 4.2).
            held.record.set_due(true);
            return None;
        }
        let fresh = data.get(seen.min(data.len())..).unwrap_or(&[]);
        if !fresh.is_empty() && !self.read(held, fresh) {
            return None;
        }
        if segment.has(FIN) && !is_later {
            return self.half_close(held);
        }
        None
    }

    /// Reads text; says whether all of it was taken.
    fn read(&mut self, held: &mut Held, text: &[u8]) -> bool {
        let taken = match held.record.phase() {
            Phase::Reading => self.parse(held, text),
            // One request after the other: this one comes again.
            Phase::Answering | Phase::Waiting => 0,
            // Nobody reads what a listener or a leaver says.
            _ => text.len(),
        };
        held.record.received = held.record.received.wrapping_add(taken as u32);
        if taken > 0 {
            held.record.set_due(true);
        }
        taken == text.len()
    }

    /// Reads a request on; bytes taken.
    #[inline(never)]
    fn parse(&mut self, held: &mut Held, text: &[u8]) -> usize {
        let Some(site) = self.site else { return 0 };
        let index = held.index;
        let mut request = self.partial.request(index).unwrap_or(Request::START);
        let end = text.iter().position(|&byte| request.push(site, byte));
        match end {
            Some(end) => {
                self.partial.forget(index);
                self.begin(held, &request);
                end + 1
            }
            None if request.is_empty() || self.partial.keep(index, held.now, request) => text.len(),
            None => 0,
        }
    }

    /// Begins to answer a request.
    fn begin(&mut self, held: &mut Held, request: &Request) {
        let fault = fault(request);
        // After a fault, what else the client says is not understood.
        if fault.is_some() || request.has(said::CLOSE | said::HTTP_1_0) {
            held.record.set_closes();
        }
        match fault {
            Some(status) => self.answer_status(held, status),
            None => self.serve(held, request),
        }
        if held.record.phase() != Phase::Waiting {
            self.start_timer(held, 0);
        }
    }

    #[inline(never)]
    pub(crate) fn answer_status(&mut self, held: &mut Held, status: Status) {
        match ANSWERS {
            true => held.record.answer(STATUS + status.number(), 0, false),
            false => held.record.end(Ending::Fin),
        }
        self.start_timer(held, 0);
    }

    fn serve(&mut self, held: &mut Held, request: &Request) {
        let (number, is_head) = (request.resource, request.has(said::HEAD));
        let resource = self
            .site
            .and_then(|site| site.resource(usize::from(number)));
        match resource.map(|resource| resource.kind) {
            Some(Kind::Page(_) | Kind::Deflated(_)) if PAGES => {
                held.record.answer(number, 0, is_head);
            }
            Some(Kind::Topic) if !is_head && request.has(LISTENS) => self.listen(held, request),
            Some(Kind::Topic) if LONG_POLLING && !is_head && request.has(said::WAIT) => {
                self.wait(held, request);
            }
            Some(Kind::Topic) if POLLING => self.answer_newest(held, number, is_head),
            Some(Kind::Topic) => self.answer_status(held, Status::NotAcceptable),
            _ => self.answer_status(held, Status::NotFound),
        }
    }

    pub(crate) fn answer_newest(&mut self, held: &mut Held, topic: u8, is_head: bool) {
        match self.ring.newest(topic) {
            Some(slot) => held.record.answer(topic, slot, is_head),
            None => self.answer_status(held, Status::NoContent),
        }
    }

    /// Begins a stream: from what the client has, with the newest, or with what comes.
    fn listen(&mut self, held: &mut Held, request: &Request) {
        let (topic, is_events) = (request.resource, request.has(said::EVENTS));
        if STREAMING && request.has(said::HTTP_1_0) && !is_events {
            // Which has no chunks.
            return self.answer_status(held, Status::VersionNotSupported);
        }
        let next = self.ring.next();
        let first = if RESUMPTION && request.has(said::SINCE) {
            self.ring.resume(topic, request.since)
        } else if !RESUMPTION || request.has(said::SNAPSHOT) {
            self.ring.newest(topic).unwrap_or(next)
        } else {
            next
        };
        held.record.listen(topic, is_events, first);
        self.skip_others(&mut held.record);
    }

    /// Begins a long poll, unless there is something that the client lacks.
    fn wait(&mut self, held: &mut Held, request: &Request) {
        let topic = request.resource;
        let newest = self.ring.newest(topic);
        let is_news = newest.is_some_and(|slot| self.ring.number(slot) != request.since);
        if request.has(said::SINCE) && is_news {
            return self.answer_newest(held, topic, false);
        }
        let wait_s = match request.wait_s {
            0 => WAIT_S,
            seconds => seconds,
        };
        held.record.wait(topic);
        self.start_waiting(held, wait_s);
    }

    /// The peer says no more.
    fn half_close(&mut self, held: &mut Held) -> Option<Segment> {
        let record = &mut held.record;
        record.received = record.received.wrapping_add(1);
        record.half_close();
        record.set_due(true);
        match (record.phase(), record.ending()) {
            (Phase::Reading, _) => {
                record.end(Ending::Fin);
                self.partial.forget(held.index);
            }
            // Both sides are done. There is no TIME-WAIT: should this be lost, a reset answers.
            (_, Some(Ending::FinTaken)) => {
                let last = self.position(&held.record);
                self.free(held);
                return Some(last);
            }
            _ => {}
        }
        None
    }
}

/// Whether any part of a segment lies in the receive window (RFC 9293 section 3.10.7.4).
fn is_acceptable(ahead: u32, length: u32) -> bool {
    let window = u32::from(RECEIVE_WINDOW);
    ahead < window || length > 0 && ahead.wrapping_add(length - 1) < window
}

/// The reset for a segment that belongs nowhere (RFC 9293 section 3.10.7.1).
fn refusal(segment: &Segment, data: &[u8]) -> Option<Segment> {
    let end = segment.sequence.wrapping_add(segment.length(data));
    match (segment.has(RST), segment.has(ACK)) {
        (true, _) => None,
        (_, true) => Some(tcp::bare(segment.port, segment.acknowledgement, 0, RST)),
        _ => Some(tcp::bare(segment.port, 0, end, RST | ACK)),
    }
}

/// What is wrong with a request, whatever it asks for.
fn fault(request: &Request) -> Option<Status> {
    if request.has(said::MALFORMED) {
        Some(Status::BadRequest)
    } else if !request.has(said::VERSION) {
        Some(Status::VersionNotSupported)
    } else if !request.has(said::HOST | said::HTTP_1_0) {
        // RFC 9112 section 3.2.
        Some(Status::BadRequest)
    } else if !request.has(said::METHOD) {
        Some(Status::MethodNotAllowed)
    } else if request.has(said::BODY) {
        Some(Status::ContentTooLarge)
    } else if request.resource == NO_RESOURCE {
        Some(Status::NotFound)
    } else {
        None
    }
}
