//! Traces of messages from their arrival to their subscribers, for an OpenTelemetry collector.
//!
//! Section `trace` of the configuration says where to; without it nothing of this exists and the hub
//! looks at an empty pointer. What it deliberately does not do: hold a message up. A span that finds no
//! room to wait in is dropped and counted (docs/concepts/traces.md).

mod export;
mod otlp;
mod settings;

pub(crate) use settings::{Settings, TRACE_KEYS};

use crate::limits::TRACE_SPANS_WAITING_MAX;
use crate::traffic::Traffic;
use export::{Exporter, Note};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};
use weir_binding::Metric;
use weir_hub::trace::{Parent, Span, Tracer};
use weir_random::SharedRandom;

static SPANS: Metric = Metric {
    name: "weir_trace_spans_total",
    counts: true,
    help: "Spans that a collector took, and those that were dropped.",
};

/// Makes traces; a thread of its own sends them.
pub(crate) struct Traces {
    tracer: Arc<Sampler>,
    thread: JoinHandle<()>,
}

impl Traces {
    /// Starts the thread.
    pub(crate) fn start(settings: Settings, traffic: &Traffic) -> std::io::Result<Self> {
        let (spans, waiting) = sync_channel(TRACE_SPANS_WAITING_MAX);
        let count = |outcome: &str| traffic.meter(&SPANS, &format!("outcome=\"{outcome}\""));
        let dropped = count("dropped");
        let tracer = Arc::new(Sampler {
            threshold: threshold(settings.sample),
            drawn: SharedRandom::new(weir_random::number()),
            spans,
            dropped: dropped.clone(),
        });
        let exporter = Exporter::new(settings, waiting, (count("sent"), dropped));
        let thread = thread::Builder::new()
            .name("traces".into())
            .spawn(move || exporter.run())?;
        Ok(Self { tracer, thread })
    }

    /// What the hub is given.
    pub(crate) fn tracer(&self) -> Arc<dyn Tracer> {
        self.tracer.clone()
    }

    /// Sends what is left, once.
    pub(crate) fn finish(self) {
        // Where it has ended already nothing is left.
        let _ended = self.tracer.spans.send(Note::End);
        if self.thread.join().is_err() {
            tracing::error!("the traces' thread ended early");
        }
    }
}

/// Decides which messages are traced and names what is.
struct Sampler {
    /// Traces whose name's second half is below are kept.
    threshold: u64,
    drawn: SharedRandom,
    spans: SyncSender<Note>,
    dropped: Arc<AtomicU64>,
}

/// The part of all numbers that is below it.
fn threshold(sample: f64) -> u64 {
    // Saturates: all of them where the part is one.
    (sample * u64::MAX as f64) as u64
}

fn unix_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

impl Sampler {
    /// The next number, not zero.
    fn draw(&self) -> u64 {
        self.drawn.bits().max(1)
    }
}

impl Tracer for Sampler {
    fn now(&self) -> u64 {
        unix_nanos()
    }

    fn begin(&self, parent: Option<&Parent>) -> Option<[u8; 16]> {
        if let Some(parent) = parent {
            return parent.sampled.then_some(parent.trace);
        }
        let second = self.draw();
        if second > self.threshold || self.threshold == 0 {
            return None;
        }
        let mut name = [0; 16];
        name[..8].copy_from_slice(&self.draw().to_be_bytes());
        name[8..].copy_from_slice(&second.to_be_bytes());
        Some(name)
    }

    fn span_id(&self) -> [u8; 8] {
        self.draw().to_be_bytes()
    }

    fn take(&self, span: Span) {
        if self.spans.try_send(Note::Span(Box::new(span))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_binding::Section;

    fn section(pairs: &[(&str, &str)]) -> Section {
        let mut section = Section::new("trace");
        pairs
            .iter()
            .for_each(|(key, value)| section.set(key, value));
        section
    }

    fn sampler(sample: f64) -> (Sampler, std::sync::mpsc::Receiver<Note>) {
        let (spans, waiting) = sync_channel(1);
        let sampler = Sampler {
            threshold: threshold(sample),
            drawn: SharedRandom::new(7),
            spans,
            dropped: Arc::default(),
        };
        (sampler, waiting)
    }

    #[test]
    fn a_collector_is_named_with_or_without_its_path() {
        let url = |given: &str| {
            Settings::read(section(&[("url", given)]))
                .unwrap()
                .unwrap()
                .url
        };
        assert_eq!(url("http://c:4318"), "http://c:4318/v1/traces");
        assert_eq!(url("http://c:4318/"), "http://c:4318/v1/traces");
        assert_eq!(url("https://c/otlp/v1/traces"), "https://c/otlp/v1/traces");
        assert!(Settings::read(section(&[])).unwrap().is_none());
    }

    #[test]
    fn a_mistake_is_told_by_its_key() {
        let key = |pairs: &[(&str, &str)]| Settings::read(section(pairs)).unwrap_err().key;
        let url = ("url", "http://c:4318");
        assert_eq!(key(&[("url", "c:4318")]), "trace.url");
        assert_eq!(key(&[url, ("sample", "2")]), "trace.sample");
        assert_eq!(key(&[url, ("sample", "NaN")]), "trace.sample");
        assert_eq!(key(&[url, ("colour", "red")]), "trace.colour");
        assert_eq!(key(&[url, ("ca_file", "/nowhere")]), "trace.ca_file");
        let token = ("token_file", "/etc/hostname");
        assert_eq!(key(&[url, token]), "trace.url");
    }

    #[test]
    fn the_part_that_is_kept_is_the_part_that_was_asked_for() {
        let kept = |sample: f64| {
            let (sampler, _waiting) = sampler(sample);
            let kept = (0..10_000).filter_map(|_| sampler.begin(None));
            kept.count()
        };
        assert_eq!((kept(0.0), kept(1.0)), (0, 10_000));
        assert!((900..1100).contains(&kept(0.1)), "{}", kept(0.1));
    }

    #[test]
    fn who_brings_a_trace_decides() {
        let (sampler, _waiting) = sampler(0.0);
        let mut parent = Parent {
            trace: [1; 16],
            span: [2; 8],
            sampled: true,
        };
        assert_eq!(sampler.begin(Some(&parent)), Some([1; 16]));
        parent.sampled = false;
        assert_eq!(sampler.begin(Some(&parent)), None);
    }
}
