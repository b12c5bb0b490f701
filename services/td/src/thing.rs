//! A Thing Description (W3C Web of Things, Thing Description 1.1) of what a topic above datastreams stands for.

use crate::caller::Caller;
use crate::{form, schema, security};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use weir_hub::Entry;
use weir_model::{percent, topic};

/// JSON-LD context of Thing Description 1.1 (section 5.3.1.1).
const CONTEXT: &str = "https://www.w3.org/2022/wot/td/v1.1";

/// Identifier of a Thing.
pub(crate) fn id(name: &str) -> String {
    format!("urn:weir:thing:{}", percent::encode(name, b"/:"))
}

/// The description of a Thing by its datastreams; `None` where the caller reaches none of them.
pub(crate) fn describe(caller: &Caller<'_>, name: &str, entries: &[&Entry]) -> Option<Json> {
    let mut properties = Map::new();
    for entry in entries {
        let (_, last) = topic::thing_and_property(&entry.topic);
        let name = if properties.contains_key(last) {
            &*entry.topic
        } else {
            last
        };
        // One that the caller has no way to hides no other.
        let property = property(caller, entry);
        properties.extend(property.map(|property| (name.to_owned(), property)));
    }
    if properties.is_empty() {
        return None;
    }
    let definitions = security::of_things(caller);
    Some(json!({
        "@context": context(caller),
        "id": id(name),
        "title": name,
        "securityDefinitions": definitions,
        "security": security::usual(caller),
        "properties": properties,
        "links": [{"rel": "collection", "href": "/td", "type": "application/ld+json"}],
    }))
}

/// The context of Thing Descriptions, and of the vocabularies that forms use.
fn context(caller: &Caller<'_>) -> Json {
    let ways = caller.premises.endpoints.iter().flat_map(|it| it.ways);
    let vocabularies: BTreeSet<_> = ways.map(|way| way.vocabulary).collect();
    let prefixes: Map<String, Json> = vocabularies
        .into_iter()
        .map(|(prefix, iri)| (prefix.to_owned(), iri.into()))
        .collect();
    json!([CONTEXT, prefixes])
}

/// The property affordance (section 5.3.1.3) of a datastream: a message of it, as JSON has it.
fn property(caller: &Caller<'_>, entry: &Entry) -> Option<Json> {
    let forms = form::of(caller, &entry.topic);
    if forms.is_empty() {
        return None;
    }
    let known = &entry.datastream;
    let (_, last) = topic::thing_and_property(&entry.topic);
    let mut property = schema::message(Some(entry));
    property["title"] = known.name.as_deref().unwrap_or(last).into();
    property["description"] = description(entry).into();
    property["observable"] = true.into();
    property["readOnly"] = (!caller.may_publish(&entry.topic)).into();
    property["forms"] = forms.into();
    Some(property)
}

/// What the catalog says of it, as a sentence.
fn description(entry: &Entry) -> String {
    let known = &entry.datastream;
    let mut text = format!("Messages of the datastream {}", entry.topic);
    let said = [
        (" which observes ", &known.property),
        (" in ", &known.unit),
        (" by ", &known.sensor),
    ];
    for (word, value) in said {
        if let Some(value) = value.as_deref() {
            text += word;
            text += value;
        }
    }
    text
}
