//! The OpenAPI 3.1 description of all that HTTP reaches here.
//!
//! Each service says its own paths in a file beside its code; what they have in common, which is messages in
//! every format, and refusals, is written here from the list of formats. Responses that never end are no
//! matter of OpenAPI: `/asyncapi.json` has them.

use crate::caller::Caller;
use crate::{schema, security};
use serde_json::{Map, Value as Json, json};
use weir_codec::{FORMATS, Format};
use weir_service::{Credential, Operation};

pub(crate) fn document(caller: &Caller<'_>) -> Json {
    let parts = parts(caller);
    let mut schemas = members(&parts, "/components/schemas");
    schemas.insert("Message".into(), message());
    schemas.insert("Observation".into(), schema::observation(None));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "weir",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Observations of sensors, live and from history",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": servers(caller),
        "paths": members(&parts, "/paths"),
        "components": {
            "schemas": schemas,
            "responses": responses(),
            "requestBodies": {"Message": {"required": true, "content": content()}},
            "securitySchemes": schemes(caller),
        },
        "security": requirements(caller),
    })
}

/// What each service says of itself; a test holds each file to be JSON.
fn parts(caller: &Caller<'_>) -> Vec<Json> {
    let files = caller.premises.parts.iter();
    files
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect()
}

/// What all parts have there.
fn members(parts: &[Json], pointer: &str) -> Map<String, Json> {
    let found = parts
        .iter()
        .filter_map(|part| part.pointer(pointer)?.as_object());
    let pairs = found.flatten();
    pairs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Where HTTP is spoken, as a client that reads reaches it.
fn servers(caller: &Caller<'_>) -> Json {
    let reaches = crate::form::reaches(caller);
    let web = reaches.filter(|it| {
        it.endpoint.is_web
            && it.way.allows(Operation::Read)
            && it.way.credential == Credential::Field
    });
    let mut urls: Vec<String> = web
        .map(|it| format!("{}://{}", it.scheme, it.host()))
        .collect();
    urls.dedup();
    if urls.is_empty() {
        urls.push("/".into());
    }
    urls.into_iter().map(|url| json!({"url": url})).collect()
}

fn message() -> Json {
    let mut message = schema::message(None);
    message["properties"]["observations"]["items"] =
        json!({"$ref": "#/components/schemas/Observation"});
    message["properties"]["next"] = json!({
        "type": "string", "description": "of history: the token of the next page, for `page`",
    });
    message
}

/// A message in every format (`GET /formats`).
fn content() -> Json {
    let media = |format: &Format| {
        let schema = match format {
            it if it.media == "application/json" => json!({"$ref": "#/components/schemas/Message"}),
            it if it.text => json!({"type": "string"}),
            _ => json!({}),
        };
        (format.media.to_owned(), json!({"schema": schema}))
    };
    Json::Object(FORMATS.iter().map(media).collect())
}

/// What operations refer to.
fn responses() -> Json {
    let text = |about: &str| json!({"schema": {"type": "string"}, "description": about});
    let refusal = |why: &str| {
        json!({
            "description": why,
            "content": {"text/plain; charset=utf-8": {"schema": {"type": "string"}}},
        })
    };
    json!({
        "Message": {
            "description": "a message in the format that `as` or `Accept` picks",
            "headers": {
                "Weir-Cursor": text("resumes with `since`"),
                "ETag": text("of last values"),
                "Link": text("of history: the next page"),
            },
            "content": content(),
        },
        "Stored": {
            "description": "on disk",
            "headers": {"Weir-Cursor": text("its place")},
        },
        "Refused": refusal("one sentence that says what is wrong, and where"),
    })
}

fn schemes(caller: &Caller<'_>) -> Json {
    let logins = caller.premises.logins;
    let mut schemes = Map::new();
    if logins.users {
        schemes.insert("basic".into(), json!({"type": "http", "scheme": "basic"}));
    }
    if logins.tokens {
        schemes.insert("bearer".into(), json!({"type": "http", "scheme": "bearer"}));
    }
    Json::Object(schemes)
}

/// One of these is enough; an empty one stands for none.
fn requirements(caller: &Caller<'_>) -> Json {
    let mut all: Vec<Json> = Vec::new();
    if security::is_open(caller) {
        all.push(json!({}));
    }
    if let Json::Object(schemes) = schemes(caller) {
        all.extend(schemes.keys().map(|name| json!({name: []})));
    }
    all.into()
}
