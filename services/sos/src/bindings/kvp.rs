//! Key-value pairs (OGC 12-006 section 13, OGC 06-121r9 section 11.5), and JSON of the same names.

use crate::area::Area;
use crate::exception::Exception;
use crate::limits::TEMPORAL_FILTERS_MAX;
use crate::params::Params;
use serde_json::Value as Json;
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
    "observation",
];

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
        "spatialfilter" | "bbox" => {
            params.area = Some(Area::of_text(name, value)?);
            Ok(())
        }
        list if LISTS.contains(&list) => {
            let mut parts = value.split(',');
            parts.try_for_each(|part| params.add(name, part))
        }
        _ => params.add(name, value),
    }
}

/// A JSON object of the same names; lists are arrays.
pub(super) fn of_json(body: &[u8]) -> Result<Params, Exception> {
    let object: Json = serde_json::from_slice(body)
        .map_err(|error| Exception::malformed(format!("not JSON: {error}")))?;
    let Json::Object(members) = &object else {
        return Err(Exception::malformed("a JSON object was expected"));
    };
    let mut params = Params::default();
    for (name, value) in members {
        match value {
            Json::Array(all) => all
                .iter()
                .filter_map(Json::as_str)
                .try_for_each(|text| add_one(name, text, &mut params))?,
            Json::String(text) => add_one(name, text, &mut params)?,
            Json::Number(number) => params.add(name, &number.to_string())?,
            _ => {}
        }
    }
    params.operation = params.required("request")?.to_owned();
    params.json = Some(object);
    Ok(params)
}

/// Lists are arrays here, so a comma is a comma.
fn add_one(name: &str, text: &str, params: &mut Params) -> Result<(), Exception> {
    match LISTS.contains(&name.to_ascii_lowercase().as_str()) {
        true => params.add(name, text),
        false => add(name, text, params),
    }
}
