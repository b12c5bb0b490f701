//! How many claims of the papers hold.

use std::fmt;

use serde::Serialize;

use crate::results::ClaimResult;

/// Claims by their judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// What holds here.
    pub held: usize,
    /// What does not.
    pub fell: usize,
    /// What cannot be compared with what was measured here.
    pub open: usize,
}

impl Tally {
    /// Of claims that were judged.
    pub fn of<'a>(claims: impl IntoIterator<Item = &'a ClaimResult>) -> Self {
        let mut tally = Self::default();
        for claim in claims {
            *match claim.holds {
                Some(true) => &mut tally.held,
                Some(false) => &mut tally.fell,
                None => &mut tally.open,
            } += 1;
        }
        tally
    }

    /// Nothing without a claim.
    pub fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, fell, open } = self;
        let holds = if *held == 1 { "holds" } else { "hold" };
        let does = if *fell == 1 { "does" } else { "do" };
        write!(
            f,
            "{held} {holds} here, {fell} {does} not, {open} cannot be compared"
        )
    }
}
