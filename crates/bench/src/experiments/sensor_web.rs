//! The experiment `sensor-web` as a line of the list; what it does is in [`crate::sensor_web`].

use super::Experiment;
use crate::sensor_web;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "sensor-web",
    source: "ours",
    about: "SensorThings and SOS: inserts, the latest of many datastreams, long answers",
    cells: sensor_web::names,
    run: sensor_web::run,
    page: sensor_web::markdown,
    figures: sensor_web::figures_of,
    claims: |_| Vec::new(),
};
