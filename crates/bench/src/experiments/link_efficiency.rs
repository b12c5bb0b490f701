//! The experiment `link-efficiency` as a line of the list; what it does is in
//! [`crate::link_efficiency`].

use super::Experiment;
use crate::link_efficiency;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "link-efficiency",
    source: "Mijovic et al. 2016, figures 2-7",
    about: "bytes and round trips of an echo by CoAP, WebSocket, HTTP and MQTT, also over links",
    cells: link_efficiency::names,
    run: link_efficiency::run,
    page: link_efficiency::markdown,
    figures: link_efficiency::figures_of,
    claims: link_efficiency::claims_of,
};
