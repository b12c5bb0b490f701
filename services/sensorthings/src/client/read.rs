//! Messages out of Observations.

use super::api::{Api, key};
use super::datastreams::{level, topic_of};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io;
use weir_codec::Format;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Filter, Time, Value};
use weir_service::{Event, LocalFuture, Readings, Shelf, Subscriber, misspoken};

/// Observations of an answer.
const PAGE: &str = "1000";
/// What is asked of Datastreams.
const SELECT: &str = "@iot.id,name,properties,phenomenonTime,unitOfMeasurement";
const PROPERTY: &str = "ObservedProperty($select=name)";

/// Datastreams that are asked again and again.
pub(super) struct Reads {
    api: Api,
    filters: Vec<Filter>,
    /// Datastreams by their path, each with its topic.
    known: HashMap<String, (String, Json)>,
}

impl Reads {
    pub(super) fn new(api: Api, filters: Vec<Filter>) -> Self {
        Self {
            api,
            filters,
            known: HashMap::new(),
        }
    }

    async fn listed(&mut self) -> io::Result<Vec<Shelf>> {
        let options = [("$select", SELECT), ("$expand", PROPERTY), ("$top", PAGE)];
        let mut shelves = Vec::new();
        let all = self.api.all("Datastreams", &options).await?;
        for (topics, datastream) in topics(&all).into_iter().zip(all) {
            let (Some(key), Some(topics)) = (key(&datastream), topics) else {
                continue;
            };
            let wanted = |topic| self.filters.iter().any(|filter| filter.matches(topic));
            if topics.iter().any(|topic| wanted(topic)) {
                let id = format!("Datastreams{key}");
                let newest = datastream["phenomenonTime"].as_str().and_then(ends);
                let [topic, _] = topics;
                self.known.insert(id.clone(), (topic, datastream));
                shelves.push(Shelf { id, newest });
            }
        }
        Ok(shelves)
    }

    async fn newer(&mut self, shelf: &Shelf, after: Time) -> io::Result<Batch> {
        let filter = format!("phenomenonTime gt {after}");
        let options = [
            ("$filter", filter.as_str()),
            ("$orderby", "phenomenonTime asc"),
            ("$top", PAGE),
        ];
        let target = self
            .api
            .target(&format!("{}/Observations", shelf.id), &options);
        let page = self.api.get(&target).await?;
        let mut rows = BatchBuilder::new();
        let observations = page["value"].as_array();
        for observation in observations.into_iter().flatten() {
            let (topic, datastream) = &self.known[&shelf.id];
            row(observation, topic, datastream, &mut rows)?;
        }
        Ok(rows.finish())
    }
}

impl Readings for Reads {
    fn shelves(&mut self) -> LocalFuture<'_, io::Result<Vec<Shelf>>> {
        Box::pin(self.listed())
    }

    fn behind<'a>(
        &'a mut self,
        shelf: &'a Shelf,
        after: Time,
    ) -> LocalFuture<'a, io::Result<Batch>> {
        Box::pin(self.newer(shelf, after))
    }

    fn pause(&self) -> LocalFuture<'static, ()> {
        self.api.pause()
    }

    fn now(&self) -> Time {
        self.api.now()
    }
}

/// Observations as a server tells them, an event each, with cursors: weir does.
pub(super) struct Events {
    events: Box<dyn Subscriber>,
    filters: Vec<Filter>,
    format: &'static Format,
}

impl Events {
    /// `None` where the server has no events.
    pub(super) async fn open(
        api: &mut Api,
        filters: &[Filter],
        since: Option<&str>,
        format: &'static Format,
    ) -> io::Result<Option<Self>> {
        let expand =
            format!("Datastream($select=name,properties,unitOfMeasurement;$expand={PROPERTY})");
        let mut options = vec![("$expand", expand.as_str())];
        options.extend(since.map(|since| ("since", since)));
        let target = api.target("Observations", &options);
        let events = api.web.events(&target).await?;
        Ok(events.map(|events| Self {
            events,
            filters: filters.to_vec(),
            format,
        }))
    }

    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            let (text, cursor) = match self.events.next().await? {
                Some(Event::Message(text, cursor)) => (text, cursor),
                other => return Ok(other),
            };
            let observation: Json = serde_json::from_slice(&text)
                .map_err(|error| misspoken(format!("an event is no JSON: {error}")))?;
            if let Some(message) = self.message(&observation)? {
                return Ok(Some(Event::Message(message.into(), cursor)));
            }
            if let Some(cursor) = cursor {
                return Ok(Some(Event::Position(cursor)));
            }
        }
    }

    /// The observation as a message, where its topic is wanted.
    fn message(&self, observation: &Json) -> io::Result<Option<Vec<u8>>> {
        let datastream = &observation["Datastream"];
        let topic = topic_of(datastream).unwrap_or_default();
        if !self.filters.iter().any(|filter| filter.matches(&topic)) {
            return Ok(None);
        }
        let mut rows = BatchBuilder::new();
        row(observation, &topic, datastream, &mut rows)?;
        let mut message = Vec::new();
        (self.format.encode)(&rows.finish(), &mut message);
        Ok(Some(message))
    }
}

impl Subscriber for Events {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(Events::next(self))
    }
}

