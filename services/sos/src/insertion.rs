//! InsertObservation (OGC 12-006 section 10.1, OGC 06-009r6 section 9.3).
//!
//! Observations are read by the formats of O&M, named by topic, and published through the one door: so who
//! subscribes by any protocol sees them at once, and they are acknowledged once they are on disk.

use crate::ask::Ask;
use crate::by_id;
use crate::constellation;
use crate::exception::Exception;
use crate::identifiers::topic_of;
use crate::insertion_json;
use crate::inventory::Inventory;
use crate::names::*;
use crate::params::Version;
use crate::records::{Set, feature, kept, position_of, puts, topics_of};
use crate::reply::Reply;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use weir_codec::crs::{HEIGHT, Position};
use weir_codec::document::Xml;
use weir_codec::{Format, by_name};
use weir_hub::{Change, Media, Publish, Ticket, Verb};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Time};

const ACTION: &str =
    "http://www.opengis.net/def/serviceOperation/sos/obsInsertion/2.0/InsertObservationResponse";

/// Answers the request.
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let inventory = ask.inventory()?;
    let (batch, identifier) = match ask.version {
        Version::V1 => version_1(ask, &inventory)?,
        Version::V2 => version_2(ask, &inventory)?,
    };
    let tickets = insert(ask, &inventory, &batch)?;
    let mut xml = Xml::new();
    match ask.version {
        Version::V2 => xml
            .start("sos:InsertObservationResponse")
            .prefixes(&[("sos", SOS20)]),
        Version::V1 => xml
            .start("sos:InsertObservationResponse")
            .prefixes(&[("sos", SOS10)])
            .leaf("sos:AssignedObservationId", &identifier),
    };
    Ok(Reply::Accepted(tickets, xml.finish(), ACTION))
}

// [SOS2-10.4-1] [SOS2-10.4-4]
fn version_2(ask: &Ask, inventory: &Inventory<'_>) -> Result<(Batch, String), Exception> {
    let offerings = ask.params.all("offering");
    if offerings.is_empty() {
        return Err(Exception::missing("offering"));
    }
    let unknown = |id: &&String| inventory.of_offering(id).next().is_none();
    if let Some(id) = offerings.iter().find(unknown) {
        return Err(Exception::invalid(
            "offering",
            format!("there is no `{id}`"),
        ));
    }
    let batch = read(ask, "observation")?;
    for index in 0..batch.stream_count() {
        let procedure = batch.stream(index).sensor.unwrap_or_default();
        check_offerings(inventory, procedure, offerings)?;
    }
    constellation::check(ask, &batch)?;
    Ok((batch, String::new()))
}

/// What a procedure observes is to be added to all offerings that are named (requirement
/// obsInsertion/multiple-offerings): one of another procedure cannot have it.
pub(crate) fn check_offerings(
    inventory: &Inventory<'_>,
    procedure: &str,
    offerings: &[String],
) -> Result<(), Exception> {
    let own = inventory.offerings_with(procedure);
    if !offerings.iter().any(|id| own.contains(id)) {
        let sentence = format!("`{procedure}` is not the procedure of an offering named");
        return Err(Exception::invalid("procedure", sentence));
    }
    match offerings.iter().find(|id| !own.contains(*id)) {
        Some(other) => {
            let sentence = format!("what `{procedure}` observes cannot be added to `{other}`");
            Err(Exception::invalid("offering", sentence))
        }
        None => Ok(()),
    }
}

// [SOS1-9.3-1]
fn version_1(ask: &Ask, inventory: &Inventory<'_>) -> Result<(Batch, String), Exception> {
    let assigned = ask.params.required("AssignedSensorId")?;
    if inventory.of_procedure(assigned).next().is_none() {
        let sentence = format!("there is no `{assigned}`");
        return Err(Exception::invalid("AssignedSensorId", sentence));
    }
    let batch = read(ask, "Observation")?;
    let first = batch.row(0);
    let property = first.property.unwrap_or_default();
    let time = first.time.unwrap_or(ask.now);
    let topic = topic_in(inventory, (assigned, property), time);
    // Who may not read what is there is not told how many there are.
    let before = if ask.principal.grants.allow(Verb::Read, &topic) {
        ask.hub.counted(&topic, &BTreeSet::from([time]))?
    } else {
        Default::default()
    };
    let before = before.get(&time).copied().unwrap_or(0);
    // Observations of a sensor that was assigned are its own, whatever else they name.
    let mut named = BatchBuilder::new();
    for mut row in batch.rows() {
        row.sensor = Some(assigned);
        push(&mut named, &row)?;
    }
    Ok((named.finish(), by_id::identifier(&topic, time, before)))
}

fn push(builder: &mut BatchBuilder, row: &weir_model::Observation<'_>) -> Result<(), Exception> {
    builder
        .push(row)
        .map_err(|error| Exception::invalid("observation", error.to_string()))
}

/// The observations of the request.
fn read(ask: &Ask, parameter: &str) -> Result<Batch, Exception> {
    let mut builder = BatchBuilder::new();
    match (&ask.params.message, &ask.params.json) {
        (Some(message), _) => decode(ask, parameter, message, &mut builder)?,
        (None, Some(json)) => insertion_json::read(json, &mut builder)?,
        (None, None) => return Err(Exception::missing(parameter)),
    }
    if builder.is_empty() {
        Err(Exception::missing(parameter))
    } else {
        Ok(builder.finish())
    }
}

