//! Profiles: the links of the papers and of today, and a person's own.

use crate::framing::Framing;
use crate::limits::MTU_MIN;
use crate::loss::Loss;
use crate::medium::Rate;
use crate::quantity::{rate_text, span_text};
use crate::time::Nanos;
use crate::trace::Trace;
use crate::way::Way;
use std::fmt;
use std::sync::Arc;

mod read;

pub use read::ProfileFault;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// How fast it carries.
    pub rate: Rate,
    /// Middle of the one-way delay, in nanoseconds.
    pub delay: Nanos,
    /// Width of the band in which the delay wanders, half of it on either side; nanoseconds.
    pub jitter: Nanos,
    /// What it loses.
    pub loss: Loss,
    /// Bytes on the wire that may wait; what does not fit is dropped.
    pub queue_bytes: u64,
    /// What a packet weighs on the wire.
    pub framing: Framing,
    /// The share of the time in which its end may talk, above 0; after a packet it is silent for the rest.
    pub duty: f64,
}

/// Whether both directions may be in use at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// Yes.
    Full,
    /// No: they take turns on one medium, in the order in which packets come.
    Half,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// From the near end, where clients are.
    pub up: Direction,
    /// Towards the near end.
    pub down: Direction,
    /// Whether both at once.
    pub duplex: Duplex,
    /// Largest packet, in bytes.
    pub mtu: u32,
    /// TCP's congestion control in both ends, where another than the system's is wanted.
    pub congestion: Option<String>,
}

/// THE list of profiles: name, and where it comes from.
pub const PROFILES: &[(&str, &str)] = &[
    ("none", "nothing but the machine's own way"),
    ("lan", "1 Gbit/s, RTT 0.3 ms"),
    (
        "wlan",
        "the Wi-Fi hop of paper 003: 20 Mbit/s, RTT 4 ms, jitter 3 ms",
    ),
    ("wifi", "the Wi-Fi of paper 004: 54 Mbit/s, RTT 150 ms"),
    (
        "3g",
        "the 3G of paper 004: 7.2 Mbit/s down, 1.4 up, RTT 500 ms, jitter 100 ms",
    ),
    (
        "isp",
        "50 Mbit/s down, 10 up, RTT 30 ms, jitter 2 ms, loss 0.1 %",
    ),
    (
        "cellular",
        "a drawn LTE trace, RTT 70 ms, jitter 15 ms, bursty loss",
    ),
    (
        "lowpan",
        "250 kbit/s in frames of 127 bytes, half duplex, bursty loss",
    ),
    (
        "serial",
        "the serial line of paper 002: 14400 B/s, SLIP (`serial,rate=11520 B/s`)",
    ),
];

const MILLI: Nanos = 1_000_000;
const PLAIN: Direction = Direction {
    rate: Rate::Unlimited,
    delay: 0,
    jitter: 0,
    loss: Loss::None,
    queue_bytes: 1_000_000,
    framing: Framing::None,
    duty: 1.0,
};
/// A fiftieth of the time, 40 ms in the mean.
const BURSTY: Loss = Loss::Fading {
    share: 0.02,
    fade: 40 * MILLI,
};
/// The drawn trace is the same for everybody.
const LTE_SEED: u64 = 2;

fn of(rate: u64, delay: Nanos) -> Direction {
    Direction {
        rate: Rate::Bits(rate),
        delay,
        ..PLAIN
    }
}

impl Profile {
    /// A profile of the list.
    pub fn named(name: &str) -> Option<Self> {
        let profile = match name {
            "none" => Self::alike(name, PLAIN),
            "lan" => Self::alike(name, of(1_000_000_000, 150_000)),
            "wlan" => Self::alike(
                name,
                Direction {
                    jitter: 3 * MILLI,
                    ..of(20_000_000, 2 * MILLI)
                },
            ),
            "wifi" => Self::alike(name, of(54_000_000, 75 * MILLI)),
            "3g" => Self::three_g(),
            "isp" => Self::isp(),
            "cellular" => Self::cellular(),
            "lowpan" => Self::lowpan(),
            "serial" => Self::serial(),
            _ => return None,
        };
        Some(profile)
    }

    fn alike(name: &str, direction: Direction) -> Self {
        Self {
            name: name.into(),
            up: direction.clone(),
            down: direction,
            duplex: Duplex::Full,
            mtu: 1_500,
            congestion: None,
        }
    }

    /// Queues of two bandwidth-delay products.
    fn three_g() -> Self {
        let direction = |rate: u64| Direction {
            jitter: 100 * MILLI,
            queue_bytes: rate / 8,
            ..of(rate, 250 * MILLI)
        };
        Self {
            down: direction(7_200_000),
            ..Self::alike("3g", direction(1_400_000))
        }
    }

    fn isp() -> Self {
        let direction = |rate| Direction {
            jitter: 2 * MILLI,
            loss: Loss::Bernoulli(0.001),
            ..of(rate, 15 * MILLI)
        };
        Self {
            down: direction(50_000_000),
            ..Self::alike("isp", direction(10_000_000))
        }
    }

