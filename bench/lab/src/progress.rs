//! What a person sees while a run goes on: a bar on a terminal, plain lines elsewhere.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use crate::sample::Sample;
use weir_bench_model::clock::now_ns;
use weir_bench_model::samples::percentiles;

/// Progress over all measurements of a run, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    done: AtomicUsize,
    /// Of these, those that took no time: they were there already, or are left out.
    skipped: AtomicUsize,
    total: usize,
    began_ns: u64,
    /// Targets of which it was told that they are absent.
    absent: Mutex<BTreeSet<String>>,
}

impl Progress {
    /// For so many measurements.
    pub fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "{bar:30} {pos}/{len} {elapsed}, {eta} left  {wide_msg}",
            );
            let bar = ProgressBar::new(total as u64);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self {
            bar,
            done: AtomicUsize::new(0),
            skipped: AtomicUsize::new(0),
            total,
            began_ns: now_ns(),
            absent: Mutex::default(),
        }
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// How long the rest will take if it goes on as so far.
    fn left(&self) -> String {
        let seconds = (now_ns() - self.began_ns) as f64 / 1e9;
        let measured = self.done() - self.skipped.load(Ordering::Relaxed);
        let each = seconds / measured.max(1) as f64;
        match each * self.total.saturating_sub(self.done()) as f64 {
            left if left < 90.0 => format!("{left:.0} s left"),
            left => format!("{:.0} min left", left / 60.0),
        }
    }

    /// One measurement begins.
    pub fn begin(&self, cell: &str, target: &str, round: usize) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{cell}  {target}, round {}", round + 1));
        }
    }

    /// One measurement has ended.
    pub fn end(&self, cell: &str, target: &str, sample: &Result<Sample, String>) {
        let told = match sample {
            Ok(sample) => summary(sample),
            Err(reason) => self.failure(target, reason),
        };
        self.tell(format!("{cell}  {target}: {told}"));
    }

    /// A piece of work begins that measures more than one target, or none.
    pub fn begin_piece(&self, piece: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(piece.to_owned());
        }
    }

    /// Such a piece has ended; what is to be told of it.
    pub fn end_piece(&self, told: &str) {
        self.tell(told.to_owned());
    }

    fn tell(&self, line: String) {
        self.done.fetch_add(1, Ordering::Relaxed);
        match &self.bar {
            Some(bar) => {
                bar.println(line);
                bar.inc(1);
            }
            None => eprintln!("[{}/{}, {}] {line}", self.done(), self.total, self.left()),
        }
    }

    /// Why there is no figure: what is absent is told in full once.
    fn failure(&self, target: &str, reason: &str) -> String {
        if !reason.starts_with("absent: ") {
            return format!("failed: {reason}");
        }
        let mut absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        match absent.insert(target.to_owned()) {
            true => reason.to_owned(),
            false => "absent, as above".into(),
        }
    }

    /// So many measurements will not be made.
    pub fn skip(&self, measurements: usize) {
        self.done.fetch_add(measurements, Ordering::Relaxed);
        self.skipped.fetch_add(measurements, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(measurements as u64);
        }
    }

    /// All measurements have ended.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn summary(sample: &Sample) -> String {
    let mut parts = Vec::new();
    for name in ["deliveries", "observations"] {
        if let Some((_, rate)) = sample.values.get(name) {
            parts.push(format!("{rate:.0} {name}/s"));
        }
    }
    if let Some((_, rate)) = sample.values.get("message_rate") {
        parts.push(format!("{rate:.0} to and fro/s"));
    }
    for name in ["publish_to_receive", "acknowledgement", "t_transfer", "rtt"] {
        if let Some(latency) = sample.latencies.get(name) {
            let p = latency.percentiles();
            parts.push(format!("{name} p50 {:.0} us p99 {:.0} us", p.p50, p.p99));
        }
    }
    for name in ["t_transmit", "t_total"] {
        if let Some((unit, times)) = sample.samples.get(name) {
            parts.push(format!("{name} p50 {:.0} {unit}", percentiles(times).p50));
        }
    }
    if let Some((_, bytes)) = sample.values.get("server_memory_per_connection") {
        parts.push(format!("{bytes:.0} bytes a connection"));
    }
    if sample.lost > 0 {
        parts.push(format!("{} lost", sample.lost));
    }
    for (side, name) in [("server", "server_cpu"), ("load", "load_cpu")] {
        if let Some((_, cpus)) = sample.values.get(name) {
            parts.push(format!("{side} {cpus:.2} cpus"));
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_told_in_full_once_and_what_fails_every_time() {
        let progress = Progress::new(4);
        let told = [
            ("hivemq", "absent: no program"),
            ("hivemq", "absent: no program"),
            ("nats", "absent: no nats"),
            ("weir", "it ended"),
            ("weir", "it ended"),
        ]
        .map(|(target, reason)| progress.failure(target, reason));
        let expected = [
            "absent: no program",
            "absent, as above",
            "absent: no nats",
            "failed: it ended",
            "failed: it ended",
        ];
        assert_eq!(told, expected);
    }
}
