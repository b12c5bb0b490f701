//! Key-value pairs (OGC 12-006 section 13, OGC 06-121r9 section 11.5).

use crate::area::Area;
use crate::exception::Exception;
use crate::limits::TEMPORAL_FILTERS_MAX;
use crate::params::Params;
use crate::spatial::Spatial;
use weir_model::percent;

/// Parameters whose values stand in one list with commas.
const LISTS: &[&str] = &[
    "acceptversions",
    "acceptformats",
    "sections",
    "offering",
    "procedure",
    "observedproperty",
    "featureofinterest",
    "featureofinterestid",
    "observation",
];

/// Parameters that leave less of what is answered, and are no such lists.
const FILTERS: &[&str] = &["temporalfilter", "eventtime", "spatialfilter", "bbox"];

/// Whether something else is answered where this parameter is said.
pub(super) fn matters(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [LISTS, FILTERS]
        .iter()
        .any(|all| all.contains(&lower.as_str()))
}

/// A form's body as pairs.
pub(super) fn pairs(body: &[u8]) -> Result<Vec<(String, String)>, Exception> {
    let text =
        std::str::from_utf8(body).map_err(|_| Exception::malformed("the form is not UTF-8"))?;
    let decoded = |text: &str| {
        percent::decode(&text.replace('+', " "))
            .map_err(|error| Exception::malformed(error.to_string()))
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// The parameters of pairs; what is not known is passed over, as OWS Common asks.
// [SOS2-13.2-1] [SOS2-13.2-2] [SOS2-13.2-3] [SOS2-13.2-4]
pub(super) fn params(pairs: &[(String, String)]) -> Result<Params, Exception> {
    let mut params = Params::default();
    for (name, value) in pairs {
        add(name, value, &mut params)?;
    }
    params.operation = params.required("request")?.to_owned();
    Ok(params)
}

fn add(name: &str, value: &str, params: &mut Params) -> Result<(), Exception> {
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        _ if value.trim().is_empty() => Ok(()),
        "temporalfilter" | "eventtime" => {
            params.add(name, value)?;
            if params.all(name).len() > TEMPORAL_FILTERS_MAX {
                return Err(Exception::invalid(name, "too many temporal filters"));
            }
            params.temporal.narrow_by_text(name, value)
        }
        "spatialfilter" | "bbox" => in_box(name, value, params),
        // Version 1.0.0 has no parameter of its own for it.
        "featureofinterest" if is_box(value) => in_box(name, value, params),
        list if LISTS.contains(&list) => {
            let mut parts = value.split(',');
            parts.try_for_each(|part| params.add(name, part))
        }
        _ => params.add(name, value),
    }
}

fn in_box(name: &str, value: &str, params: &mut Params) -> Result<(), Exception> {
    let area = Area::of_text(name, value)?;
    params.region.narrow(name, Spatial::Box(area))
}

/// Whether a value is a path to a property, the corners of a box and perhaps their reference system, and no list
/// of identifiers.
fn is_box(value: &str) -> bool {
    let parts: Vec<&str> = value.split(',').collect();
    let is_number = |part: &&str| part.trim().parse::<f64>().is_ok();
    match &parts[..] {
        [path, corners @ ..] if path.contains('/') && matches!(corners.len(), 4 | 5) => {
            corners[..4].iter().all(is_number)
        }
        _ => false,
    }
}

/// Lists are arrays here, so a comma is a comma.
pub(super) fn add_one(name: &str, text: &str, params: &mut Params) -> Result<(), Exception> {
    match LISTS.contains(&name.to_ascii_lowercase().as_str()) {
        true => params.add(name, text),
        false => add(name, text, params),
    }
}
