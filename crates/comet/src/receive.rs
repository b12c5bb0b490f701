//! What comes in: packets, segments, requests (RFC 9293 section 3.10.7).

use crate::answer::Status;
use crate::connection::{Connection, Ending, Phase, STATUS};
use crate::cookie::{Handshake, Peer};
use crate::limits::{RECEIVE_WINDOW, SEGMENT_BYTES_MAX};
use crate::request::{NO_RESOURCE, Request, said};
use crate::server::Server;
use crate::site::Kind;
use crate::tcp::{self, ACK, Ends, FIN, RST, SYN, Segment};
use crate::{COAP, Milliseconds, icmp, ipv4};

/// How long a poll waits that does not say it, seconds.
const WAIT_S: u8 = 30;

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
        if header.protocol == ipv4::ICMP {
            return icmp::echo(packet, &header, self.address);
        }
        if COAP && header.protocol == ipv4::UDP {
            return self.receive_datagram(now, packet, (header.source, header.payload));
        }
        let ends = Ends {
            own: self.address,
            peer: header.source,
            port: self.port,
        };
        let bytes = packet.get(header.payload.0..header.payload.1);
        let read = bytes
            .filter(|_| header.protocol == ipv4::TCP)
            .and_then(|bytes| tcp::read(bytes, ends));
        let Some((segment, options, data)) = read else {
            return 0;
        };
        let reply = match self.find(header.source, segment.port) {
            Some(index) => self.arrive(index, now, &segment, data),
            None => self.knock(header.source, now, &segment, options, data),
        };
        reply.map_or(0, |reply| tcp::write(packet, ends, &reply, 0))
    }

    /// A segment of no connection: a handshake, or a mistake.
    fn knock(
        &mut self,
        address: u32,
        now: Milliseconds,
        segment: &Segment,
        options: &[u8],
        data: &[u8],
    ) -> Option<Segment> {
        let peer = Peer {
            address,
            port: segment.port,
            sequence: segment.sequence,
        };
        if segment.has(RST) {
            return None;
        }
        if segment.flags & (SYN | ACK) == SYN {
            return self.greet(peer, now, options);
        }
        let peer = Peer {
            sequence: segment.sequence.wrapping_sub(1),
            ..peer
        };
        let cookie = segment.acknowledgement.wrapping_sub(1);
        let handshake = match segment.flags & (SYN | ACK) {
            ACK => self.key.handshake(now, peer, cookie),
            _ => Handshake::None,
        };
        let index = match handshake {
            Handshake::Done => self.accept(peer, now, segment),
            Handshake::Ahead => return None,
            Handshake::None => None,
        };
        match index {
            Some(index) => self.arrive(index, now, segment, data),
            None => Some(refusal(segment, data)),
        }
    }

    /// Answers a SYN with a number that holds all there is to know.
    fn greet(&mut self, peer: Peer, now: Milliseconds, options: &[u8]) -> Option<Segment> {
        let next = peer.sequence.wrapping_add(1);
        if usize::from(tcp::largest_segment(options)) < SEGMENT_BYTES_MAX {
            return Some(tcp::bare(peer.port, 0, next, RST | ACK));
        }
        let cookie = self.key.cookie(now, peer);
        Some(tcp::bare(peer.port, cookie, next, SYN | ACK))
    }

    /// Makes a record for who has our cookie.
    fn accept(&mut self, peer: Peer, now: Milliseconds, segment: &Segment) -> Option<usize> {
        let Some((index, host)) = self.room(now, peer.address) else {
            self.counters.refused = self.counters.refused.wrapping_add(1);
            return None;
        };
        self.free(index);
        self.counters.accepted = self.counters.accepted.wrapping_add(1);
        let (una, received) = (segment.acknowledgement, segment.sequence);
        self.change(index, |connection| {
            *connection = Connection::new(host, peer.port, una, received);
        });
        self.start_timer(index, now, 0);
        Some(index)
    }

    /// A segment of a connection; what must be answered at once and leaves no trace.
    fn arrive(
        &mut self,
        index: usize,
        now: Milliseconds,
        segment: &Segment,
        data: &[u8],
    ) -> Option<Segment> {
        let connection = *self.connection(index);
        let ahead = segment.sequence.wrapping_sub(connection.received);
        if !is_acceptable(ahead, segment.length(data)) {
            // RFC 9293 section 3.10.7.4, first check.
            return (!segment.has(RST)).then(|| self.position(&connection));
        }
        if segment.has(RST) && ahead == 0 {
            self.free(index);
            return None;
        }
        if segment.has(RST | SYN) {
            // A challenge (RFC 5961): who means it comes back with the right number.
            return Some(self.position(&connection));
        }
        let is_bare = data.is_empty() && !segment.has(FIN);
        if !segment.has(ACK) || !self.acknowledge(index, now, segment, is_bare) {
            return None;
        }
        if self.connection(index).phase() == Phase::Free {
            return None;
        }
        let reply = self.take(index, now, segment, data, ahead);
        self.was_heard(index, now);
        reply
    }

    /// Where we are, for a peer that is elsewhere.
    #[inline(always)]
    fn position(&self, connection: &Connection) -> Segment {
        let sequence = connection.una.wrapping_add(self.in_flight(connection));
        tcp::bare(connection.port, sequence, connection.received, ACK)
    }

    /// A sign of life: what is not about an acknowledgement begins to wait anew.
    fn was_heard(&mut self, index: usize, now: Milliseconds) {
        let connection = self.connection(index);
        if !matches!(
            connection.phase(),
            Phase::Free | Phase::Waiting | Phase::Ending
        ) && self.in_flight(connection) == 0
        {
            self.start_timer(index, now, 0);
        }
    }

    /// Takes the text of a segment, and its FIN, where they are next.
    #[inline(never)]
    fn take(
        &mut self,
        index: usize,
        now: Milliseconds,
        segment: &Segment,
        data: &[u8],
        ahead: u32,
    ) -> Option<Segment> {
        let seen = ahead.wrapping_neg() as usize;
        let is_later = (ahead as i32) > 0;
        if is_later && segment.length(data) > 0 {
            // Something before it is missing; that it came says so at once (RFC 5681 section 4.2).
            self.change(index, |connection| connection.set_due(true));
            return None;
        }
        let fresh = data.get(seen.min(data.len())..).unwrap_or(&[]);
        if !fresh.is_empty() && !self.read(index, now, fresh) {
            return None;
        }
        if segment.has(FIN) && !is_later {
            return self.half_close(index);
        }
        None
    }

    /// Reads text; says whether all of it was taken.
    fn read(&mut self, index: usize, now: Milliseconds, text: &[u8]) -> bool {
        let phase = self.connection(index).phase();
        let taken = match phase {
            Phase::Reading => self.parse(index, now, text),
            // One request after the other: this one comes again.
            Phase::Answering | Phase::Waiting => 0,
            // Nobody reads what a listener or a leaver says.
            _ => text.len(),
        };
        self.change(index, |connection| {
            connection.received = connection.received.wrapping_add(taken as u32);
            if taken > 0 {
                connection.set_due(true);
            }
        });
        taken == text.len()
    }

    /// Reads a request on; bytes taken.
    #[inline(never)]
    fn parse(&mut self, index: usize, now: Milliseconds, text: &[u8]) -> usize {
        let Some(site) = self.site else { return 0 };
        let mut request = self.partial.request(index).unwrap_or(Request::START);
        let end = text.iter().position(|&byte| request.push(site, byte));
        match end {
            Some(end) => {
                self.partial.forget(index);
                self.begin(index, now, &request);
                end + 1
            }
            None if request.is_empty() || self.partial.keep(index, now, request) => text.len(),
            None => 0,
        }
    }

    /// Begins to answer a request.
    fn begin(&mut self, index: usize, now: Milliseconds, request: &Request) {
        if request.has(said::CLOSE) {
            self.change(index, Connection::set_closes);
        }
        match fault(request) {
            Some(status) => {
                // What else the client says is not understood.
                self.change(index, Connection::set_closes);
                self.answer_status(index, status);
            }
            None => self.serve(index, now, request),
        }
        self.start_timer_unless_waiting(index, now);
    }

    fn answer_status(&mut self, index: usize, status: Status) {
        let task = STATUS + status.number();
        self.change(index, |connection| connection.answer(task, 0, false));
    }

    fn start_timer_unless_waiting(&mut self, index: usize, now: Milliseconds) {
        let phase = self.connection(index).phase();
        if phase != Phase::Waiting {
            self.start_timer(index, now, 0);
        }
    }

    fn serve(&mut self, index: usize, now: Milliseconds, request: &Request) {
        let (number, is_head) = (request.resource, request.has(said::HEAD));
        let resource = self
            .site
            .and_then(|site| site.resource(usize::from(number)));
        match resource.map(|resource| resource.kind) {
            None => self.answer_status(index, Status::NotFound),
            Some(Kind::Page(_)) => {
                self.change(index, |connection| connection.answer(number, 0, is_head));
            }
            Some(Kind::Topic) if is_head => self.answer_newest(index, number, true),
            Some(Kind::Topic) if request.has(said::EVENTS) => self.listen(index, request),
            Some(Kind::Topic) if request.has(said::STREAM) => self.listen(index, request),
            Some(Kind::Topic) if request.has(said::WAIT) => self.wait(index, now, request),
            Some(Kind::Topic) => self.answer_newest(index, number, false),
        }
    }

    fn answer_newest(&mut self, index: usize, topic: u8, is_head: bool) {
        match self.ring.newest(topic) {
            Some(slot) => self.change(index, |connection| connection.answer(topic, slot, is_head)),
            None => self.answer_status(index, Status::NoContent),
        }
    }

    /// Begins a stream: from what the client has, with the newest, or with what comes.
    fn listen(&mut self, index: usize, request: &Request) {
        if request.has(said::HTTP_1_0) && !request.has(said::EVENTS) {
            // Which has no chunks.
            return self.answer_status(index, Status::VersionNotSupported);
        }
        let (topic, is_events) = (request.resource, request.has(said::EVENTS));
        let next = self.ring.next();
        let first = match (request.has(said::SINCE), request.has(said::SNAPSHOT)) {
            (true, _) => self.ring.resume(topic, request.since),
            (false, true) => self.ring.newest(topic).unwrap_or(next),
            (false, false) => next,
        };
        self.change(index, |connection| {
            connection.listen(topic, is_events, first)
        });
        self.skip_others(index);
    }

    /// Begins a long poll, unless there is something that the client lacks.
    fn wait(&mut self, index: usize, now: Milliseconds, request: &Request) {
        let topic = request.resource;
        let newest = self.ring.newest(topic);
        let is_news = newest.is_some_and(|slot| self.ring.number(slot) != request.since);
        if request.has(said::SINCE) && is_news {
            return self.answer_newest(index, topic, false);
        }
        let wait_s = if request.wait_s == 0 {
            WAIT_S
        } else {
            request.wait_s
        };
        self.change(index, |connection| connection.wait(topic));
        self.start_waiting(index, now, wait_s);
    }

    /// The peer says no more.
    fn half_close(&mut self, index: usize) -> Option<Segment> {
        let connection = *self.connection(index);
        self.change(index, |connection| {
            connection.received = connection.received.wrapping_add(1);
            connection.half_close();
            connection.set_due(true);
        });
        match (connection.phase(), connection.ending()) {
            (Phase::Reading, _) => {
                self.partial.forget(index);
                self.change(index, |connection| connection.end(Ending::Fin));
            }
            // Both sides are done. There is no TIME-WAIT: should this be lost, a reset answers.
            (_, Some(Ending::FinTaken)) => {
                let last = *self.connection(index);
                self.free(index);
                return Some(tcp::bare(last.port, last.una, last.received, ACK));
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
fn refusal(segment: &Segment, data: &[u8]) -> Segment {
    match segment.has(ACK) {
        true => tcp::bare(segment.port, segment.acknowledgement, 0, RST),
        false => {
            let end = segment.sequence.wrapping_add(segment.length(data));
            tcp::bare(segment.port, 0, end, RST | ACK)
        }
    }
}

/// What is wrong with a request, whatever it asks for.
fn fault(request: &Request) -> Option<Status> {
    let lacks_host = !request.has(said::HOST) && !request.has(said::HTTP_1_0);
    if request.has(said::OTHER_VERSION) {
        Some(Status::VersionNotSupported)
    } else if request.has(said::MALFORMED) || lacks_host {
        // RFC 9112 section 3.2.
        Some(Status::BadRequest)
    } else if request.has(said::OTHER_METHOD) {
        Some(Status::MethodNotAllowed)
    } else if request.has(said::BODY) {
        Some(Status::ContentTooLarge)
    } else if request.resource == NO_RESOURCE {
        Some(Status::NotFound)
    } else {
        None
    }
}
