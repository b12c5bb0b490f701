//! The experiments: one line of [`EXPERIMENTS`] each.

#[cfg(test)]
mod all_pages;
pub(crate) mod gateway;
mod mqtt_broker;
mod scaling;

use crate::device::job::EchoPlan;
use crate::experiment::Experiment;
use crate::load::job::{Runner, runner};
use crate::messaging::job::ClientsPlan;
use crate::report::Subject;
use crate::results::Run;
use crate::services::job::CallPlan;
use crate::{
    encoding, link_efficiency, messaging, notification, planfile, sensor_web, services,
    web_delivery,
};

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

/// What a load process does for them by clients that are not its own.
pub(crate) const TASKS: [Runner; 3] = [
    runner::<EchoPlan>(),
    runner::<ClientsPlan>(),
    runner::<CallPlan>(),
];

/// The experiment of a name.
pub(crate) fn named(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}

/// The experiment of a run: of one that is none of the list, a person's own plan.
pub(crate) fn of(run: &Run) -> &'static Experiment {
    named(&run.experiment).unwrap_or(&planfile::EXPERIMENT)
}

/// A run as it is reported.
pub(crate) fn subject(run: &Run) -> Subject {
    let mut run = run.clone();
    if let Some(experiment) = named(&run.experiment) {
        run.claims = (experiment.claims)(&run);
    }
    let experiment = of(&run);
    Subject {
        about: experiment.about,
        figures: (experiment.figures)(&run),
        run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Claim, claims};
    use crate::effort::Effort;
    use crate::results::ClaimResult;
    use std::collections::BTreeSet;

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
        let absent = |claim: &Claim| named(&claim.experiment).is_none();
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
