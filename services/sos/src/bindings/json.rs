//! Requests in JSON: the parameters of KVP by their names, lists as arrays, and filters, observations and
//! descriptions as 52North's server takes them.

mod template;

use super::kvp;
use crate::exception::{Code, Exception};
use crate::insertion_json::{each, system_of};
use crate::limits::TEMPORAL_FILTERS_MAX;
use crate::moment::{Property, compared, period, span};
use crate::params::Params;
use crate::relation::{RELATIONS, Relation};
use crate::spatial::{NAMES, Spatial, check_reference};
use serde_json::{Map, Value as Json};
use weir_codec::crs::Crs;
use weir_codec::document::{Element, Node, read_xml};
use weir_hub::json;

/// A JSON object, whatever it asks.
pub(super) fn object(body: &[u8]) -> Result<Json, Exception> {
    let read = json::read_object(body).map_err(|error| Exception::malformed(error.to_string()))?;
    Ok(Json::Object(read))
}

/// The parameters of a request.
pub(super) fn params(object: Json) -> Result<Params, Exception> {
    let mut params = Params::default();
    let mut inner = Vec::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match (name.to_ascii_lowercase().as_str(), value) {
            ("temporalfilter" | "eventtime", Json::Object(_) | Json::Array(_)) => {
                each(value).try_for_each(|one| temporal(name, one, &mut params))?;
            }
            ("spatialfilter", Json::Object(_) | Json::Array(_)) => {
                each(value).try_for_each(|one| spatial(name, one, &mut params))?;
            }
            ("proceduredescription", _) => inner.push(description(name, value)?),
            ("resultvalues", Json::String(text)) => inner.push(leaf(name, text)),
            ("templateidentifier", Json::String(text)) => params.add("template", text)?,
            ("observation", _) if each(value).any(Json::is_object) => {}
            ("observationtemplate", _) => inner.push(template::proposed(&object)?),
            _ => each(value).try_for_each(|one| scalar(name, one, &mut params))?,
        }
    }
    params.operation = params.required("request")?.to_owned();
    if !inner.is_empty() {
        params.element = Some(element("", inner));
    }
    params.json = Some(object);
    Ok(params)
}

fn scalar(name: &str, value: &Json, params: &mut Params) -> Result<(), Exception> {
    match value {
        Json::String(text) => kvp::add_one(name, text, params),
        Json::Number(number) => kvp::add_one(name, &number.to_string(), params),
        Json::Null => Ok(()),
        // What is not known is passed over, but no filter: more would be answered than was asked for.
        _ if kvp::matters(name) => Err(Exception::invalid(
            name,
            "this form is not known: a text or a list of texts is, or a filter's object",
        )),
        _ => Ok(()),
    }
}

fn element(local: &str, inner: Vec<Element>) -> Element {
    Element {
        local: local.into(),
        nodes: inner.into_iter().map(Node::Element).collect(),
        ..Element::default()
    }
}

fn leaf(local: &str, text: &str) -> Element {
    Element {
        local: local.into(),
        nodes: vec![Node::Text(text.into())],
        ..Element::default()
    }
}

/// XML as a string, by itself or as `description` of an object.
fn description(name: &str, value: &Json) -> Result<Element, Exception> {
    let first = each(value).next().unwrap_or(value);
    let text = first.as_str().or(first["description"].as_str());
    let text = text.ok_or_else(|| Exception::invalid(name, "a description in XML was expected"))?;
    let read = read_xml(text.as_bytes());
    let read = read.map_err(|fault| Exception::invalid(name, fault.to_string()))?;
    Ok(element("procedureDescription", vec![read]))
}

