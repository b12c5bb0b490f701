//! The figures of a cell that ways are compared by: a time, bytes, processor time, memory.

use serde::Serialize;

use crate::library::{Measured, Metric};
use crate::limits::WIDE_SHARE;

/// A figure and, where several rounds gave one, its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub value: f64,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

/// A distribution of times, microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Time {
    /// The mean.
    pub mean: Spread,
    /// p50, p90, p99, p99.9 and the greatest.
    pub percentiles: Option<[f64; 5]>,
    /// Samples.
    pub n: u64,
    /// What did not come.
    pub lost: u64,
}

/// What ways are compared by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The chief time.
    pub latency: Time,
    /// Bytes a message takes.
    pub bytes: Option<Spread>,
    /// The server's processor time a message, microseconds.
    pub cpu: Option<Spread>,
    /// The server's greatest memory, bytes.
    pub memory: Option<Spread>,
}

/// Times in the order in which one is a cell's chief one, and whether a network is in it.
const TIMES: [(&str, bool); 8] = [
    ("t_total", true),
    ("t_transfer", true),
    ("publish_to_receive", true),
    ("rtt", true),
    ("t_transmission", true),
    ("t_transmit", true),
    ("acknowledgement", true),
    ("parse", false),
];
/// Bytes a message, in the order in which one is taken.
const SIZES: [&str; 7] = [
    "transport_bytes",
    "network_bytes",
    "wire_bytes",
    "application_bytes",
    "payload_bytes",
    "payload_size",
    "size",
];
/// Rates that tell messages a second where no factor does.
const RATES: [&str; 2] = ["messages", "message_rate"];
/// What else an answer reads.
const OTHERS: [&str; 8] = [
    "server_cpu",
    "server_memory_peak",
    "received_bytes",
    "deliveries",
    "serialize",
    "t_decode",
    "serialization",
    "deserialization",
];

/// Whether an answer may rest on a metric.
pub(crate) fn is_used(metric: &str) -> bool {
    let time = TIMES.iter().any(|(name, _)| *name == metric);
    time || [&SIZES[..], &RATES, &OTHERS]
        .iter()
        .any(|names| names.contains(&metric))
}

/// The chief time of a cell, where it has one.
pub(crate) fn chief_time(cell: &Measured) -> Option<&str> {
    let known = TIMES.iter().map(|(name, _)| *name);
    if let Some(name) = known
        .into_iter()
        .find(|name| cell.metrics.contains_key(*name))
    {
        return Some(name);
    }
    let is_time = |metric: &Metric| metric.percentiles.is_some() && scale(&metric.unit).is_some();
    let aside = ["schedule_lag", "opening_time"];
    let mut others = cell
        .metrics
        .iter()
        .filter(|(name, _)| !aside.contains(&&***name));
    others
        .find(|(_, metric)| is_time(metric))
        .map(|(name, _)| name.as_str())
}

/// Whether a network is in a time.
pub(crate) fn crosses_a_link(time: &str) -> bool {
    TIMES
        .iter()
        .find(|(name, _)| *name == time)
        .is_none_or(|(_, crosses)| *crosses)
}

/// Microseconds of a unit of time.
pub(crate) fn scale(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-3,
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    })
}

/// Messages a second of a cell: its factor, or what was reached.
pub(crate) fn rate(cell: &Measured) -> Option<f64> {
    let told = cell.factors.number("rate");
    let reached = || RATES.iter().find_map(|metric| cell.mean(metric));
    let one_by_one = || {
        let time = cell.metrics.get(chief_time(cell)?)?;
        let us = time.mean * scale(&time.unit)?;
        (us > 0.0).then_some(1e6 / us)
    };
    told.or_else(reached).or_else(one_by_one)
}

impl Spread {
    /// Of a metric, in another unit; an interval of no width is none, and nothing is less than nothing.
    pub(crate) fn of(metric: &Metric, scale: f64) -> Self {
        let spread = metric.low < metric.high;
        Self {
            value: metric.mean * scale,
            low: spread.then_some((metric.low * scale).max(0.0)),
            high: spread.then_some(metric.high * scale),
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
        }
    }

    /// The interval; where there is none, one as wide as what counts as wide.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let half = WIDE_SHARE * self.value.abs();
        let low = self.low.unwrap_or(self.value - half);
        (low, self.high.unwrap_or(self.value + half))
    }

    /// Whether the interval is too wide to rank by; its upper half tells, since the lower ends at nothing.
    pub(crate) fn is_wide(&self) -> bool {
        self.ends().1 - self.value > WIDE_SHARE * self.value.abs()
    }

    /// A point between two: the mean on the line, the interval around both.
    fn between(self, other: Self, share: f64) -> Self {
        let hull = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| Some(pick(a?, b?));
        Self {
            value: self.value + (other.value - self.value) * share,
            low: hull(self.low, other.low, f64::min),
            high: hull(self.high, other.high, f64::max),
        }
    }
}

impl Figures {
    /// Of a cell, by its chief time.
    pub(crate) fn of(cell: &Measured, time: &str) -> Option<Self> {
        let metric = cell.metrics.get(time)?;
        let scale = scale(&metric.unit)?;
        Some(Self {
            latency: Time {
                mean: Spread::of(metric, scale),
                percentiles: metric.percentiles.map(|all| all.map(|value| value * scale)),
                n: metric.n,
                lost: metric.lost,
            },
            bytes: bytes(cell),
            cpu: cpu(cell),
            memory: cell
                .metrics
                .get("server_memory_peak")
                .map(|m| Spread::of(m, 1.0)),
        })
    }

    /// Of a point between two cells: means on the line, percentiles and losses the worse of both.
    pub(crate) fn between(&self, other: &Self, share: f64) -> Self {
        let both = |a: Option<Spread>, b: Option<Spread>| Some(a?.between(b?, share));
        let (a, b) = (&self.latency, &other.latency);
        let worse = |(a, b): ([f64; 5], [f64; 5])| std::array::from_fn(|i| a[i].max(b[i]));
        Self {
            latency: Time {
                mean: a.mean.between(b.mean, share),
                percentiles: a.percentiles.zip(b.percentiles).map(worse),
                n: a.n.min(b.n),
                lost: a.lost.max(b.lost),
            },
            bytes: both(self.bytes, other.bytes),
            cpu: both(self.cpu, other.cpu),
            memory: both(self.memory, other.memory),
        }
    }
}

fn bytes(cell: &Measured) -> Option<Spread> {
    let sized = SIZES.iter().find_map(|name| cell.metrics.get(*name));
    if let Some(metric) = sized {
        return Some(Spread::of(metric, 1.0));
    }
    let received = cell.metrics.get("received_bytes")?;
    let deliveries = cell.mean("deliveries").filter(|rate| *rate > 0.0)?;
    Some(Spread::of(received, 1.0 / deliveries))
}

/// Nothing where the time was less than the kernel's accounting sees (a tick of 10 ms).
fn cpu(cell: &Measured) -> Option<Spread> {
    let busy = cell
        .metrics
        .get("server_cpu")
        .filter(|busy| busy.mean > 0.0)?;
    let rate = rate(cell).filter(|rate| *rate > 0.0)?;
    Some(Spread::of(busy, 1.0).times(1e6 / rate))
}
