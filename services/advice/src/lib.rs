//! `/advise`: what `weir advise` says, for the dashboard and whoever asks by HTTP.
//!
//! What it deliberately does not do: read files. It answers from the reference that is shipped; who has
//! measured asks the command. The decision worth arguing: it answers everybody, since it tells nothing of
//! what goes through this gateway.
#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};

use weir_advise::{Library, Question, advise, levels, offers, reference, to_json};
use weir_service::{Answer, Call, Length, Response, Service, answer_of, check_keys, nearest};

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
#[derive(Default)]
pub struct Advice {
    library: Arc<OnceLock<Library>>,
}

const KNOWN: [&str; 6] = ["link", "clients", "rate", "payload", "need", "by"];

impl Service for Advice {
    fn name(&self) -> &'static str {
        "advice"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/advise"]
    }

    fn call(&self, call: Call) -> Answer {
        let library = self.library.clone();
        let work: Box<dyn FnOnce() -> Response + Send> = match call.path.as_str() {
            _ if call.method != "GET" => {
                let sentence = format!("{} is not possible here; GET is", call.method);
                return Answer::Now(Response::text(405, sentence).header("allow", "GET"));
            }
            "/advise" => match question(&call) {
                Ok(question) => Box::new(move || answer(&library, question)),
                Err(sentence) => return Answer::Now(Response::text(400, sentence)),
            },
            "/advise/levels" => match check_keys(&call, &[], &[]) {
                Ok(()) => Box::new(move || known_levels(&library)),
                Err(sentence) => return Answer::Now(Response::text(400, sentence)),
            },
            other => return Answer::Now(Response::text(404, format!("no resource `{other}`"))),
        };
        answer_of(&*call.workers, Length::Short, work)
    }
}

fn question(call: &Call) -> Result<Question, String> {
    let unknown = call
        .query
        .iter()
        .find(|(name, _)| !KNOWN.contains(&name.as_str()));
    if let Some((name, _)) = unknown {
        return Err(format!(
            "unknown parameter `{name}`; {}",
            nearest(name, &KNOWN)
        ));
    }
    // A field of a form that was left empty is one that was not given.
    let given = |name| call.query(name).filter(|text| !text.is_empty());
    let needs = call.queries("need").filter(|need| !need.is_empty());
    Question::parse(
        given("link").unwrap_or("local"),
        given("clients"),
        given("rate"),
        given("payload"),
        needs,
        given("by"),
    )
    .map_err(|fault| fault.to_string())
}

fn library(kept: &OnceLock<Library>) -> &Library {
    // What is shipped reads, which a test of it shows; were it not so, nothing would be known.
    kept.get_or_init(|| reference().unwrap_or_default())
}

/// 404 where nothing was measured that would answer; the body says why and which run would.
fn answer(kept: &OnceLock<Library>, question: Question) -> Response {
    let answer = advise(library(kept), &offers(), question);
    let status = if answer.refusal.is_some() { 404 } else { 200 };
    Response::with_body(status, "application/json", to_json(&answer).into_bytes())
}

/// What a form offers: the levels that were measured, by factor.
fn known_levels(kept: &OnceLock<Library>) -> Response {
    let body = serde_json::to_vec(&levels(library(kept))).unwrap_or_default();
    Response::with_body(200, "application/json", body)
}

#[cfg(test)]
mod tests;
