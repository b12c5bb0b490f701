//! What the sides of a cell spend while it is measured: processor time, as a share of one processor, and
//! their greatest memory.
//!
//! This process and the server of documents tell their own time to the nanosecond; of others the kernel
//! counts ticks of 10 ms. Deliberately absent: what a single call costs, which is the cell's times. Memory is
//! that of whole processes: the native client is the bench itself, with the document and what it has of it.

use std::net::SocketAddr;

use rustix::time::{ClockId, clock_gettime};

use super::over_link::spent_by_server;
use weir_bench_lab::link::End;
use weir_bench_model::clock::now_ns;
use weir_bench_model::process::{
    cpu_ms_of_tree, peak_bytes, peak_bytes_of_tree, reset_peak, reset_peak_of_one,
};

/// The metrics of a side: processors, bytes.
pub(super) type Names = [&'static str; 2];
pub(super) const CLIENT: Names = ["client_cpu", "client_memory_peak"];
pub(super) const BROWSER: Names = ["browser_cpu", "browser_memory_peak"];
pub(super) const SERVER: Names = ["server_cpu", "server_memory_peak"];

/// Figures by metric: unit and value.
pub(super) type Spent = Vec<(&'static str, &'static str, f64)>;

/// Who is watched.
#[derive(Clone, Copy)]
pub(super) enum Side<'a> {
    /// This process: the native client.
    This,
    /// A tree of processes, by its root.
    Tree(u32),
    /// The server of documents, which is asked at its own end.
    Documents(&'a End, SocketAddr),
}

/// What a side has spent, and its peak since that was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) cpu_ms: f64,
    pub(super) peak_bytes: f64,
}

/// Sides of a cell, from a moment on.
pub(super) struct Watch<'a> {
    sides: Vec<(Names, Side<'a>, Told)>,
    since_ns: u64,
}

impl<'a> Watch<'a> {
    /// Begins now; who cannot be watched is not.
    pub(super) fn begin(sides: impl IntoIterator<Item = (Names, Side<'a>)>) -> Self {
        let told = |(names, side): (Names, Side<'a>)| Some((names, side, side.told()?));
        Self {
            sides: sides.into_iter().filter_map(told).collect(),
            since_ns: now_ns(),
        }
    }

    /// What all of them have spent since.
    pub(super) fn spent(&self) -> Spent {
        let ms = ((now_ns() - self.since_ns) as f64 / 1e6).max(1e-3);
        let of = |(names, side, before): &(Names, Side<'a>, Told)| {
            let now = side.told()?;
            let cpus = ((now.cpu_ms - before.cpu_ms) / ms).max(0.0);
            let [cpu, memory] = *names;
            Some([(cpu, "cpus", cpus), (memory, "bytes", now.peak_bytes)])
        };
        self.sides.iter().filter_map(of).flatten().collect()
    }
}

impl Side<'_> {
    /// Its time so far; its peak begins anew.
    fn told(self) -> Option<Told> {
        match self {
            Self::This => Some(Told::of_this_process()),
            Self::Tree(root) => {
                let cpu_ms = cpu_ms_of_tree(root);
                let peak_bytes = peak_bytes_of_tree(root) as f64;
                reset_peak(root);
                Some(Told { cpu_ms, peak_bytes })
            }
            Self::Documents(end, address) => spent_by_server(end, address),
        }
    }
}

impl Told {
    /// Of the process that asks.
    pub(super) fn of_this_process() -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let pid = std::process::id();
        let told = Self {
            cpu_ms: time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6,
            peak_bytes: peak_bytes(pid) as f64,
        };
        reset_peak_of_one(pid);
        told
    }

    /// As a line that [`Told::read`] reads.
    pub(super) fn line(self) -> String {
        format!("{} {}", self.cpu_ms, self.peak_bytes)
    }

    /// Reads a line; nothing of what is none.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (cpu_ms, peak_bytes) = line.trim().split_once(' ')?;
        Some(Self {
            cpu_ms: cpu_ms.parse().ok()?,
            peak_bytes: peak_bytes.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_this_process_spends_is_told_with_its_units() {
        let watch = Watch::begin([(CLIENT, Side::This)]);
        let sum: u64 = (0..3_000_000u64).map(std::hint::black_box).sum();
        assert!(sum > 0);
        let spent = watch.spent();
        let units: Vec<_> = spent.iter().map(|(name, unit, _)| (*name, *unit)).collect();
        assert_eq!(
            units,
            [("client_cpu", "cpus"), ("client_memory_peak", "bytes")]
        );
        assert!(spent.iter().all(|(.., value)| *value > 0.0), "{spent:?}");
    }

    #[test]
    fn a_line_of_the_server_is_read_as_it_was_written() {
        let told = Told {
            cpu_ms: 1.25,
            peak_bytes: 4096.0,
        };
        assert_eq!(Told::read(&told.line()), Some(told));
        assert_eq!(Told::read("<html>"), None);
    }
}
