//! When messages are sent.

use serde::{Deserialize, Serialize};

/// When messages are sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Pace {
    /// Each publisher keeps so many unanswered, for so long: finds the highest rate of
    /// acknowledgement. A closed loop; its latencies count from the sending.
    Window {
        /// Unanswered messages a connection.
        outstanding: usize,
        /// Milliseconds before counting starts.
        warm_up_ms: u64,
        /// Milliseconds that count.
        measure_ms: u64,
    },
    /// A fixed rate, on schedule whatever the target does; latencies count from when due.
    Open {
        /// Messages a second.
        rate: f64,
        /// Milliseconds before counting starts.
        warm_up_ms: u64,
        /// Milliseconds that count.
        measure_ms: u64,
    },
    /// Open loops at rates that are searched for the highest with p99 under the limit.
    Search {
        /// The first rate tried, messages a second.
        start_rate: f64,
        /// Milliseconds a trial.
        trial_ms: u64,
        /// Milliseconds of the confirmation, which is what counts.
        measure_ms: u64,
        /// The limit, milliseconds.
        p99_ms_max: f64,
    },
}

/// One trial of a search.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Messages a second offered.
    pub rate: f64,
    /// Milliseconds.
    pub p99_ms: f64,
    /// Deliveries that did not arrive.
    pub lost: u64,
    /// Whether the rate was sustained within the limit.
    pub passed: bool,
}

/// Trials of a search.
const TRIALS: f64 = 12.0;

impl Pace {
    /// About how long it takes, seconds.
    pub fn seconds(&self) -> f64 {
        let ms = |ms: u64| ms as f64 / 1e3;
        match *self {
            Self::Window {
                warm_up_ms,
                measure_ms,
                ..
            }
            | Self::Open {
                warm_up_ms,
                measure_ms,
                ..
            } => ms(warm_up_ms + measure_ms),
            Self::Search {
                trial_ms,
                measure_ms,
                ..
            } => TRIALS * ms(trial_ms) + ms(measure_ms),
        }
    }
}
