//! What process trees spend between two moments: for those that no load process watches.

use crate::worker::Spent;
use weir_bench_model::clock::now_ns;
use weir_bench_model::process::{cpu_ms_of, peak_bytes_of, reset_peak};

/// Watches trees of processes, by the process at the root of each.
pub struct Meter {
    roots: Vec<u32>,
    since_ns: u64,
    cpu_ms: f64,
}

impl Meter {
    /// Begins now; peaks of memory begin anew.
    pub fn start(roots: Vec<u32>) -> Self {
        roots.iter().copied().for_each(reset_peak);
        Self {
            cpu_ms: cpu_ms_of(&roots),
            since_ns: now_ns(),
            roots,
        }
    }

    /// What all of them have spent; nothing where there are none.
    pub fn spent(&self) -> Option<Spent> {
        let milliseconds = ((now_ns() - self.since_ns) as f64 / 1e6).max(1.0);
        let spent = Spent {
            cpus: ((cpu_ms_of(&self.roots) - self.cpu_ms) / milliseconds).max(0.0),
            peak_bytes: peak_bytes_of(&self.roots),
        };
        (!self.roots.is_empty()).then_some(spent)
    }
}
