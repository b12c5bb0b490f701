//! Result models of version 1.0.0 (OGC 06-009r6 section 8.4): which types of observations an offering has, beside
//! `om:Observation` with its blocks of values, which carries all.
//!
//! Deliberately without those whose results nothing here has: geometries, times, coverages and records.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::Series;
use weir_codec::Model;

/// What carries everything.
const ALL: &str = "om:Observation";

/// The model that is asked for, of those that the datastreams have; `None` where it is that of all.
// [SOS1-8.4-3]
pub(crate) fn asked(ask: &Ask, series: &[Series]) -> Result<Option<Model>, Exception> {
    let name = "resultModel";
    let Some(text) = ask.params.one(name)? else {
        return Ok(None);
    };
    let Some(model) = named(name, text)? else {
        return Ok(None);
    };
    if series.iter().any(|own| own.model == Some(model)) {
        Ok(Some(model))
    } else {
        let sentence = format!("`{text}` is not given: {} are", names(series).join(", "));
        Err(Exception::invalid(name, sentence))
    }
}

/// The model of a qualified name, whose prefix the client chose; `None` where it is that of all.
pub(crate) fn named(parameter: &str, text: &str) -> Result<Option<Model>, Exception> {
    let local = text.rsplit([':', '/', '#']).next().unwrap_or_default();
    let mut known = Model::ALL.into_iter().filter(|model| model.name() == local);
    match known.next() {
        None if local != "Observation" => {
            let sentence = format!("`{text}` is no model that is known here");
            Err(Exception::invalid(parameter, sentence))
        }
        known => Ok(known),
    }
}

/// The models of datastreams as capabilities name them.
pub(crate) fn names(series: &[Series]) -> Vec<String> {
    let has = |model: &Model| series.iter().any(|own| own.model == Some(*model));
    let own = Model::ALL.into_iter().filter(has);
    let own = own.map(|model| format!("om:{}", model.name()));
    std::iter::once(ALL.to_owned()).chain(own).collect()
}
