//! What the gateway says it is and holds (XEP-0030, XEP-0060 section 5).

use super::answer::Refusal;
use super::node::{Wanted, name_of};
use crate::limits::NODES_PER_PAGE_MAX;
use crate::names::{FORMS, INFO, ITEMS, METADATA, OBSERVATIONS, PAGES, PUBSUB};
use crate::xml::Element;
use weir_binding::Gateway;
use weir_hub::{Fault, Principal};
use weir_model::Filter;

/// What of XEP-0060 is there (section 10).
const FEATURES: &[&str] = &[
    "auto-create",
    "collections",
    "create-nodes",
    "delete-nodes",
    "meta-data",
    "persistent-items",
    "publish",
    "retrieve-affiliations",
    "retrieve-items",
    "retrieve-subscriptions",
    "rsm",
    "subscribe",
    "subscription-options",
];

fn var(name: &str) -> Element {
    Element::new(INFO, "feature").with("var", name)
}

fn identity(kind: &str, name: &str) -> Element {
    Element::new(INFO, "identity")
        .with("category", "pubsub")
        .with("type", kind)
        .with("name", name)
}

/// What the service is.
// [XEP0030-3.1-1] [XEP0060-5.1-1]
pub(super) fn service() -> Element {
    let pubsub = FEATURES.iter();
    let pubsub = pubsub.map(|name| var(&format!("{PUBSUB}#{name}")));
    let others = [
        INFO,
        ITEMS,
        PUBSUB,
        PAGES,
        "urn:xmpp:ping",
        "urn:xmpp:json:0",
        crate::names::MESSAGE,
    ];
    Element::new(INFO, "query")
        .child(identity("service", "weir"))
        .children(others.map(var))
        .children(pubsub)
}

/// What a node is.
// [XEP0060-5.3-1]
pub(super) fn node(
    gateway: &dyn Gateway,
    principal: &Principal,
    wanted: &Wanted,
) -> Result<Element, Refusal> {
    let kind = if wanted.is_collection() {
        "collection"
    } else {
        "leaf"
    };
    let query = Element::new(INFO, "query").with("node", wanted.node.clone());
    let query = query.child(identity(kind, &wanted.node)).child(var(PUBSUB));
    if wanted.is_collection() {
        return Ok(query);
    }
    let caller = gateway.hub().caller(gateway.now(), principal)?;
    let entries = caller.entries(std::slice::from_ref(&wanted.filter))?;
    let datastream = entries
        .first()
        .map(|entry| entry.datastream.clone())
        .unwrap_or_default();
    let field = |name: &str, value: Option<&str>| {
        let value = value.map(|value| Element::new(FORMS, "value").text(value));
        let field = Element::new(FORMS, "field").with("var", name);
        value.map(|value| field.child(value))
    };
    let fields = [
        field("FORM_TYPE", Some(METADATA)).map(|field| field.with("type", "hidden")),
        field("pubsub#type", Some(OBSERVATIONS)),
        field("pubsub#title", datastream.name.as_deref()),
        field("weir#sensor", datastream.sensor.as_deref()),
        field("weir#type", datastream.property.as_deref()),
        field("weir#unit", datastream.unit.as_deref()),
    ];
    let form = Element::new(FORMS, "x").with("type", "result");
    Ok(query.child(form.children(fields.into_iter().flatten())))
}

/// The nodes that there are, page by page: a leaf for each datastream that may be read, by name.
// [XEP0030-4.1-1]
pub(super) fn nodes(
    gateway: &dyn Gateway,
    principal: &Principal,
    domain: &str,
    node: Option<&Wanted>,
    page: Option<&Element>,
) -> Result<Element, Refusal> {
    let all = Filter::parse("#").map_err(Fault::Topic)?;
    let filter = node.map_or(all, |wanted| wanted.filter.clone());
    let mut query = Element::new(ITEMS, "query");
    if let Some(wanted) = node {
        query = query.with("node", wanted.node.clone());
        if !wanted.is_collection() {
            return Ok(query);
        }
    }
    let caller = gateway.hub().caller(gateway.now(), principal)?;
    let entries = caller.entries(&[filter])?;
    let of_page = |name| {
        page.and_then(|page| page.find(PAGES, name))
            .map(Element::own_text)
    };
    let after = of_page("after").unwrap_or_default();
    let max = of_page("max")
        .and_then(|max| max.parse().ok())
        .unwrap_or(NODES_PER_PAGE_MAX);
    let topics: Vec<String> = entries.iter().map(|entry| name_of(&entry.topic)).collect();
    let first = topics.partition_point(|topic| *topic <= after);
    let shown = topics[first..].iter().take(max.min(NODES_PER_PAGE_MAX));
    let shown: Vec<&String> = shown.collect();
    let item = |topic: &&String| {
        let item = Element::new(ITEMS, "item").with("jid", domain);
        item.with("node", topic.as_str())
            .with("name", topic.as_str())
    };
    let query = query.children(shown.iter().map(item));
    Ok(match (shown.first(), shown.last()) {
        (Some(from), Some(to)) => query.child(set(from, to, first, topics.len())),
        _ => query,
    })
}

/// What of a list this page is (XEP-0059 section 2.2).
fn set(from: &str, to: &str, index: usize, count: usize) -> Element {
    let text = |name: &str, text: &str| Element::new(PAGES, name).text(text);
    Element::new(PAGES, "set")
        .child(text("first", from).with("index", index.to_string()))
        .child(text("last", to))
        .child(text("count", &count.to_string()))
}
