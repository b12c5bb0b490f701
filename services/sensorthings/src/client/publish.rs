//! Observations out of messages.

use super::api::{Api, refused};
use super::datastreams::{datastream, feature};
use crate::values::{instant, result};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use weir_model::{Batch, Observation, Time};
use weir_service::{LocalFuture, Publisher, Target, by_topic, invalid, misspoken, read_message};

/// Publishes messages.
pub(super) struct Publishes {
    api: Api,
    target: Target,
    /// The Datastreams of topics.
    known: HashMap<String, Known>,
    /// Whether the server has `CreateObservations`, as far as is known.
    takes_many: bool,
}

impl Publishes {
    pub(super) fn new(api: Api, target: Target) -> Self {
        Self {
            api,
            target,
            known: HashMap::new(),
            takes_many: true,
        }
    }

    async fn message(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let message = read_message(&self.target, topic, body, self.api.now())?;
        if message.is_empty() {
            return Err(invalid("the message holds no observation"));
        }
        for (topic, rows) in by_topic(&message) {
            if !self.known.contains_key(topic) {
                let (path, id) = datastream(&mut self.api, &message.row(rows[0])).await?;
                let known = Known {
                    path,
                    id,
                    feature: None,
                };
                self.known.insert(topic.to_owned(), known);
            }
        }
        // The first alone: it says whether a feature has to be named.
        self.one(&message.row(0)).await?;
        let rest = 1..message.len();
        if rest.len() > 1 && self.takes_many && !message.has_extras() {
            self.takes_many = self.at_once(&message, rest.clone()).await?;
            if self.takes_many {
                return Ok(());
            }
        }
        for row in rest {
            self.one(&message.row(row)).await?;
        }
        Ok(())
    }

    /// Posts one; where the Thing has no Location that its feature could be made of (18-088 section 8.2.8), one
    /// of the Thing's name is found or made.
    async fn one(&mut self, row: &Observation<'_>) -> io::Result<()> {
        let known = &self.known[row.topic];
        let path = format!("{}/Observations", known.path);
        let body = observation(row, known.feature.as_ref());
        let answered = self.api.post(&path, &body).await?;
        if answered.is_success() {
            return Ok(());
        }
        if answered.status != 400 || known.feature.is_some() {
            return Err(refused(&answered));
        }
        let feature = feature(&mut self.api, row).await?;
        let answered = self
            .api
            .post(&path, &observation(row, Some(&feature)))
            .await?;
        if !answered.is_success() {
            return Err(refused(&answered));
        }
        if let Some(known) = self.known.get_mut(row.topic) {
            known.feature = Some(feature);
        }
        Ok(())
    }

    /// `CreateObservations` (18-088 section 13.2); says whether the server has it.
    async fn at_once(&mut self, message: &Batch, which: Range<usize>) -> io::Result<bool> {
        let mut arrays = Vec::new();
        let count = which.len();
        for (topic, rows) in by_topic(message) {
            let known = &self.known[topic];
            let rows = rows.into_iter().filter(|row| which.contains(row));
            let rows = rows.map(|row| known.array(&message.row(row)));
            arrays.push(json!({
                "Datastream": {"@iot.id": known.id},
                "components": known.components(),
                "dataArray": rows.collect::<Vec<_>>(),
            }));
        }
        let answered = self.api.post("CreateObservations", &arrays.into()).await?;
        if matches!(answered.status, 404 | 405 | 501) {
            return Ok(false);
        }
        if !answered.is_success() {
            return Err(refused(&answered));
        }
        let told: Vec<String> = serde_json::from_slice(&answered.body)
            .map_err(|error| misspoken(format!("CreateObservations was answered by: {error}")))?;
        let failed = told.iter().filter(|url| url.starts_with("error")).count();
        match failed {
            0 => Ok(true),
            _ => Err(invalid(format!(
                "{failed} of {count} observations were not created"
            ))),
        }
    }
}

/// A Datastream that observations are posted to.
struct Known {
    path: String,
    id: Json,
    /// A link to what is named as feature of interest, where the server needs one.
    feature: Option<Json>,
}

impl Known {
    /// 18-088 table 27.
    fn components(&self) -> &'static [&'static str] {
        match self.feature {
            None => &["phenomenonTime", "result"],
            Some(_) => &["phenomenonTime", "result", "FeatureOfInterest/id"],
        }
    }

    fn array(&self, row: &Observation<'_>) -> Json {
        let feature = self.feature.as_ref().map(|link| link["@iot.id"].clone());
        let cells = [Some(time(row).into()), Some(result(row.value)), feature];
        cells.into_iter().flatten().collect()
    }
}

impl Publisher for Publishes {
    fn publish<'a>(
        &'a mut self,
        topic: &'a str,
        body: bytes::Bytes,
    ) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.message(topic, &body).await })
    }
}

/// An Observation (18-088 section 8.2.7).
fn observation(row: &Observation<'_>, feature: Option<&Json>) -> Json {
    let mut body = Map::new();
    body.insert("result".into(), result(row.value));
    body.insert("phenomenonTime".into(), time(row).into());
    let extra = &row.extra;
    let json = |text: &str| serde_json::from_str::<Json>(text).unwrap_or_else(|_| text.into());
    let members = [
        ("FeatureOfInterest", feature.cloned()),
        ("resultTime", extra.result_time.map(|at| instant(at).into())),
        (
            "validTime",
            extra.valid.map(|(from, to)| span(from, to).into()),
        ),
        ("resultQuality", extra.quality.map(json)),
        ("parameters", extra.parameters.map(json)),
    ];
    for (name, value) in members {
        body.extend(value.map(|value| (name.to_owned(), value)));
    }
    body.into()
}

fn time(row: &Observation<'_>) -> String {
    let begin = row.time.unwrap_or(Time::from_nanos(0));
    match row.extra.end {
        Some(end) => span(begin, end),
        None => instant(begin),
    }
}

fn span(from: Time, to: Time) -> String {
    format!("{}/{}", instant(from), instant(to))
}
