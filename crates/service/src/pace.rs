//! How often a client can take something new.
//!
//! It belongs to one delivery and may change while that runs: whoever hears of it from the client sets
//! it, whoever carries the delivery looks at it before each piece. Deliberately no clock here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// The least time between two pieces of a delivery, shared by who sets and who keeps it.
#[derive(Clone, Debug, Default)]
pub struct Pace(Arc<AtomicU32>);

/// The longest time between two pieces.
pub const PERIOD_MAX: Duration = Duration::from_secs(1);

impl Pace {
    /// Sets the time between two pieces, at most [`PERIOD_MAX`]; zero: as they come.
    pub fn set(&self, period: Duration) {
        let micros = period.min(PERIOD_MAX).as_micros();
        // A second in microseconds fits.
        self.0.store(micros as u32, Relaxed);
    }

    /// The time between two pieces, unless they go as they come.
    pub fn period(&self) -> Option<Duration> {
        let micros = self.0.load(Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_bounded_and_shared_by_its_clones() {
        let (kept, set) = {
            let pace = Pace::default();
            (pace.clone(), pace)
        };
        assert_eq!(kept.period(), None);
        set.set(Duration::from_millis(7));
        assert_eq!(kept.period(), Some(Duration::from_millis(7)));
        set.set(Duration::from_secs(3600));
        assert_eq!(kept.period(), Some(PERIOD_MAX));
        set.set(Duration::ZERO);
        assert_eq!(kept.period(), None);
    }
}
