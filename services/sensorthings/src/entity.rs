//! An entity as the service sees it: made from a record of the hub, from a datastream of its catalog, or
//! implied by one that some other protocol brought.

use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::limits::PLACES_BESIDE_MAX;
use crate::links::Links;
use crate::memo::Memo;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use weir_hub::{Entry, Grants, Verb};
use weir_model::topic::thing_and_property;
use weir_model::{Datastream, Description, Value};

/// First level of the keys of entities, as MQTT topics of SensorThings begin (18-088 section 14.2).
pub(crate) const ROOT: &str = "v1.1";

/// A JSON object.
pub(crate) type Object = Map<String, Json>;

/// An entity other than an observation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entity {
    pub(crate) kind: Kind,
    pub(crate) id: Id,
    /// What the access policy knows it by: its key, of a datastream and a multi-datastream its topic.
    pub(crate) key: Arc<str>,
    pub(crate) body: Object,
    /// The links that are kept with it, by navigation.
    pub(crate) links: Links,
    /// Nobody described it: it is there because something refers to it.
    pub(crate) is_implied: bool,
    /// Of a datastream, the feature of those observations that name none where its thing was nowhere, as earlier
    /// versions noted it; of a feature, the location that it follows from.
    pub(crate) origin: Option<Id>,
    /// Of a feature, topics of the datastreams some of whose observations name it; of a multi-datastream,
    /// those of its components in their order.
    pub(crate) topics: Vec<String>,
    /// Of an implied location, as other datastreams of its thing tell it, the oldest first.
    pub(crate) others: Vec<Arc<Entity>>,
    /// What was made of the rest.
    pub(crate) memo: Memo,
}

/// The topic that those of the components of a multi-datastream lie below.
fn base(components: &[String]) -> Option<&str> {
    let (base, _) = components.first()?.rsplit_once('/')?;
    Some(base)
}

/// The key of an entity's record.
pub(crate) fn key(kind: Kind, id: &Id) -> String {
    format!("{ROOT}/{}/{}", kind.set(), id.in_key())
}

/// The type and identifier that a key names.
pub(crate) fn of_key(key: &str) -> Option<(Kind, Id)> {
    let rest = key.strip_prefix(ROOT)?.strip_prefix('/')?;
    let (set, id) = rest.split_once('/')?;
    Some((Kind::of_set(set)?, Id::of_key(id)?))
}

/// Member of what a datastream of the catalog is known by: the multi-datastream that it is a component of.
pub(crate) const MEMBER: &str = "MultiDatastream";
/// Members of a record that are no properties and no links.
const ORIGIN: &str = "@origin";
const TOPICS: &str = "@topics";

impl Entity {
    pub(crate) fn new(kind: Kind, id: Id, body: Object) -> Self {
        Self {
            key: key(kind, &id).into(),
            kind,
            id,
            body,
            links: Links::default(),
            is_implied: false,
            origin: None,
            topics: Vec::new(),
            others: Vec::new(),
            memo: Memo::default(),
        }
    }

    /// Reads a record's body; `None` where it is none of this service's.
    pub(crate) fn of_record(kind: Kind, id: Id, body: &[u8]) -> Option<Self> {
        let mut entity = Self::new(kind, id, serde_json::from_slice(body).ok()?);
        entity.origin = entity.body.remove(ORIGIN).as_ref().and_then(Id::of_json);
        if let Some(Json::Array(topics)) = entity.body.remove(TOPICS) {
            let texts = topics.iter().filter_map(Json::as_str);
            entity.topics = texts.map(str::to_owned).collect();
        }
        entity.take_listed();
        for way in kind.navigations().iter().filter(|way| kind.keeps(way.to)) {
            if let Some(link) = entity.body.remove(way.name) {
                entity.links.insert(way.name, ids(&link));
            }
        }
        Some(entity.keyed())
    }

    /// Whether it is a feature that nobody posted, but that observations have: made from where a thing is, or only
    /// named by them.
    pub(crate) fn follows(&self) -> bool {
        self.kind == Kind::FeatureOfInterest && (self.origin.is_some() || self.is_only_named())
    }

    /// Whether it is a feature as an observation that the other service takes names it.
    fn is_only_named(&self) -> bool {
        let says = |name: &str| self.body.get(name).and_then(Json::as_str);
        self.kind == Kind::FeatureOfInterest
            && says("description") == Some("")
            && says("name") == Some(&*self.id.to_string())
    }

