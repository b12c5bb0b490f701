//! What the hub keeps beside the catalog for this service: entities, by key.
//!
//! Sensors and features are those of SensorThings (`v1.1/Sensors/{id}`), so that both services know the
//! same; templates of results are this service's own (`sos/templates/{id}`).

use crate::related::{self, Related};
use bytes::Bytes;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use weir_codec::crs::Position;
use weir_hub::limits::ENTITIES_OF_ONE_REQUEST_MAX;
use weir_hub::{Change, Entity, Hub};
use weir_model::{Filter, Place, Time, percent};

/// A set of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Sensors,
    Features,
    Things,
    Locations,
    /// Since when things were where.
    Stays,
    Templates,
}

impl Set {
    /// Those that say where things were.
    pub(crate) const OF_WHEREABOUTS: [Set; 4] =
        [Set::Things, Set::Locations, Set::Stays, Set::Features];

    pub(crate) fn root(self) -> &'static str {
        match self {
            Set::Sensors => "v1.1/Sensors",
            Set::Features => "v1.1/FeaturesOfInterest",
            Set::Things => "v1.1/Things",
            Set::Locations => "v1.1/Locations",
            Set::Stays => "v1.1/HistoricalLocations",
            Set::Templates => "sos/templates",
        }
    }

    /// The key of an identifier, as SensorThings writes it.
    pub(crate) fn key(self, id: &str) -> String {
        format!("{}/{}", self.root(), percent::encode(id, b":.-_~"))
    }

    /// All of them, whoever may read them.
    pub(crate) fn kept(self, hub: &Arc<Hub>) -> Vec<(String, Json)> {
        self.kept_at(hub, &format!("{}/+", self.root()))
    }

    /// The identifier of a key of this set.
    pub(crate) fn id_of(self, key: &str) -> Option<String> {
        let id = key.strip_prefix(self.root())?.strip_prefix('/')?;
        percent::decode(id).ok()
    }

    /// What there is at a key, or at those that match, whoever may read it.
    pub(crate) fn kept_at(self, hub: &Arc<Hub>, key: &str) -> Vec<(String, Json)> {
        let filter = Filter::parse(key).ok();
        self.read(hub.internal().entities(filter.as_slice()))
    }

    /// These entities, each with its identifier; what is none of the set is left out.
    pub(crate) fn read(self, entities: Vec<Entity>) -> Vec<(String, Json)> {
        let known = entities.iter().filter_map(|entity| {
            let body = serde_json::from_slice(&entity.body).ok()?;
            Some((self.id_of(&entity.key)?, body))
        });
        known.collect()
    }
}

/// An entity to be kept.
pub(crate) fn kept(set: Set, id: &str, body: &Json) -> (String, Option<Bytes>) {
    (set.key(id), Some(body.to_string().into()))
}

/// As many requests as so many entities need.
pub(crate) fn puts(entities: Vec<(String, Option<Bytes>)>) -> Vec<Change> {
    let parts = entities.chunks(ENTITIES_OF_ONE_REQUEST_MAX);
    parts.map(|part| Change::Put(part.to_vec())).collect()
}

/// An offering as a sensor's record names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnOffering {
    pub(crate) id: String,
    /// What people call it.
    pub(crate) name: Option<String>,
}

/// What is kept of a sensor beside its description.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announcement {
    /// Types of observations.
    pub(crate) types: Vec<String>,
    pub(crate) offerings: Vec<OwnOffering>,
    /// Procedures that it is a part of.
    pub(crate) attached_to: Vec<String>,
    pub(crate) related: Vec<Related>,
    /// When its description took the place of another.
    pub(crate) since: Option<Time>,
}

/// A sensor with its description, as SensorThings has it (OGC 18-088 section 8.2.5), and what it was announced with.
pub(crate) fn sensor(id: &str, format: &str, description: &str, announced: &Announcement) -> Json {
    let mut sensor = json!({
        "name": id,
        "description": "",
        "encodingType": format,
        "metadata": description,
    });
    let mut put = |name: &str, list: Vec<Json>| {
        if !list.is_empty() {
            sensor["properties"][name] = list.into();
        }
    };
    let strings = |list: &[String]| list.iter().map(|text| json!(text)).collect();
    put(TYPES, strings(&announced.types));
    put(ATTACHED, strings(&announced.attached_to));
    let offerings = announced.offerings.iter().map(|own| match &own.name {
        Some(name) => json!({"id": own.id, "name": name}),
        None => json!({"id": own.id}),
    });
    put(OFFERINGS, offerings.collect());
    let related = announced.related.iter();
    put(RELATED, related.map(Related::to_json).collect());
    if let Some(since) = announced.since {
        sensor["properties"][SINCE] = since.to_string().into();
    }
    sensor
}

