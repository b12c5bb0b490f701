//! InsertSensor, DeleteSensor (OGC 09-001 sections 12 and 13) and RegisterSensor (OGC 06-009r6 section 9.2).
//!
//! A sensor that is inserted is an entity with its description, and a datastream for each property that it
//! may observe: what is observed later by whatever protocol lies there.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::identifiers::{fingerprint, offering_of, procedure_of, topic_of};
use crate::inventory::Inventory;
use crate::limits::OFFERINGS_MAX;
use crate::names::*;
use crate::records::{Announcement, OwnOffering, Set, announcement_of, kept, puts, sensor};
use crate::related::{self, Related};
use crate::reply::Reply;
use crate::results::templates_of;
use crate::sensorml;
use weir_codec::document::{Element, Xml};
use weir_hub::{Change, Ticket, Verb};
use weir_model::Datastream;

const INSERTED: &str = "http://www.opengis.net/swes/2.0/InsertSensorResponse";
const UPDATED: &str = "http://www.opengis.net/swes/2.0/UpdateSensorDescriptionResponse";
const DELETED: &str = "http://www.opengis.net/swes/2.0/DeleteSensorResponse";

/// Answers InsertSensor.
// [SOS2-10.2-1]
pub(crate) fn insert(ask: &Ask) -> Result<Reply, Exception> {
    let format = description_format(ask)?;
    let properties = ask.params.all("observableProperty");
    if properties.is_empty() {
        return Err(Exception::missing("observableProperty"));
    }
    let description = ask.params.required_element("procedureDescription")?;
    let description = description
        .first()
        .ok_or_else(|| Exception::missing("procedureDescription"))?;
    let announced = Announced {
        format,
        properties,
        types: observation_types(ask)?,
        related: related::of_request(&ask.params)?,
    };
    let registered = register(ask, "procedureDescription", description, announced)?;
    let mut xml = Xml::new();
    xml.start("swes:InsertSensorResponse");
    xml.prefixes(&[("swes", SWES20)]);
    xml.leaf("swes:assignedProcedure", &registered.procedure);
    xml.leaf("swes:assignedOffering", &registered.offering);
    Ok(Reply::Accepted(registered.tickets, xml.finish(), INSERTED))
}

fn description_format(ask: &Ask) -> Result<&str, Exception> {
    let format = ask.params.required("procedureDescriptionFormat")?;
    if ![SML20, SML101].contains(&format) {
        let sentence = format!("`{format}` is not taken: SensorML 2.0 and 1.0.1 are");
        return Err(Exception::invalid("procedureDescriptionFormat", sentence));
    }
    Ok(format)
}

/// The types of observations that are announced. One that O&M has and this service does not take hinders no other:
/// an observation of that type is refused when it comes.
// [SOS2-10.2-2]
fn observation_types(ask: &Ask) -> Result<Vec<String>, Exception> {
    let root = ask.params.element.as_ref();
    let metadata = root.and_then(|root| root.child("metadata"));
    let own = metadata.and_then(Element::first).into_iter();
    let own = own.flat_map(|own| own.all("observationType").map(Element::text));
    let named = ask.params.all("observationType").iter().cloned();
    let types: Vec<String> = own.chain(named).collect();
    let is_in = |list: &[&str], kind: &String| list.contains(&kind.as_str());
    let is_known = |kind: &String| is_in(INSERTED_TYPES, kind) || is_in(ANNOUNCED_TYPES, kind);
    if let Some(kind) = types.iter().find(|kind| !is_known(kind)) {
        let sentence = format!("`{kind}` is not taken");
        return Err(Exception::invalid("observationType", sentence));
    }
    Ok(types)
}

/// Answers RegisterSensor.
// [SOS1-9.2-1]
pub(crate) fn register_1(ask: &Ask) -> Result<Reply, Exception> {
    let description = ask.params.required_element("SensorDescription")?;
    let description = description
        .first()
        .ok_or_else(|| Exception::missing("SensorDescription"))?;
    let template = ask.params.required_element("ObservationTemplate")?;
    let properties = match properties_of_template(template) {
        none if none.is_empty() => properties_of_outputs(description),
        named => named,
    };
    if properties.is_empty() {
        return Err(Exception::missing("observedProperty"));
    }
    let announced = Announced {
        format: SML101,
        properties: &properties,
        types: Vec::new(),
        related: Vec::new(),
    };
    let registered = register(ask, "SensorDescription", description, announced)?;
    let mut xml = Xml::new();
    xml.start("sos:RegisterSensorResponse");
    xml.prefixes(&[("sos", SOS10)]);
    xml.leaf("sos:AssignedSensorId", &registered.procedure);
    Ok(Reply::Accepted(registered.tickets, xml.finish(), INSERTED))
}

