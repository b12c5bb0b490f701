//! `/td`: which Things there are. A listing is as W3C WoT Discovery section 7.3.2.1.4 has it: an array of
//! descriptions, page by page.

use crate::caller::Caller;
use crate::fault::refuse;
use crate::limits::{THINGS_DEFAULT, THINGS_MAX};
use crate::{json, thing};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use weir_hub::Entry;
use weir_model::{Filter, percent, topic};
use weir_service::{Call, Response};

/// The keys of its query; each `as` is a format that forms name.
pub(crate) const KEYS: &[&str] = &["offset", "limit", "as"];

/// A page of all Things.
pub(crate) fn list(caller: &Caller<'_>, call: &Call) -> Result<Response, Response> {
    let (offset, limit) = (
        number(call, "offset", 0)?,
        number(call, "limit", THINGS_DEFAULT)?,
    );
    if !(1..=THINGS_MAX).contains(&limit) {
        return Err(refuse(
            400,
            format!("limit: 1 to {THINGS_MAX} are possible"),
        ));
    }
    let entries = caller.entries(Filter::parse("#").into_iter().collect())?;
    let mut things = BTreeMap::<&str, Vec<&Entry>>::new();
    for entry in &entries {
        let (name, _) = topic::thing_and_property(&entry.topic);
        things.entry(name).or_default().push(entry);
    }
    let page = things.iter().skip(offset).take(limit);
    let page: Vec<Json> = page
        .filter_map(|(name, entries)| thing::describe(caller, name, entries))
        .collect();
    let response = json("application/ld+json", &Json::Array(page));
    let next = offset.saturating_add(limit);
    Ok(if next < things.len() {
        response.header("link", link(call, next, limit))
    } else {
        response
    })
}

/// RFC 8288.
fn link(call: &Call, offset: usize, limit: usize) -> String {
    let formats = call.queries("as").map(|name| format!("&as={name}"));
    let formats: String = formats.collect();
    format!("</td?offset={offset}&limit={limit}{formats}>; rel=\"next\"")
}

fn number(call: &Call, name: &str, default: usize) -> Result<usize, Response> {
    let Some(text) = call.query(name) else {
        return Ok(default);
    };
    let bad = |_| {
        refuse(
            400,
            format!("{name}: expected a whole number, found `{text}`"),
        )
    };
    text.parse().map_err(bad)
}

/// One Thing, by its topic as the path has it.
pub(crate) fn one(caller: &Caller<'_>, path: &str) -> Result<Response, Response> {
    let bad = |error: &dyn std::fmt::Display| refuse(400, format!("the path `{path}`: {error}"));
    let name = percent::decode(path).map_err(|error| bad(&error))?;
    topic::check(&name).map_err(|error| bad(&error))?;
    let below = Filter::parse(&format!("{name}/+")).map_err(|error| bad(&error))?;
    let itself = Filter::parse(&name).map_err(|error| bad(&error))?;
    let entries = match &caller.readable(vec![below, itself])[..] {
        [] => Vec::new(),
        // Of one filter that is a topic the hub says what it does not know.
        filters => caller.entries(filters.to_vec()).unwrap_or_default(),
    };
    let of_it = |entry: &&Entry| topic::thing_and_property(&entry.topic).0 == name;
    let entries: Vec<&Entry> = entries.iter().filter(of_it).collect();
    let described = if entries.is_empty() {
        None
    } else {
        thing::describe(caller, &name, &entries)
    };
    let absent = || {
        refuse(
            404,
            format!("no Thing `{name}`: /td lists those you may read"),
        )
    };
    described
        .map(|described| json("application/td+json", &described))
        .ok_or_else(absent)
}
