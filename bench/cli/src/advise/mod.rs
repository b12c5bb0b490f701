//! What `weir advise` rests on: its reference, and what could be run.
//!
//! The advising itself is `weir_advise`, which knows no experiment.

mod reference;

use weir_advise::{Offer, offers_of};

use weir_bench_lab::experiment::Experiment;
use weir_bench_model::effort::Effort;
use weir_bench_studies::experiments::EXPERIMENTS;

pub(crate) use reference::write as write_reference;

/// What could be measured, by experiment.
fn offers() -> Vec<Offer> {
    let offer = |experiment: &Experiment| {
        let cells = (experiment.cells)(Effort::Full);
        offers_of(experiment.name, cells.iter().map(String::as_str))
    };
    EXPERIMENTS.iter().map(offer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_offers_what_can_be_measured() {
        assert_eq!(offers(), weir_advise::offers());
    }
}