    /// The drawn trace is that of the downlink; a third of its opportunities go up.
    fn cellular() -> Self {
        let trace = Trace::lte(LTE_SEED);
        let direction = |trace: Trace| Direction {
            rate: Rate::Trace(Arc::new(trace)),
            delay: 35 * MILLI,
            jitter: 15 * MILLI,
            loss: BURSTY,
            ..PLAIN
        };
        Self {
            up: direction(trace.every_third()),
            ..Self::alike("cellular", direction(trace))
        }
    }

    /// Frames of IEEE 802.15.4 whose addresses, security and 6LoWPAN headers leave 102 of 127 bytes
    /// (RFC 4944 section 4).
    fn lowpan() -> Self {
        let direction = Direction {
            framing: Framing::Frames {
                bytes: 127,
                header: 25,
            },
            loss: BURSTY,
            queue_bytes: 8_000,
            ..of(250_000, 2 * MILLI)
        };
        Self {
            duplex: Duplex::Half,
            mtu: MTU_MIN,
            ..Self::alike("lowpan", direction)
        }
    }

    fn serial() -> Self {
        let direction = Direction {
            framing: Framing::Slip,
            queue_bytes: 3_000,
            ..of(14_400 * 8, MILLI / 2)
        };
        Self {
            mtu: MTU_MIN,
            ..Self::alike("serial", direction)
        }
    }

    /// A direction of it.
    pub fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }

    /// The same without loss and jitter, to be measured.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn steady(&self) -> Self {
        let mut profile = self.clone();
        for direction in [&mut profile.up, &mut profile.down] {
            (direction.loss, direction.jitter, direction.duty) = (Loss::None, 0, 1.0);
        }
        profile
    }

    /// Median round-trip time of a packet of this many bytes that finds the link idle, in nanoseconds;
    /// nothing where a trace decides.
    pub fn rtt(&self, packet: &[u8]) -> Option<Nanos> {
        Some(self.up.one_way(packet)? + self.down.one_way(packet)?)
    }
}

impl Direction {
    fn one_way(&self, packet: &[u8]) -> Option<Nanos> {
        let bits = self.framing.wire_bytes(packet) * 8;
        match &self.rate {
            Rate::Unlimited => Some(self.delay),
            Rate::Bits(rate) => Some(self.delay + bits * 1_000_000_000 / rate),
            Rate::Trace(_) => None,
        }
    }

    fn fault(&self) -> Option<&'static str> {
        match () {
            () if !self.loss.is_sound() => Some("its loss is no probability"),
            () if self.jitter > 2 * self.delay => Some("its jitter is more than twice its delay"),
            () if self.jitter > 0 && self.jitter < MILLI / 10 => Some("its jitter is under 0.1 ms"),
            () if !(self.duty > 0.0 && self.duty <= 1.0) => Some("its duty cycle is not above 0"),
            () => None,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rate {
            Rate::Unlimited => write!(f, "no limit of rate")?,
            Rate::Bits(bits) => write!(f, "{}", rate_text(*bits as f64))?,
            Rate::Trace(trace) => write!(f, "a trace of {}", rate_text(trace.mean_rate()))?,
        }
        write!(f, ", {} one way", span_text(self.delay))?;
        if self.jitter > 0 {
            write!(f, " ± {}", span_text(self.jitter / 2))?;
        }
        if self.loss != Loss::None {
            write!(f, ", loss {:.2} %", 100.0 * self.loss.mean())?;
        }
        if self.duty < 1.0 {
            write!(f, ", duty cycle {:.2} %", 100.0 * self.duty)?;
        }
        Ok(())
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.up == self.down {
            true => write!(f, "{}: {}", self.name, self.up)?,
            false => write!(f, "{}: up {}; down {}", self.name, self.up, self.down)?,
        }
        match self.duplex {
            Duplex::Full => Ok(()),
            Duplex::Half => write!(f, ", half duplex"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_profile_of_the_list_is_there_and_sound() {
        for (name, _) in PROFILES {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.name, *name);
            assert_eq!(
                (profile.up.fault(), profile.down.fault()),
                (None, None),
                "{name}"
            );
        }
        assert_eq!(Profile::named("moon"), None);
    }

    #[test]
    fn the_round_trips_are_those_of_the_experiments() {
        let millis = |name| {
            Profile::named(name)
                .unwrap()
                .rtt(&[])
                .map(|rtt| rtt as f64 / 1e6)
        };
        assert_eq!(millis("lan"), Some(0.3));
        assert_eq!(millis("wlan"), Some(4.0));
        assert_eq!(millis("wifi"), Some(150.0));
        assert_eq!(millis("3g"), Some(500.0));
        assert_eq!(millis("isp"), Some(30.0));
        assert_eq!(millis("cellular"), None);
        let loss = Profile::named("cellular").unwrap().up.loss.mean();
        assert!((loss - 0.02).abs() < 1e-4, "{loss}");
    }
}