/// Those of a template, an Observation or one of its kinds: Measurement, CategoryObservation.
fn properties_of_template(template: &Element) -> Vec<String> {
    let observed = template.first().into_iter();
    observed
        .flat_map(|own| own.all("observedProperty"))
        .flat_map(property_names)
        .collect()
}

/// Those of a description, whose outputs are defined by what they observe.
fn properties_of_outputs(description: &Element) -> Vec<String> {
    let outputs = description.find("OutputList").into_iter();
    outputs
        .flat_map(|list| list.all("output"))
        .filter_map(|output| output.first()?.attribute("definition"))
        .map(str::to_owned)
        .collect()
}

/// A reference, or the components of a composite phenomenon.
fn property_names(property: &Element) -> Vec<String> {
    if let Some(href) = property.attribute("href") {
        return vec![href.to_owned()];
    }
    let composite = property.first();
    let components = composite.into_iter().flat_map(|own| own.all("component"));
    components
        .filter_map(|own| own.attribute("href").map(str::to_owned))
        .collect()
}

/// What is said of a sensor beside its description.
struct Announced<'a> {
    format: &'a str,
    properties: &'a [String],
    types: Vec<String>,
    related: Vec<Related>,
}

/// The offerings that a description names, none of which is another procedure's.
// [SOS2-10.2-4]
fn named_offerings(
    inventory: &Inventory<'_>,
    parameter: &str,
    procedure: &str,
    description: &Element,
) -> Result<Vec<OwnOffering>, Exception> {
    let named = sensorml::offerings(description);
    if named.len() > OFFERINGS_MAX {
        let sentence = format!("more than {OFFERINGS_MAX} offerings");
        return Err(Exception::invalid(parameter, sentence));
    }
    let default = offering_of(procedure);
    let default = named.is_empty().then_some(&default);
    let mut ids = named.iter().map(|own| &own.id).chain(default);
    // What ends as those do that are named after a procedure would be that procedure's, once it comes.
    let is_of_another = |id: &&String| {
        let after = procedure_of(id);
        inventory.is_taken(id, procedure) || after.is_some_and(|other| other != procedure)
    };
    match ids.find(is_of_another) {
        Some(id) => {
            let sentence = format!("the offering `{id}` is another procedure's");
            Err(Exception::invalid(parameter, sentence))
        }
        None => Ok(named),
    }
}

/// A sensor that was registered.
struct Registered {
    procedure: String,
    /// The first that it names, or the one named after it.
    offering: String,
    tickets: Vec<Ticket>,
}

/// Keeps a datastream for each property and the sensor's description: that last, since who has it is registered.
fn register(
    ask: &Ask,
    parameter: &str,
    description: &Element,
    announced: Announced<'_>,
) -> Result<Registered, Exception> {
    let text = description.to_xml();
    let procedure = sensorml::identifier(description)
        .unwrap_or_else(|| format!("urn:weir:sensor:{:016x}", fingerprint(&text)));
    ask.may(Verb::Change, &Set::Sensors.key(&procedure))?;
    if ask.record(Set::Sensors, &procedure)?.is_some() {
        let sentence = format!("`{procedure}` is registered already");
        return Err(Exception::invalid(parameter, sentence));
    }
    let inventory = ask.inventory()?;
    let announcement = Announcement {
        types: announced.types,
        offerings: named_offerings(&inventory, parameter, &procedure, description)?,
        attached_to: sensorml::attached_to(description),
        related: announced.related,
        since: None,
    };
    let mut requests = Vec::new();
    for property in announced.properties {
        if inventory.of_names(&procedure, property, ask.now).is_none() {
            let datastream = Datastream {
                sensor: Some(procedure.as_str().into()),
                property: Some(property.as_str().into()),
                ..Datastream::default()
            };
            let topic = topic_of(&procedure, property);
            requests.push(Change::Datastream(topic, Some(datastream)));
        }
    }
    let body = sensor(&procedure, announced.format, &text, &announcement);
    requests.extend(puts(vec![kept(Set::Sensors, &procedure, &body)]));
    let first = announcement.offerings.into_iter().next();
    Ok(Registered {
        offering: first.map_or_else(|| offering_of(&procedure), |own| own.id),
        tickets: ask.all_or_none(requests)?,
        procedure,
    })
}

