//! Observations as arrays, one list of components for all of a datastream (18-088 section 13.1).

use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::query::Query;
use serde_json::{Value as Json, json};

/// What says whose an observation is is asked for with it.
pub(super) fn prepare(kind: Kind, query: &mut Query) -> Result<()> {
    if kind != Kind::Observation {
        return Err(Fault::bad("$resultFormat: dataArray is for Observations"));
    }
    if !query.expand.is_empty() {
        return Err(Fault::bad("$expand: a data array has no room for it"));
    }
    for way in sources() {
        let link = Query {
            select: vec!["@iot.selfLink".into()],
            ..Query::default()
        };
        query.expand.push((way, link));
    }
    if !query.select.is_empty() {
        query
            .select
            .extend(sources().map(|way| way.name.to_owned()));
    }
    Ok(())
}

/// The navigations to what an observation belongs to.
fn sources() -> impl Iterator<Item = &'static crate::kind::Navigation> {
    let ways = Kind::Observation.navigations().iter();
    ways.filter(|way| !way.many && way.to != Kind::FeatureOfInterest)
}

/// One object for each datastream, in the order in which they are met first.
pub(super) fn grouped(query: &Query, values: Vec<Json>) -> Vec<Json> {
    let components = components(query, &values);
    let mut groups: Vec<(String, Json, Vec<Json>)> = Vec::new();
    for value in values {
        let Some((name, link)) = source(&value) else {
            continue;
        };
        let row = components
            .iter()
            .map(|name| value[member(name)].clone())
            .collect();
        match groups.iter_mut().find(|(_, known, _)| known == link) {
            Some((_, _, rows)) => rows.push(row),
            None => groups.push((name, link.clone(), vec![row])),
        }
    }
    let each = groups.into_iter().map(|(name, link, rows)| {
        json!({
            name: link,
            "components": components,
            "dataArray@iot.count": rows.len(),
            "dataArray": rows,
        })
    });
    each.collect()
}

/// Name and URL of what an observation belongs to.
fn source(value: &Json) -> Option<(String, &Json)> {
    sources().find_map(|way| {
        let link = value.get(way.name)?.get("@iot.selfLink")?;
        Some((format!("{}@iot.navigationLink", way.name), link))
    })
}

/// The member of the rendered object that a component names.
fn member(component: &str) -> &str {
    match component {
        "id" => "@iot.id",
        other => other,
    }
}

/// Those selected, in that order; else the identifier and each property that some observation has.
fn components(query: &Query, values: &[Json]) -> Vec<String> {
    let is_source = |name: &str| sources().any(|way| way.name == name);
    if !query.select.is_empty() {
        let said = query.select.iter().filter(|name| !is_source(name));
        let named = said.map(|name| match &**name {
            "@iot.id" => "id".to_owned(),
            name => name.split('/').next().unwrap_or_default().to_owned(),
        });
        return named.collect();
    }
    let always = ["phenomenonTime", "resultTime", "result"];
    let further = Kind::Observation.properties().iter().map(|(name, _)| *name);
    let further = further.filter(|name| {
        !always.contains(name) && values.iter().any(|value| value.get(name).is_some())
    });
    let names = std::iter::once("id").chain(always).chain(further);
    names.map(str::to_owned).collect()
}