/// Reads O&M of either version.
pub(crate) fn decode(
    ask: &Ask,
    parameter: &str,
    message: &[u8],
    builder: &mut BatchBuilder,
) -> Result<(), Exception> {
    let format = by_name("om").ok_or_else(|| Exception::internal("this build has no O&M"))?;
    (format.decode)(message, builder, ask.hub.limits())
        .map_err(|error| Exception::invalid(parameter, error.to_string()))
}

/// The topic of a datastream that is known by its names, of those of an earlier time the one of then; or that such
/// gets.
fn topic_in(inventory: &Inventory<'_>, (procedure, property): (&str, &str), time: Time) -> String {
    match inventory.of_names(procedure, property, time) {
        Some(series) => series.topic.to_string(),
        None => topic_of(procedure, property),
    }
}

/// Publishes observations, each at the topic that its procedure and property have, and keeps the features
/// that they name.
// [SOS2-10.4-2]
pub(crate) fn insert(
    ask: &Ask,
    inventory: &Inventory<'_>,
    batch: &Batch,
) -> Result<Vec<Ticket>, Exception> {
    let mut topics = Vec::with_capacity(batch.stream_count());
    for index in 0..batch.stream_count() {
        let stream = batch.stream(index);
        let name = |what, text: Option<&str>| {
            text.filter(|text| !text.is_empty())
                .map(str::to_owned)
                .ok_or_else(|| Exception::missing(what))
        };
        let procedure = name("procedure", stream.sensor)?;
        let property = name("observedProperty", stream.property)?;
        let time = batch.begin_of(index).unwrap_or(ask.now);
        topics.push(topic_in(inventory, (&procedure, &property), time));
    }
    let format = by_name("block").or_else(|| by_name("json"));
    let format = format.ok_or_else(|| Exception::internal("this build has no format for it"))?;
    let mut publications = Vec::new();
    for (topic, body) in messages(batch, &topics, format)? {
        publications.push(Change::Publish(Publish {
            incoming: ask.incoming,
            ..Publish::new(topic, Media::Format(format), body)
        }));
    }
    check_grants(ask, &topics)?;
    // Features first: a list that is kept twice is the same, an observation that is sent again is another.
    let mut requests = features_named(ask, batch, &topics)?;
    requests.append(&mut publications);
    ask.all_or_none(requests)
}

/// Observations of several topics are one message, of which the hub sees the topics when it is published.
fn check_grants(ask: &Ask, topics: &[String]) -> Result<(), Exception> {
    let mut topics = topics.iter();
    topics.try_for_each(|topic| ask.may(Verb::Publish, topic))
}

/// Observations as messages, with the topic where each is sent: the one it is of, or what several begin with.
fn messages(
    batch: &Batch,
    topics: &[String],
    format: &Format,
) -> Result<Vec<(String, Vec<u8>)>, Exception> {
    let mut by_root: BTreeMap<&str, (&str, BatchBuilder)> = BTreeMap::new();
    for topic in topics {
        let root = root_of(topic);
        let message = by_root.entry(root);
        let message = message.and_modify(|(to, _)| *to = root);
        message.or_insert_with(|| (topic, BatchBuilder::new()));
    }
    for (index, mut row) in batch.rows().enumerate() {
        row.naming = Naming::Topic;
        row.topic = &topics[batch.stream_of(index)];
        if let Some((_, builder)) = by_root.get_mut(root_of(row.topic)) {
            push(builder, &row)?;
        }
    }
    let encoded = |(to, mut builder): (&str, BatchBuilder)| {
        let mut body = Vec::new();
        (format.encode)(&builder.finish(), &mut body);
        (to.to_owned(), body)
    };
    Ok(by_root.into_values().map(encoded).collect())
}

/// The first level of a topic.
fn root_of(topic: &str) -> &str {
    topic.split('/').next().unwrap_or_default()
}

/// Where an observation was made, with the height that its parameters say.
fn position_of_row(batch: &Batch, row: usize) -> Option<Position> {
    let parameters = batch.extra(row).parameters;
    let parameters = parameters.and_then(|json| serde_json::from_str::<Json>(json).ok());
    Some(Position {
        place: batch.place(row)?,
        height: parameters.and_then(|own| own[HEIGHT].as_f64()),
    })
}

/// Features that observations name are to be listed with the datastreams that observe them, by who may: each
/// observation keeps its feature, only who may change the list adds to it.
fn features_named(ask: &Ask, batch: &Batch, topics: &[String]) -> Result<Vec<Change>, Exception> {
    let mut named: BTreeMap<&str, (Option<Position>, BTreeSet<&str>)> = BTreeMap::new();
    for row in 0..batch.len() {
        if let Some(id) = batch.extra(row).feature {
            let (position, observing) = named.entry(id).or_default();
            *position = position.or_else(|| position_of_row(batch, row));
            observing.insert(&topics[batch.stream_of(row)]);
        }
    }
    let mut changed = Vec::new();
    for (id, (position, observing)) in named {
        let known = ask.record(Set::Features, id)?;
        let before = known.as_ref().map(topics_of).unwrap_or_default();
        let mut all = before.clone();
        all.extend(observing.into_iter().map(str::to_owned));
        all.sort_unstable();
        all.dedup();
        let position_before = known.as_ref().and_then(position_of);
        let is_placed = position_before.is_none() && position.is_some();
        if known.is_none() || all != before || is_placed {
            let body = feature(id, position_before.or(position), &all);
            changed.push(kept(Set::Features, id, &body));
        }
    }
    let grants = &ask.principal.grants;
    if changed
        .iter()
        .all(|(key, _)| grants.allow(Verb::Change, key))
    {
        Ok(puts(changed))
    } else {
        Ok(Vec::new())
    }
}
