//! An experiment, as data: a line of the list of [`crate::experiments`].

use crate::effort::Effort;
use crate::figure::Figure;
use crate::order::Order;
use crate::results::{ClaimResult, Run};

/// A set of cells with a common purpose.
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it comes from: a paper and its tables, or us.
    pub source: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// The names of its cells, in the order of its report.
    pub cells: fn(Effort) -> Vec<String>,
    /// Runs it.
    pub(crate) run: fn(&Order<'_>) -> Run,
    /// Its page of the documentation, from a run and the folder where it lies.
    pub(crate) page: fn(&Run, &str) -> String,
    /// What a run of it shows as figures, in the order of its report.
    pub(crate) figures: fn(&Run) -> Vec<Figure>,
    /// The claims that `claims.csv` gives it, each judged by a run of it; of a run without results each
    /// with the reason why nothing can be said.
    pub(crate) claims: fn(&Run) -> Vec<ClaimResult>,
}
