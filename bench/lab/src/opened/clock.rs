//! The page's clock and the gateway's, brought together.
//!
//! On one machine both are read off `CLOCK_MONOTONIC` and `CLOCK_REALTIME` of the same kernel. For a
//! browser elsewhere the gateway is asked for its time over a WebSocket: of each direction the least
//! delay counts, a line through the estimates follows the drift, and half the least round trip bounds
//! what an asymmetric link can hide. A mean over all answers would be off by the queues: none here.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::devtools::PageClock;
use weir_bench_model::clock::now_ns;

/// Questions about the time, of which the least delay each way counts.
const PROBES: u32 = 200;

/// How a page's times become the gateway's.
pub enum Clocks {
    /// Both on this machine.
    Shared(PageClock),
    /// Elsewhere: what was found so far.
    Asked(Vec<Offset>),
}

/// What one series of questions found, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// When, on the page's clock.
    pub at: f64,
    /// What the gateway's clock shows when the page's shows 0.
    pub offset: f64,
    /// How far that may be off.
    pub bound: f64,
}

impl Clocks {
    /// A moment of the page, in milliseconds since the epoch on the gateway's clock.
    pub fn epoch_ms(&self, page_ms: f64) -> f64 {
        match self {
            Self::Shared(clock) => (clock.ns(page_ms) + realtime_ahead_ns() as f64) / 1e6,
            Self::Asked(offsets) => page_ms + fitted(offsets, page_ms),
        }
    }

    /// The same in nanoseconds on the run's clock, where the gateway is on this machine.
    pub fn run_ns(&self, page_ms: f64) -> f64 {
        match self {
            Self::Shared(clock) => clock.ns(page_ms),
            Self::Asked(_) => self.epoch_ms(page_ms) * 1e6 - realtime_ahead_ns() as f64,
        }
    }

    /// What a result is to say of clocks that were asked for.
    pub fn remark(&self) -> Option<String> {
        let bound = self.bound_ms()?;
        Some(format!("the clocks may differ by {bound:.2} ms"))
    }

    /// The same in microseconds of this machine's monotonic clock; nothing where the page is elsewhere.
    pub fn monotonic_us(&self, page_ms: f64) -> Option<f64> {
        match self {
            Self::Shared(clock) => Some(clock.ns(page_ms) / 1e3),
            Self::Asked(_) => None,
        }
    }

    /// How far a difference between both clocks may be off, in milliseconds; none on one machine.
    pub fn bound_ms(&self) -> Option<f64> {
        match self {
            Self::Shared(_) => None,
            Self::Asked(offsets) => offsets.iter().map(|it| it.bound).reduce(f64::max),
        }
    }
}

/// Nanoseconds by which `CLOCK_REALTIME` is ahead of `CLOCK_MONOTONIC`: of some readings the one that
/// nothing came between.
fn realtime_ahead_ns() -> i128 {
    let reading = || {
        let before = now_ns();
        let time = clock_gettime(ClockId::Realtime);
        let after = now_ns();
        let realtime = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
        let middle = i128::from(before) + i128::from(after - before) / 2;
        (after - before, realtime - middle)
    };
    let best = (0..8).map(|_| reading()).min();
    best.map_or(0, |(_, ahead)| ahead)
}

impl Offset {
    /// What a page is asked for, with [`Offset::questions`].
    pub const CALL: &str = "clock";

    /// How often it is to ask the gateway.
    pub fn questions() -> Value {
        json!({"count": PROBES})
    }

    /// What a page's questions to the gateway found.
    pub fn of(probes: &Value) -> Result<Self, String> {
        let probes = probes.as_array().ok_or("no answers about the time")?;
        let of = |probe: &Value| {
            let [sent, here, answered] =
                ["sent", "here", "answered"].map(|name| probe[name].as_f64());
            Some((sent?, here?, answered?))
        };
        let probes: Vec<_> = probes.iter().filter_map(of).collect();
        let least = |each: fn(&(f64, f64, f64)) -> f64| probes.iter().map(each).reduce(f64::min);
        let up = least(|(sent, here, _)| here - sent);
        let down = least(|(_, here, answered)| answered - here);
        match (up, down, probes.last()) {
            (Some(up), Some(down), Some(&(_, _, at))) => Ok(Offset {
                at,
                offset: (up - down) / 2.0,
                bound: (up + down) / 2.0,
            }),
            _ => Err("no answers about the time".into()),
        }
    }
}

/// The line of least squares through the offsets, at a moment.
fn fitted(offsets: &[Offset], at: f64) -> f64 {
    let n = offsets.len() as f64;
    if offsets.is_empty() {
        return f64::NAN;
    }
    // Around the first, since both are large beside what they differ by.
    let (origin, base) = (offsets[0].at, offsets[0].offset);
    let points = || offsets.iter().map(|it| (it.at - origin, it.offset - base));
    let mean_x = points().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points().map(|(_, y)| y).sum::<f64>() / n;
    let spread: f64 = points().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = match spread > 0.0 {
        true => {
            points()
                .map(|(x, y)| (x - mean_x) * (y - mean_y))
                .sum::<f64>()
                / spread
        }
        false => 0.0,
    };
    base + mean_y + slope * (at - origin - mean_x)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// An answer whose question took `up` and which came back within `down`, the clocks 1,000 apart.
    fn probe(sent: f64, up: f64, down: f64) -> Value {
        json!({"sent": sent, "here": sent + 1000.0 + up, "answered": sent + up + down})
    }

    #[test]
    fn queues_do_not_move_the_offset_as_long_as_one_message_each_way_met_none() {
        let probes = json!([probe(0.0, 90.0, 5.0), probe(200.0, 5.0, 70.0)]);
        let found = Offset::of(&probes).unwrap();
        assert_eq!((found.offset, found.bound), (1000.0, 5.0));
    }

    #[test]
    fn an_asymmetric_link_stays_within_the_bound() {
        let found = Offset::of(&json!([probe(0.0, 300.0, 200.0)])).unwrap();
        assert!((found.offset - 1000.0).abs() <= found.bound);
        assert_eq!(found.bound, 250.0);
    }

    #[test]
    fn a_line_follows_clocks_that_drift_apart() {
        let of = |at: f64| Offset {
            at,
            offset: 1e12 + at * 1e-4,
            bound: 1.0,
        };
        let offsets = [of(0.0), of(10_000.0), of(20_000.0)];
        assert!((fitted(&offsets, 30_000.0) - (1e12 + 3.0)).abs() < 1e-3);
        assert_eq!(fitted(&offsets[..1], 5000.0), 1e12);
    }

    #[test]
    fn without_answers_there_is_no_offset() {
        assert!(Offset::of(&json!([])).is_err() && Offset::of(&json!(null)).is_err());
    }
}