/// The topic of each Datastream, and what it is called: where several are called the same, as the temperatures
/// of two Things may be, its topic is that and its identifier.
fn topics(datastreams: &[Json]) -> Vec<Option<[String; 2]>> {
    let called: Vec<_> = datastreams.iter().map(topic_of).collect();
    let mut often: HashMap<&str, usize> = HashMap::new();
    let names = called.iter().flatten();
    names.for_each(|name| *often.entry(name).or_default() += 1);
    let topic = |(name, datastream): (&Option<String>, &Json)| {
        let name = name.clone()?;
        let id = match &datastream["@iot.id"] {
            Json::String(id) => level(id),
            id => id.to_string(),
        };
        match often[name.as_str()] {
            1 => Some([name.clone(), name]),
            _ => Some([format!("{name}/{id}"), name]),
        }
    };
    called.iter().zip(datastreams).map(topic).collect()
}

/// Adds an Observation of a Datastream.
fn row(
    observation: &Json,
    topic: &str,
    datastream: &Json,
    rows: &mut BatchBuilder,
) -> io::Result<()> {
    rows.begin();
    rows.topic(Naming::Topic, topic);
    let property = datastream["ObservedProperty"]["name"].as_str();
    property.into_iter().for_each(|name| rows.property(name));
    let unit = datastream["unitOfMeasurement"]["symbol"].as_str();
    unit.into_iter().for_each(|unit| rows.unit(unit));
    let mut text = String::new();
    rows.value(match &observation["result"] {
        Json::Number(number) => crate::message::number_of(number, &mut text),
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text),
        Json::Null => Value::Null,
        other => {
            text = other.to_string();
            Value::Json(&text)
        }
    });
    let (begin, end) = times(&observation["phenomenonTime"]);
    begin.into_iter().for_each(|time| rows.time(time));
    let result_time = observation["resultTime"].as_str();
    let (quality, parameters) = (
        own(observation, "resultQuality"),
        own(observation, "parameters"),
    );
    rows.extra(Extra {
        end,
        result_time: result_time.and_then(|text| text.parse().ok()),
        valid: match times(&observation["validTime"]) {
            (Some(from), Some(to)) => Some((from, to)),
            _ => None,
        },
        quality: quality.as_deref(),
        feature: None,
        parameters: parameters.as_deref(),
    });
    rows.end().map_err(|error| misspoken(error.to_string()))
}

/// A member as compact text, a text as it is; empty objects say nothing.
fn own(observation: &Json, name: &str) -> Option<String> {
    match &observation[name] {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Object(members) if members.is_empty() => None,
        other => Some(other.to_string()),
    }
}

/// An instant, or the begin and end of an interval (ISO 8601 with a solidus).
fn times(text: &Json) -> (Option<Time>, Option<Time>) {
    let text = text.as_str().unwrap_or_default();
    match text.split_once('/') {
        Some((begin, end)) => (begin.parse().ok(), end.parse().ok()),
        None => (text.parse().ok(), None),
    }
}

/// When an interval ends.
fn ends(text: &str) -> Option<Time> {
    text.rsplit('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn an_observation_is_a_row_at_the_topic_of_its_datastream() {
        let datastream = json!({
            "name": "Air", "properties": {"topic": "kitchen/temp"},
            "unitOfMeasurement": {"symbol": "Cel"}, "ObservedProperty": {"name": "temperature"},
        });
        let observation = json!({
            "result": [1, 2], "resultTime": null, "parameters": {},
            "phenomenonTime": "2026-11-20T09:00:00Z/2026-11-20T10:00:00Z",
        });
        let mut rows = BatchBuilder::new();
        row(&observation, "kitchen/temp", &datastream, &mut rows).unwrap();
        let batch = rows.finish();
        let row = batch.row(0);
        assert_eq!((row.topic, row.unit), ("kitchen/temp", Some("Cel")));
        assert_eq!(row.property, Some("temperature"));
        assert_eq!(row.value, Value::Json("[1,2]"));
        assert_eq!(row.extra.end, Some("2026-11-20T10:00:00Z".parse().unwrap()));
        assert_eq!(row.extra.parameters, None);
    }

    #[test]
    fn datastreams_that_are_called_the_same_are_kept_apart() {
        let all = [
            json!({"@iot.id": 1, "name": "Air"}),
            json!({"@iot.id": "a/b", "name": "Air"}),
            json!({"@iot.id": 3, "name": "Air", "properties": {"topic": "kitchen/air"}}),
            json!({"@iot.id": 4, "name": "Water"}),
            json!({"@iot.id": 5}),
        ];
        let topics = topics(&all);
        let told: Vec<_> = topics
            .iter()
            .flatten()
            .map(|[topic, name]| (&**topic, &**name))
            .collect();
        let expected = [
            ("Air/1", "Air"),
            ("Air/a%2Fb", "Air"),
            ("kitchen/air", "kitchen/air"),
            ("Water", "Water"),
        ];
        assert_eq!(told, expected);
        assert!(topics[4].is_none());
    }

    #[test]
    fn a_datastream_without_a_topic_is_called_by_its_name() {
        let topic = |datastream: Json| topic_of(&datastream);
        assert_eq!(
            topic(json!({"name": "Air +1"})).as_deref(),
            Some("Air %2B1")
        );
        assert_eq!(topic(json!({})), None);
        assert_eq!(
            ends("2026-11-20T09:00:00Z/2026-11-20T10:00:00Z"),
            "2026-11-20T10:00:00Z".parse().ok()
        );
    }
}
