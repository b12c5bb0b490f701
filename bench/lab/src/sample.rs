//! What one contender gave in one round, as named figures with units.

pub mod echo;

use std::collections::BTreeMap;

use crate::worker::{Measured, Spent};
use weir_bench_load::load::job::{
    Event, IdleOutcome, ObserversOutcome, ReplayOutcome, TopicsOutcome, TrafficOutcome,
};
use weir_bench_model::body::Body;
use weir_bench_model::cell::Work;
use weir_bench_model::latency::Latency;
use weir_bench_model::pace::{Pace, Trial};
use weir_bench_model::results::CLOCK_BOUND;
use weir_bench_model::samples::Series;

/// Name of a metric.
pub type Name = &'static str;

/// What the target spent: processors kept busy, and its greatest resident memory.
pub const OF_SERVER: [Name; 2] = ["server_cpu", "server_memory_peak"];
/// What a browser spent that shows or sends what is measured.
pub const OF_BROWSER: [Name; 2] = ["browser_cpu", "browser_memory_peak"];

/// From due to received.
const DELIVERY: Name = "publish_to_receive";

/// One round's figures.
#[derive(Default)]
pub struct Sample {
    /// Single figures by metric, with their unit.
    pub values: BTreeMap<Name, (&'static str, f64)>,
    /// Distributions by metric.
    pub latencies: BTreeMap<Name, Latency>,
    /// Distributions whose samples are all kept, by metric, with their unit, in the order of time.
    pub samples: BTreeMap<Name, (&'static str, Vec<f64>)>,
    /// Of distributions without single samples: their middle in each tenth of the time measured.
    pub courses: BTreeMap<Name, Vec<f64>>,
    /// What was owed and did not come.
    pub lost: u64,
    /// Trials of a search.
    pub trials: Vec<Trial>,
    /// What a reader must know.
    pub remark: Option<String>,
    /// What the search wanted and did not find; the figures are those of the least rate.
    pub missed: Option<String>,
}

/// How much more memory the target holds than before, bytes; none of a target that is not ours.
fn grown_bytes(measured: &Measured) -> Option<f64> {
    let (before, after) = measured.memory.filter(|_| measured.server.is_some())?;
    Some(after.server.proportional_bytes as f64 - before.server.proportional_bytes as f64)
}

impl Sample {
    /// Reads a measurement; an error where it shows nothing.
    pub fn of(work: &Work, measured: &Measured) -> Result<Self, String> {
        let mut sample = match &measured.outcome {
            Event::Traffic(outcome) => Self::of_traffic(work, outcome)?,
            Event::Idle(outcome) => Self::of_idle(outcome, measured)?,
            Event::Topics(outcome) => Self::of_topics(outcome, measured)?,
            Event::Observers(outcome) => Self::of_observers(outcome, measured),
            Event::Replay(outcome) => Self::of_replay(outcome),
            other => return Err(format!("an unexpected outcome {other:?}")),
        };
        sample.put_spent(measured);
        sample.put_crossed(measured);
        Ok(sample)
    }

    /// Adds what both sides spent.
    pub fn put_spent(&mut self, measured: &Measured) {
        self.put_side(OF_SERVER, measured.server);
        if let Some(clocks) = &measured.clocks {
            self.put(CLOCK_BOUND, "us", clocks.bound_us);
            self.put_samples("clock_round_trip", "us", clocks.round_trips_us.clone());
        }
        self.put_side(["load_cpu", "load_memory_peak"], Some(measured.load));
    }

    /// Adds what a side spent, where it is known.
    pub fn put_side(&mut self, [cpu, memory]: [Name; 2], spent: Option<Spent>) {
        if let Some(spent) = spent {
            self.put(cpu, "cpus", spent.cpus);
            self.put(memory, "bytes", spent.peak_bytes as f64);
        }
    }

    /// Adds what crossed the link, both ways, headers of IP included.
    pub fn put_crossed(&mut self, measured: &Measured) {
        let Some(crossed) = &measured.crossed else {
            return;
        };
        let all = crossed.all();
        self.put("link_packets", "1", all.packets as f64);
        self.put("link_bytes", "bytes", all.ip_bytes as f64);
        let dropped = all.dropped_queue + all.dropped_loss;
        self.put("link_dropped", "1", dropped as f64);
    }

    fn of_traffic(work: &Work, outcome: &TrafficOutcome) -> Result<Self, String> {
        let mut sample = Self {
            trials: outcome.trials.clone(),
            missed: outcome.missed.clone(),
            ..Self::default()
        };
        if let (0, Some(refusal)) = (outcome.acknowledged, &outcome.first_refusal) {
            return Err(format!("every message was refused: {refusal}"));
        }
        if outcome.refused > 0 {
            let first = outcome.first_refusal.as_deref().unwrap_or("");
            sample.remark = Some(format!("{} messages refused: {first}", outcome.refused));
        }
        let published = match work {
            Work::Ingest { body, pace, .. } => Some((*body, pace)),
            Work::Own {
                own,
                subscribers: 0,
                pace,
                ..
            } => Some((Body::Own(*own), pace)),
            _ => None,
        };
        match published {
            Some((body, pace)) => {
                let per_message = body.observations() as f64;
                let messages = outcome.acknowledged as f64 / outcome.seconds;
                sample.put("observations", "1/s", messages * per_message);
                sample.put("messages", "1/s", messages);
                if matches!(pace, Pace::Open { .. }) {
                    sample.lost = outcome.sent - outcome.acknowledged;
                }
            }
            None => sample.put_deliveries(outcome)?,
        }
        sample.put_latency("acknowledgement", &outcome.acknowledgement);
        let timed = if outcome.received > 0 {
            DELIVERY
        } else {
            "acknowledgement"
        };
        sample.courses.insert(timed, outcome.course.clone());
        sample.put_latency("schedule_lag", &outcome.schedule_lag);
        Ok(sample)
    }

    fn put_deliveries(&mut self, outcome: &TrafficOutcome) -> Result<(), String> {
        if outcome.received == 0 {
            return Err(format!("none of {} deliveries came", outcome.expected));
        }
        self.put(
            "deliveries",
            "1/s",
            outcome.received as f64 / outcome.seconds,
        );
        self.put("messages", "1/s", outcome.offered_rate);
        self.put(
            "received_bytes",
            "B/s",
            outcome.received_bytes as f64 / outcome.seconds,
        );
        if let Some(repeated) = outcome.repeated {
            let percent = |count: u64| 100.0 * count as f64 / outcome.expected.max(1) as f64;
            self.put("rpm", "%", percent(outcome.received + repeated));
            self.put("rupm", "%", percent(outcome.received));
        }
        self.lost = outcome.expected.saturating_sub(outcome.received);
        self.put_latency(DELIVERY, &outcome.delivery);
        Ok(())
    }

    /// What a publisher and a subscriber beside all others gave.
    fn of_probe(probe: Option<&TrafficOutcome>) -> Result<Self, String> {
        let mut sample = Self::default();
        if let Some(outcome) = probe {
            sample.put_deliveries(outcome)?;
            sample.put_latency("acknowledgement", &outcome.acknowledgement);
            sample.put_latency("schedule_lag", &outcome.schedule_lag);
            sample.courses.insert(DELIVERY, outcome.course.clone());
        }
        Ok(sample)
    }

    fn of_idle(outcome: &IdleOutcome, measured: &Measured) -> Result<Self, String> {
        let mut sample = Self::of_probe(outcome.probe.as_deref())?;
        let Some((before, after)) = measured.memory else {
            return Ok(sample);
        };
        let per_connection =
            |from: u64, to: u64| (to as f64 - from as f64) / outcome.connections as f64;
        if measured.server.is_some() {
            let (from, to) = (before.server, after.server);
            let proportional = per_connection(from.proportional_bytes, to.proportional_bytes);
            sample.put("server_memory_per_connection", "bytes", proportional);
            let resident = per_connection(from.resident_bytes, to.resident_bytes);
            sample.put("server_resident_per_connection", "bytes", resident);
        }
        let (from, to) = (before.kernel, after.kernel);
        let slab = per_connection(from.slab_bytes, to.slab_bytes);
        sample.put("kernel_slab_per_connection", "bytes", slab);
        let sockets = per_connection(from.socket_bytes, to.socket_bytes);
        sample.put("kernel_buffers_per_connection", "bytes", sockets);
        sample.put("connections", "1", outcome.connections as f64);
        Ok(sample)
    }

    fn of_topics(outcome: &TopicsOutcome, measured: &Measured) -> Result<Self, String> {
        let mut sample = Self::of_probe(outcome.probe.as_deref())?;
        sample.put(
            "observations",
            "1/s",
            outcome.topics as f64 / outcome.seconds,
        );
        if let Some(grown) = grown_bytes(measured) {
            let each = grown / outcome.topics as f64;
            sample.put("server_memory_per_topic", "bytes", each);
        }
        Ok(sample)
    }

    fn of_observers(outcome: &ObserversOutcome, measured: &Measured) -> Self {
        let mut sample = Self::default();
        let observers = f64::from(outcome.observers);
        sample.put("registrations", "1/s", observers / outcome.seconds);
        sample.put("notified", "1", f64::from(outcome.notified));
        sample.lost = u64::from(outcome.observers.saturating_sub(outcome.notified));
        sample.put_latency("notification", &outcome.notification);
        if let Some(spent) = measured.server {
            let ms = spent.cpus * outcome.notify_seconds * 1e3;
            sample.put("server_cpu_of_change", "ms", ms);
        }
        if let Some(grown) = grown_bytes(measured) {
            sample.put("server_memory_per_observer", "bytes", grown / observers);
        }
        sample
    }

    fn of_replay(outcome: &ReplayOutcome) -> Self {
        let mut sample = Self::default();
        sample.put(
            "observations",
            "1/s",
            outcome.received as f64 / outcome.seconds,
        );
        sample.put(
            "received_bytes",
            "B/s",
            outcome.received_bytes as f64 / outcome.seconds,
        );
        sample.lost = outcome.expected.saturating_sub(outcome.received);
        sample
    }

    /// Adds a single figure.
    pub fn put(&mut self, name: Name, unit: &'static str, value: f64) {
        self.values.insert(name, (unit, value));
    }

    /// Adds a distribution that is not empty.
    pub fn put_latency(&mut self, name: Name, latency: &Latency) {
        if latency.count() > 0 {
            self.latencies.insert(name, latency.clone());
        }
    }

    /// Adds samples that are kept one by one; none is nothing.
    pub fn put_samples(&mut self, name: Name, unit: &'static str, values: Vec<f64>) {
        if !values.is_empty() {
            self.samples.insert(name, (unit, values));
        }
    }

    /// The rows of this round: single figures, buckets of distributions, samples.
    pub fn series(&self, round: usize) -> Vec<Series> {
        let values = self.values.iter();
        let values = values.map(|(name, (unit, value))| Series::of(round, name, unit, &[*value]));
        let latencies = self.latencies.iter();
        let latencies = latencies.map(|(name, latency)| Series::of_latency(round, name, latency));
        let samples = self.samples.iter();
        let samples = samples.map(|(name, (unit, all))| Series::of(round, name, unit, all));
        values.chain(latencies).chain(samples).collect()
    }
}
