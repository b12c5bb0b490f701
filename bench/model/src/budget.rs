//! The time that a quick run may take: cells begin while the longest so far would still end in it.
//!
//! What it deliberately does not do: shorten a cell, or stop one that has begun. The decision worth arguing: a
//! limit of time and not a shorter list, so that a quick run ends in two minutes on a slow machine, too, and as
//! systems are added; cells that matter most come first, and those left out are named in the results.

use crate::clock::now_ns;
use crate::effort::Effort;
use crate::limits::QUICK_SECONDS_MAX;

/// What is left of the time, and what was left out for want of it.
pub struct Budget {
    /// When all must have ended; nothing: there is no haste.
    until_ns: Option<u64>,
    /// When what was allowed last began.
    began_ns: Option<u64>,
    longest_ns: u64,
    left_out: Vec<String>,
}

impl Budget {
    /// Of an effort, from now on: only a quick run has a limit.
    pub fn of(effort: Effort) -> Self {
        Self::since(effort, now_ns())
    }

    /// Of a run that began then.
    pub fn since(effort: Effort, began_ns: u64) -> Self {
        let until = || began_ns + QUICK_SECONDS_MAX * 1_000_000_000;
        Self {
            until_ns: (effort == Effort::Quick).then(until),
            began_ns: None,
            longest_ns: 0,
            left_out: Vec::new(),
        }
    }

    /// Whether there is an end to hurry for, so that what matters most is to come first.
    pub fn is_short(&self) -> bool {
        self.until_ns.is_some()
    }

    /// Whether a cell, or a group of cells, may begin now; one that may not is left out.
    pub fn allows(&mut self, cell: &str) -> bool {
        self.allows_at(cell, now_ns())
    }

    /// What comes now is of another kind: how long the others took says nothing of it.
    pub fn turn_to_others(&mut self) {
        (self.began_ns, self.longest_ns) = (None, 0);
    }

    fn allows_at(&mut self, cell: &str, now: u64) -> bool {
        let last_ns = self.began_ns.map_or(0, |began| now.saturating_sub(began));
        self.longest_ns = self.longest_ns.max(last_ns);
        let fits = self
            .until_ns
            .is_none_or(|until| now + self.longest_ns <= until);
        self.began_ns = fits.then_some(now);
        if !fits {
            self.left_out.push(cell.into());
        }
        fits
    }

    /// What may not begin any more, in the order in which it was asked for.
    pub fn left_out(self) -> Vec<String> {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn until(seconds: u64) -> Budget {
        Budget {
            until_ns: Some(seconds * SECOND),
            ..Budget::of(Effort::Full)
        }
    }

    #[test]
    fn a_cell_begins_only_where_the_longest_so_far_would_end_in_time() {
        let mut budget = until(100);
        assert!(budget.allows_at("first", 0));
        assert!(budget.allows_at("after one of 30 s", 30 * SECOND));
        assert!(budget.allows_at("after one of 10 s", 40 * SECOND));
        assert!(!budget.allows_at("at 75 s", 75 * SECOND));
        assert!(!budget.allows_at("at 76 s", 76 * SECOND));
        assert_eq!(budget.left_out(), ["at 75 s", "at 76 s"]);
    }

    #[test]
    fn how_long_one_kind_took_says_nothing_of_another() {
        let mut budget = until(100);
        assert!(budget.allows_at("a long one", 0));
        budget.turn_to_others();
        assert!(budget.allows_at("a short one", 90 * SECOND));
        assert!(!budget.allows_at("too late", 101 * SECOND));
    }

    #[test]
    fn a_full_run_leaves_nothing_out() {
        let mut budget = Budget::of(Effort::Full);
        assert!(budget.allows_at("a", 0) && budget.allows_at("b", u64::MAX / 2));
        assert!(budget.left_out().is_empty());
    }
}
