//! What happens because time passed: retransmission, probes, the end of waiting and of silence.
//!
//! A timer is 5 bits of the clock; which bits depends on what is waited for, and on the backoff.

use crate::answer::Status;
use crate::connection::{Connection, Ending, Phase};
use crate::features::{ANSWERS, DEADLINE, LONG_POLLING};
use crate::limits::{IDLE_MS, PROBES_MAX, RETRANSMISSIONS_MAX, TIMEOUT_MS_MAX, WAIT_S_MAX};
use crate::server::{Held, Server};
use crate::time::Milliseconds;

/// Units of a timer as powers of two of milliseconds: retransmission, doubled by each backoff; long polls;
/// silence.
pub(crate) const RETRANSMISSION_SHIFT: u32 = 9;
const WAIT_SHIFT: u32 = 11;
pub(crate) const IDLE_SHIFT: u32 = 13;
/// A long poll's timer is set so that it ends here.
const WAIT_END: u8 = 31;
/// Units that a silent peer has for the answer to a probe, and one that was told to close.
const ANSWER_UNITS: u8 = 2;

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    /// When [`tick`](Self::tick) is to be called, milliseconds from now; never while nobody is connected. Without
    /// the Cargo feature `deadline` it is called every 512 ms or more often, whatever this says.
    pub fn deadline(&self, now: Milliseconds) -> Option<Milliseconds> {
        let shift = match self.is_urgent {
            true => RETRANSMISSION_SHIFT,
            false => WAIT_SHIFT,
        };
        let unit = 1 << shift;
        (self.is_urgent || self.connections() > 0).then_some(unit - now % unit)
    }

    /// Does what is due. Earlier or more often than asked is no harm.
    pub fn tick(&mut self, now: Milliseconds) {
        self.is_urgent &= !DEADLINE;
        while let Some(index) = self.partial.overdue(now) {
            let mut held = self.hold(index, now);
            held.record.set_closes();
            self.answer_status(&mut held, Status::RequestTimeout);
            self.keep(&held);
        }
        for index in 0..CONNECTIONS {
            let mut held = self.hold(index, now);
            self.check(&mut held);
            self.keep(&held);
        }
    }

    #[inline(never)]
    fn check(&mut self, held: &mut Held) {
        let record = &held.record;
        let elapsed = record.elapsed(held.now, self.shift(record));
        let phase = record.phase();
        if phase == Phase::Observing {
            return self.check_observer(held, elapsed);
        }
        if self.awaits_acknowledgement(record) {
            self.is_urgent |= DEADLINE;
            if elapsed > self.timeout_units(record) {
                self.time_out(held);
            }
            return;
        }
        let idle_units = match record.backoff() {
            0 => (IDLE_MS >> IDLE_SHIFT) as u8,
            _ => ANSWER_UNITS,
        };
        let is_idle = elapsed > idle_units;
        match phase {
            Phase::Waiting if LONG_POLLING && elapsed >= WAIT_END => {
                self.answer_status(held, Status::NoContent)
            }
            Phase::Reading if is_idle => {
                held.record.end(Ending::Fin);
                self.start_timer(held, 0);
            }
            Phase::Streaming if is_idle && self.units(record) == 0 => self.probe(held),
            Phase::Ending
                if elapsed > ANSWER_UNITS && record.ending() == Some(Ending::FinTaken) =>
            {
                self.free(held);
            }
            _ => {}
        }
    }

    /// Whether the peer must say something before anything goes on: an acknowledgement, or a window.
    pub(crate) fn awaits_acknowledgement(&self, connection: &Connection) -> bool {
        if self.in_flight(connection) > 0 {
            return true;
        }
        let window = connection.window() as usize;
        match connection.phase() {
            Phase::Answering if ANSWERS => {
                let rest =
                    self.answer_length(connection) - connection.position(self.is_value(connection));
                window < rest.min(crate::limits::SEGMENT_BYTES_MAX)
            }
            Phase::Opening | Phase::Streaming => {
                self.units(connection) > 0
                    && window + connection.offset() < self.unit_length(connection, 0)
            }
            _ => false,
        }
    }

    /// Whether the peer takes nothing, and nothing that was sent tells it to say when that ends.
    pub(crate) fn is_closed(&self, connection: &Connection) -> bool {
        connection.window() == 0 && self.in_flight(connection) == 0
    }

    /// The timeout in the timer's units, rounded up.
    fn timeout_units(&self, connection: &Connection) -> u8 {
        let timeout = match connection.backoff() {
            0 => self.rtt.timeout(),
            _ => self.rtt.estimated(),
        };
        timeout.div_ceil(1 << RETRANSMISSION_SHIFT) as u8
    }

    fn time_out(&mut self, held: &mut Held) {
        let backoff = held.record.backoff();
        let is_last = self.rtt.estimated() << backoff >= TIMEOUT_MS_MAX;
        if backoff >= RETRANSMISSIONS_MAX || is_last {
            return self.reset(held);
        }
        self.rtt.forget(held.index);
        // Who only waits for a window has lost nothing.
        if backoff == 0 && held.record.window() > 0 && self.in_flight(&held.record) > 0 {
            self.rtt.back_off(held.now);
        }
        held.record.set_recovering(true);
        held.record.set_due(true);
        self.start_timer(held, backoff + 1);
    }

    /// Asks a silent peer for a sign of life (RFC 9293 section 3.8.4).
    fn probe(&mut self, held: &mut Held) {
        let probes = held.record.backoff();
        if probes >= PROBES_MAX {
            return self.reset(held);
        }
        held.record.set_due(true);
        self.start_timer(held, probes + 1);
    }

    /// Whether the connection is being probed.
    pub(crate) fn is_silent(&self, connection: &Connection) -> bool {
        connection.phase() == Phase::Streaming
            && connection.backoff() > 0
            && self.units(connection) == 0
    }

    /// The timer's unit, by what is waited for.
    fn shift(&self, connection: &Connection) -> u32 {
        let retransmission = RETRANSMISSION_SHIFT + u32::from(connection.backoff());
        match connection.phase() {
            Phase::Answering | Phase::Opening => retransmission,
            Phase::Observing if connection.awaits() => retransmission,
            Phase::Streaming if self.units(connection) > 0 => retransmission,
            Phase::Waiting => WAIT_SHIFT,
            Phase::Ending if connection.ending() != Some(Ending::FinTaken) => retransmission,
            _ => IDLE_SHIFT,
        }
    }

    /// Starts the connection's timer, for what it waits for now.
    #[inline(never)]
    pub(crate) fn start_timer(&mut self, held: &mut Held, backoff: u8) {
        held.record.start_timer(held.now, 0, backoff);
        let shift = self.shift(&held.record);
        self.is_urgent |= DEADLINE && shift < WAIT_SHIFT;
        self.is_busy = true;
        held.record.start_timer(held.now, shift, backoff);
    }

    /// Starts the timer of a long poll.
    pub(crate) fn start_waiting(&mut self, held: &mut Held, wait_s: u8) {
        let wait_ms = u32::from(wait_s.min(WAIT_S_MAX)) * 1_000;
        let units = (wait_ms.div_ceil(1 << WAIT_SHIFT) + 1).min(u32::from(WAIT_END)) as u8;
        held.record.start_timer(held.now, WAIT_SHIFT, 0);
        held.record.shift_timer(units.wrapping_sub(WAIT_END));
    }
}
