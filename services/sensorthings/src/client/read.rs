//! Messages out of Observations that are asked for.

use super::api::{Api, key};
use super::datastreams::{MEANT, topics};
use super::row::{FEATURE, row, times};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io;
use weir_model::{Batch, BatchBuilder, Filter, Time};
use weir_service::{LocalFuture, Readings, Shelf};

/// Observations of an answer.
const PAGE: &str = "1000";
/// What is asked of Datastreams.
const SELECT: &str = "@iot.id,name,properties,phenomenonTime,unitOfMeasurement";

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
        let options = [("$select", SELECT), ("$expand", MEANT), ("$top", PAGE)];
        let mut shelves = Vec::new();
        let all = self.api.all("Datastreams", &options).await?;
        for (topics, datastream) in topics(&all).into_iter().zip(all) {
            let (Some(key), Some(topics)) = (key(&datastream), topics) else {
                continue;
            };
            let wanted = |topic| self.filters.iter().any(|filter| filter.matches(topic));
            if topics.iter().any(|topic| wanted(topic)) {
                let id = format!("Datastreams{key}");
                let spanned = times(&datastream, "phenomenonTime")?;
                let newest = spanned.map(|(begin, end)| end.unwrap_or(begin));
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
            ("$expand", FEATURE),
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
