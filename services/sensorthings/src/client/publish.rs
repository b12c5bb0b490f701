//! Observations out of messages.

use super::api::{Api, refused};
use super::datastreams::{datastream, feature};
use super::meant::Says;
use crate::values::{instant, result};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use weir_model::{Batch, BatchBuilder, Observation, Time};
use weir_service::{LocalFuture, Publisher, Target, by_topic, invalid, misspoken, read_message};

/// Features whose links are kept; of others it is asked again.
const FEATURES_MAX: usize = 10_000;

/// Publishes messages.
pub(super) struct Publishes {
    api: Api,
    target: Target,
    /// The Datastreams of topics.
    known: HashMap<String, Known>,
    /// Links to the features that observations named, by their names.
    features: HashMap<String, Json>,
    /// Whether the server has `CreateObservations`, as far as is known.
    takes_many: bool,
}

impl Publishes {
    pub(super) fn new(api: Api, target: Target) -> Self {
        Self {
            api,
            target,
            known: HashMap::new(),
            features: HashMap::new(),
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
                let (path, id, says) = datastream(&mut self.api, &message.row(rows[0])).await?;
                let known = Known {
                    path,
                    id,
                    says,
                    feature: None,
                };
                self.known.insert(topic.to_owned(), known);
            }
        }
        let message = &self.as_told(&message)?;
        // The first alone: it says whether a feature has to be named.
        self.one(&message.row(0)).await?;
        let rest = 1..message.len();
        if rest.len() > 1 && self.takes_many && !message.has_extras() {
            self.takes_many = self.at_once(message, rest.clone()).await?;
            if self.takes_many {
                return Ok(());
            }
        }
        for row in rest {
            self.one(&message.row(row)).await?;
        }
        Ok(())
    }

    /// The message with its results as the Datastreams tell them: nothing of it is posted where one cannot be told.
    fn as_told(&self, message: &Batch) -> io::Result<Batch> {
        let mut told = BatchBuilder::new();
        for (index, row) in message.rows().enumerate() {
            let of_many = |error: io::Error| match message.len() {
                1 => error,
                _ => invalid(format!("observation {}: {error}", index + 1)),
            };
            let value = self.known[row.topic].says.result(&row).map_err(of_many)?;
            let told = told.push(&Observation { value, ..row });
            told.map_err(|error| of_many(invalid(error.to_string())))?;
        }
        Ok(told.finish())
    }

    /// Posts one; where the Thing has no Location that its feature could be made of (18-088 section 8.2.8), one
    /// of the Thing's name is found or made.
    async fn one(&mut self, row: &Observation<'_>) -> io::Result<()> {
        let feature_is = match row.extra.feature {
            Some(_) => Some(self.feature_named(row).await?),
            None => self.known[row.topic].feature.clone(),
        };
        let path = format!("{}/Observations", self.known[row.topic].path);
        let body = observation(row, feature_is.as_ref());
        let answered = self.api.post(&path, &body).await?;
        if answered.is_success() {
            return Ok(());
        }
        if answered.status != 400 || feature_is.is_some() {
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

    /// A link to the feature that an observation names.
    async fn feature_named(&mut self, row: &Observation<'_>) -> io::Result<Json> {
        let name = row.extra.feature.unwrap_or_default();
        if let Some(known) = self.features.get(name) {
            return Ok(known.clone());
        }
        let link = feature(&mut self.api, row).await?;
        if self.features.len() < FEATURES_MAX {
            self.features.insert(name.to_owned(), link.clone());
        }
        Ok(link)
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
    /// What it says of each of its observations.
    says: Says,
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
