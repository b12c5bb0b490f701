//! MultiDatastreams (18-088 section 12): observations whose results are arrays.
//!
//! A multi-datastream is an entity; each of its components is a datastream of the catalog below the
//! multi-datastream's topic, so that every other protocol sees ordinary observations. An observation is
//! published as one message with a row for each component, and read by [`crate::join`].

use crate::said::{link, list, properties, slug};

use crate::draft::{Draft, Given, Made, Row, Stream};
use crate::entity::{Entity, MEMBER, Object};
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::Kind;
use crate::limits::COMPONENTS_MAX;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_model::topic;

/// What the observation type of a multi-datastream is (18-088 section 12).
const COMPLEX: &str = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_ComplexObservation";
impl Draft<'_> {
    pub(crate) fn insert_multi(&mut self, body: &Object, given: Given) -> Result<Made> {
        let kind = Kind::MultiDatastream;
        let id = self.new_id()?;
        let mut multi = Entity::new(kind, id.clone(), properties(kind, body));
        let complex = || COMPLEX.into();
        multi.body.entry("observationType").or_insert_with(complex);
        for way in kind.navigations().iter().filter(|way| kind.keeps(way.to)) {
            let ids = self.links(way, body, &given)?;
            if ids.is_empty() || !way.many && ids.len() > 1 {
                return Err(Fault::bad(format!("MultiDatastreams need {}", way.name)));
            }
            multi.links.insert(way.name, ids);
        }
        check(&multi)?;
        multi.topics = self.component_topics(&multi)?;
        let multi = multi.keyed();
        self.describe_components(&multi);
        self.put(multi);
        let made = Made::Entity(kind, id);
        if let (Some(said), Some(way)) = (body.get("Observations"), kind.navigation("Observations"))
        {
            for child in list(way, said)? {
                self.insert(Kind::Observation, child, vec![(MEMBER, made.clone())])?;
            }
        }
        Ok(made)
    }

    /// Describes the datastreams of a multi-datastream as it is to be.
    pub(crate) fn describe_components(&mut self, multi: &Entity) {
        let (body, links) = (&multi.body, &multi.links);
        let name = body.get("name").and_then(Json::as_str).unwrap_or_default();
        for (index, topic) in multi.topics.iter().enumerate() {
            let property = links["ObservedProperties"][index].clone();
            let observed = self.entity(Kind::ObservedProperty, &property);
            let observed = observed.and_then(|it| it.body.get("name").cloned());
            let observed = observed.as_ref().and_then(Json::as_str).unwrap_or_default();
            let about = json!({
                "name": format!("{name}: {observed}"),
                "description": body.get("description"),
                "observationType": body["multiObservationDataTypes"][index],
                "unitOfMeasurement": body["unitOfMeasurements"][index],
                "Thing": links["Thing"][0].to_json(),
                "Sensor": links["Sensor"][0].to_json(),
                "ObservedProperty": property.to_json(),
                MEMBER: multi.id.to_json(),
            });
            let Json::Object(about) = about else { continue };
            let mut stream: Stream = self.stream(topic).cloned().unwrap_or_default();
            let ids = [
                links["Thing"][0].clone(),
                links["Sensor"][0].clone(),
                property,
            ];
            self.describe(&mut stream, about, &ids);
            self.streams.insert(topic.clone(), stream);
        }
    }

    /// Topics of the components: below `properties/topic`, or below one of the names of thing and
    /// multi-datastream, by the names of the observed properties.
    fn component_topics(&self, multi: &Entity) -> Result<Vec<String>> {
        let names = self.component_names(multi);
        let below = |base: &str| -> Vec<String> {
            let topics = names.iter().map(|name| format!("{base}/{name}"));
            topics.collect()
        };
        let said = multi.body.get("properties").map(|it| &it["topic"]);
        if let Some(base) = said.and_then(Json::as_str) {
            let topics = below(base);
            for topic in &topics {
                let named = |error| Fault::bad(format!("properties/topic: {error}"));
                topic::check(topic).map_err(named)?;
            }
            self.may_describe_below(base, &topics)?;
            let taken = if self.is_source(base) {
                Some(base)
            } else {
                topics
                    .iter()
                    .map(|it| it.as_str())
                    .find(|it| self.is_taken(it))
            };
            return match taken {
                None => Ok(topics),
                Some(topic) => {
                    let problem = format!("`{topic}` is a datastream already");
                    Err(Fault::new(409, problem))
                }
            };
        }
        let base = self.topic_named(&multi.body, &multi.links["Thing"][0]);
        let bases = (2..).map(|number| format!("{base}-{number}"));
        let mut free = std::iter::once(base.clone()).chain(bases);
        loop {
            let base = free.next().unwrap_or_default();
            let topics = below(&base);
            for topic in &topics {
                topic::check(topic).map_err(|error| Fault::bad(error.to_string()))?;
            }
            self.may_describe_below(&base, &topics)?;
            if !self.is_source(&base) && !topics.iter().any(|topic| self.is_taken(topic)) {
                return Ok(topics);
            }
        }
    }

    /// Refuses who may not describe a multi-datastream of a topic, before it is looked at what is there.
    fn may_describe_below(&self, base: &str, topics: &[String]) -> Result<()> {
        let context = self.context;
        let mut topics = topics.iter();
        topics.try_for_each(|topic| context.may_describe(topic))?;
        context.may_read(base)
    }

    fn component_names(&self, multi: &Entity) -> Vec<String> {
        let mut taken = BTreeSet::new();
        let mut names = Vec::new();
        for id in &multi.links["ObservedProperties"] {
            let property = self.entity(Kind::ObservedProperty, id);
            let name = property.and_then(|it| it.body.get("name")?.as_str().map(slug));
            let name = name.unwrap_or_else(|| "component".into());
            let others = (2..).map(|number| format!("{name}-{number}"));
            let mut free = std::iter::once(name.clone()).chain(others);
            let name = free.find(|name| !taken.contains(name)).unwrap_or(name);
            taken.insert(name.clone());
            names.push(name);
        }
        names
    }

    /// Whether a topic is that of a datastream or multi-datastream: what lies below it would be taken for its.
    fn is_source(&self, topic: &str) -> bool {
        let of_topic = |it: &Entity| it.kind == Kind::MultiDatastream && &*it.key == topic;
        let mut drafted = self.puts.values().flatten();
        self.context.view.source(topic).is_some() || drafted.any(of_topic)
    }

    /// Whether a topic belongs to something that was posted.
    fn is_taken(&self, topic: &str) -> bool {
        let view = self.context.view;
        let posted = view.datastream(topic).is_some_and(is_posted);
        posted || view.component(topic).is_some() || self.streams.contains_key(topic)
    }

    /// The multi-datastream that an observation is posted to, if it is one.
    pub(crate) fn multi_of(&mut self, body: &Object, given: &Given) -> Result<Option<Entity>> {
        let kind = Kind::MultiDatastream;
        let from = given.iter().find_map(|(name, made)| match made {
            Made::Entity(_, id) if *name == MEMBER => Some(id.clone()),
            _ => None,
        });
        let id = match (from, body.get(MEMBER)) {
            (Some(id), Some(said)) => {
                let named = link(said).ok_or_else(|| Fault::contradiction(MEMBER))?;
                if self.known(kind, &named)? == id {
                    id
                } else {
                    return Err(Fault::contradiction(MEMBER));
                }
            }
            (Some(id), None) => id,
            (None, Some(said)) => self.multi_said(said)?,
            (None, None) => return Ok(None),
        };
        Ok(self.entity(kind, &id))
    }

    /// A multi-datastream that is named or to be made.
    pub(crate) fn multi_said(&mut self, said: &Json) -> Result<Id> {
        let kind = Kind::MultiDatastream;
        if let Some(id) = link(said) {
            return self.known(kind, &id);
        }
        match self.insert(kind, said, Vec::new())? {
            Made::Entity(_, id) => Ok(id),
            _ => Err(Fault::bad("a MultiDatastream was expected")),
        }
    }

    /// Refuses observations that name no feature where none follows from where the thing is.
    pub(crate) fn check_multi_placed(&self, multi: &Entity) -> Result<()> {
        self.check_whereabouts(multi.links["Thing"].first().cloned(), multi.origin.clone())
    }
}

