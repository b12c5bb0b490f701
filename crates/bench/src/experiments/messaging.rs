//! The experiment `messaging` as a line of the list; what it does is in [`crate::messaging`].

use super::Experiment;
use crate::messaging;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "messaging",
    source: "Babovic et al. 2016, tables 7 and 8",
    about: "protocols by the gateway and other brokers, programs and pages: latency, rates",
    cells: messaging::names,
    run: messaging::run,
    page: messaging::markdown,
    figures: messaging::figures_of,
    claims: messaging::claims_of,
};
