//! One round trip for all: who shares the line shares its queues.
//!
//! What it deliberately does not do: keep an estimate a peer. One segment is timed at a time, never one
//! that was sent twice (Karn, RFC 6298 section 3).

use crate::limits::RTO_MS;
use crate::time::Milliseconds;

/// Smoothed round trip and retransmission timeout (RFC 6298 section 2).
pub(crate) struct Rtt {
    /// 8 times the smoothed round trip, 4 times its variation, milliseconds; zero before the first.
    smoothed: u32,
    variation: u32,
    /// The timeout as it was backed off, zero where it was not since the last measurement.
    backed_off: u16,
    backed_off_at: u16,
    timed: Option<Timed>,
}

/// The segment that is timed: whose, what acknowledges it, when it went.
struct Timed {
    connection: u16,
    end: u32,
    at: Milliseconds,
}

impl Rtt {
    pub(crate) const fn new() -> Self {
        Self {
            smoothed: 0,
            variation: 0,
            backed_off: 0,
            backed_off_at: 0,
            timed: None,
        }
    }

    /// The retransmission timeout, milliseconds, backed off where nothing was measured since.
    #[inline(always)]
    pub(crate) fn timeout(&self) -> u32 {
        self.estimated().max(u32::from(self.backed_off))
    }

    /// The retransmission timeout by what was measured, milliseconds.
    #[inline(never)]
    pub(crate) fn estimated(&self) -> u32 {
        let [least, first, most] = RTO_MS;
        let estimated = match self.smoothed {
            0 => first,
            smoothed => smoothed / 8 + self.variation,
        };
        estimated.clamp(least, most)
    }

    /// A segment goes for the first time; it is timed where none is.
    pub(crate) fn sent(&mut self, connection: usize, end: u32, at: Milliseconds) {
        if self.timed.is_none() {
            self.timed = Some(Timed {
                connection: connection as u16,
                end,
                at,
            });
        }
    }

    /// The connection sent something again, or is gone: nothing of it can be timed.
    #[inline(never)]
    pub(crate) fn forget(&mut self, connection: usize) {
        if self
            .timed
            .as_ref()
            .is_some_and(|timed| usize::from(timed.connection) == connection)
        {
            self.timed = None;
        }
    }

    /// The connection's peer has all up to `una`.
    pub(crate) fn acknowledged(&mut self, connection: usize, una: u32, now: Milliseconds) {
        let Some(timed) = &self.timed else { return };
        let is_it = usize::from(timed.connection) == connection;
        if is_it && una.wrapping_sub(timed.end) as i32 >= 0 {
            let measured = now.wrapping_sub(timed.at);
            self.timed = None;
            self.measured(measured);
        }
    }

    fn measured(&mut self, measured: u32) {
        // More than that cannot be waited for anyway.
        let measured = measured.clamp(1, 60_000);
        let off = measured.abs_diff(self.smoothed / 8);
        (self.smoothed, self.variation) = match self.smoothed {
            0 => (8 * measured, 2 * measured),
            smoothed => (
                smoothed - smoothed / 8 + measured,
                self.variation - self.variation / 4 + off,
            ),
        };
        self.backed_off = 0;
    }

    /// A segment was not acknowledged in time: whoever sends now waits longer, until something is measured
    /// (RFC 6298 section 5.5). All that time out together count once.
    pub(crate) fn back_off(&mut self, now: Milliseconds) {
        let timeout = self.timeout();
        let now = (now >> 6) as u16;
        let since = u32::from(now.wrapping_sub(self.backed_off_at)) << 6;
        if self.backed_off == 0 || since >= timeout {
            self.backed_off = (2 * timeout).min(RTO_MS[2]) as u16;
            self.backed_off_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment there and back.
    fn trip(rtt: &mut Rtt, at: Milliseconds, took: u32) {
        rtt.sent(3, 100, at);
        rtt.acknowledged(3, 100, at.wrapping_add(took));
    }

    #[test]
    fn the_timeout_follows_the_line() {
        let mut rtt = Rtt::new();
        assert_eq!(rtt.timeout(), 1_000);
        trip(&mut rtt, 0, 2_000);
        assert_eq!(rtt.timeout(), 2_000 + 4 * 1_000);
        for turn in 0..100 {
            trip(&mut rtt, turn * 3_000, 2_000);
        }
        assert!((2_000..2_050).contains(&rtt.timeout()), "{}", rtt.timeout());
        for turn in 0..100 {
            trip(&mut rtt, (u32::MAX - 50_000).wrapping_add(turn * 1_000), 20);
        }
        assert_eq!(rtt.timeout(), 1_000);
    }

    #[test]
    fn what_was_sent_twice_is_not_timed() {
        let mut rtt = Rtt::new();
        rtt.sent(3, 100, 0);
        rtt.forget(3);
        rtt.acknowledged(3, 100, 5_000);
        assert_eq!(rtt.timeout(), 1_000);
    }

    #[test]
    fn an_earlier_acknowledgement_does_not_end_the_timing() {
        let mut rtt = Rtt::new();
        rtt.sent(3, 5, 0);
        rtt.acknowledged(3, 5u32.wrapping_sub(10), 10);
        rtt.acknowledged(4, 5, 20);
        rtt.acknowledged(3, 5, 1_600);
        assert_eq!(rtt.timeout(), 4_800);
    }

    #[test]
    fn who_times_out_together_backs_off_once() {
        let mut rtt = Rtt::new();
        for _ in 0..50 {
            rtt.back_off(10_000);
        }
        assert_eq!(rtt.timeout(), 2_000);
        rtt.back_off(13_000);
        assert_eq!(rtt.timeout(), 4_000);
        for turn in 0..9 {
            rtt.back_off(20_000 + 10_000 * turn);
        }
        assert_eq!(rtt.timeout(), 14_800);
        trip(&mut rtt, 200_000, 300);
        assert_eq!(rtt.timeout(), 1_000);
    }
}
