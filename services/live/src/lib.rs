//! `/live`, `/history`, `/catalog`: observations in, and out by every delivery scheme.
//!
//! What it deliberately does not do: no HTTP syntax and no sockets; a call comes in as values and goes
//! to the hub as a request. The decision worth arguing: the scheme is chosen by what the client says
//! (`Accept`, `Prefer`, `?stream`, an upgrade), so that there is one URL for a datastream.
#![forbid(unsafe_code)]

mod catalog;
mod control;
mod fault;
mod framing;
mod history;
mod keys;
mod longpoll;
mod pace;
mod publish;
mod query;
mod schema;
mod socket;
mod stream;

use fault::{method_not_allowed, refuse};
use std::sync::Arc;
use weir_codec::FORMATS;
use weir_hub::Hub;
use weir_service::{Answer, Call, Premises, Response, Schema, Service};

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
pub struct Live {
    hub: Arc<Hub>,
    schemas: Vec<Schema>,
}

impl Live {
    /// The service on these premises.
    pub fn new(on: &Premises) -> Self {
        Self {
            hub: on.hub.clone(),
            schemas: schema::OF_FORMATS
                .iter()
                .chain(&on.schemas)
                .copied()
                .collect(),
        }
    }
}

const MOUNTS: &[&str] = &["/live", "/history", "/catalog", "/formats", "/schema"];

impl Service for Live {
    fn name(&self) -> &'static str {
        "live"
    }

    fn mounts(&self) -> &'static [&'static str] {
        MOUNTS
    }

    fn call(&self, call: Call) -> Answer {
        let path = call.path.clone();
        let (mount, rest) = match path[1..].split_once('/') {
            Some((mount, rest)) => (mount, rest),
            None => (&path[1..], ""),
        };
        let answer = match mount {
            "live" => self.live(call, rest),
            "history" => history::read(&self.hub, call, rest),
            "catalog" => catalog::answer(&self.hub, call, rest),
            "formats" | "schema" if call.method != "GET" => {
                Err(method_not_allowed(&call.method, "GET"))
            }
            "formats" => keys::check(&call, keys::NONE).map(|()| Answer::Now(formats())),
            "schema" => keys::check(&call, keys::NONE)
                .map(|()| Answer::Now(schema::answer(&self.schemas, rest))),
            _ => Ok(Answer::Now(Response::text(
                404,
                format!("no resource `{path}`"),
            ))),
        };
        answer.unwrap_or_else(Answer::Now)
    }
}

impl Live {
    fn live(&self, call: Call, rest: &str) -> Result<Answer, Response> {
        match call.method.as_str() {
            "POST" if rest.is_empty() => self.subscribe(with_listed_topics(call)?, rest),
            "POST" => {
                keys::check(&call, keys::NONE)?;
                publish::publish(&self.hub, call, rest)
            }
            "GET" => self.subscribe(call, rest),
            other => Err(method_not_allowed(other, "GET, POST")),
        }
    }

    fn subscribe(&self, call: Call, rest: &str) -> Result<Answer, Response> {
        keys::check(&call, keys::LIVE)?;
        if call.websocket.is_some() {
            return socket::open(&self.hub, &call, rest);
        }
        let sse = call
            .header("accept")
            .is_some_and(|accept| accept.contains("text/event-stream"));
        if sse || call.query("stream").is_some() {
            return stream::open(&self.hub, &call, rest, sse);
        }
        longpoll::answer(&self.hub, &call, rest)
    }
}

/// `POST /live` with a JSON list of filters subscribes to them, where a URL would be too long.
fn with_listed_topics(mut call: Call) -> Result<Call, Response> {
    refuse_other_lists(call.header("content-type").unwrap_or_default())?;
    let topics: Vec<String> = serde_json::from_slice(&call.body).map_err(|error| {
        let hint = "to publish, name a topic: POST /live/{topic}";
        refuse(
            400,
            format!("expected a JSON list of topic filters ({error}); {hint}"),
        )
    })?;
    call.query
        .extend(topics.into_iter().map(|topic| ("topic".to_owned(), topic)));
    Ok(call)
}

/// A list that says to be something else than JSON; what clients say that were told nothing says nothing.
fn refuse_other_lists(declared: &str) -> Result<(), Response> {
    let media = declared.split(';').next().unwrap_or_default().trim();
    let unsaid = ["", "application/x-www-form-urlencoded", "text/plain"];
    if media == "application/json" || unsaid.contains(&media) {
        return Ok(());
    }
    let sentence = format!("a list of topic filters is JSON (application/json), not `{media}`");
    Err(refuse(415, sentence))
}

/// The formats with name, media type, and whether a message is text.
fn formats() -> Response {
    let list: Vec<_> = FORMATS
        .iter()
        .map(|format| {
            serde_json::json!({
                "name": format.name,
                "media": format.media,
                "text": format.text,
                "contentFormat": format.content_format,
            })
        })
        .collect();
    let body = serde_json::to_vec(&list).unwrap_or_default();
    Response::with_body(200, "application/json", body)
}
