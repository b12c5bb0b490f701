//! The experiment `services` as a line of the list; what it does is in [`crate::services`].

use super::Experiment;
use crate::services;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "services",
    source: "Karnouskos and Somlev 2012, table I, figures 4-8",
    about: "serialization, round trip and deserialization of a call by REST and CoAP with Protobuf",
    cells: services::names,
    run: services::run,
    page: services::markdown,
    figures: services::figures_of,
    claims: services::claims_of,
};
