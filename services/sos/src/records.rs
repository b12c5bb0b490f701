//! What the hub keeps beside the catalog for this service: entities, by key.
//!
//! Sensors and features are those of SensorThings (`v1.1/Sensors/{id}`), so that both services know the
//! same; templates of results are this service's own (`sos/templates/{id}`).

use crate::ask::Ask;
use crate::exception::Exception;
use bytes::Bytes;
use serde_json::{Value as Json, json};
use weir_hub::{Exchange, Request};
use weir_model::{Filter, Place, percent};

/// A set of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Sensors,
    Features,
    Templates,
}

impl Set {
    fn root(self) -> &'static str {
        match self {
            Set::Sensors => "v1.1/Sensors",
            Set::Features => "v1.1/FeaturesOfInterest",
            Set::Templates => "sos/templates",
        }
    }

    /// The key of an identifier, as SensorThings writes it.
    pub(crate) fn key(self, id: &str) -> String {
        format!("{}/{}", self.root(), percent::encode(id, b":.-_~"))
    }

    /// The entities that may be read, each with its identifier.
    pub(crate) fn all(self, ask: &Ask) -> Result<Vec<(String, Json)>, Exception> {
        let filter = format!("{}/+", self.root());
        self.matching(ask, &filter)
    }

    /// The entity of an identifier.
    pub(crate) fn one(self, ask: &Ask, id: &str) -> Result<Option<Json>, Exception> {
        let found = self.matching(ask, &self.key(id))?;
        Ok(found.into_iter().next().map(|(_, body)| body))
    }

    fn matching(self, ask: &Ask, filter: &str) -> Result<Vec<(String, Json)>, Exception> {
        let filter = Filter::parse(filter)
            .map_err(|error| Exception::invalid("identifier", error.to_string()))?;
        // Who may read none of them sees none.
        let opened = ask
            .hub
            .open(ask.now, &ask.principal, Request::Entities(vec![filter]));
        let Ok(Exchange::Described(entities)) = opened else {
            return Ok(Vec::new());
        };
        let known = entities.iter().filter_map(|entity| {
            let id = entity.key.strip_prefix(self.root())?.strip_prefix('/')?;
            let body = serde_json::from_slice(&entity.body).ok()?;
            Some((percent::decode(id).ok()?, body))
        });
        Ok(known.collect())
    }
}

/// An entity to be kept.
pub(crate) fn kept(set: Set, id: &str, body: &Json) -> (String, Option<Bytes>) {
    (set.key(id), Some(body.to_string().into()))
}

/// A sensor with its description, as SensorThings has it (OGC 18-088 section 8.2.5), and the types of observations
/// that it was announced with.
pub(crate) fn sensor(id: &str, format: &str, description: &str, types: &[String]) -> Json {
    let mut sensor = json!({
        "name": id,
        "description": "",
        "encodingType": format,
        "metadata": description,
    });
    if !types.is_empty() {
        sensor["properties"] = json!({TYPES: types});
    }
    sensor
}

const TYPES: &str = "observationTypes";

/// The types of observations that a sensor was announced with.
pub(crate) fn types_of(sensor: &Json) -> Vec<String> {
    texts(&sensor["properties"][TYPES])
}

fn texts(list: &Json) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// A feature of interest (OGC 18-088 section 8.2.8) and the datastreams that observe it.
pub(crate) fn feature(id: &str, place: Option<Place>, topics: &[String]) -> Json {
    let geometry = match place {
        Some(place) => json!({
            "type": "Point",
            "coordinates": [place.longitude, place.latitude],
        }),
        None => json!({"type": "GeometryCollection", "geometries": []}),
    };
    json!({
        "name": id,
        "description": "",
        "encodingType": "application/geo+json",
        "feature": geometry,
        "properties": {"datastreams": topics},
    })
}

/// Where a feature is, if it is a point.
pub(crate) fn place_of(feature: &Json) -> Option<Place> {
    let coordinates = &feature["feature"]["coordinates"];
    Some(Place {
        longitude: coordinates.get(0)?.as_f64()?,
        latitude: coordinates.get(1)?.as_f64()?,
    })
}

/// The datastreams that observe a feature.
pub(crate) fn topics_of(feature: &Json) -> Vec<String> {
    texts(&feature["properties"]["datastreams"])
}
