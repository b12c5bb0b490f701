//! What a report is of: a run, and what its experiment makes of it.

use crate::figure::Figure;
use crate::results::Run;

/// A run as it is reported.
pub(crate) struct Subject {
    /// The run. Its claims are judged by what is known today, which may be more than when it was made.
    pub(crate) run: Run,
    /// What it measures, in a sentence.
    pub(crate) about: &'static str,
    /// What it shows, in the order of its report.
    pub(crate) figures: Vec<Figure>,
}
