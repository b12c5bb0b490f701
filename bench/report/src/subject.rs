//! What a report is of: a run, and what its experiment makes of it.

use weir_bench_model::figure::Figure;
use weir_bench_model::results::Run;

/// A run as it is reported.
pub struct Subject {
    /// The run. Its claims are judged by what is known today, which may be more than when it was made.
    pub run: Run,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// What it shows, in the order of its report.
    pub figures: Vec<Figure>,
}