const TYPES: &str = "observationTypes";
const OFFERINGS: &str = "offerings";
const RELATED: &str = "relatedFeatures";
const ATTACHED: &str = "attachedTo";
const SINCE: &str = "describedSince";

/// What a sensor was announced with.
pub(crate) fn announcement_of(sensor: &Json) -> Announcement {
    Announcement {
        types: types_of(sensor),
        offerings: offerings_of(sensor),
        attached_to: attached_of(sensor),
        related: related_of(sensor),
        since: since_of(sensor),
    }
}

/// When a sensor's description took the place of another.
pub(crate) fn since_of(sensor: &Json) -> Option<Time> {
    sensor["properties"][SINCE].as_str()?.parse().ok()
}

/// The types of observations that a sensor was announced with.
pub(crate) fn types_of(sensor: &Json) -> Vec<String> {
    texts(&sensor["properties"][TYPES])
}

/// The offerings that a sensor's record names.
pub(crate) fn offerings_of(sensor: &Json) -> Vec<OwnOffering> {
    let all = sensor["properties"][OFFERINGS].as_array();
    let named = all.into_iter().flatten().filter_map(|own| {
        Some(OwnOffering {
            id: own["id"].as_str().filter(|id| !id.is_empty())?.to_owned(),
            name: own["name"].as_str().map(str::to_owned),
        })
    });
    named.collect()
}

/// The procedures that a sensor's record says it is a part of.
pub(crate) fn attached_of(sensor: &Json) -> Vec<String> {
    texts(&sensor["properties"][ATTACHED])
}

/// The features that a sensor's record says it is related to.
pub(crate) fn related_of(sensor: &Json) -> Vec<Related> {
    related::of_record(&sensor["properties"][RELATED])
}

fn texts(list: &Json) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// An identifier as SensorThings writes it: a text, or the number of what the service named.
pub(crate) fn id_of(said: &Json) -> Option<String> {
    match said {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Where SensorThings notes which datastreams' observations name a feature, beside what a client reads.
const TOPICS: &str = "@topics";

/// A feature of interest (OGC 18-088 section 8.2.8) and the datastreams that observe it.
pub(crate) fn feature(id: &str, position: Option<Position>, topics: &[String]) -> Json {
    let geometry = match position {
        Some(Position { place, height }) => {
            let mut coordinates = vec![place.longitude, place.latitude];
            coordinates.extend(height);
            json!({"type": "Point", "coordinates": coordinates})
        }
        None => json!({"type": "GeometryCollection", "geometries": []}),
    };
    json!({
        "name": id,
        "description": "",
        "encodingType": "application/geo+json",
        "feature": geometry,
        TOPICS: topics,
    })
}

/// The identifiers in a link or a list of them.
pub(crate) fn ids_of(link: &Json) -> Vec<String> {
    match link {
        Json::Array(many) => many.iter().filter_map(id_of).collect(),
        one => id_of(one).into_iter().collect(),
    }
}

/// The location that a feature was made from.
pub(crate) fn origin_of(feature: &Json) -> Option<String> {
    id_of(&feature["@origin"])
}

/// Where a feature is, if it is a point.
pub(crate) fn position_of(feature: &Json) -> Option<Position> {
    position_at(&feature["feature"])
}

/// Where a point of GeoJSON is, or that of a Feature.
pub(crate) fn position_at(json: &Json) -> Option<Position> {
    let is_feature = json["type"] == "Feature";
    let coordinates = &(if is_feature { &json["geometry"] } else { json })["coordinates"];
    let place = Place {
        longitude: coordinates.get(0)?.as_f64()?,
        latitude: coordinates.get(1)?.as_f64()?,
    };
    Some(Position {
        place,
        height: coordinates.get(2).and_then(Json::as_f64),
    })
}

/// The datastreams that observe a feature.
pub(crate) fn topics_of(feature: &Json) -> Vec<String> {
    // Earlier versions listed them among the properties, which a client of SensorThings reads.
    let mut topics = texts(&feature["properties"]["datastreams"]);
    topics.extend(texts(&feature[TOPICS]));
    topics
}
