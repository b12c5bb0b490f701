//! Sensors and observations out of messages.

use super::{Offering, PREFIXES, Server};
use crate::named::{FEATURE, PROCEDURE};
use crate::names::{OBSERVATION_TYPES, SAMPLING_POINT, SML20};
use std::collections::HashMap;
use std::io;
use weir_codec::document::Xml;
use weir_codec::{Placement, write_observations};
use weir_model::topic::thing_and_property;
use weir_model::{Batch, BatchBuilder, Observation};
use weir_service::{LocalFuture, Publisher, Target, invalid, misspoken, read_message};

/// Publishes messages.
pub(super) struct Publishes {
    server: Server,
    target: Target,
    /// The offerings of procedures.
    known: HashMap<String, String>,
}

impl Publishes {
    pub(super) fn new(server: Server, target: Target, offerings: &[Offering]) -> Self {
        let known = offerings.iter();
        let known = known.map(|one| (one.procedure.clone(), one.id.clone()));
        Self {
            server,
            target,
            known: known.collect(),
        }
    }

    async fn message(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let message = read_message(&self.target, topic, body, self.server.web.now())?;
        if message.is_empty() {
            return Err(invalid("the message holds no observation"));
        }
        for (procedure, rows) in by_procedure(&message)? {
            let offering = match self.known.get(&procedure) {
                Some(offering) => offering.clone(),
                None => self.register(&procedure, &rows).await?,
            };
            let document = insert_observation(&offering, &rows);
            self.server.post("InsertObservation", document).await?;
        }
        Ok(())
    }

    /// Inserts the sensor (OGC 12-006 section 11.1); the offering that it is assigned.
    async fn register(&mut self, procedure: &str, rows: &Batch) -> io::Result<String> {
        let document = insert_sensor(procedure, rows);
        let answer = self.server.post("InsertSensor", document).await?;
        let assigned = answer.child("assignedOffering");
        let offering = assigned.ok_or_else(|| misspoken("InsertSensor assigned no offering"))?;
        let offering = offering.text();
        self.known.insert(procedure.to_owned(), offering.clone());
        Ok(offering)
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

/// Procedure and observed property of a row.
fn names(row: &Observation<'_>) -> (String, String) {
    match (row.sensor, row.property) {
        (Some(sensor), Some(property)) => (sensor.to_owned(), property.to_owned()),
        _ => {
            let (above, level) = thing_and_property(row.topic);
            (format!("{PROCEDURE}{above}"), level.to_owned())
        }
    }
}

/// The rows of each procedure, named by it and by the property, with result times: servers want them.
fn by_procedure(message: &Batch) -> io::Result<Vec<(String, Batch)>> {
    let mut all: Vec<(String, BatchBuilder)> = Vec::new();
    for mut row in message.rows() {
        let (procedure, property) = names(&row);
        row.sensor = Some(procedure.as_str());
        row.property = Some(property.as_str());
        row.extra.result_time = row.extra.result_time.or(row.time);
        let at = all.iter().position(|(known, _)| *known == procedure);
        let at = at.unwrap_or_else(|| {
            all.push((procedure.clone(), BatchBuilder::new()));
            all.len() - 1
        });
        let pushed = all[at].1.push(&row);
        pushed.map_err(|error| invalid(error.to_string()))?;
    }
    let batch = |(procedure, mut rows): (String, BatchBuilder)| (procedure, rows.finish());
    Ok(all.into_iter().map(batch).collect())
}

fn begun(operation: &str) -> Xml {
    let mut xml = Xml::new();
    xml.start(operation).prefixes(PREFIXES);
    xml.attribute("service", "SOS")
        .attribute("version", "2.0.0");
    xml
}

fn insert_sensor(procedure: &str, rows: &Batch) -> String {
    let mut properties = Vec::new();
    for index in 0..rows.stream_count() {
        let property = rows.stream(index).property.unwrap_or_default();
        if !properties.contains(&property) {
            properties.push(property);
        }
    }
    let mut xml = begun("swes:InsertSensor");
    xml.leaf("swes:procedureDescriptionFormat", SML20);
    xml.start("swes:procedureDescription")
        .start("sml:PhysicalSystem")
        .attribute("gml:id", "sensor");
    xml.start("gml:identifier")
        .attribute("codeSpace", "uniqueID")
        .text(procedure);
    xml.end().end().end();
    xml.leaves("swes:observableProperty", properties);
    xml.start("swes:metadata").start("sos:SosInsertionMetadata");
    xml.leaves("sos:observationType", OBSERVATION_TYPES);
    xml.leaf("sos:featureOfInterestType", SAMPLING_POINT);
    xml.finish()
}

fn insert_observation(offering: &str, rows: &Batch) -> String {
    let feature = |index| {
        let (above, _) = thing_and_property(rows.stream(index).topic);
        format!("{FEATURE}{above}")
    };
    let features: Vec<String> = (0..rows.stream_count()).map(feature).collect();
    let placement = Placement {
        rows: 0..rows.len(),
        first: 0,
        before: "<sos:observation>",
        after: "</sos:observation>",
        features: &features,
        ordinals: &[],
    };
    let mut observations = Vec::new();
    write_observations(rows, &placement, &mut observations);
    let mut xml = begun("sos:InsertObservation");
    xml.leaf("sos:offering", offering);
    xml.raw(&String::from_utf8_lossy(&observations));
    xml.finish()
}
