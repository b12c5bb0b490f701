//! What datastreams are called here: each by every procedure and property that its descriptions name.
//!
//! A datastream whose sensor is not known is of the procedure `urn:weir:procedure:` with the topic that
//! its own lies under, and its last level is the property; so that what publishes `kitchen/temperature`
//! appears as procedure `urn:weir:procedure:kitchen` observing `temperature`. One whose sensor was replaced is there
//! twice, and each has what was observed by it.

use crate::records;
use std::sync::Arc;
use weir_hub::units::Conversion;
use weir_hub::{Entry, Made};
use weir_model::topic::thing_and_property;
use weir_model::{Datastream, Described, Place, Time};

pub(crate) const PROCEDURE: &str = "urn:weir:procedure:";
pub(crate) const FEATURE: &str = "urn:weir:feature:";

/// What one datastream is called under those of its descriptions that name one procedure and one property.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) topic: Arc<str>,
    pub(crate) procedure: String,
    pub(crate) property: String,
    /// That of the newest of these descriptions.
    pub(crate) unit: Option<String>,
    /// What observations are of that name no feature, where no thing says where it was.
    pub(crate) feature: String,
    /// The thing that it is a datastream of, as SensorThings identifies it.
    pub(crate) thing: String,
    pub(crate) place: Option<Place>,
    /// What is told apart where the datastream has several descriptions.
    versions: Option<Box<Versions>>,
}

/// The descriptions of a datastream that name one procedure and one property.
#[derive(Clone, Debug, Default)]
struct Versions {
    /// Their numbers; none where they are all that it has.
    under: Vec<u8>,
    /// Whether the newest of all is among them.
    is_newest: bool,
    held: Vec<Held>,
    /// Their units but for the newest one.
    units: Vec<String>,
}

/// While a description held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// From the beginning where there is none.
    pub(crate) from: Option<Time>,
    /// Until now where there is none.
    pub(crate) until: Option<Time>,
    pub(crate) unit: Option<String>,
}

impl Held {
    /// Whether it held at any time from the one on up to the other.
    pub(crate) fn is_in(&self, (from, until): (Option<Time>, Option<Time>)) -> bool {
        let begins_before = self.from.zip(until).is_none_or(|(own, end)| own < end);
        begins_before && self.until.zip(from).is_none_or(|(own, begin)| begin < own)
    }
}

impl Named {
    /// The numbers of its descriptions; none where these are all that the datastream has.
    pub(crate) fn under(&self) -> &[u8] {
        self.versions.as_ref().map_or(&[], |own| &own.under)
    }

    /// Whether the datastream has observations that are called otherwise.
    pub(crate) fn is_part(&self) -> bool {
        !self.under().is_empty()
    }

    /// Whether an observation that was made under a description is called so.
    pub(crate) fn has(&self, description: u8) -> bool {
        !self.is_part() || self.under().contains(&description)
    }

    /// Its observations.
    pub(crate) fn made(&self) -> Made {
        Made {
            topic: self.topic.to_string(),
            under: self.under().to_vec(),
        }
    }

    /// Whether it is what the datastream is now.
    pub(crate) fn is_newest(&self) -> bool {
        self.versions.as_ref().is_none_or(|own| own.is_newest)
    }

    /// When it was so, with the units of then, by time.
    pub(crate) fn held(&self) -> Vec<Held> {
        let always = || Held {
            from: None,
            until: None,
            unit: self.unit.clone(),
        };
        let versions = self.versions.as_ref();
        versions.map_or_else(|| vec![always()], |own| own.held.clone())
    }

    /// A unit of its observations whose numbers cannot be given in its own.
    pub(crate) fn other_unit(&self) -> Option<&str> {
        let (own, versions) = (self.unit.as_deref()?, self.versions.as_ref()?);
        let mut units = versions.units.iter();
        let other = units.find(|unit| Conversion::between(unit, own).is_none());
        other.map(String::as_str)
    }

    /// The same in the unit of another time.
    pub(crate) fn in_unit(&self, unit: Option<String>) -> Self {
        Self {
            unit,
            ..self.clone()
        }
    }
}

