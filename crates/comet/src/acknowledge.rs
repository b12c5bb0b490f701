//! What a peer's acknowledgement and window mean (RFC 9293 section 3.10.7.4, RFC 5681, RFC 6582).

use crate::Milliseconds;
use crate::connection::{Connection, Ending, Phase};
use crate::limits::SEGMENT_BYTES_MAX;
use crate::server::Server;
use crate::tcp::Segment;

/// Probes of a closed window are not rarer than that.
const PROBED_BACKOFF: u8 = 5;

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    /// Takes the acknowledgement of an acceptable segment; says whether the segment may be read on.
    pub(crate) fn acknowledge(
        &mut self,
        index: usize,
        now: Milliseconds,
        segment: &Segment,
        is_bare: bool,
    ) -> bool {
        let connection = *self.connection(index);
        let news = segment.acknowledgement.wrapping_sub(connection.una);
        let flight = self.in_flight(&connection);
        if (news as i32) < 0 {
            // Old: a duplicate that came late.
            return true;
        }
        if news > flight {
            // Of what was never sent: it is told where we are.
            self.change(index, |connection| connection.set_due(true));
            return false;
        }
        let had = connection.window();
        self.change(index, |connection| connection.set_window(segment.window));
        let is_same = self.connection(index).window() == had;
        if news > 0 {
            self.advance(index, now, news);
        } else if segment.window == 0 && connection.backoff() > PROBED_BACKOFF {
            // Who answers probes lives (RFC 9293 section 3.8.6.1).
            self.start_timer(index, now, PROBED_BACKOFF);
        } else if flight > 0 && is_bare && is_same {
            self.duplicate(index, now);
        }
        true
    }

    /// The same was acknowledged again: the third time something is lost, and goes again at once.
    fn duplicate(&mut self, index: usize, now: Milliseconds) {
        let mut is_loss = false;
        self.change(index, |connection| is_loss = connection.duplicate());
        if is_loss {
            self.change(index, |connection| connection.set_due(true));
            self.start_timer(index, now, 0);
        }
    }

    fn advance(&mut self, index: usize, now: Milliseconds, news: u32) {
        self.change(index, |connection| {
            connection.una = connection.una.wrapping_add(news)
        });
        let connection = *self.connection(index);
        self.rtt.acknowledged(index, connection.una, now);
        match connection.phase() {
            Phase::Answering => self.advance_answer(index, news as usize),
            Phase::Opening | Phase::Streaming => self.advance_units(index, news as usize),
            // Our FIN: it was all that was in flight.
            _ if connection.is_half_closed() => return self.free(index),
            _ => self.change(index, |connection| connection.end(Ending::FinTaken)),
        }
        self.start_timer(index, now, 0);
        self.go_on(index);
    }

    /// After a loss, what else was in flight then is lost too, until it is acknowledged.
    fn go_on(&mut self, index: usize) {
        let connection = self.connection(index);
        let is_behind = self.in_flight(connection) > 0;
        self.change(index, |connection| {
            match connection.is_recovering() && is_behind {
                true if connection.window() > 0 => connection.set_due(true),
                true => {}
                false => connection.set_recovering(false),
            }
        });
    }

    fn advance_answer(&mut self, index: usize, news: usize) {
        let connection = self.connection(index);
        let is_value = self.is_value(connection);
        let before = connection.position(is_value);
        let position = before + news;
        if position >= self.answer_length(connection) {
            return self.change(index, Connection::answered);
        }
        let passed = position / SEGMENT_BYTES_MAX - before / SEGMENT_BYTES_MAX;
        self.change(index, |connection| {
            connection.set_position(is_value, position);
            connection.set_flight(connection.flight().saturating_sub(passed as u16));
        });
    }

    fn advance_units(&mut self, index: usize, mut news: usize) {
        loop {
            let connection = *self.connection(index);
            if connection.sent() == 0 {
                break;
            }
            let rest = self
                .unit_length(&connection, 0)
                .saturating_sub(connection.offset());
            if news < rest {
                let offset = connection.offset() + news;
                return self.change(index, |connection| connection.set_offset(offset));
            }
            news -= rest;
            let second = self.ring.after(connection.first(), 1);
            self.change(index, |connection| connection.passed(second));
        }
        self.skip_others(index);
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
