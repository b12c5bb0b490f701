//! Observations as they come, told by the server.

use super::api::Api;
use super::datastreams::{MEANT, called, topics};
use super::row::{FEATURE, row};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io;
use weir_codec::Format;
use weir_model::{BatchBuilder, Filter};
use weir_service::{Event, LocalFuture, Subscriber, misspoken};

/// Observations as a server tells them, an event each, with cursors: weir does.
pub(super) struct Events {
    events: Box<dyn Subscriber>,
    filters: Vec<Filter>,
    format: &'static Format,
    datastreams: Datastreams,
}

/// The Datastreams of a server, each with its topic and what it is called.
struct Datastreams {
    api: Api,
    topics: HashMap<String, [String; 2]>,
}

impl Events {
    /// Follows them; `None` where the server has no events.
    pub(super) async fn begin(
        api: &mut Api,
        since: Option<&str>,
    ) -> io::Result<Option<Box<dyn Subscriber>>> {
        let expand = format!(
            "Datastream($select=@iot.id,name,properties,unitOfMeasurement;$expand={MEANT}),{FEATURE}"
        );
        let mut options = vec![("$expand", expand.as_str())];
        options.extend(since.map(|since| ("since", since)));
        let target = api.target("Observations", &options);
        api.web.events(&target).await
    }

    /// What follows them, as messages.
    pub(super) async fn of(
        api: Api,
        events: Box<dyn Subscriber>,
        filters: Vec<Filter>,
        format: &'static Format,
    ) -> io::Result<Self> {
        let topics = HashMap::new();
        let mut datastreams = Datastreams { api, topics };
        datastreams.list(None).await?;
        Ok(Self {
            events,
            filters,
            format,
            datastreams,
        })
    }

    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            let (text, cursor) = match self.events.next().await? {
                Some(Event::Message(text, cursor)) => (text, cursor),
                other => return Ok(other),
            };
            let observation: Json = serde_json::from_slice(&text)
                .map_err(|error| misspoken(format!("an event is no JSON: {error}")))?;
            if let Some(message) = self.message(&observation).await? {
                return Ok(Some(Event::Message(message.into(), cursor)));
            }
            if let Some(cursor) = cursor {
                return Ok(Some(Event::Position(cursor)));
            }
        }
    }

    /// The observation as a message, where its topic is wanted.
    async fn message(&mut self, observation: &Json) -> io::Result<Option<Vec<u8>>> {
        let datastream = &observation["Datastream"];
        let Some(topics) = self.datastreams.topics_of(datastream).await? else {
            return Ok(None);
        };
        let wanted = |topic: &String| self.filters.iter().any(|filter| filter.matches(topic));
        if !topics.iter().any(wanted) {
            return Ok(None);
        }
        let mut rows = BatchBuilder::new();
        row(observation, &topics[0], datastream, &mut rows)?;
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

impl Datastreams {
    /// The topic of a Datastream and what it is called. One that was not there before is looked for: there may be
    /// several now that are called the same.
    async fn topics_of(&mut self, datastream: &Json) -> io::Result<Option<&[String; 2]>> {
        let Some(name) = called(datastream).filter(|_| !datastream["@iot.id"].is_null()) else {
            return Ok(None);
        };
        let id = datastream["@iot.id"].to_string();
        if self.topics.get(&id).is_none_or(|[_, known]| *known != name) {
            self.list(Some(datastream)).await?;
        }
        Ok(self.topics.get(&id))
    }

    /// Learns which there are, and one that the server does not list any more.
    async fn list(&mut self, told: Option<&Json>) -> io::Result<()> {
        let options = [("$select", "@iot.id,name,properties"), ("$top", "1000")];
        let mut all = self.api.all("Datastreams", &options).await?;
        let is_it = |one: &Json| told.is_some_and(|told| told["@iot.id"] == one["@iot.id"]);
        if !all.iter().any(is_it) {
            all.extend(told.cloned());
        }
        let each = topics(&all).into_iter().zip(&all);
        let known = each.filter_map(|(topics, one)| Some((one["@iot.id"].to_string(), topics?)));
        self.topics = known.collect();
        Ok(())
    }
}
