//! What is offered: the hub's catalog in the words of the service.
//!
//! A datastream whose sensor is not known is of the procedure `urn:weir:procedure:` with the topic that
//! its own lies under, and its last level is the property; so that what publishes `kitchen/temperature`
//! appears as procedure `urn:weir:procedure:kitchen` observing `temperature`.

use crate::exception::Exception;
use crate::sensors::fingerprint;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_hub::{Entry, Exchange, Hub, Principal, Request};
use weir_model::topic::thing_and_property;
use weir_model::{Filter, Place, Time, Value, percent};

/// One datastream.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) topic: Arc<str>,
    pub(crate) procedure: String,
    pub(crate) property: String,
    pub(crate) unit: Option<String>,
    pub(crate) feature: String,
    pub(crate) place: Option<Place>,
    pub(crate) last: Option<Time>,
    /// The type of its last observation.
    pub(crate) class: &'static str,
}

/// All that a principal may read.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// By topic.
    pub(crate) series: Vec<Series>,
}

/// An offering: what one procedure observes.
#[derive(Debug)]
pub(crate) struct Offering<'a> {
    pub(crate) id: String,
    pub(crate) procedure: &'a str,
    pub(crate) series: Vec<&'a Series>,
}

const PROCEDURE: &str = "urn:weir:procedure:";
const FEATURE: &str = "urn:weir:feature:";
/// Ends the identifier of the offering of a procedure.
const OFFERING: &str = "/observations";

impl Inventory {
    /// Reads the catalog.
    pub(crate) fn read(
        hub: &Arc<Hub>,
        now: Time,
        principal: &Principal,
    ) -> Result<Self, Exception> {
        let all = Filter::parse("#").into_iter().collect();
        let Exchange::Entries(entries) = hub.open(now, principal, Request::Describe(all))? else {
            return Err(Exception::internal("the hub answered something else"));
        };
        let offered = entries.iter().filter(|entry| is_offered(entry));
        Ok(Self {
            series: offered.map(series).collect(),
        })
    }

    /// Changes whenever what is offered does, and with nothing else: it is the same after a restart.
    pub(crate) fn sequence(&self) -> String {
        let mut offered = String::new();
        for own in &self.series {
            let unit = own.unit.as_deref().unwrap_or_default();
            let names = [&*own.topic, &own.procedure, &own.property, &own.feature];
            for part in names.into_iter().chain([unit, own.class]) {
                offered.push_str(part);
                offered.push('\n');
            }
            if let Some(place) = own.place {
                offered.push_str(&format!("{} {}\n", place.latitude, place.longitude));
            }
        }
        format!("{:016x}", fingerprint(&offered))
    }

    /// The offerings, by procedure.
    pub(crate) fn offerings(&self) -> Vec<Offering<'_>> {
        let mut by_procedure: BTreeMap<&str, Vec<&Series>> = BTreeMap::new();
        for series in &self.series {
            by_procedure
                .entry(&series.procedure)
                .or_default()
                .push(series);
        }
        let made = by_procedure.into_iter();
        made.map(|(procedure, series)| Offering {
            id: offering_of(procedure),
            procedure,
            series,
        })
        .collect()
    }

    /// The first datastream of a procedure and a property.
    pub(crate) fn of_names(&self, procedure: &str, property: &str) -> Option<&Series> {
        let mut all = self.series.iter();
        all.find(|own| own.procedure == procedure && own.property == property)
    }

    /// The datastream of a topic.
    pub(crate) fn of_topic(&self, topic: &str) -> Option<&Series> {
        let found = self.series.binary_search_by(|own| (*own.topic).cmp(topic));
        found.ok().map(|index| &self.series[index])
    }
}

impl Offering<'_> {
    /// What it observes, each once.
    pub(crate) fn properties(&self) -> Vec<&str> {
        distinct(self.series.iter().map(|series| series.property.as_str()))
    }

    /// What it observes that of, each once.
    pub(crate) fn features(&self) -> Vec<&str> {
        distinct(self.series.iter().map(|series| series.feature.as_str()))
    }
}

/// Sorted, each once.
pub(crate) fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The offering of a procedure.
pub(crate) fn offering_of(procedure: &str) -> String {
    format!("{procedure}{OFFERING}")
}

/// The topic of a datastream that this service brings into being; bijective.
pub(crate) fn topic_of(procedure: &str, property: &str) -> String {
    let level = |id: &str| percent::encode(id, b":.-_~");
    format!("sos/{}/{}", level(procedure), level(property))
}

/// Bytes that are no message have no observations.
fn is_offered(entry: &Entry) -> bool {
    let described = entry.datastream.sensor.is_some() || entry.datastream.property.is_some();
    entry.last.is_some() || described || entry.opaque.is_none()
}

fn series(entry: &Entry) -> Series {
    let datastream = &entry.datastream;
    let (above, level) = thing_and_property(&entry.topic);
    let text = |own: &Option<Box<str>>, other: String| match own {
        Some(own) => own.to_string(),
        None => other,
    };
    let about = datastream.about.as_deref();
    let about = about.and_then(|about| serde_json::from_str::<serde_json::Value>(about).ok());
    let said = about
        .as_ref()
        .and_then(|about| about["FeatureOfInterest"].as_str());
    let feature = match datastream.place {
        Some(_) => &entry.topic,
        None => above,
    };
    Series {
        topic: entry.topic.clone(),
        procedure: text(&datastream.sensor, format!("{PROCEDURE}{above}")),
        property: text(&datastream.property, level.to_owned()),
        unit: datastream.unit.as_deref().map(str::to_owned),
        feature: said.map_or_else(|| format!("{FEATURE}{feature}"), str::to_owned),
        place: datastream.place,
        last: entry.last.as_ref().map(|last| last.time),
        class: class(entry),
    }
}

/// OGC's type of what was observed last.
fn class(entry: &Entry) -> &'static str {
    let types = crate::names::OBSERVATION_TYPES;
    let last = entry.last.as_ref().map(|last| last.value());
    match last {
        Some(Value::Number(_)) if entry.datastream.unit.is_some() => types[0],
        Some(Value::Bool(_)) => types[1],
        Some(Value::Text(_)) => types[2],
        None if entry.datastream.unit.is_some() => types[0],
        _ => types[3],
    }
}
