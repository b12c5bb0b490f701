//! Observers (RFC 7641): a registration is a connection's record with a token in it.
//!
//! A request that is to be answered with a notification is acknowledged at once and answered by a message of
//! its own (RFC 7252 section 5.2.2), which is a notification too: whoever asked without Observe is forgotten
//! when it has arrived. An observer is always sent the newest (RFC 7641 section 4.5). Max-Age is the default
//! of 60 s and not sent. The decision worth arguing: no deduplication, since GET is idempotent (RFC 7252
//! section 4.5).

use crate::coap::{self, Asked, Fault, Header, Type, code};
use crate::connection::{Connection, Observer, Phase};
use crate::features::{COAP, DEADLINE};
use crate::ipv4;
use crate::limits::{COAP_ACK_TIMEOUT_MS, COAP_PORT, COAP_RETRANSMISSIONS_MAX};
use crate::server::{Held, Server};
use crate::site::{Kind, Resource};
use crate::slice::Slice;
use crate::time::Milliseconds;
use crate::timers::RETRANSMISSION_SHIFT;
use crate::udp;

/// Of an observer that asked for no confirmation, one notification in so many is confirmed, so that one
/// that is gone is found (RFC 7641 section 4.5).
/// The ones between are counted where a message that awaits its acknowledgement counts its retransmissions.
const CONFIRMED_ONE_IN: u8 = 8;

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    /// Takes a datagram; the bytes of `packet` to be sent back, or 0. A reply is never longer.
    pub(crate) fn receive_datagram(
        &mut self,
        now: Milliseconds,
        packet: &mut [u8],
        ip: &ipv4::Header,
    ) -> usize {
        let source = ip.source;
        let read = packet
            .get(ip.payload.0..ip.payload.1)
            .and_then(|bytes| udp::read(bytes, ip.sum, COAP_PORT));
        let Some((port, message)) = read else {
            return 0;
        };
        let Some((header, rest)) = Header::read(message) else {
            return 0;
        };
        let Some(reply) = self.reply((source, port), now, &header, rest) else {
            return 0;
        };
        let mut length = 0;
        if let Some(place) = packet.get_mut(udp::HEADERS_BYTES..) {
            let mut out = Slice::new(0, place);
            reply.write(&mut out);
            length = out.length();
        }
        let ends = [self.address, source];
        udp::write(packet, ends, [COAP_PORT, port], length)
    }

    /// What a message gets at once.
    fn reply(
        &mut self,
        peer: (u32, u16),
        now: Milliseconds,
        header: &Header,
        rest: &[u8],
    ) -> Option<Header> {
        let empty = |kind| Header {
            kind,
            code: code::EMPTY,
            token_bytes: 0,
            ..*header
        };
        let is_confirmable = header.kind == Type::Confirmable;
        let reject = is_confirmable.then(|| empty(Type::Reset));
        let is_empty = header.code == code::EMPTY;
        if header.is_malformed() || is_empty && (header.token_bytes > 0 || !rest.is_empty()) {
            return reject;
        }
        match header.kind {
            Type::Acknowledgement | Type::Reset => {
                self.settle(peer, now, header);
                return None;
            }
            // A ping (section 4.3), a response that nobody waits for, a class that there is not.
            _ if is_empty || header.code >> 5 != 0 => return reject,
            _ => {}
        }
        let code = match self.serve_coap(peer, now, header, rest) {
            Ok(()) => return is_confirmable.then(|| empty(Type::Acknowledgement)),
            Err(Fault::Format) => return reject,
            // Without confirmation it is only ignored (section 5.4.1).
            Err(Fault::Code(code::BAD_OPTION)) if !is_confirmable => return None,
            Err(Fault::Code(code)) => code,
        };
        let (kind, id) = match is_confirmable {
            true => (Type::Acknowledgement, header.id),
            false => (Type::NonConfirmable, self.next_message_id()),
        };
        Some(Header {
            kind,
            code,
            id,
            ..*header
        })
    }

    fn next_message_id(&mut self) -> u16 {
        self.message_id = self.message_id.wrapping_add(1);
        self.message_id
    }

    /// Makes or changes the record of who asked for a topic.
    fn serve_coap(
        &mut self,
        (address, port): (u32, u16),
        now: Milliseconds,
        header: &Header,
        rest: &[u8],
    ) -> Result<(), Fault> {
        let site = self.site.ok_or(Fault::Code(code::UNAVAILABLE))?;
        let asked = coap::asked(site, rest)?;
        if header.code != code::GET {
            return Err(Fault::Code(code::METHOD_NOT_ALLOWED));
        }
        let topic = topic(&asked, |number| site.resource(number)).map_err(Fault::Code)?;
        let index = self.observer_record(now, (address, port), header);
        let (index, host) = index.ok_or(Fault::Code(code::UNAVAILABLE))?;
        let observer = Observer {
            topic,
            token: header.token,
            token_bytes: header.token_bytes,
            is_confirmable: header.kind == Type::Confirmable,
            stays: asked.observe == Some(0),
        };
        self.forget(index);
        self.keep(&Held {
            index,
            now,
            record: Connection::observer(host, port, &observer),
        });
        self.is_busy = true;
        Ok(())
    }

    /// The record of this registration, which is known by its token (RFC 7641 section 4.1), or a new one.
    fn observer_record(
        &mut self,
        now: Milliseconds,
        (address, port): (u32, u16),
        header: &Header,
    ) -> Option<(usize, u8)> {
        if let Some(host) = self.hosts.find(address) {
            let is_it = |connection: &Connection| {
                connection.is_observer_of(host, port)
                    && connection.token() == header.token
                    && connection.token_bytes() == header.token_bytes
            };
            if let Some(index) = self.connections.iter().position(is_it) {
                return Some((index, host));
            }
        }
        self.room(now, address)
    }

    /// An acknowledgement or a reset of what was sent.
    fn settle(&mut self, (address, port): (u32, u16), now: Milliseconds, header: &Header) {
        let Some(host) = self.hosts.find(address) else {
            return;
        };
        let is_it = |connection: &Connection| {
            connection.is_observer_of(host, port) && connection.is_sent(header.id)
        };
        let Some(index) = self.connections.iter().position(is_it) else {
            return;
        };
        let mut held = self.hold(index, now);
        let record = &mut held.record;
        // Whoever resets does not know the token any more (RFC 7641 section 3.6).
        if header.kind == Type::Reset || record.awaits() && !record.stays() {
            self.free(&mut held);
        } else if record.awaits() {
            record.set_awaits(false);
            record.set_due(record.has_news());
            self.start_timer(&mut held, 0);
        }
        self.keep(&held);
    }

    /// Writes an observer's next message, if there is one.
    pub(crate) fn compose_content(&mut self, held: &mut Held, packet: &mut [u8]) -> usize {
        let connection = held.record;
        if !COAP || !connection.is_due() {
            return 0;
        }
        let is_again = connection.awaits() && !connection.has_news();
        let id = if is_again {
            connection.message_id()
        } else {
            self.next_message_id()
        };
        let slot = self.ring.newest(connection.topic());
        // Where its value has left the ring, a number that is later than the value's (RFC 7641 section 4.4).
        let number = slot.map_or(self.ring.published(), |slot| self.ring.number(slot));
        let is_turn = connection.backoff() + 1 >= CONFIRMED_ONE_IN;
        let is_confirmed =
            connection.awaits() || connection.is_confirmable() || connection.stays() && is_turn;
        let kind = if is_confirmed {
            Type::Confirmable
        } else {
            Type::NonConfirmable
        };
        let header = Header {
            kind,
            code: code::CONTENT,
            id,
            token: connection.token(),
            token_bytes: connection.token_bytes(),
        };
        let text = slot.and_then(|slot| self.ring.item(slot, connection.topic()));
        let resource = self
            .site
            .and_then(|site| site.resource(connection.topic().into()));
        let format = resource.and_then(|resource| coap::content_format(resource.media_type));
        let mut length = 0;
        if let Some(place) = packet.get_mut(udp::HEADERS_BYTES..) {
            let mut out = Slice::new(0, place);
            header.write(&mut out);
            let item = (number, text.unwrap_or(&[]));
            coap::content(&mut out, item, connection.stays(), format);
            length = out.length();
        }
        self.content_sent(held, id, (is_confirmed, is_again));
        let ends = [self.address, self.hosts.address(connection.host)];
        udp::write(packet, ends, [COAP_PORT, connection.port], length)
    }

    /// Notes that a message is under way.
    fn content_sent(&mut self, held: &mut Held, id: u16, (is_confirmed, is_again): (bool, bool)) {
        self.count(|counters| &mut counters.segments);
        match is_again {
            true => self.count(|counters| &mut counters.repeated),
            false => self.count(|counters| &mut counters.messages),
        }
        let record = &mut held.record;
        if !is_confirmed && !record.stays() {
            return self.free(held);
        }
        let backoff = match (record.awaits(), is_confirmed) {
            // What takes the place of an older one goes on with its count (RFC 7641 section 4.5.2).
            (true, _) => record.backoff(),
            (false, true) => 0,
            (false, false) => record.backoff() + 1,
        };
        record.set_message_id(id);
        record.set_news(false);
        record.set_due(false);
        record.set_awaits(is_confirmed);
        self.start_timer(held, backoff);
    }

    /// Looks whether a message was not acknowledged in time.
    pub(crate) fn check_observer(&mut self, held: &mut Held, elapsed: u8) {
        let backoff = held.record.backoff();
        if !COAP || !held.record.awaits() {
            return;
        }
        self.is_urgent |= DEADLINE;
        let units = self
            .content_timeout(held.index)
            .div_ceil(1 << RETRANSMISSION_SHIFT);
        if u32::from(elapsed) <= units {
            return;
        }
        if backoff >= COAP_RETRANSMISSIONS_MAX {
            self.count(|counters| &mut counters.resets);
            return self.free(held);
        }
        held.record.set_due(true);
        self.start_timer(held, backoff + 1);
    }

    /// ACK_TIMEOUT with its random factor (RFC 7252 section 4.8), drawn by place; longer on a line where a
    /// round trip is; within what a timer counts.
    fn content_timeout(&self, index: usize) -> Milliseconds {
        let least = COAP_ACK_TIMEOUT_MS.max(self.rtt.estimated());
        let most = 30 << RETRANSMISSION_SHIFT;
        (least + least * (index as u32 & 7) / 16).min(most)
    }
}

/// The topic that is asked for.
fn topic(asked: &Asked, resource: impl Fn(usize) -> Option<&'static Resource>) -> Result<u8, u8> {
    let number = asked.resource.ok_or(code::NOT_FOUND)?;
    let resource = resource(number).ok_or(code::NOT_FOUND)?;
    // Pages are for browsers.
    if !matches!(resource.kind, Kind::Topic) {
        return Err(code::NOT_FOUND);
    }
    let format = coap::content_format(resource.media_type).map(u32::from);
    match asked.accept {
        Some(accept) if format != Some(accept) => Err(code::NOT_ACCEPTABLE),
        _ => Ok(number as u8),
    }
}

impl Connection {
    /// Something was published of an observer's topic.
    pub(crate) fn notify(&mut self) {
        self.set_news(true);
        // While one is on its way, the next waits for it (section 4.5.2).
        self.set_due(!self.awaits());
    }

    /// Whether it is an observer's at a host and port.
    fn is_observer_of(&self, host: u8, port: u16) -> bool {
        self.phase() == Phase::Observing && (self.host, self.port) == (host, port)
    }
}
