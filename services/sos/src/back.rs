//! The way back to the last observation of a datastream that is wanted: windows of its past, the nearest first.
//!
//! The decision worth arguing: history is read forwards only, so each window is four times as long as the one after
//! it. What is read beyond the observation that is found is at most in proportion to how far back it lies, and years
//! without any are a few windows.

use crate::moment::Span;
use weir_hub::Page;
use weir_model::Time;

/// Nanoseconds of the window that is looked at first.
const NEAREST: i64 = 1_000_000_000;

/// How far one datastream was looked through.
#[derive(Debug)]
pub(crate) struct Back {
    /// What is left of the past, the window included.
    left: Span,
    length: i64,
    /// The last observation that is wanted of this window, as far as it was read.
    pub(crate) found: Page,
}

impl Back {
    pub(crate) fn through(past: Span) -> Self {
        Self {
            left: past,
            length: NEAREST,
            found: Page::default(),
        }
    }

    /// The window that is to be read, unless nothing is left.
    pub(crate) fn window(&self) -> Option<Span> {
        let Span { from, to } = self.left;
        let near = to.plus_nanos(-self.length).max(from);
        (from < to).then_some(Span { from: near, to })
    }

    /// Goes on to the window before.
    pub(crate) fn step(&mut self) {
        if let Some(window) = self.window() {
            self.left.to = window.from;
            self.length = self.length.saturating_mul(4);
        }
    }

    /// Keeps the last of what is wanted.
    pub(crate) fn keep(&mut self, wanted: Page) {
        if let Some(last) = wanted.batch.len().checked_sub(1) {
            self.found = wanted.select(|row| row == last);
        }
    }
}

/// Up to an observation, it included, from where the past that is wanted begins.
pub(crate) fn up_to(last: Option<Time>, wanted: Span) -> Span {
    let after = last.map_or(wanted.to, |last| last.plus_nanos(1));
    Span {
        from: wanted.from,
        to: wanted.to.min(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_lie_before_each_other_and_reach_the_beginning() {
        let at = |seconds: i64| Time::from_nanos(seconds * NEAREST);
        let mut back = Back::through(Span {
            from: at(0),
            to: at(23),
        });
        let mut windows = Vec::new();
        while let Some(window) = back.window() {
            windows.push((window.from, window.to));
            back.step();
        }
        assert_eq!(
            windows,
            [
                (at(22), at(23)),
                (at(18), at(22)),
                (at(2), at(18)),
                (at(0), at(2))
            ]
        );
    }

    #[test]
    fn all_of_time_is_few_windows() {
        let mut back = Back::through(Span::ALL);
        let mut count = 0;
        while back.window().is_some() {
            back.step();
            count += 1;
        }
        assert!(count < 40, "{count}");
    }
}
