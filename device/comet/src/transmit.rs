//! What goes out, one segment at a time, everybody in turn.

use crate::connection::{Connection, Ending, Phase};
use crate::features::{ANSWERS, COUNTERS};
use crate::limits::{FLIGHT_BYTES_MAX, FLIGHT_SEGMENTS_MAX, SEGMENT_BYTES_MAX};
use crate::server::{Held, Server};
use crate::slice::Slice;
use crate::tcp::{self, ACK, FIN, HEADERS_BYTES, PSH, RST};
use crate::time::Milliseconds;

/// What a segment carries.
struct Part {
    /// Where it begins, behind the first unacknowledged byte.
    from: u32,
    /// The text that it is cut from, and where in it.
    text: Text,
    skip: usize,
    length: usize,
}

enum Text {
    /// The answer; segments in flight afterwards.
    Answer(u16),
    /// Units of a listener, from and to.
    Units(u8, u8),
}

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    /// Writes the next packet to be sent; its bytes, or 0 where there is none now. `packet` has
    /// [`PACKET_BYTES_MAX`](crate::limits::PACKET_BYTES_MAX) bytes or more.
    #[inline(never)]
    pub fn transmit(&mut self, now: Milliseconds, packet: &mut [u8]) -> usize {
        if !self.is_busy || packet.len() < HEADERS_BYTES + SEGMENT_BYTES_MAX {
            return 0;
        }
        let mut index = usize::from(self.turn);
        for _ in 0..CONNECTIONS {
            if index >= CONNECTIONS {
                index = 0;
            }
            let mut held = self.hold(index, now);
            let length = self.compose(&mut held, packet);
            self.keep(&held);
            index += 1;
            if length > 0 {
                self.turn = index as u16;
                return length;
            }
        }
        self.is_busy = false;
        0
    }

    /// The connection's next segment.
    fn compose(&mut self, held: &mut Held, packet: &mut [u8]) -> usize {
        let record = &held.record;
        let part = match record.phase() {
            Phase::Free => return 0,
            Phase::Ending => return self.compose_end(held, packet),
            Phase::Observing => return self.compose_content(held, packet),
            _ if record.is_recovering() && self.is_closed(record) => None,
            Phase::Answering if ANSWERS => self.part_of_answer(record),
            Phase::Opening | Phase::Streaming => self.part_of_units(record),
            _ => None,
        };
        match part {
            Some(part) => self.send(held, &part, packet),
            None if record.is_due() => self.acknowledge_only(held, packet),
            None => 0,
        }
    }

    /// New text of an answer, or what is lost of it.
    fn part_of_answer(&self, connection: &Connection) -> Option<Part> {
        let position = connection.position(self.is_value(connection));
        let length = self.answer_length(connection);
        let sent = self.answer_sent(connection, position, length);
        let window = connection.window() as usize;
        let (begin, flight) = match connection.is_recovering() {
            true if !connection.is_due() => return None,
            true => (position, connection.flight().max(1)),
            false => (sent, connection.flight() + 1),
        };
        let end = (begin - begin % SEGMENT_BYTES_MAX + SEGMENT_BYTES_MAX).min(length);
        let room = match connection.is_recovering() {
            // At least one byte: it was sent before, and the window closed over it.
            true => window.max(1).min(end - begin),
            false => end - begin,
        };
        let fits = begin + room <= position + window || connection.is_recovering();
        (room > 0 && flight <= FLIGHT_SEGMENTS_MAX && fits).then_some(Part {
            from: (begin - position) as u32,
            text: Text::Answer(flight),
            skip: begin,
            length: room,
        })
    }

    /// New units of a listener, as many as fit a segment, or the oldest that are lost.
    fn part_of_units(&self, connection: &Connection) -> Option<Part> {
        let is_again = connection.is_recovering();
        if is_again && !connection.is_due() {
            return None;
        }
        let window = connection.window();
        let (begin, units, flight, room) = match is_again {
            true => {
                let room = SEGMENT_BYTES_MAX as u32;
                (
                    0,
                    connection.sent().max(1).min(self.units(connection)),
                    0,
                    room,
                )
            }
            false => {
                let flight = self.in_flight(connection);
                let room = window.min(FLIGHT_BYTES_MAX).saturating_sub(flight);
                (connection.sent(), self.units(connection), flight, room)
            }
        };
        let room = (room as usize).min(SEGMENT_BYTES_MAX);
        let skip = if begin == 0 { connection.offset() } else { 0 };
        let (end, length) = self.fill(connection, (begin, units), skip, room);
        let length = match is_again {
            true => length.min(window.max(1) as usize),
            false => length,
        };
        (length > 0).then_some(Part {
            from: flight,
            text: Text::Units(begin, end),
            skip,
            length,
        })
    }

    /// How many units fit, and their bytes.
    fn fill(
        &self,
        connection: &Connection,
        (begin, units): (u8, u8),
        skip: usize,
        room: usize,
    ) -> (u8, usize) {
        let (mut end, mut length) = (begin, 0);
        while end < units {
            let skipped = if end == begin { skip } else { 0 };
            let more = self.unit_length(connection, end).saturating_sub(skipped);
            if length + more > room {
                break;
            }
            (end, length) = (end + 1, length + more);
        }
        (end, length)
    }

    fn send(&mut self, held: &mut Held, part: &Part, packet: &mut [u8]) -> usize {
        let record = &held.record;
        let end = HEADERS_BYTES + part.length;
        let Some(payload) = packet.get_mut(HEADERS_BYTES..end) else {
            return 0;
        };
        if COUNTERS {
            self.count_all(self.messages(record, part), |counters| {
                &mut counters.messages
            });
        }
        let mut out = Slice::new(part.skip, payload);
        match part.text {
            Text::Answer(_) => self.write_answer(record, &mut out),
            Text::Units(begin, end) => {
                (begin..end).for_each(|unit| self.write_unit(record, unit, &mut out));
            }
        }
        let length = self.finish(record, part.from, ACK | PSH, packet, part.length);
        self.sent(held, part);
        length
    }

    /// Answers and notifications that begin in a part and were not sent before.
    fn messages(&self, connection: &Connection, part: &Part) -> u32 {
        match part.text {
            _ if connection.is_recovering() => 0,
            Text::Answer(_) => u32::from(part.skip == 0),
            Text::Units(begin, end) => {
                let heads = u8::from(connection.phase() == Phase::Opening);
                let units = begin.max(heads)..end;
                let is_ours = |&unit: &u8| self.unit_length(connection, unit) > 0;
                units.filter(is_ours).count() as u32
            }
        }
    }

    /// Notes that a part is under way.
    fn sent(&mut self, held: &mut Held, part: &Part) {
        let record = &mut held.record;
        match part.text {
            Text::Answer(flight) => record.set_flight(flight),
            Text::Units(_, end) => record.set_sent(record.sent().max(end)),
        }
        record.set_due(false);
        let is_again = record.is_recovering();
        if is_again {
            self.count(|counters| &mut counters.repeated);
            self.rtt.forget(held.index);
        } else {
            let end = record.una.wrapping_add(part.from + part.length as u32);
            self.rtt.sent(held.index, end, held.now);
        }
        if is_again || part.from == 0 {
            self.start_timer(held, held.record.backoff());
        }
    }

    /// A segment without text: an acknowledgement, or a probe of who is silent or of a closed window. That one
    /// has no text, as Linux's has none, so that a notification that waits is not begun and may be passed over.
    fn acknowledge_only(&mut self, held: &mut Held, packet: &mut [u8]) -> usize {
        held.record.set_due(false);
        let asks_window = held.record.is_recovering();
        let ahead = match asks_window || self.is_silent(&held.record) {
            // Below what the peer expects, so that it answers (RFC 9293 section 3.8.4).
            true => u32::MAX,
            false => self.in_flight(&held.record),
        };
        if asks_window {
            // Nothing is lost. What is acknowledged meanwhile is so with the number that counts.
            held.record.set_recovering(false);
        }
        self.finish(&held.record, ahead, ACK, packet, 0)
    }

    /// FIN, again if it must be, or RST.
    fn compose_end(&mut self, held: &mut Held, packet: &mut [u8]) -> usize {
        let record = held.record;
        let is_due = record.is_due();
        match record.ending() {
            // A reset counts only with the very number that the peer expects (RFC 5961), which depends on
            // what of it has arrived.
            Some(Ending::Reset) => {
                let behind = record.reset_behind();
                match behind {
                    0 => self.free(held),
                    _ => held.record.reset(0),
                }
                return self.finish(&record, behind, RST | ACK, packet, 0);
            }
            Some(Ending::Fin) => {
                held.record.end(Ending::FinSent);
                self.start_timer(held, 0);
            }
            Some(Ending::FinSent) if is_due && record.is_recovering() => {
                self.count(|counters| &mut counters.repeated);
                self.start_timer(held, record.backoff());
            }
            _ if is_due => return self.acknowledge_only(held, packet),
            _ => return 0,
        }
        held.record.set_due(false);
        self.finish(&record, 0, FIN | ACK, packet, 0)
    }

    /// Puts the headers before the text, which begins so far behind the first unacknowledged byte.
    fn finish(
        &mut self,
        record: &Connection,
        ahead: u32,
        flags: u8,
        packet: &mut [u8],
        length: usize,
    ) -> usize {
        self.count(|counters| &mut counters.segments);
        let ends = [self.address, self.hosts.address(record.host)];
        let sequence = record.una.wrapping_add(ahead);
        let segment = tcp::bare(record.port, sequence, record.received, flags);
        tcp::write(packet, ends, self.port, &segment, length)
    }
}
