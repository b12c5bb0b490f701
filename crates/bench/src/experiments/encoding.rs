//! The experiment `encoding` as a line of the list; what it does is in [`crate::encoding`].

use super::Experiment;
use crate::encoding;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "encoding",
    source: "Tamayo et al. 2012, tables 2-4; Babovic et al. 2016, tables 2 and 5",
    about: "size, parse and serialization time of documents and messages in every format",
    cells: encoding::names,
    run: encoding::run,
    page: encoding::markdown,
    figures: encoding::figures_of,
    claims: encoding::claims_of,
};
