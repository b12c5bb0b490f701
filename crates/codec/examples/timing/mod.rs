//! How long a piece of work takes, for the examples that print it.

use std::time::{Duration, Instant};

/// The shortest of many runs, since all else is disturbance.
pub(crate) fn best(mut work: impl FnMut()) -> Duration {
    let until = Instant::now() + Duration::from_millis(500);
    let mut best = Duration::MAX;
    while Instant::now() < until {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed());
    }
    best
}
