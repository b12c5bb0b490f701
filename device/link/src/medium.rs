//! How fast packets leave.

use crate::time::Nanos;
use crate::trace::{OPPORTUNITY_BYTES, Trace};
use std::sync::Arc;

const SECOND: u128 = 1_000_000_000;

/// How fast a medium carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// As fast as the machine.
    Unlimited,
    /// Bits a second, not 0.
    Bits(u64),
    /// When a recording says.
    Trace(Arc<Trace>),
}

impl Rate {
    /// Bits a second in the long run; nothing where there is no limit.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Rate::Unlimited => None,
            Rate::Bits(bits) => Some(*bits as f64),
            Rate::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// What one packet after the other occupies: a direction's own, or both directions' on a half-duplex line.
#[derive(Clone, Debug)]
pub struct Medium {
    rate: Rate,
    /// When the last packet has left.
    free_at: Nanos,
    /// What that rounded away, in nanoseconds times the rate.
    carry: u128,
    /// Opportunity in use and what it has left, where there is a trace.
    at: u64,
    left: u64,
}

impl Medium {
    /// One that is free from the beginning.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            free_at: 0,
            carry: 0,
            at: 0,
            left: OPPORTUNITY_BYTES,
        }
    }

    /// When a packet begins to leave that is there at `now`.
    pub fn begins(&self, now: Nanos) -> Nanos {
        self.free_at.max(now)
    }

    /// When a packet has left that is there at `now`. Packets leave in the order of these calls.
    pub fn send(&mut self, now: Nanos, wire_bytes: u64) -> Nanos {
        if self.free_at < now {
            (self.free_at, self.carry) = (now, 0);
        }
        match &self.rate {
            Rate::Unlimited => {}
            Rate::Bits(bits) => {
                let bits = u128::from(*bits);
                let due = u128::from(wire_bytes) * 8 * SECOND + self.carry;
                self.free_at += (due / bits) as Nanos;
                self.carry = due % bits;
            }
            Rate::Trace(trace) => {
                let trace = trace.clone();
                self.free_at = self.ride(&trace, wire_bytes);
            }
        }
        self.free_at
    }

    /// Takes opportunities from `free_at` on until the packet is through.
    fn ride(&mut self, trace: &Trace, wire_bytes: u64) -> Nanos {
        if trace.time(self.at) < self.free_at {
            (self.at, self.left) = (trace.first_at(self.free_at), OPPORTUNITY_BYTES);
        }
        let mut due = wire_bytes;
        while due > self.left {
            due -= self.left;
            (self.at, self.left) = (self.at + 1, OPPORTUNITY_BYTES);
        }
        self.left -= due;
        trace.time(self.at)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_rate_holds_to_the_nanosecond_however_odd_it_is() {
        let mut medium = Medium::new(Rate::Bits(7_200_001));
        let packets = 100_000;
        let last = (0..packets).map(|_| medium.send(0, 97)).last().unwrap();
        let exact = u128::from(packets as u64) * 97 * 8 * SECOND / 7_200_001;
        assert_eq!(u128::from(last), exact);
    }

    #[test]
    fn a_packet_waits_for_those_before_it() {
        let mut medium = Medium::new(Rate::Bits(8_000));
        assert_eq!(medium.send(0, 1), 1_000_000);
        assert_eq!(medium.send(500_000, 1), 2_000_000);
        assert_eq!(medium.send(10_000_000, 1), 11_000_000);
        assert_eq!(Medium::new(Rate::Unlimited).send(5, 1 << 20), 5);
    }

    #[test]
    fn a_trace_carries_at_its_opportunities_alone() {
        let trace = Trace::parse("1\n3\n10\n").unwrap();
        let mut medium = Medium::new(Rate::Trace(Arc::new(trace)));
        let milli = |at: Nanos| at / 1_000_000;
        assert_eq!(milli(medium.send(0, 1_000)), 1);
        assert_eq!(milli(medium.send(0, 500)), 1, "what the first has left");
        assert_eq!(milli(medium.send(0, 1)), 3);
        assert_eq!(
            milli(medium.send(4_000_000, 3_000)),
            11,
            "across the end of the trace"
        );
    }
}
