//! How far another machine's clock is from ours, and how sure that is.
//!
//! Cristian's estimate (Distributed Computing 3, 1989) of the best of many exchanges, with the least
//! seen in each direction apart: a reply cannot come before it was sent, so the offset lies between
//! what the fastest request and the fastest answer allow, whatever the others took.

/// One exchange: asked and answered on our clock, read on theirs in between; nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) asked: u64,
    pub(super) read: u64,
    pub(super) answered: u64,
}

/// Their clock less ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// The middle of what is possible.
    pub(super) ns: i64,
    /// How far the truth may be from it.
    pub(super) bound_ns: u64,
}

impl Exchange {
    /// From asking to the answer.
    pub(super) fn round_trip_ns(self) -> u64 {
        self.answered - self.asked
    }
}

impl Offset {
    /// Of some exchanges; nothing of none.
    pub(super) fn of(exchanges: &[Exchange]) -> Option<Self> {
        let at_most = exchanges
            .iter()
            .map(|e| e.read as i64 - e.asked as i64)
            .min()?;
        let at_least = exchanges
            .iter()
            .map(|e| e.read as i64 - e.answered as i64)
            .max()?;
        Some(Self {
            ns: at_least + (at_most - at_least) / 2,
            bound_ns: at_most.abs_diff(at_least).div_ceil(2),
        })
    }

    /// How far the truth was from this at most, given what was measured later: clocks drift apart.
    pub(super) fn bound_until(self, later: Self) -> u64 {
        let end = later.bound_ns + self.ns.abs_diff(later.ns);
        self.bound_ns.max(end)
    }

    /// A moment of our clock on theirs.
    pub(super) fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ns)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// An exchange with a clock ahead by `offset`, which took so long in each direction.
    fn exchange(at: u64, offset: i64, there: u64, back: u64) -> Exchange {
        Exchange {
            asked: at,
            read: (at + there).saturating_add_signed(offset),
            answered: at + there + back,
        }
    }

    #[test]
    fn the_fastest_of_each_direction_count_though_no_exchange_had_both() {
        let exchanges = [exchange(10, 500, 4, 90), exchange(1000, 500, 80, 6)];
        let offset = Offset::of(&exchanges).unwrap();
        assert_eq!(
            offset,
            Offset {
                ns: 499,
                bound_ns: 5
            }
        );
    }

    #[test]
    fn what_drifted_widens_the_bound() {
        let (before, after) = (
            Offset {
                ns: 100,
                bound_ns: 5,
            },
            Offset {
                ns: 130,
                bound_ns: 7,
            },
        );
        assert_eq!(before.bound_until(after), 37);
        assert_eq!(before.bound_until(before), 5);
    }

    proptest! {
        #[test]
        fn the_truth_is_within_the_bound_however_lopsided_the_way(
            offset in -1_000_000_000i64..1_000_000_000,
            ways in proptest::collection::vec((0u64..5_000_000, 0u64..5_000_000), 1..40),
        ) {
            let start = 2_000_000_000;
            let exchanges: Vec<_> =
                ways.iter().map(|&(there, back)| exchange(start, offset, there, back)).collect();
            let found = Offset::of(&exchanges).unwrap();
            prop_assert!(found.ns.abs_diff(offset) <= found.bound_ns);
        }
    }
}
