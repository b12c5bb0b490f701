//! Key-value pairs (OGC 12-006 section 13, OGC 06-121r9 section 11.5).

use crate::area::Area;
use crate::exception::Exception;
use crate::limits::TEMPORAL_FILTERS_MAX;
use crate::moment::reach;
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

/// Lists of values without commas, so that one that was encoded all the same separates.
const WITHOUT_COMMAS: &[&str] = &["acceptversions", "acceptformats", "sections", "observation"];

/// Parameters that leave less of what is answered, and are no such lists.
const FILTERS: &[&str] = &["temporalfilter", "eventtime", "spatialfilter", "bbox"];

/// Whether something else is answered where this parameter is said.
pub(super) fn matters(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    [LISTS, FILTERS]
        .iter()
        .any(|all| all.contains(&lower.as_str()))
}

/// A name and the parts of its value.
pub(super) type Pair = (String, Vec<String>);

/// A query or a form's body as pairs. Commas separate before anything is decoded: one that is a part of a value comes
/// as `%2C` (OGC 06-121r9 section 11.3).
pub(super) fn pairs(text: &str) -> Vec<Pair> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let parts = value.split(',').map(percent::decode_query);
        (percent::decode_query(name), parts.collect())
    });
    pairs.collect()
}

/// The same of pairs that were decoded before, as protocols have them whose queries are no text.
pub(super) fn decoded_pairs(pairs: &[(String, String)]) -> Vec<Pair> {
    let pairs = pairs.iter().map(|(name, value)| {
        let parts = value.split(',').map(str::to_owned);
        (name.clone(), parts.collect())
    });
    pairs.collect()
}

/// The parameters of pairs; what is not known is passed over, as OWS Common asks.
// [SOS2-13.2-1] [SOS2-13.2-2] [SOS2-13.2-3] [SOS2-13.2-4]
pub(super) fn params(pairs: &[Pair]) -> Result<Params, Exception> {
    let mut params = Params::default();
    params.lists_are_text = true;
    for (name, parts) in pairs {
        let lower = name.to_ascii_lowercase();
        let value = parts.join(",");
        match LISTS.contains(&lower.as_str()) && !is_area(&lower, &value) {
            true if WITHOUT_COMMAS.contains(&lower.as_str()) => {
                let mut parts = value.split(',');
                parts.try_for_each(|part| params.add(name, part))?;
            }
            true => parts.iter().try_for_each(|part| params.add(name, part))?,
            false => add(name, &value, &mut params)?,
        }
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
        "validtime" => {
            params.add(name, value)?;
            params.valid = Some(reach(name, params.required(name)?)?);
            Ok(())
        }
        "spatialfilter" | "bbox" => in_box(name, value, params),
        own if is_area(own, value) => in_box(name, value, params),
        _ => params.add(name, value),
    }
}

fn in_box(name: &str, value: &str, params: &mut Params) -> Result<(), Exception> {
    let area = Area::of_text(name, value)?;
    params.region.narrow(name, Spatial::Box(area))
}

/// Version 1.0.0 has no parameter of its own for a box.
fn is_area(lower: &str, value: &str) -> bool {
    lower == "featureofinterest" && is_box(value)
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
    if LISTS.contains(&name.to_ascii_lowercase().as_str()) {
        params.add(name, text)
    } else {
        add(name, text, params)
    }
}