/// `{"during":{"ref":"om:phenomenonTime","value":["2026-01-01T00:00:00Z","2026-01-02T00:00:00Z"]}}`
fn temporal(name: &str, filter: &Json, params: &mut Params) -> Result<(), Exception> {
    let Json::Object(members) = filter else {
        return scalar(name, filter, params);
    };
    for (operator, operand) in some(name, members)? {
        params.add(name, operator)?;
        if params.all(name).len() > TEMPORAL_FILTERS_MAX {
            return Err(Exception::invalid(name, "too many temporal filters"));
        }
        let relation = relation(operator).ok_or_else(|| {
            let sentence = format!("there is no temporal operator {operator}");
            Exception::new(Code::OptionNotSupported, name, sentence)
        })?;
        let reference = operand["ref"].as_str().unwrap_or("om:phenomenonTime");
        let property = Property::named(reference).ok_or_else(|| {
            Exception::invalid(name, format!("`{reference}` is no time of observations"))
        })?;
        let texts: Vec<&str> = each(&operand["value"]).filter_map(Json::as_str).collect();
        match (relation, &texts[..]) {
            (Relation::Equals, ["latest" | "getLatest"]) => params.temporal.latest = true,
            (Relation::Equals, ["first" | "getFirst"]) => params.temporal.first = true,
            (_, [instant]) => {
                let span = span(name, instant)?;
                let relation = compared(relation, span);
                params.temporal.narrow(property, relation, span);
            }
            (_, [begin, end]) => {
                let period = period(name, begin, end)?;
                params.temporal.narrow(property, relation, period);
            }
            _ => return Err(Exception::invalid(name, "one time or two were expected")),
        }
    }
    Ok(())
}

/// The operators of a filter, of which there must be one.
fn some<'f>(
    name: &str,
    members: &'f Map<String, Json>,
) -> Result<&'f Map<String, Json>, Exception> {
    match members.is_empty() {
        true => Err(Exception::invalid(name, "an operator was expected")),
        false => Ok(members),
    }
}

/// The names of Filter Encoding, in any case and with or without the `T` before some.
fn relation(operator: &str) -> Option<Relation> {
    let same = |name: &str| {
        let bare = name
            .strip_prefix('T')
            .filter(|rest| rest.starts_with(char::is_uppercase));
        operator.eq_ignore_ascii_case(name)
            || bare.is_some_and(|bare| operator.eq_ignore_ascii_case(bare))
    };
    let found = RELATIONS.iter().find(|(_, name, _)| same(name));
    found.map(|(relation, ..)| *relation)
}

/// `{"bbox":{"ref":"...","value":GEOJSON}}`
fn spatial(name: &str, filter: &Json, params: &mut Params) -> Result<(), Exception> {
    let Json::Object(members) = filter else {
        return scalar(name, filter, params);
    };
    for (operator, operand) in some(name, members)? {
        let filter = operation(name, operator, operand)?;
        params.region.narrow(name, filter)?;
    }
    Ok(())
}

/// An operator of Filter Encoding, in any case, with its geometry and perhaps a distance in metres.
fn operation(name: &str, operator: &str, operand: &Json) -> Result<Spatial, Exception> {
    if let Some(reference) = operand["ref"].as_str() {
        check_reference(name, reference)?;
    }
    let mut value = operand["value"].clone();
    match system_of(name, &value)? {
        Crs::Unnamed | Crs::Crs84 => {}
        Crs::Epsg4326 => turn_all(&mut value),
        Crs::Epsg4979 | Crs::Crs84h => {
            return Err(Exception::invalid(name, "filters lie in the plane"));
        }
    }
    let geometry = weir_geo::of_json(&value).ok_or_else(|| {
        Exception::invalid(
            name,
            "`value` is no geometry of GeoJSON, or has too many coordinates",
        )
    })?;
    let known = NAMES.iter().find(|own| own.eq_ignore_ascii_case(operator));
    // A box is a polygon here.
    let known = match known {
        Some(&"BBOX") => "Intersects",
        Some(own) => own,
        None => operator,
    };
    let metres = operand["distance"]["value"].as_f64();
    let metres = metres.or(operand["distance"].as_f64());
    Spatial::named(name, known, geometry, metres)
}

/// Turns every position of a geometry, a collection of them or a feature around.
fn turn_all(geometry: &mut Json) {
    let Json::Object(members) = geometry else {
        return;
    };
    for (name, member) in members {
        match (name.as_str(), member) {
            ("coordinates", coordinates) => turn(coordinates),
            ("geometry", inner) => turn_all(inner),
            ("geometries", Json::Array(all)) => all.iter_mut().for_each(turn_all),
            _ => {}
        }
    }
}

/// Turns every position around.
fn turn(coordinates: &mut Json) {
    let Json::Array(all) = coordinates else {
        return;
    };
    match &all[..] {
        [Json::Number(_), Json::Number(_), ..] => all.swap(0, 1),
        _ => all.iter_mut().for_each(turn),
    }
}
