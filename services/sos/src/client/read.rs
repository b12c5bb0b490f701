//! Messages out of observations.

use super::{Offering, Server};
use crate::identifiers::topic_of;
use crate::named::{FEATURE, PROCEDURE};
use std::collections::HashMap;
use std::io;
use std::time::Duration;
use weir_codec::by_name;
use weir_model::batch::Naming;
use weir_model::topic::thing_and_property;
use weir_model::{Batch, BatchBuilder, Filter, Limits, Observation, Time};
use weir_service::{LocalFuture, Readings, Shelf, misspoken};

/// Between two polls.
const POLL_TIME: Duration = Duration::from_secs(2);
/// Behind every observation that is asked for.
const END: &str = "2200-01-01T00:00:00Z";
/// Before every one: XML Schema's years have four digits.
const BEGIN_NANOS: i64 = 0;

/// Offerings that are asked again and again.
pub(super) struct Reads {
    server: Server,
    filters: Vec<Filter>,
    known: HashMap<String, Offering>,
}

impl Reads {
    pub(super) fn new(server: Server, filters: Vec<Filter>) -> Self {
        Self {
            server,
            filters,
            known: HashMap::new(),
        }
    }

    async fn listed(&mut self) -> io::Result<Vec<Shelf>> {
        let mut shelves = Vec::new();
        for mut offering in self.server.offerings().await? {
            offering.properties = offering.wanted(&self.filters);
            if !offering.properties.is_empty() {
                shelves.push(Shelf {
                    id: offering.id.clone(),
                    newest: offering.newest,
                });
                self.known.insert(offering.id.clone(), offering);
            }
        }
        Ok(shelves)
    }

    /// `during` leaves out its ends (OGC 09-026r1 table 6), so it begins where the mark is.
    async fn newer(&mut self, shelf: &Shelf, after: Time) -> io::Result<Batch> {
        let offering = &self.known[&shelf.id];
        let after = after.max(Time::from_nanos(BEGIN_NANOS));
        let during = format!("om:phenomenonTime,{after}/{END}");
        let properties = offering.properties.join(",");
        let pairs = [
            ("version", "2.0.0"),
            ("offering", &offering.id),
            ("observedProperty", &properties),
            ("temporalFilter", &during),
            ("namespaces", "xmlns(om,http://www.opengis.net/om/2.0)"),
        ];
        let answered = self.server.get("GetObservation", &pairs).await?;
        let om = by_name("om").ok_or_else(|| misspoken("this build has no O&M"))?;
        let mut rows = BatchBuilder::new();
        (om.decode)(&answered.body, &mut rows, &Limits::default())
            .map_err(|error| misspoken(format!("GetObservation: {error}")))?;
        by_time(&rows.finish(), &self.filters)
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
        self.server.web.pause(POLL_TIME)
    }

    fn now(&self) -> Time {
        self.server.web.now()
    }
}

/// The observations that are wanted, at their topics and in the order of their times.
fn by_time(got: &Batch, filters: &[Filter]) -> io::Result<Batch> {
    let mut order: Vec<usize> = (0..got.len()).collect();
    order.sort_by_key(|&row| got.time(row));
    let mut rows = BatchBuilder::new();
    for row in order {
        let row = got.row(row);
        let (Some(procedure), Some(property)) = (row.sensor, row.property) else {
            continue;
        };
        let topic = topic_of(procedure, property);
        if filters.iter().any(|filter| filter.matches(&topic)) {
            let pushed = rows.push(&at_topic(row, &topic));
            pushed.map_err(|error| misspoken(error.to_string()))?;
        }
    }
    Ok(rows.finish())
}

/// What the topic says already is not said again.
fn at_topic<'a>(mut row: Observation<'a>, topic: &'a str) -> Observation<'a> {
    let (above, level) = thing_and_property(topic);
    let is_topics = |uri: &str| uri.strip_prefix(PROCEDURE) == Some(above);
    if row.sensor.is_some_and(is_topics) {
        row.sensor = None;
        row.property = row.property.filter(|property| *property != level);
    }
    let feature = row.extra.feature;
    row.extra.feature = feature.filter(|uri| uri.strip_prefix(FEATURE) != Some(above));
    row.extra.result_time = row.extra.result_time.filter(|at| Some(*at) != row.time);
    (row.naming, row.topic) = (Naming::Topic, topic);
    row
}
