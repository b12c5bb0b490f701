//! The experiment `web-delivery` as a line of the list; what it does is in [`crate::web_delivery`].

use super::Experiment;
use crate::web_delivery;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "web-delivery",
    source: "Babovic et al. 2016, tables 2-6, figures 4-8",
    about: "from the gateway to the frame on the screen in a real browser, by delivery and format",
    cells: web_delivery::names,
    run: web_delivery::run,
    page: web_delivery::markdown,
    figures: web_delivery::figures,
    claims: web_delivery::claims_of,
};
