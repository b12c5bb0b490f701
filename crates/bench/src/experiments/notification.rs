//! The experiment `notification` as a line of the list; what it does is in [`crate::notification`].

use super::Experiment;
use crate::notification;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "notification",
    source: "Duquennoy, Grimaud and Vandewalle 2009, figures 2-7",
    about: "how soon and how completely a device, and the gateway, tell many clients what is new",
    cells: notification::names,
    run: notification::run,
    page: notification::markdown,
    figures: notification::figures_of,
    claims: notification::claims_of,
};
