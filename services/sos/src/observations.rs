//! GetObservation (OGC 12-006 section 8.3, OGC 06-009r6 section 8.4).

use crate::ask::Ask;
use crate::exception::Exception;
use crate::names::*;
use crate::observed::{Layout, Observed};
use crate::pages::{Pages, Wanted};
use crate::params::Version;
use crate::reply::Reply;
use crate::results1;
use crate::selection::selected;

/// Answers the request.
// [SOS2-8.3-2]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let layout = Layout::of(ask)?;
    if ask.version == Version::V1 {
        check_version_1(ask)?;
    }
    let inventory = ask.inventory()?;
    let series = selected(ask, &inventory)?;
    if ask.version == Version::V1 && ask.params.one("responseMode")? == Some("resultTemplate") {
        return Ok(results1::templates(&series));
    }
    let (layout, model) = layout.of_model(ask, &series)?;
    let wanted = Wanted {
        model,
        ..Wanted::of(ask)
    };
    let pages = Pages::new(ask, series, wanted);
    Ok(Reply::Observed(Box::new(Observed::new(pages, layout))))
}

/// What version 1.0.0 makes mandatory, and what it may ask that is not there.
// [SOS1-8.4-1] [SOS1-8.4-4]
fn check_version_1(ask: &Ask) -> Result<(), Exception> {
    for name in ["offering", "observedProperty", "responseFormat"] {
        if ask.params.all(name).is_empty() {
            return Err(Exception::missing(name));
        }
    }
    let (name, known) = ("responseMode", RESPONSE_MODES);
    match ask.params.one(name)?.filter(|text| !known.contains(text)) {
        Some(text) => {
            let sentence = format!("`{text}` is not given: {} are", known.join(", "));
            Err(Exception::invalid(name, sentence))
        }
        None => Ok(()),
    }
}