    /// Takes the topics that earlier versions of the other service listed among a feature's properties, where they
    /// were told to who may not read them.
    fn take_listed(&mut self) {
        if !self.is_only_named() {
            return;
        }
        let Some(Json::Object(properties)) = self.body.get_mut("properties") else {
            return;
        };
        let listed = properties.remove("datastreams").unwrap_or_default();
        let texts = listed.as_array().into_iter().flatten();
        let texts = texts.filter_map(Json::as_str).map(str::to_owned);
        self.topics.extend(texts);
        if properties.is_empty() {
            self.body.remove("properties");
        }
    }

    /// A multi-datastream is known by its topic.
    pub(crate) fn keyed(mut self) -> Self {
        if let (Kind::MultiDatastream, Some(base)) = (self.kind, base(&self.topics)) {
            self.key = base.into();
        }
        self
    }

    /// Writes what [`Entity::of_record`] reads.
    pub(crate) fn to_record(&self) -> Vec<u8> {
        let mut body = self.body.clone();
        for (name, ids) in self.links.iter() {
            body.insert(name.into(), ids.iter().map(Id::to_json).collect());
        }
        if let Some(origin) = &self.origin {
            body.insert(ORIGIN.into(), origin.to_json());
        }
        if !self.topics.is_empty() {
            body.insert(TOPICS.into(), self.topics.clone().into());
        }
        Json::Object(body).to_string().into_bytes()
    }

    /// A datastream of the catalog; `None` for one whose messages are opaque.
    pub(crate) fn of_entry(entry: &Entry) -> Option<Self> {
        let known = &entry.datastream;
        let about = known
            .about
            .as_deref()
            .and_then(|about| serde_json::from_str(about).ok());
        let mut about: Object = about.unwrap_or_default();
        if about.is_empty() && entry.last.is_none() && entry.opaque.is_some() {
            return None;
        }
        let topic = &*entry.topic;
        let link = |about: &mut Object, name: &str, else_: String| {
            let said = about.remove(name).as_ref().and_then(Id::of_json);
            vec![said.unwrap_or_else(|| Id::Text(else_.into()))]
        };
        let (parent, last) = thing_and_property(topic);
        let sensor = known.sensor.as_deref().unwrap_or("unknown").to_owned();
        let property = known.property.as_deref().unwrap_or(last).to_owned();
        let links = Links::from([
            ("Thing", link(&mut about, "Thing", parent.into())),
            ("Sensor", link(&mut about, "Sensor", sensor)),
            (
                "ObservedProperty",
                link(&mut about, "ObservedProperty", property),
            ),
        ]);
        let origin = about
            .remove("FeatureOfInterest")
            .as_ref()
            .and_then(Id::of_json);
        let mut body = about;
        body.insert("name".into(), known.name.as_deref().unwrap_or(topic).into());
        body.entry("description").or_insert_with(|| topic.into());
        body.entry("observationType")
            .or_insert_with(|| observation_type(entry).into());
        body.entry("unitOfMeasurement")
            .or_insert_with(|| unit(known.unit.as_deref()));
        if !known.descriptions.is_empty() {
            let versions = versions(known, &body);
            let properties = body.entry("properties").or_insert_with(|| json!({}));
            if let Json::Object(properties) = properties {
                properties.insert(VERSIONS.into(), versions);
            }
        }
        Some(Self {
            key: entry.topic.clone(),
            links,
            origin,
            ..Self::new(Kind::Datastream, Id::Number(u64::from(known.number?)), body)
        })
    }

    /// What stands in for an entity that something refers to and nobody described.
    pub(crate) fn implied(kind: Kind, id: &Id) -> Self {
        let name = id.to_string();
        let mut body = json!({"name": name, "description": name});
        match kind {
            Kind::Sensor => {
                body["encodingType"] = "text/plain".into();
                body["metadata"] = name.into();
            }
            Kind::ObservedProperty => body["definition"] = name.into(),
            Kind::FeatureOfInterest => {
                body["encodingType"] = "text/plain".into();
                body["feature"] = name.into();
            }
            _ => {}
        }
        let body = match body {
            Json::Object(body) => body,
            _ => Object::new(),
        };
        Self {
            is_implied: true,
            ..Self::new(kind, id.clone(), body)
        }
    }

    /// The feature that follows from a location, by the location's number, which no other entity has.
    pub(crate) fn feature_of(location: &Entity) -> Self {
        let mut body = location.body.clone();
        let feature = body.remove("location").unwrap_or_default();
        body.insert("feature".into(), feature);
        body.entry("encodingType").or_insert_with(|| GEOJSON.into());
        Self {
            origin: Some(location.id.clone()),
            ..Self::new(Kind::FeatureOfInterest, location.id.clone(), body)
        }
    }

