//! How long to wait before the next attempt: twice as long each time, and never quite the same.

use weir_sansio::Duration;

const FIRST: Duration = Duration::from_millis(500);

/// The waits between attempts.
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// The first of waits that grow up to the longest.
    pub fn new(longest: Duration) -> Self {
        Self {
            next: FIRST.min(longest),
            longest,
        }
    }

    /// Begins again: an attempt went well.
    pub fn reset(&mut self) {
        self.next = FIRST.min(self.longest);
    }

    /// The wait before the next attempt: between half of what is due and all of it, so that many who lost
    /// the same broker do not come back at once.
    pub fn wait(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(self.longest);
        let part = weir_random::number() % 1024;
        whole / 2 + whole / 2 * part as u32 / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_longest_and_begin_again() {
        let mut backoff = Backoff::new(Duration::from_secs(30));
        let mut due = FIRST;
        for _ in 0..12 {
            let wait = backoff.wait();
            assert!(wait >= due / 2 && wait <= due, "{wait:?} of {due:?}");
            due = (due * 2).min(Duration::from_secs(30));
        }
        backoff.reset();
        assert!(backoff.wait() <= FIRST);
    }
}
