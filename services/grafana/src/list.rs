//! What there is to choose from: topics, functions, what ad hoc filters can look at.

use crate::ask::{Answered, Ask};
use crate::asked::{Options, Search, TagValues, Variable};
use crate::limits::LISTED_MAX;
use crate::target;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_hub::Entry;
use weir_hub::aggregate::Function;
use weir_model::Filter;
use weir_service::Response;

/// `POST /metrics`: every datastream that may be read, with what can be chosen beside it.
pub(crate) fn metrics(ask: &Ask) -> Answered {
    let metric = |topic: Arc<str>| {
        json!({"value": &*topic, "label": &*topic, "payloads": [
            {"name": "agg", "label": "Function", "type": "select"},
            {"name": "every", "label": "Window", "type": "input", "placeholder": "10s"},
            {"name": "type", "label": "Shape", "type": "select"},
        ]})
    };
    let topics = topics(ask, everything()?)?;
    Ok(topics.into_iter().map(metric).collect())
}

/// `POST /metric-payload-options`.
pub(crate) fn options(_: &Ask, asked: &Options) -> Answered {
    let option = |value: &str| json!({"label": value, "value": value});
    match asked.name.as_str() {
        "agg" => Ok(Function::ALL.iter().map(|(name, _)| option(name)).collect()),
        "type" => Ok(["series", "table", "latest"].map(option).into()),
        _ => Ok(Json::Array(Vec::new())),
    }
}

/// `POST /search` of the older plug-in: topics, those that match where a filter is typed.
pub(crate) fn search(ask: &Ask, asked: &Search) -> Answered {
    let found = topics(ask, filters(asked.target.as_deref())?)?;
    Ok(found.iter().map(|topic| json!(&**topic)).collect())
}

/// `POST /variable`: the values of a variable, the topics that match the payload's `target`.
pub(crate) fn variable(ask: &Ask, asked: &Variable) -> Answered {
    let found = topics(ask, filters(asked.payload.text("target"))?)?;
    let value = |topic: &Arc<str>| json!({"__text": &**topic, "__value": &**topic});
    Ok(found.iter().map(value).collect())
}

/// `POST /tag-keys`.
pub(crate) fn tag_keys() -> Json {
    let keys = target::KEYS.iter();
    keys.map(|key| json!({"type": "string", "text": key}))
        .collect()
}

/// `POST /tag-values`.
pub(crate) fn tag_values(ask: &Ask, asked: &TagValues) -> Answered {
    let entries = ask.entries(everything()?)?;
    let values = entries
        .iter()
        .filter_map(|entry| target::value(entry, &asked.key));
    let values: BTreeSet<&str> = values.collect();
    let some = values.into_iter().take(LISTED_MAX);
    Ok(some.map(|value| json!({"text": value})).collect())
}

fn topics(ask: &Ask, filters: Vec<Filter>) -> Result<Vec<Arc<str>>, Response> {
    let entries = ask.entries(filters)?.into_iter();
    let topics = entries.map(|entry: Entry| entry.topic);
    Ok(topics.take(LISTED_MAX).collect())
}

/// What is typed, or everything.
fn filters(typed: Option<&str>) -> Result<Vec<Filter>, Response> {
    match typed.filter(|typed| !typed.is_empty()) {
        Some(typed) => target::filters(typed),
        None => everything(),
    }
}

fn everything() -> Result<Vec<Filter>, Response> {
    target::filters("#")
}
