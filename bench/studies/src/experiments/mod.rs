//! The experiments: one line of [`EXPERIMENTS`] each.

#[cfg(test)]
mod all_pages;
pub mod gateway;
mod mqtt_broker;
mod scaling;

use crate::messaging::job::ClientsPlan;
use crate::services::job::CallPlan;
use crate::{
    encoding, link_efficiency, messaging, notification, planfile, sensor_web, services,
    web_delivery,
};
use weir_bench_lab::experiment::Experiment;
use weir_bench_load::load::job::{Runner, runner};
use weir_bench_model::results::Run;
use weir_bench_peers::device::job::EchoPlan;
use weir_bench_report::Subject;

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
pub const TASKS: [Runner; 3] = [
    runner::<EchoPlan>(),
    runner::<ClientsPlan>(),
    runner::<CallPlan>(),
];

/// The experiment of a name.
pub fn named(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}

/// The experiment of a run: of one that is none of the list, a person's own plan.
pub fn of(run: &Run) -> &'static Experiment {
    named(&run.experiment).unwrap_or(&planfile::EXPERIMENT)
}

/// A run as it is reported.
pub fn subject(run: &Run) -> Subject {
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
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;
    use weir_bench_lab::agent::{CARRIED, carry};
    use weir_bench_model::claims::{Claim, claims};
    use weir_bench_model::effort::Effort;
    use weir_bench_model::results::ClaimResult;

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
    fn what_agents_carry_is_an_experiment_and_others_say_why_not() {
        for name in CARRIED {
            assert!(named(name).is_some() || name == planfile::EXPERIMENT.name);
        }
        assert!(carry(planfile::EXPERIMENT.name).is_ok());
        assert!(carry("web-delivery").unwrap_err().contains("gateway"));
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
