//! Requests and answers in JSON.

use serde_json::Value as Json;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use weir_model::{Time, Url, percent};
use weir_service::{Answered, Ask, Connect, LocalFuture, Target, Web, misspoken};

const JSON: &str = "application/json";
/// Between two polls.
const POLL_TIME: Duration = Duration::from_secs(1);
/// Pages of one collection that are read at most.
const PAGES_MAX: usize = 1_000;

/// One server's API.
pub(super) struct Api {
    pub(super) web: Box<dyn Web>,
    /// Path of the version's root.
    root: String,
}

impl Api {
    pub(super) fn of(binding: &Arc<dyn Connect>, target: &Target) -> io::Result<Self> {
        let url = target.url.strip_prefix("sta+").unwrap_or(&target.url);
        let web = binding.web(target, url)?;
        let root = match web.path() {
            "" => "/sta/v1.1".to_owned(),
            path => path.to_owned(),
        };
        Ok(Self { web, root })
    }

    /// Says whether this is a root of SensorThings (18-088 section 9.2.1).
    pub(super) async fn check(&mut self) -> io::Result<()> {
        let index = self.get("").await?;
        let sets = index["value"].as_array().map_or(&[][..], Vec::as_slice);
        if sets.iter().any(|set| set["name"] == "Datastreams") {
            Ok(())
        } else {
            Err(misspoken(format!(
                "{} lists no Datastreams: the URL must name the root of a version, such as /v1.1",
                self.root
            )))
        }
    }

    /// The target of what is below the root; options are pairs of a name and what is not encoded yet.
    pub(super) fn target(&self, path: &str, options: &[(&str, &str)]) -> String {
        let encoded = options.iter();
        let encoded =
            encoded.map(|(name, text)| format!("{name}={}", percent::encode(text, b"$/(),';=:")));
        let query = encoded.collect::<Vec<_>>().join("&");
        let slash = if path.is_empty() { "" } else { "/" };
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{slash}{path}{mark}{query}", self.root)
    }

    pub(super) async fn get(&mut self, target: &str) -> io::Result<Json> {
        let root = self.target("", &[]);
        let target = if target.is_empty() { &root } else { target };
        read(&self.web.ask(Ask::get(target, JSON)).await?)
    }

    /// Posts and hands on whatever is answered.
    pub(super) async fn post(&mut self, path: &str, body: &Json) -> io::Result<Answered> {
        let target = self.target(path, &[]);
        self.web
            .ask(Ask::post(&target, JSON, body.to_string()))
            .await
    }

    /// The entities of a collection, page by page (18-088 section 9.3.3.6).
    pub(super) async fn all(
        &mut self,
        path: &str,
        options: &[(&str, &str)],
    ) -> io::Result<Vec<Json>> {
        let mut target = self.target(path, options);
        let mut all = Vec::new();
        for _ in 0..PAGES_MAX {
            let mut page = self.get(&target).await?;
            match page["value"].take() {
                Json::Array(entities) => all.extend(entities),
                _ => return Err(misspoken(format!("{target}: no collection was answered"))),
            }
            match page["@iot.nextLink"].as_str() {
                Some(next) => target = path_of(next).to_owned(),
                None => return Ok(all),
            }
        }
        let sentence = format!("{path} has more than {PAGES_MAX} pages: narrow the filters");
        Err(misspoken(sentence))
    }

    pub(super) fn pause(&self) -> LocalFuture<'static, ()> {
        self.web.pause(POLL_TIME)
    }

    pub(super) fn now(&self) -> Time {
        self.web.now()
    }
}

/// The body of an answer that is a success.
fn read(answered: &Answered) -> io::Result<Json> {
    if answered.is_success() {
        serde_json::from_slice(&answered.body)
            .map_err(|error| misspoken(format!("the answer is no JSON: {error}")))
    } else {
        Err(refused(answered))
    }
}

/// An error with the server's sentence, which is in JSON (18-088 section 9.5 leaves the form open).
pub(super) fn refused(answered: &Answered) -> io::Error {
    let body: Option<Json> = serde_json::from_slice(&answered.body).ok();
    match body.as_ref().and_then(|body| body["message"].as_str()) {
        Some(sentence) => weir_service::refused(answered.status, sentence),
        None => answered.refused(),
    }
}

/// Path and query of a link, at whatever name the server gives itself.
fn path_of(link: &str) -> &str {
    match Url::parse(link) {
        Ok(url) if url.target.is_empty() => "/",
        Ok(url) => url.target,
        Err(_) => link,
    }
}

/// A text as a literal of `$filter`.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// How an entity is called in a path.
pub(super) fn key(entity: &Json) -> Option<String> {
    match &entity["@iot.id"] {
        Json::Number(number) => Some(format!("({number})")),
        Json::String(text) => Some(format!("({})", percent::encode(&quoted(text), b"'"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entities_and_links_are_read_as_servers_write_them() {
        assert_eq!(key(&json!({"@iot.id": 7})).as_deref(), Some("(7)"));
        let named = key(&json!({"@iot.id": "it's/1"}));
        assert_eq!(named.as_deref(), Some("('it''s%2F1')"));
        assert_eq!(key(&json!({})), None);
        for (link, path) in [
            ("http://h:1/v1.1/Things?$skip=2", "/v1.1/Things?$skip=2"),
            ("/v1.1/Things", "/v1.1/Things"),
            ("https://h", "/"),
        ] {
            assert_eq!(path_of(link), path);
        }
    }
}
