//! How a caller says who they are: security definitions of Thing Descriptions (section 5.3.3), OpenAPI and
//! AsyncAPI.
//!
//! Who came without a credential is told ways without one: what is described is what they may do so.

use crate::caller::Caller;
use serde_json::{Map, Value as Json, json};
use weir_service::Credential;

/// Security definitions by name.
pub(crate) fn of_things(caller: &Caller<'_>) -> Json {
    let logins = caller.premises.logins;
    let mut all = Map::new();
    let mut define = |name: &str, definition: Json| drop(all.insert(name.into(), definition));
    let credentials = credentials(caller);
    if is_open(caller) || credentials.contains(&Credential::Nowhere) {
        define("nosec_sc", json!({"scheme": "nosec"}));
    }
    if credentials.contains(&Credential::Elsewhere) {
        define("auto_sc", json!({"scheme": "auto"}));
    }
    if is_open(caller) {
        return Json::Object(all);
    }
    if logins.users {
        define("basic_sc", json!({"scheme": "basic", "in": "header"}));
    }
    if logins.tokens {
        define("bearer_sc", json!({"scheme": "bearer", "in": "header"}));
    }
    if logins.users && logins.tokens {
        let either = json!({"scheme": "combo", "oneOf": ["basic_sc", "bearer_sc"]});
        define("either_sc", either);
    }
    for credential in credentials {
        match credential {
            Credential::Field | Credential::Elsewhere | Credential::Nowhere => {}
            Credential::Query(name) => define(
                "query_sc",
                json!({"scheme": "bearer", "in": "query", "name": name}),
            ),
            Credential::Login => define(
                "login_sc",
                json!({
                    "scheme": "basic", "in": "body",
                    "description": "a login of the protocol; a token may stand for the password",
                }),
            ),
        }
    }
    Json::Object(all)
}

/// The name of the definition that holds where a form says none.
pub(crate) fn usual(caller: &Caller<'_>) -> &'static str {
    of_credential(caller, Credential::Field)
}

/// The name of the definition for a place of credentials.
pub(crate) fn of_credential(caller: &Caller<'_>, credential: Credential) -> &'static str {
    let logins = caller.premises.logins;
    match credential {
        // What it is the client settles with its own server (section 5.3.3.3).
        Credential::Elsewhere => "auto_sc",
        Credential::Nowhere => "nosec_sc",
        _ if is_open(caller) => "nosec_sc",
        Credential::Field if logins.users && logins.tokens => "either_sc",
        Credential::Field if logins.users => "basic_sc",
        Credential::Field => "bearer_sc",
        Credential::Query(_) => "query_sc",
        Credential::Login => "login_sc",
    }
}

/// Whether somebody can present a credential there.
pub(crate) fn is_possible(caller: &Caller<'_>, credential: Credential) -> bool {
    let logins = caller.premises.logins;
    match credential {
        _ if is_open(caller) => true,
        Credential::Query(_) => logins.tokens,
        _ => true,
    }
}

/// Whether the caller does without a credential.
pub(crate) fn is_open(caller: &Caller<'_>) -> bool {
    let logins = caller.premises.logins;
    caller.is_anonymous() || !(logins.users || logins.tokens)
}

/// The places of credentials that something open takes, each once.
pub(crate) fn credentials(caller: &Caller<'_>) -> Vec<Credential> {
    let mut all = Vec::new();
    let ways = caller.premises.endpoints.iter().flat_map(|it| it.ways);
    for credential in ways.map(|way| way.credential) {
        if !all.contains(&credential) && is_possible(caller, credential) {
            all.push(credential);
        }
    }
    all
}
