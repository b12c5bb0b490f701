//! An experiment, as data: a line of the list of [`weir_bench_studies::experiments`].

use crate::order::Order;
use weir_bench_model::effort::Effort;
use weir_bench_model::figure::Figure;
use weir_bench_model::results::{ClaimResult, Run};

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
    pub run: fn(&Order<'_>) -> Run,
    /// Its page of the documentation, from a run and the folder where it lies.
    pub page: fn(&Run, &str) -> String,
    /// What a run of it shows as figures, in the order of its report.
    pub figures: fn(&Run) -> Vec<Figure>,
    /// The claims that `claims.csv` gives it, each judged by a run of it; of a run without results each
    /// with the reason why nothing can be said.
    pub claims: fn(&Run) -> Vec<ClaimResult>,
}
