//! What requests before made, by Content-ID, put in for `$ID` at the beginning of a URL and as an
//! identifier in a body (18-088 section 11.3; OData 4.0 section 11.7.3.1).

use super::step::Asked;
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::path::Path;
use crate::said::read_json;
use crate::service::BASE;
use bytes::Bytes;
use serde_json::Value as Json;
use std::collections::HashMap;
use weir_model::{Url, percent};
use weir_service::{Call, Response};

/// Paths of what was made, as `Things(5)`.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(HashMap<String, String>);

impl Places {
    /// Notes what a request made.
    pub(super) fn note(&mut self, asked: &Asked, response: &Response) {
        let mut fields = response.headers.iter();
        let location = fields.find(|(name, _)| *name == "location");
        let path = location.map(|(_, url)| below_root(url).to_owned());
        if let (Some(id), Some(path)) = (&asked.id, path) {
            self.0.insert(id.clone(), path);
        }
    }

    /// Notes what is going to be at a path.
    pub(super) fn will_be(&mut self, asked: &Asked, path: Option<String>) {
        if let (Some(id), Some(path)) = (&asked.id, path) {
            self.0.insert(id.clone(), path);
        }
    }

    /// A call without a request, with what all of a batch share.
    pub(super) fn base(&self, batch: &Call) -> Call {
        Call {
            principal: batch.principal.clone(),
            peer: batch.peer,
            scheme: batch.scheme,
            now: batch.now,
            method: String::new(),
            path: BASE.to_owned(),
            query: Vec::new(),
            raw_query: String::new(),
            headers: batch.headers.clone(),
            body: Bytes::new(),
            wrapper: batch.wrapper.clone(),
            workers: batch.workers.clone(),
            websocket: None,
            incoming: batch.incoming,
        }
    }

    /// A request as a call of its own, on behalf of whom the batch came from.
    pub(super) fn call(&self, asked: &Asked, batch: &Call) -> Result<Call> {
        let url = self.url(&asked.url)?;
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        if is_batch(path.trim_matches('/')) {
            return Err(Fault::bad("a batch holds no batch"));
        }
        Ok(Call {
            method: asked.method.clone(),
            path: format!("{BASE}/{}", path.trim_matches('/')),
            query: pairs(query)?,
            raw_query: String::new(),
            headers: headers(asked, batch),
            body: self.body(&asked.body)?,
            ..self.base(batch)
        })
    }

    /// The path and query below the root.
    fn url(&self, said: &str) -> Result<String> {
        let Some(name) = said.strip_prefix('$') else {
            return Ok(below_root(said).to_owned());
        };
        let end = name.find(['/', '?']).unwrap_or(name.len());
        let (name, rest) = name.split_at(end);
        let place = self.0.get(name);
        let place =
            place.ok_or_else(|| Fault::bad(format!("`{said}`: nothing before made `${name}`")))?;
        Ok(format!("{place}{rest}"))
    }

    fn body(&self, body: &Bytes) -> Result<Bytes> {
        let refers = body.windows(2).any(|pair| pair == b"\"$");
        let read = refers.then(|| read_json(body).ok()).flatten();
        // What is no JSON is refused where it is read.
        let Some(mut json) = read else {
            return Ok(body.clone());
        };
        self.put_in(&mut json)?;
        Ok(json.to_string().into())
    }

    fn put_in(&self, json: &mut Json) -> Result<()> {
        match json {
            Json::Array(many) => many.iter_mut().try_for_each(|one| self.put_in(one)),
            Json::Object(members) => members.iter_mut().try_for_each(|(name, value)| {
                match value.as_str().and_then(|text| text.strip_prefix('$')) {
                    Some(reference) if name == "@iot.id" => {
                        *value = self.id(reference)?.to_json();
                        Ok(())
                    }
                    _ => self.put_in(value),
                }
            }),
            _ => Ok(()),
        }
    }

    fn id(&self, name: &str) -> Result<Id> {
        let place = self.0.get(name);
        let missing = || Fault::bad(format!("@iot.id: nothing before made `${name}`"));
        let path = Path::parse(place.ok_or_else(missing)?)?;
        path.id.ok_or_else(missing)
    }
}

/// Whether a path below the version is that of batches.
pub(crate) fn is_batch(path: &str) -> bool {
    matches!(path, "$batch" | "%24batch")
}

/// What a URL says below the version: of an absolute one, of one with the whole path, of a relative one.
fn below_root(url: &str) -> &str {
    let path = Url::parse(url).map_or(url, |url| url.target);
    let end = path.find(['?', '(']).unwrap_or(path.len());
    match path[..end].find("/v1.1/") {
        Some(at) => &path[at + "/v1.1/".len()..],
        None => path.trim_start_matches('/'),
    }
}

fn pairs(query: &str) -> Result<Vec<(String, String)>> {
    let decode = |text: &str| {
        let spaced = text.replace('+', " ");
        percent::decode(&spaced).map_err(|error| Fault::bad(format!("the query `{text}`: {error}")))
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

/// Those of the request, and of the batch those that say how it is addressed.
fn headers(asked: &Asked, batch: &Call) -> Vec<(String, String)> {
    let own = asked.headers.iter().filter(|(name, _)| name != "host");
    let shared = batch.headers.iter().filter(|(name, _)| name == "host");
    own.chain(shared).cloned().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_are_read_from_the_root_however_they_are_written() {
        for url in [
            "Things(1)/name?$top=1",
            "/Things(1)/name?$top=1",
            "/v1.1/Things(1)/name?$top=1",
            "/sta/v1.1/Things(1)/name?$top=1",
            "http://h:1/sta/v1.1/Things(1)/name?$top=1",
        ] {
            assert_eq!(below_root(url), "Things(1)/name?$top=1", "{url}");
        }
        assert_eq!(below_root("Things('/v1.1/x')"), "Things('/v1.1/x')");
    }

    #[test]
    fn references_lead_to_what_was_made_and_like_texts_stay() {
        let mut places = Places::default();
        places.0.insert("1".into(), "Things(5)".into());
        places.0.insert("s".into(), "Sensors('a%2Fb')".into());
        assert_eq!(
            places.url("$1/Datastreams?$top=1").unwrap(),
            "Things(5)/Datastreams?$top=1"
        );
        assert_eq!(places.url("$2/Datastreams").unwrap_err().status, 400);
        let body = r#"{"name":"$1","Thing":{"@iot.id":"$1"},"x":[{"Sensor":{"@iot.id":"$s"}}]}"#;
        let read: Json = serde_json::from_slice(&places.body(&Bytes::from(body)).unwrap()).unwrap();
        assert_eq!(
            (&read["name"], &read["Thing"]["@iot.id"]),
            (&"$1".into(), &5.into())
        );
        assert_eq!(read["x"][0]["Sensor"]["@iot.id"], "a/b");
        let unknown = Bytes::from(r#"{"Thing":{"@iot.id":"$9"}}"#);
        assert!(places.body(&unknown).unwrap_err().message.contains("$9"));
    }
}
