//! Forms (W3C Thing Description 1.1 section 5.3.4.2): every way to a datastream that is open to the caller.

use crate::caller::Caller;
use crate::security;
use serde_json::{Map, Value as Json};
use weir_codec::Format;
use weir_model::percent;
use weir_service::{Endpoint, Operation, Way};

/// A way through an endpoint, as a caller reaches it.
pub(crate) struct Reach<'a> {
    pub(crate) way: &'static Way,
    /// Scheme of the URL.
    pub(crate) scheme: &'static str,
    /// What stands between the scheme's colon and the path.
    place: String,
    pub(crate) endpoint: &'a Endpoint,
}

impl Reach<'_> {
    /// Host and port, or the name that stands in their place.
    pub(crate) fn host(&self) -> &str {
        self.place.trim_start_matches('/')
    }

    /// The URL of a datastream.
    pub(crate) fn url(&self, topic: &str, format: &Format) -> String {
        let target = expand(self.way.target, topic, format);
        format!("{}:{}{target}", self.scheme, self.place)
    }
}

/// All ways that lead to datastreams, and that the caller has the credential for.
pub(crate) fn reaches<'a>(caller: &'a Caller<'_>) -> impl Iterator<Item = Reach<'a>> {
    let endpoints = caller.premises.endpoints.iter();
    endpoints.flat_map(move |endpoint| {
        let (place, secured) = caller.place(endpoint);
        let usable = endpoint
            .ways
            .iter()
            .filter(|way| security::is_possible(caller, way.credential));
        usable.filter_map(move |way| {
            Some(Reach {
                way,
                scheme: way.scheme(&endpoint.transport, secured)?,
                place: place.clone(),
                endpoint,
            })
        })
    })
}

/// The forms of a datastream.
pub(crate) fn of(caller: &Caller<'_>, topic: &str) -> Vec<Json> {
    let mut forms = Vec::new();
    let usual = security::usual(caller);
    for reach in reaches(caller) {
        let operations = names(reach.way, caller.may_publish(topic));
        if operations.is_empty() {
            continue;
        }
        for format in formats(caller, reach.way) {
            let mut form = form(&reach, topic, format);
            form.insert("op".into(), operations.clone().into());
            let security = security::of_credential(caller, reach.way.credential);
            if security != usual {
                form.insert("security".into(), security.into());
            }
            forms.push(Json::Object(form));
        }
    }
    forms
}

/// The formats that a way is described in: one stands for all where its messages are in none.
fn formats<'a>(caller: &'a Caller<'_>, way: &Way) -> &'a [&'static Format] {
    let formats = caller.formats(way.lists_formats);
    match way.media {
        Some(_) => &formats[..1],
        None => formats,
    }
}

fn form(reach: &Reach<'_>, topic: &str, format: &Format) -> Map<String, Json> {
    let mut form = Map::new();
    let media = reach.way.media.unwrap_or(format.media);
    form.insert("href".into(), reach.url(topic, format).into());
    form.insert("contentType".into(), media.into());
    if let Some(subprotocol) = reach.way.subprotocol {
        form.insert(
            "subprotocol".into(),
            expand(subprotocol, topic, format).into(),
        );
    }
    for (name, term) in reach.way.terms {
        let mut term = serde_json::from_str(term).unwrap_or_default();
        expand_json(&mut term, topic, format);
        form.insert((*name).into(), term);
    }
    form
}

/// Operations by their names (section 5.3.4.2.1).
fn names(way: &Way, may_publish: bool) -> Vec<&'static str> {
    let mut names = Vec::new();
    for operation in way.operations {
        match operation {
            Operation::Read => names.push("readproperty"),
            Operation::Observe => names.extend(["observeproperty", "unobserveproperty"]),
            Operation::Publish if may_publish => names.push("writeproperty"),
            Operation::Publish => {}
        }
    }
    names
}

/// A template with what it stands for; the topic comes last, since it may hold anything.
pub(crate) fn expand(template: &str, topic: &str, format: &Format) -> String {
    let text = template.replace("{format}", format.name);
    if text.contains("{path}") {
        text.replace("{path}", &percent::encode(topic, b"/:$"))
    } else {
        text.replace("{topic}", topic)
    }
}

fn expand_json(json: &mut Json, topic: &str, format: &Format) {
    if let Json::String(text) = json {
        *text = expand(text, topic, format);
    }
}
