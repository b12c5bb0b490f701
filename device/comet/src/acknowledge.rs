//! What a peer's acknowledgement and window mean (RFC 9293 section 3.10.7.4, RFC 5681, RFC 6582).

use crate::connection::{Connection, Ending, Phase};
use crate::features::ANSWERS;
use crate::limits::{RTO_MS, SEGMENT_BYTES_MAX, TIMEOUT_MS_MAX};
use crate::server::{Held, Server};
use crate::tcp::Segment;

/// Probes of a closed window that are answered are not rarer than that, so that none is the last, however
/// long the round trip is.
const PROBED_BACKOFF: u8 = 3;
const _: () = assert!(RTO_MS[2] << PROBED_BACKOFF < TIMEOUT_MS_MAX);

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    #[inline(never)]
    /// Takes the acknowledgement of an acceptable segment; says whether the segment may be read on.
    pub(crate) fn acknowledge(
        &mut self,
        held: &mut Held,
        segment: &Segment,
        is_bare: bool,
    ) -> bool {
        let news = segment.acknowledgement.wrapping_sub(held.record.una);
        let flight = self.in_flight(&held.record);
        if (news as i32) < 0 {
            // Old: a duplicate that came late.
            return true;
        }
        if news > flight {
            // Of what was never sent: it is told where we are.
            held.record.set_due(true);
            return false;
        }
        let had = held.record.window();
        held.record.set_window(segment.window);
        let window = held.record.window();
        if news > 0 {
            self.advance(held, news);
        } else if had == 0 && window > 0 && held.record.phase() != Phase::Waiting {
            // It is open again: what waits for it goes at once, or is not long in going.
            self.start_timer(held, 0);
            self.go_on(&mut held.record);
        } else if window == 0 && held.record.backoff() > PROBED_BACKOFF {
            // Who answers probes lives (RFC 9293 section 3.8.6.1).
            self.start_timer(held, PROBED_BACKOFF);
        } else if flight > 0 && is_bare && window == had && held.record.duplicate() {
            // The same for the third time: something is lost, and goes again at once.
            held.record.set_due(true);
            self.start_timer(held, 0);
        }
        true
    }

    fn advance(&mut self, held: &mut Held, news: u32) {
        let record = &mut held.record;
        record.una = record.una.wrapping_add(news);
        self.rtt.acknowledged(held.index, record.una, held.now);
        match record.phase() {
            Phase::Answering if ANSWERS => self.advance_answer(record, news as usize),
            Phase::Opening | Phase::Streaming => self.advance_units(record, news as usize),
            // Our FIN: it was all that was in flight.
            _ if record.is_half_closed() => return self.free(held),
            _ => record.end(Ending::FinTaken),
        }
        self.start_timer(held, 0);
        self.go_on(&mut held.record);
    }

    /// After a loss, what else was in flight then is lost too, until it is acknowledged.
    fn go_on(&self, record: &mut Connection) {
        if !record.is_recovering() || self.in_flight(record) == 0 {
            record.set_recovering(false);
        } else if record.window() > 0 {
            record.set_due(true);
        }
    }

    fn advance_answer(&self, record: &mut Connection, news: usize) {
        let is_value = self.is_value(record);
        let before = record.position(is_value);
        let position = before + news;
        if position >= self.answer_length(record) {
            return record.answered();
        }
        let passed = position / SEGMENT_BYTES_MAX - before / SEGMENT_BYTES_MAX;
        record.set_position(is_value, position);
        record.set_flight(record.flight().saturating_sub(passed as u16));
    }

    fn advance_units(&self, record: &mut Connection, mut news: usize) {
        while record.sent() > 0 {
            let length = self.unit_length(record, 0);
            let rest = length.saturating_sub(record.offset());
            if news < rest {
                return record.set_offset(record.offset() + news);
            }
            news -= rest;
            let second = self.ring.after(record.first(), 1);
            record.passed(second);
        }
        self.skip_others(record);
    }
}

impl Connection {
    /// The answer is acknowledged, whole.
    fn answered(&mut self) {
        match self.closes() || self.is_half_closed() {
            true => self.end(Ending::Fin),
            false => self.read(),
        }
    }

    /// A listener's oldest unit is acknowledged: the head, or a slot before `second`.
    fn passed(&mut self, second: u8) {
        self.set_offset(0);
        self.set_sent(self.sent() - 1);
        match self.phase() {
            Phase::Opening => self.opened(),
            _ => self.set_first(second),
        }
    }
}
