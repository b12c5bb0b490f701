//! The answer: ranked ways, each with the cells it rests on, or a refusal.

use crate::cell::Factors;
use crate::figures::Figures;
use crate::library::{Origin, Source};
use crate::question::Question;
use serde::Serialize;

/// What the measured cells say to a question.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// What was asked.
    pub question: Question,
    /// The runs that any part of it rests on.
    pub sources: Vec<Source>,
    /// What can be compared, what fits the question best first.
    pub sections: Vec<Section>,
    /// Experiments that have cells, but none there.
    pub elsewhere: Vec<String>,
    /// Why there is no answer.
    pub refusal: Option<Refusal>,
}

/// Ways that may be compared.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The experiment.
    pub experiment: String,
    /// The test of it, where it has several.
    pub test: Option<String>,
    /// The metric that is its latency.
    pub time: String,
    /// What was not asked, and where it is compared.
    pub compared_at: Vec<String>,
    /// Why all that is ranked is less than sure.
    pub doubts: Vec<String>,
    /// Ways that meet every need, best first.
    pub ranked: Vec<Way>,
    /// Ways that do not.
    pub failing: Vec<Way>,
    /// Ways of which a need was not measured.
    pub unjudged: Vec<Way>,
    /// Ways that were measured at other points only.
    pub outside: usize,
}

/// One way to do it.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// Its place from 1; 0 of what is not ranked.
    pub rank: usize,
    /// Whether another cannot be told apart from it.
    pub tied: bool,
    /// Whether no other beats it in everything.
    pub front: bool,
    /// The system that was measured.
    pub target: String,
    /// Protocol, delivery, format and whatever else it is.
    pub factors: Factors,
    /// Its figures at the point.
    pub figures: Figures,
    /// Whether a cell is at the point, not one on each side.
    pub exact: bool,
    /// Why it is less sure than its section; empty where it is not.
    pub doubts: Vec<String>,
    /// The needs, judged.
    pub needs: Vec<Ruled>,
    /// The cells that all this rests on.
    pub cells: Vec<Cell>,
}

/// A need, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ruled {
    /// The need as it was written.
    pub need: String,
    /// Whether it holds; unknown where it was not measured.
    pub holds: Option<bool>,
    /// Whether the interval, or the number of samples, leaves no doubt.
    pub sure: bool,
    /// What was measured.
    pub measured: String,
}

/// A cell that an answer rests on.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Index of its run among the answer's sources.
    pub source: usize,
    /// Its name.
    pub cell: String,
    /// Samples.
    pub n: u64,
}

/// Why there is no answer, and what would bring one.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// In a sentence.
    pub why: String,
    /// Runs that would.
    pub runs: Vec<Suggestion>,
}

/// A run that would bring data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The exact command.
    pub command: String,
    /// What it brings.
    pub brings: String,
}

impl Answer {
    /// Whether any part of it rests on runs made elsewhere.
    pub fn rests_on_reference(&self) -> bool {
        self.sources
            .iter()
            .any(|source| source.origin == Origin::Reference)
    }
}
