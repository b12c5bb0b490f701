//! The AsyncAPI 3.0 description of all that goes on: a channel for each datastream and each name it has on the
//! wire, and what the gateway sends and receives there.
//!
//! Actions are the gateway's, as the specification has it: who observes receives what it sends.

use crate::caller::Caller;
use crate::fault::refuse;
use crate::form::{Reach, expand, reaches};
use crate::limits::CHANNELS_MAX;
use crate::{schema, security};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use weir_codec::Format;
use weir_hub::Entry;
use weir_model::{Filter, percent};
use weir_service::{Call, Credential, Operation, Response};

/// The document of the datastreams that `?topic=` picks; of all without.
pub(crate) fn document(caller: &Caller<'_>, call: &Call) -> Result<Json, Response> {
    let entries = entries(caller, call)?;
    let mut described = Described::default();
    // A channel's messages are in a format; what has an encoding of its own is defined by its own schema.
    for reach in reaches(caller).filter(|reach| reach.way.media.is_none()) {
        described.server(caller, &reach);
        for entry in entries.iter().take(CHANNELS_MAX) {
            described.channel(caller, &reach, entry);
        }
    }
    let formats = caller.formats(true).iter();
    let messages: Map<String, Json> = formats
        .map(|format| (format.name.to_owned(), message(format)))
        .collect();
    Ok(json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "weir",
            "version": env!("CARGO_PKG_VERSION"),
            "description": summary(entries.len()),
        },
        "defaultContentType": caller.formats(false)[0].media,
        "servers": described.servers,
        "channels": described.channels,
        "operations": described.operations,
        "components": {
            "schemas": {"Message": schema::message(None)},
            "messages": messages,
            "securitySchemes": schemes(caller),
        },
    }))
}

fn summary(count: usize) -> String {
    let all = "Observations of sensors as they come";
    if count > CHANNELS_MAX {
        format!("{all}: {CHANNELS_MAX} of {count} datastreams; ?topic= picks others")
    } else {
        all.to_owned()
    }
}

fn entries(caller: &Caller<'_>, call: &Call) -> Result<Vec<Entry>, Response> {
    let mut topics: Vec<&str> = call.queries("topic").collect();
    if topics.is_empty() {
        topics.push("#");
    }
    let filters = topics.iter().map(|text| {
        Filter::parse(text).map_err(|error| refuse(400, format!("topic `{text}`: {error}")))
    });
    caller.entries(filters.collect::<Result<_, _>>()?)
}

/// The members of the document that grow.
#[derive(Default)]
struct Described {
    servers: BTreeMap<String, Json>,
    channels: BTreeMap<String, Json>,
    operations: BTreeMap<String, Json>,
}

impl Described {
    fn server(&mut self, caller: &Caller<'_>, reach: &Reach<'_>) {
        let mut server = json!({"host": reach.host(), "protocol": reach.scheme});
        let schemes = names_of(caller, reach.way.credential);
        if !schemes.is_empty() {
            let security = schemes
                .iter()
                .map(|name| refer(&["components", "securitySchemes", name]));
            server["security"] = security.collect();
        }
        self.servers.insert(server_name(reach), server);
    }

    /// The channel of a datastream on a server, and what is done there.
    fn channel(&mut self, caller: &Caller<'_>, reach: &Reach<'_>, entry: &Entry) {
        let topic = &*entry.topic;
        for operation in reach.way.operations {
            let action = match operation {
                Operation::Observe => "send",
                Operation::Publish if caller.may_publish(topic) => "receive",
                Operation::Publish | Operation::Read => continue,
            };
            for format in caller.formats(false) {
                let name = self.open(reach, topic, format);
                let channel = refer(&["channels", &name]);
                let key = format!("{action} {} {name}", way_name(reach, format));
                let operation = json!({
                    "action": action,
                    "channel": channel,
                    "summary": summary_of(reach, topic, format),
                    "messages": [refer(&["channels", &name, "messages", format.name])],
                });
                self.operations.insert(key, operation);
            }
        }
    }

    /// The channel's name; it is made where there is none, and knows the server and the format from now on.
    fn open(&mut self, reach: &Reach<'_>, topic: &str, format: &Format) -> String {
        let address = expand(reach.way.channel, topic, format);
        let name = format!("{} {address}", reach.way.vocabulary.0);
        let channel = self.channels.entry(name.clone()).or_insert_with(
            || json!({"address": address, "title": topic, "servers": [], "messages": {}}),
        );
        let server = refer(&["servers", &server_name(reach)]);
        if let Some(servers) = channel["servers"].as_array_mut()
            && !servers.contains(&server)
        {
            servers.push(server);
        }
        channel["messages"][format.name] = refer(&["components", "messages", format.name]);
        name
    }
}

/// A reference within the document (RFC 6901 section 6).
fn refer(path: &[&str]) -> Json {
    let step = |step: &&str| {
        let escaped = step.replace('~', "~0").replace('/', "~1");
        format!("/{}", percent::encode(&escaped, b"$"))
    };
    let path: String = path.iter().map(step).collect();
    json!({"$ref": format!("#{path}")})
}

/// Each scheme and place once.
fn server_name(reach: &Reach<'_>) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    let text = format!("{}-{}", reach.scheme, reach.host());
    let name = text
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte) } else { '-' });
    name.collect()
}

fn way_name(reach: &Reach<'_>, format: &Format) -> String {
    let subprotocol = reach.way.subprotocol.unwrap_or("");
    format!(
        "{} {}",
        reach.scheme,
        subprotocol.replace("{format}", format.name)
    )
}

/// How a client does it, where the address alone does not say.
fn summary_of(reach: &Reach<'_>, topic: &str, format: &Format) -> String {
    let url = reach.url(topic, format);
    match reach.way.subprotocol {
        Some(name) => format!("{}: {url}", name.replace("{format}", format.name)),
        None => url,
    }
}

fn message(format: &Format) -> Json {
    let mut message = json!({"name": format.name, "contentType": format.media});
    if format.media == "application/json" {
        message["payload"] = refer(&["components", "schemas", "Message"]);
    }
    message
}

/// Security schemes by name.
fn schemes(caller: &Caller<'_>) -> Json {
    let mut all = Map::new();
    for credential in security::credentials(caller) {
        for name in names_of(caller, credential) {
            all.insert(name.into(), scheme(name, credential));
        }
    }
    Json::Object(all)
}

/// The schemes of a place of credentials; none where the caller needs none.
fn names_of(caller: &Caller<'_>, credential: Credential) -> Vec<&'static str> {
    let logins = caller.premises.logins;
    let possible = [("basic", logins.users), ("bearer", logins.tokens)];
    match credential {
        Credential::Elsewhere => vec!["elsewhere"],
        _ if security::is_open(caller) => Vec::new(),
        Credential::Field => {
            let known = possible.iter().filter(|(_, is_possible)| *is_possible);
            known.map(|(name, _)| *name).collect()
        }
        Credential::Query(_) => vec!["query"],
        Credential::Login => vec!["login"],
        Credential::Nowhere => Vec::new(),
    }
}

fn scheme(name: &str, credential: Credential) -> Json {
    match credential {
        Credential::Field => json!({"type": "http", "scheme": name}),
        Credential::Query(name) => json!({"type": "httpApiKey", "in": "query", "name": name}),
        Credential::Login => json!({
            "type": "userPassword", "description": "a token may stand for the password",
        }),
        Credential::Elsewhere => json!({
            "type": "userPassword", "description": "a login of the server that the client is at",
        }),
        // It has no name.
        Credential::Nowhere => Json::Null,
    }
}