/// Bytes that are no message have no observations.
pub(crate) fn is_offered(entry: &Entry) -> bool {
    let described = entry.datastream.sensor.is_some() || entry.datastream.property.is_some();
    entry.last.is_some() || described || entry.opaque.is_none()
}

/// What a datastream of the hub's catalog is called: what it is now, and what it was before.
pub(crate) fn named(entry: &Entry) -> Vec<Named> {
    let datastream = &entry.datastream;
    let first = called(entry, datastream.says());
    if datastream.descriptions.is_empty() {
        return vec![first];
    }
    let mut all: Vec<(Named, Vec<u8>)> = vec![(first, Vec::new())];
    for (number, description) in datastream.descriptions.iter().enumerate() {
        let own = called(entry, description.says());
        let number = number as u8;
        let same = |(other, _): &&mut (Named, Vec<u8>)| {
            (&other.procedure, &other.property) == (&own.procedure, &own.property)
        };
        match all.iter_mut().find(same) {
            Some((_, numbers)) => numbers.push(number),
            None => all.push((own, vec![number])),
        }
    }
    all.retain(|(_, numbers)| !numbers.is_empty());
    let timeline = datastream.timeline();
    let is_one = all.len() == 1;
    let told = all.into_iter().map(|(mut named, numbers)| {
        named.versions = Some(Box::new(versions(datastream, &timeline, &numbers)));
        named.unit = newest_unit(datastream, &timeline, &numbers);
        if let Some(versions) = &mut named.versions {
            versions
                .units
                .retain(|unit| Some(unit) != named.unit.as_ref());
            if is_one {
                versions.under.clear();
            }
        }
        named
    });
    told.collect()
}

fn called(entry: &Entry, says: Described<'_>) -> Named {
    let datastream = &entry.datastream;
    let (above, level) = thing_and_property(&entry.topic);
    let about = datastream.about.as_deref();
    let about = about.and_then(|about| serde_json::from_str::<serde_json::Value>(about).ok());
    let about = about.unwrap_or_default();
    let said = records::id_of(&about["FeatureOfInterest"]);
    let feature = match datastream.place {
        Some(_) => &entry.topic,
        None => above,
    };
    Named {
        topic: entry.topic.clone(),
        procedure: match says.sensor {
            Some(sensor) => sensor.to_owned(),
            None => format!("{PROCEDURE}{above}"),
        },
        property: says.property.unwrap_or(level).to_owned(),
        unit: says.unit.map(str::to_owned),
        feature: said.unwrap_or_else(|| format!("{FEATURE}{feature}")),
        thing: records::id_of(&about["Thing"]).unwrap_or_else(|| above.to_owned()),
        place: datastream.place,
        versions: None,
    }
}

fn versions(datastream: &Datastream, timeline: &[(Time, u8)], numbers: &[u8]) -> Versions {
    let unit_of = |number: u8| datastream.described(number).unit.map(str::to_owned);
    let mut held: Vec<Held> = Vec::new();
    for (at, (from, number)) in timeline.iter().enumerate() {
        if !numbers.contains(number) {
            continue;
        }
        let begins = (at > 0).then_some(*from);
        let (until, unit) = (
            timeline.get(at + 1).map(|(next, _)| *next),
            unit_of(*number),
        );
        match held.last_mut() {
            Some(last) if last.until == begins && last.unit == unit => last.until = until,
            _ => held.push(Held {
                from: begins,
                until,
                unit,
            }),
        }
    }
    let mut units: Vec<String> = numbers
        .iter()
        .filter_map(|number| unit_of(*number))
        .collect();
    units.sort_unstable();
    units.dedup();
    Versions {
        under: numbers.to_vec(),
        is_newest: numbers.contains(&datastream.number()),
        held,
        units,
    }
}

/// The unit of the description that held last of these.
fn newest_unit(datastream: &Datastream, timeline: &[(Time, u8)], numbers: &[u8]) -> Option<String> {
    let mut held = timeline.iter().rev().map(|(_, number)| *number);
    let last = held.find(|number| numbers.contains(number));
    let number = last.or(numbers.last().copied())?;
    datastream.described(number).unit.map(str::to_owned)
}