    /// The place of a thing that nobody described, as a datastream of it says, which is for who may read that.
    pub(crate) fn implied_location(id: &Id, place: weir_model::Place, topic: &str) -> Self {
        let mut location = Self::implied(Kind::Location, id);
        location.topics = vec![topic.to_owned()];
        let point = json!({"type": "Point", "coordinates": [place.longitude, place.latitude]});
        location.body.insert("encodingType".into(), GEOJSON.into());
        location.body.insert("location".into(), point);
        location
    }

    /// Takes what an implied location was before a datastream told this one: who told the same place tells it with
    /// that, the last of the others beside it.
    pub(crate) fn tell_beside(&mut self, before: &Arc<Entity>, topic: &str) {
        for told in before.others.iter().chain([before]) {
            let mut topics = told.topics.clone();
            topics.retain(|other| other != topic);
            match told.body == self.body {
                true => self.topics.append(&mut topics),
                false if topics.is_empty() => {}
                false => self.others.push(Arc::new(Entity {
                    topics,
                    others: Vec::new(),
                    ..(**told).clone()
                })),
            }
        }
        self.topics.sort_unstable();
        let many = self.others.len().saturating_sub(PLACES_BESIDE_MAX);
        self.others.drain(..many);
    }

    /// Whether an implied location is told by a datastream that may be read, and as which of its others where it is
    /// not itself: the last that is.
    pub(crate) fn told_to(&self, grants: &Grants) -> Option<Option<&Arc<Entity>>> {
        let tells = |it: &Entity| {
            it.topics
                .iter()
                .any(|topic| grants.allow(Verb::Read, topic))
        };
        if tells(self) {
            Some(None)
        } else {
            self.others.iter().rev().find(|it| tells(it)).map(Some)
        }
    }

    /// The topics that its observations are published at: those of the components, or its own.
    pub(crate) fn published_at(&self) -> Vec<&str> {
        match self.kind {
            Kind::MultiDatastream => self.topics.iter().map(String::as_str).collect(),
            _ => vec![&*self.key],
        }
    }

    /// The links of a navigation.
    pub(crate) fn link(&self, way: &Navigation) -> &[Id] {
        &self.links[way.name]
    }
}

/// Encoding type of places and features (18-088 table 7).
pub(crate) const GEOJSON: &str = "application/geo+json";

/// The identifiers in a link or a list of them.
fn ids(link: &Json) -> Vec<Id> {
    match link {
        Json::Array(many) => many.iter().filter_map(Id::of_json).collect(),
        one => Id::of_json(one).into_iter().collect(),
    }
}

/// The type that the last result has (OGC 10-004r3 section 8).
fn observation_type(entry: &Entry) -> String {
    let result = entry.last.as_ref().map(|last| last.value());
    let name = match result {
        Some(value) if value.is_numeric() => "OM_Measurement",
        Some(Value::Bool(_)) => "OM_TruthObservation",
        Some(Value::Text(_)) => "OM_CategoryObservation",
        _ => "OM_Observation",
    };
    format!("http://www.opengis.net/def/observationType/OGC-OM/2.0/{name}")
}

/// Member of the properties of a datastream that was something else before: what it was from when on.
const VERSIONS: &str = "versions";

/// All descriptions of a datastream, by their numbers; the first holds from ever.
fn versions(known: &Datastream, body: &Object) -> Json {
    let version = |(number, own): (usize, &Description)| {
        let from = Some(own.from).filter(|from| from.nanos() > i64::MIN);
        let measured = if number == usize::from(known.number()) {
            body["unitOfMeasurement"].clone()
        } else {
            unit(own.unit.as_deref())
        };
        let said = [
            ("from", from.map(|from| Json::from(from.to_string()))),
            ("sensor", own.sensor.as_deref().map(Json::from)),
            ("observedProperty", own.property.as_deref().map(Json::from)),
            ("unitOfMeasurement", Some(measured)),
        ];
        let said = said.into_iter();
        let said = said.filter_map(|(name, it)| Some((name.to_owned(), it?)));
        Json::Object(said.collect())
    };
    known.descriptions.iter().enumerate().map(version).collect()
}

/// Takes out of a datastream's properties what is told and not kept.
pub(crate) fn without_versions(about: &mut Object) {
    let Some(Json::Object(properties)) = about.get_mut("properties") else {
        return;
    };
    if properties.remove(VERSIONS).is_some() && properties.is_empty() {
        about.remove("properties");
    }
}

fn unit(code: Option<&str>) -> Json {
    match code {
        Some(code) => json!({"name": code, "symbol": code, "definition": format!("ucum:{code}")}),
        None => json!({"name": null, "symbol": null, "definition": null}),
    }
}
