//! What a person sees while a run goes on: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use crate::clock::now_ns;
use crate::sample::Sample;

/// Progress over all measurements of a run, on standard error.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    done: AtomicUsize,
    total: usize,
    began_ns: u64,
}

impl Progress {
    /// For so many measurements.
    pub(crate) fn new(total: usize) -> Self {
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
            total,
            began_ns: now_ns(),
        }
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// How long the rest will take if it goes on as so far.
    fn left(&self) -> String {
        let seconds = (now_ns() - self.began_ns) as f64 / 1e9;
        let (done, total) = (self.done().max(1), self.total);
        let left = seconds / done as f64 * total.saturating_sub(done) as f64;
        match left {
            left if left < 90.0 => format!("{left:.0} s left"),
            left => format!("{:.0} min left", left / 60.0),
        }
    }

    /// One measurement begins.
    pub(crate) fn begin(&self, cell: &str, target: &str, round: usize) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{cell}  {target}, round {}", round + 1));
        }
    }

    /// One measurement has ended.
    pub(crate) fn end(&self, cell: &str, target: &str, sample: &Result<Sample, String>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        let line = format!("{cell}  {target}: {}", summary(sample));
        match &self.bar {
            Some(bar) => {
                bar.println(line);
                bar.inc(1);
            }
            None => eprintln!("[{}/{}, {}] {line}", self.done(), self.total, self.left()),
        }
    }

    /// So many measurements will not be made.
    pub(crate) fn skip(&self, measurements: usize) {
        self.done.fetch_add(measurements, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(measurements as u64);
        }
    }

    /// All measurements have ended.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn summary(sample: &Result<Sample, String>) -> String {
    let sample = match sample {
        Ok(sample) => sample,
        Err(reason) => return format!("failed: {reason}"),
    };
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
