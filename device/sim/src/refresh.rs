//! Adaptive polling: the time to refresh follows how often there is something new.
//!
//! The rule is LIMD of Urgaonkar et al. (Maintaining Mutual Consistency for Cached Web Objects, ICDCS 2001),
//! linear increase and multiplicative decrease, after the adaptive TTR that paper 002 names (section 2.1):
//! nothing new lets the time grow by a fifth, exactly one publication by a fiftieth, several divide it by
//! their number, since so many fitted into it. The shares and the bounds are ours.

/// Growth where nothing was new, and where one publication was.
const GROWTH_IDLE: f64 = 1.2;
const GROWTH_IN_STEP: f64 = 1.02;
/// Bounds of the time, seconds: those of the paper's fixed intervals.
const BOUNDS_S: [f64; 2] = [1.0, 50.0];

/// The time between two polls, and what it depends on.
pub(crate) struct Refresh {
    seconds: f64,
    /// Number of the newest publication that was heard.
    newest: u32,
}

impl Refresh {
    pub(crate) fn new() -> Self {
        Self {
            seconds: BOUNDS_S[0],
            newest: 0,
        }
    }

    /// A poll was answered, with the publication of a number where there is one; seconds to the next poll.
    pub(crate) fn heard(&mut self, number: Option<u32>) -> f64 {
        let number = number.unwrap_or(self.newest);
        // The first one says nothing about how often there are any.
        let news = match self.newest {
            0 => 1,
            newest => number.saturating_sub(newest),
        };
        self.newest = number;
        self.seconds = match news {
            0 => self.seconds * GROWTH_IDLE,
            1 => self.seconds * GROWTH_IN_STEP,
            several => self.seconds / f64::from(several),
        };
        self.seconds = self.seconds.clamp(BOUNDS_S[0], BOUNDS_S[1]);
        self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls a source that publishes every so many seconds; the mean time to refresh of the later polls.
    fn settles(every: f64) -> f64 {
        let mut refresh = Refresh::new();
        let (mut now, mut sum) = (every, 0.0);
        for poll in 0..600 {
            let wait = refresh.heard(Some((now / every) as u32));
            now += wait;
            sum += if poll >= 300 { wait } else { 0.0 };
        }
        sum / 300.0
    }

    #[test]
    fn the_time_to_refresh_settles_near_the_publication_interval() {
        for every in [2.0, 5.0, 15.0, 30.0] {
            let mean = settles(every);
            assert!((0.7..1.1).contains(&(mean / every)), "{every}: {mean}");
        }
    }

    #[test]
    fn it_stays_between_its_bounds() {
        let mut refresh = Refresh::new();
        assert_eq!(refresh.heard(Some(7)), 1.02);
        assert_eq!(refresh.heard(Some(1_000)), 1.0);
        let waits = (0..100).map(|_| refresh.heard(None));
        assert_eq!(waits.last(), Some(50.0));
    }
}
