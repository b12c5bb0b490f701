//! The experiments, as data: one file and one line of [`EXPERIMENTS`] each.

mod encoding;
pub(crate) mod gateway;
mod link_efficiency;
mod messaging;
mod mqtt_broker;
mod notification;
mod scaling;
mod sensor_web;
mod services;
mod web_delivery;

use std::path::Path;

use crate::cell::Cell;
use crate::figure::Figure;
use crate::journal::Journal;
use crate::plan::Plan;
use crate::results::{ClaimResult, Run};
use crate::targets::Settings;

/// All experiments.
pub static EXPERIMENTS: &[Experiment] = &[
    gateway::EXPERIMENT,
    encoding::EXPERIMENT,
    link_efficiency::EXPERIMENT,
    mqtt_broker::EXPERIMENT,
    messaging::EXPERIMENT,
    notification::EXPERIMENT,
    scaling::EXPERIMENT,
    sensor_web::EXPERIMENT,
    services::EXPERIMENT,
    web_delivery::EXPERIMENT,
];

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

/// Runs an experiment that is its cells and nothing more.
fn run_cells(cells: Vec<Cell>, order: &Order<'_>) -> Run {
    crate::run::execute(&Plan::new(cells, order.only, order.seed), order)
}

/// How much time a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Minutes: the chief cells, short steps, few rounds.
    Quick,
    /// All cells, steps of seconds, enough rounds for confidence intervals.
    Full,
}

/// What a person asked for.
pub(crate) struct Order<'a> {
    /// The experiment.
    pub(crate) experiment: &'static Experiment,
    /// How much time it may take.
    pub(crate) effort: Effort,
    /// What the names of its cells must contain.
    pub(crate) only: &'a str,
    /// What orders cells and contenders, and what data are made from.
    pub(crate) seed: u64,
    /// About targets.
    pub(crate) settings: &'a Settings,
    /// A folder to work in, removed afterwards.
    pub(crate) work: &'a Path,
    /// What is finished; every cell goes through it.
    pub(crate) journal: &'a Journal,
    /// The command line.
    pub(crate) command: String,
}

impl Effort {
    /// Its name in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

impl Order<'_> {
    /// Says whether a cell is to be run.
    pub(crate) fn wants(&self, cell: &str) -> bool {
        wants(self.only, cell)
    }

    /// Says whether one of these is.
    pub(crate) fn wants_any(&self, cells: &[String]) -> bool {
        cells.iter().any(|cell| self.wants(cell))
    }
}

/// Whether a cell's name contains each word that is wanted, or of several wishes with commas between them each word of
/// one; a semicolon behind a word lets `subscribers=10;` mean ten and not ten thousand, and `!link=` is wanted where
/// there is no `link=`.
pub(crate) fn wants(only: &str, cell: &str) -> bool {
    let cell = format!("{cell};");
    let has = |word: &str| match word.strip_prefix('!') {
        Some(word) => !cell.contains(word),
        None => cell.contains(word),
    };
    let has_each = |wish: &str| wish.split_whitespace().all(has);
    let mut wishes = only.split(',').filter(|wish| !wish.trim().is_empty());
    only.trim_matches([',', ' ']).is_empty() || wishes.any(has_each)
}

impl Experiment {
    /// The experiment of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Claim, claims};
    use std::collections::BTreeSet;

    #[test]
    fn a_wish_is_met_by_all_of_its_words() {
        let cell = "link=3g;place=native;data=caps;file=1";
        for only in [
            "",
            "link=3g",
            "data=caps place=native",
            "data=obs, data=caps",
            "!data=obs",
            "file=1;",
        ] {
            assert!(wants(only, cell), "{only}");
        }
        for only in [
            "data=caps data=obs",
            "!link=",
            "data=caps !place=native",
            "file=10",
        ] {
            assert!(!wants(only, cell), "{only}");
        }
    }

    fn key(claim: &ClaimResult) -> (String, String) {
        (claim.paper.clone(), claim.claim.clone())
    }

    #[test]
    fn every_cell_has_its_own_name_and_the_quick_ones_are_among_the_full() {
        let mut smaller = Vec::new();
        for experiment in EXPERIMENTS {
            let [quick, full] = [Effort::Quick, Effort::Full].map(experiment.cells);
            let names: BTreeSet<&String> = full.iter().collect();
            assert_eq!(names.len(), full.len(), "{}", experiment.name);
            let told_once: BTreeSet<&String> = quick.iter().collect();
            assert_eq!(told_once.len(), quick.len(), "{}", experiment.name);
            assert!(!quick.is_empty(), "{}", experiment.name);
            if !told_once.is_subset(&names) {
                smaller.push(experiment.name);
            }
        }
        // Quick cells of these have fewer connections or another rate, which their names tell.
        assert_eq!(smaller, ["gateway", "messaging"]);
    }

    #[test]
    fn every_claim_is_judged_by_exactly_one_experiment_or_has_a_reason_why_not() {
        let nothing = Run::default();
        for experiment in EXPERIMENTS {
            let mut judged: Vec<_> = (experiment.claims)(&nothing).iter().map(key).collect();
            let all = claims().into_iter();
            let own = all.filter(|c| c.experiment == experiment.name && c.unmeasured.is_empty());
            let mut listed: Vec<_> = own.map(|claim| (claim.paper, claim.words)).collect();
            judged.sort();
            listed.sort();
            assert_eq!(judged, listed, "{}", experiment.name);
        }
    }

    #[test]
    fn a_claim_of_an_experiment_that_is_not_there_says_why_nothing_judges_it() {
        let absent = |claim: &Claim| Experiment::named(&claim.experiment).is_none();
        let silent = |claim: &Claim| claim.unmeasured.is_empty();
        let without: Vec<_> = claims().into_iter().filter(absent).filter(silent).collect();
        assert_eq!(without, []);
    }

    #[test]
    fn a_run_without_results_has_no_figures_and_judges_nothing() {
        let nothing = Run::default();
        for experiment in EXPERIMENTS {
            let figures = (experiment.figures)(&nothing);
            assert!(figures.iter().all(|figure| !figure.shows_something()));
            for claim in (experiment.claims)(&nothing) {
                assert!(
                    claim.holds.is_none() && !claim.number.is_empty(),
                    "{}",
                    claim.claim
                );
            }
        }
    }
}
