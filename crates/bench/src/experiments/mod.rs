//! The experiments, as data: one file and one line of [`EXPERIMENTS`] each.

mod gateway;

use crate::cell::Cell;

/// All experiments.
pub static EXPERIMENTS: &[Experiment] = &[gateway::EXPERIMENT];

/// A set of cells with a common purpose.
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it comes from: a paper and its tables, or us.
    pub source: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// Its cells.
    pub cells: fn(Effort) -> Vec<Cell>,
}

/// How much time a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Under two minutes: the chief cells, short steps, few rounds.
    Quick,
    /// All cells, steps of seconds, enough rounds for confidence intervals.
    Full,
}

impl Experiment {
    /// The experiment of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }
}