/// Whether a datastream's thing was posted.
fn is_posted(datastream: &Arc<Entity>) -> bool {
    let mut things = datastream.links["Thing"].iter();
    things.any(|id| matches!(id, Id::Number(_)))
}

/// Whether arrays are of one length, with the links as they are to be (18-088, requirement
/// multi-datastream/constraints).
// [STA-A.5.1.1-3]
pub(crate) fn check(multi: &Entity) -> Result<()> {
    let array = |name: &str| match multi.body.get(name) {
        Some(Json::Array(many)) => Ok(many),
        _ => Err(Fault::bad(format!("`{name}` is an array"))),
    };
    let (units, types) = (
        array("unitOfMeasurements")?,
        array("multiObservationDataTypes")?,
    );
    if let Some(bad) = units.iter().find(|unit| !unit.is_object()) {
        return Err(Fault::bad(format!("unitOfMeasurements: {bad} is no unit")));
    }
    if let Some(bad) = types.iter().find(|name| !name.is_string()) {
        let problem = format!("multiObservationDataTypes: {bad} is no observation type");
        return Err(Fault::bad(problem));
    }
    let complex = multi.body.get("observationType").and_then(Json::as_str);
    if !complex.is_some_and(|name| name.ends_with("OM_ComplexObservation")) {
        return Err(Fault::bad(format!(
            "observationType of MultiDatastreams: {COMPLEX}"
        )));
    }
    for name in ["Thing", "Sensor"] {
        if multi.links.get(name).map_or(0, Vec::len) != 1 {
            return Err(Fault::bad(format!("MultiDatastreams need one {name}")));
        }
    }
    let properties = multi.links.get("ObservedProperties").map_or(0, Vec::len);
    if units.len() != properties || types.len() != properties {
        return Err(Fault::bad(format!(
            "{} unitOfMeasurements, {} multiObservationDataTypes and {properties} ObservedProperties \
             are to be as many",
            units.len(),
            types.len()
        )));
    }
    if (1..=COMPONENTS_MAX).contains(&properties) {
        Ok(())
    } else {
        Err(Fault::over("components", COMPONENTS_MAX))
    }
}

/// A multi-datastream as it is to be; what it has components of stays.
pub(crate) fn change(draft: &mut Draft<'_>, mut multi: Entity) -> Result<()> {
    multi.body = properties(multi.kind, &multi.body);
    let complex = || COMPLEX.into();
    multi.body.entry("observationType").or_insert_with(complex);
    check(&multi)?;
    if multi.links["ObservedProperties"].len() != multi.topics.len() {
        let components = multi.topics.len();
        return Err(Fault::bad(format!(
            "there are {components} components already"
        )));
    }
    draft.describe_components(&multi);
    draft.put(multi);
    Ok(())
}

/// Splits the result of a row over the components.
pub(crate) fn split(multi: &Entity, row: Row) -> Result<Row> {
    let count = row.result.as_array().map(Vec::len);
    if count != Some(multi.topics.len()) {
        let components = multi.topics.len();
        let problem =
            format!("result: an array of {components} was expected, as MultiDatastreams(");
        return Err(Fault::bad(
            problem + &format!("{}) has components", multi.id),
        ));
    }
    Ok(Row {
        components: Some(multi.topics.iter().cloned().collect()),
        ..row
    })
}