/// Answers UpdateSensorDescription (OGC 09-001 section 14): the new description takes the place of the one
/// before, of which none is kept but when that was.
// [SOS2-10.2-3]
pub(crate) fn update(ask: &Ask) -> Result<Reply, Exception> {
    let procedure = ask.params.required("procedure")?;
    let format = description_format(ask)?;
    let inventory = ask.inventory()?;
    let offered = inventory.of_procedure(procedure).next().is_some();
    let known = ask.record(Set::Sensors, procedure)?;
    if !offered && known.is_none() {
        let sentence = format!("there is no `{procedure}`");
        return Err(Exception::invalid("procedure", sentence));
    }
    let root = ask.params.element.as_ref();
    let description = root.and_then(|root| {
        let given = root.child("description").and_then(|own| own.find("data"));
        given
            .or_else(|| root.child("procedureDescription"))?
            .first()
    });
    let description = description.ok_or_else(|| Exception::missing("description"))?;
    if let Some(other) = sensorml::identifier(description).filter(|id| id != procedure) {
        let sentence = format!("it describes `{other}`, not `{procedure}`");
        return Err(Exception::invalid("description", sentence));
    }
    let before = known.as_ref().map(announcement_of).unwrap_or_default();
    let named = named_offerings(&inventory, "description", procedure, description)?;
    let announcement = Announcement {
        types: before.types,
        // A description that names none says nothing of them.
        offerings: if named.is_empty() {
            before.offerings
        } else {
            named
        },
        attached_to: sensorml::attached_to(description),
        related: before.related,
        since: Some(ask.now),
    };
    let body = sensor(procedure, format, &description.to_xml(), &announcement);
    let put = vec![kept(Set::Sensors, procedure, &body)];
    let ticket = ask.caller()?.put(put)?;
    let mut xml = Xml::new();
    xml.start("swes:UpdateSensorDescriptionResponse");
    xml.prefixes(&[("swes", SWES20)]);
    xml.leaf("swes:updatedProcedure", procedure);
    Ok(Reply::Accepted(vec![ticket], xml.finish(), UPDATED))
}

/// Answers DeleteSensor: the sensor, its datastreams and all that they observed, and its templates of results.
// [SOS2-10.3-1] [SOS2-10.3-2]
pub(crate) fn delete(ask: &Ask) -> Result<Reply, Exception> {
    let procedure = ask.params.required("procedure")?;
    let inventory = ask.inventory()?;
    let own = inventory.of_procedure(procedure);
    let mut topics: Vec<String> = own.map(|own| own.topic.to_string()).collect();
    topics.dedup();
    let known = ask.record(Set::Sensors, procedure)?.is_some();
    if topics.is_empty() && !known {
        let sentence = format!("there is no `{procedure}`");
        return Err(Exception::invalid("procedure", sentence));
    }
    check_alone(&inventory, procedure, &topics)?;
    let forgotten = topics
        .into_iter()
        .map(|topic| Change::Datastream(topic, None));
    let mut requests: Vec<Change> = forgotten.collect();
    let templates = templates_of(ask, procedure).into_iter();
    let templates = templates.map(|id| Set::Templates.key(&id));
    let record = known.then(|| Set::Sensors.key(procedure));
    let keys = templates.chain(record).map(|key| (key, None));
    requests.extend(puts(keys.collect()));
    let tickets = ask.all_or_none(requests)?;
    let mut xml = Xml::new();
    xml.start("swes:DeleteSensorResponse");
    xml.prefixes(&[("swes", SWES20)]);
    xml.leaf("swes:deletedProcedure", procedure);
    Ok(Reply::Accepted(tickets, xml.finish(), DELETED))
}

/// What another procedure observed is not deleted with a datastream that both have had.
fn check_alone(
    inventory: &Inventory<'_>,
    procedure: &str,
    topics: &[String],
) -> Result<(), Exception> {
    let all = topics.iter().flat_map(|topic| inventory.of_topic(topic));
    let mut others = all.filter(|own| own.procedure != procedure);
    match others.next() {
        None => Ok(()),
        Some(other) => {
            let sentence = format!(
                "`{}` has observations of `{}` too, which would be deleted with it",
                other.topic, other.procedure
            );
            Err(Exception::invalid("procedure", sentence))
        }
    }
}
