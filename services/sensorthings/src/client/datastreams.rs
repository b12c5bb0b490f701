//! The Datastream of a topic: found, or created with all that it needs.

use super::api::{Api, key, quoted, refused};
use super::meant::Says;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::io;
use weir_model::topic::thing_and_property;
use weir_model::{Observation, Value};
use weir_service::{invalid, misspoken};

/// What a Datastream refers to and says of its observations.
pub(super) const MEANT: &str =
    "Sensor($select=name,metadata),ObservedProperty($select=name,definition)";

/// What a Datastream is called: the topic that it says, or else its name.
pub(super) fn called(datastream: &Json) -> Option<String> {
    let named = datastream["properties"]["topic"].as_str();
    let text = named.or(datastream["name"].as_str())?;
    let text = without_wildcards(text);
    weir_model::topic::check(&text).is_ok().then_some(text)
}

/// The topic of each Datastream, and what it is called: where several are called the same, as the temperatures
/// of two Things may be, its topic is that and its identifier.
pub(super) fn topics(datastreams: &[Json]) -> Vec<Option<[String; 2]>> {
    let called: Vec<_> = datastreams.iter().map(called).collect();
    let mut often: HashMap<&str, usize> = HashMap::new();
    let names = called.iter().flatten();
    names.for_each(|name| *often.entry(name).or_default() += 1);
    let topic = |(name, datastream): (&Option<String>, &Json)| {
        let name = name.clone()?;
        let id = match &datastream["@iot.id"] {
            Json::String(id) => level(id),
            id => id.to_string(),
        };
        match often[name.as_str()] {
            1 => Some([name.clone(), name]),
            _ => Some([format!("{name}/{id}"), name]),
        }
    };
    called.iter().zip(datastreams).map(topic).collect()
}

fn without_wildcards(text: &str) -> String {
    text.replace('+', "%2B").replace('#', "%23")
}

/// A text as one level of a topic.
fn level(text: &str) -> String {
    without_wildcards(text).replace('/', "%2F")
}

/// The path and the identifier of the Datastream of a topic, which is created as the observation describes it, and what
/// it says.
pub(super) async fn datastream(
    api: &mut Api,
    first: &Observation<'_>,
) -> io::Result<(String, Json, Says)> {
    let topic = first.topic;
    let (datastream, says) = match found(api, topic).await? {
        Some(datastream) => (datastream.clone(), Says::of(&datastream)),
        None => created(api, first).await?,
    };
    let key = key(&datastream);
    let key =
        key.ok_or_else(|| misspoken(format!("the Datastream of `{topic}` has no @iot.id")))?;
    Ok((
        format!("Datastreams{key}"),
        datastream["@iot.id"].clone(),
        says,
    ))
}

async fn found(api: &mut Api, topic: &str) -> io::Result<Option<Json>> {
    let (topic_is, name_is) = (
        format!("properties/topic eq {}", quoted(topic)),
        format!("name eq {}", quoted(topic)),
    );
    for filter in [topic_is, name_is] {
        let options = [
            ("$filter", filter.as_str()),
            ("$select", "@iot.id,name,properties,unitOfMeasurement"),
            ("$expand", MEANT),
        ];
        let all = match api.all("Datastreams", &options).await {
            // Not every server filters by what is in `properties`.
            Err(error)
                if filter.starts_with('p') && error.kind() == io::ErrorKind::InvalidInput =>
            {
                continue;
            }
            all => all?,
        };
        let mut its = all
            .into_iter()
            .filter(|one| called(one).as_deref() == Some(topic));
        match (its.next(), its.next()) {
            (None, _) => {}
            (one, None) => return Ok(one),
            _ => {
                let sentence =
                    "several Datastreams: give the one that is meant `topic` in `properties`";
                return Err(invalid(format!("`{topic}` names {sentence}")));
            }
        }
    }
    Ok(None)
}

async fn created(api: &mut Api, first: &Observation<'_>) -> io::Result<(Json, Says)> {
    let mut body = described(first);
    let says = Says::of(&body);
    link(api, &mut body).await?;
    let answered = api.post("Datastreams", &body).await?;
    if !answered.is_success() {
        return Err(refused(&answered));
    }
    // 201 has the entity's URL (18-088 section 10.2.1); not every server sends its body.
    let told: Option<Json> = serde_json::from_slice(&answered.body).ok();
    if let Some(made) = told.filter(|made| key(made).is_some()) {
        return Ok((made, says));
    }
    let made = found(api, first.topic).await?;
    let made = made.ok_or_else(|| misspoken("the Datastream that was created is not there"))?;
    Ok((made, says))
}

/// A Datastream (18-088 section 8.2.4) with all that it needs within it.
fn described(first: &Observation<'_>) -> Json {
    let (thing, level) = thing_and_property(first.topic);
    let property = first.property.unwrap_or(level);
    let sensor = first.sensor.unwrap_or(thing);
    let unit = first.unit.map_or(
        json!({"name": null, "symbol": null, "definition": null}),
        |unit| json!({"name": unit, "symbol": unit, "definition": format!("ucum:{unit}")}),
    );
    let sensor_is = json!({
        "name": sensor,
        "description": sensor,
        "encodingType": "text/html",
        "metadata": sensor,
    });
    let property_is = json!({"name": property, "definition": property, "description": property});
    json!({
        "name": first.topic,
        "description": first.topic,
        "observationType": observation_type(first.value),
        "unitOfMeasurement": unit,
        "properties": {"topic": first.topic},
        "Thing": thing_described(thing, first),
        "Sensor": sensor_is,
        "ObservedProperty": property_is,
    })
}

/// Has links to what is there in the place of what would be created.
async fn link(api: &mut Api, datastream: &mut Json) -> io::Result<()> {
    for (member, set) in [
        ("Thing", "Things"),
        ("Sensor", "Sensors"),
        ("ObservedProperty", "ObservedProperties"),
    ] {
        datastream[member] = linked(api, set, datastream[member].take()).await?;
    }
    Ok(())
}

/// A link to the feature that an observation names, or else that bears the name of its Thing; made where there is none.
pub(super) async fn feature(api: &mut Api, row: &Observation<'_>) -> io::Result<Json> {
    let (thing, _) = thing_and_property(row.topic);
    let name = row.extra.feature.unwrap_or(thing);
    let geometry = row
        .place
        .map(|place| json!({"type": "Point", "coordinates": [place.longitude, place.latitude]}));
    let described = json!({
        "name": name,
        "description": name,
        "encodingType": "application/geo+json",
        "feature": {"type": "Feature", "properties": {}, "geometry": geometry},
    });
    let link = linked(api, "FeaturesOfInterest", described).await?;
    if link.get("@iot.id").is_some() {
        return Ok(link);
    }
    let answered = api.post("FeaturesOfInterest", &link).await?;
    if !answered.is_success() {
        return Err(refused(&answered));
    }
    let made = linked(api, "FeaturesOfInterest", link).await?;
    let is_link = made.get("@iot.id").is_some();
    is_link
        .then_some(made)
        .ok_or_else(|| misspoken("the feature that was created is not there"))
}

fn thing_described(name: &str, first: &Observation<'_>) -> Json {
    let mut thing = json!({"name": name, "description": name});
    if let Some(place) = first.place {
        let at = json!({"type": "Point", "coordinates": [place.longitude, place.latitude]});
        thing["Locations"] = json!([{
            "name": name,
            "description": name,
            "encodingType": "application/geo+json",
            "location": at,
        }]);
    }
    thing
}

/// A link to the one entity of that name, or what is to be created.
async fn linked(api: &mut Api, set: &str, described: Json) -> io::Result<Json> {
    let name = described["name"].as_str().unwrap_or_default();
    let filter = format!("name eq {}", quoted(name));
    let options = [("$filter", filter.as_str()), ("$select", "@iot.id")];
    let mut there = api.all(set, &options).await?;
    Ok(match there.pop() {
        Some(one) if key(&one).is_some() => json!({"@iot.id": one["@iot.id"]}),
        _ => described,
    })
}

/// 18-088 table 12.
fn observation_type(value: Value<'_>) -> &'static str {
    match value {
        _ if value.is_numeric() => {
            "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"
        }
        Value::Bool(_) => {
            "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_TruthObservation"
        }
        _ => "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Observation",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn datastreams_that_are_called_the_same_are_kept_apart() {
        let all = [
            json!({"@iot.id": 1, "name": "Air"}),
            json!({"@iot.id": "a/b", "name": "Air"}),
            json!({"@iot.id": 3, "name": "Air", "properties": {"topic": "kitchen/air"}}),
            json!({"@iot.id": 4, "name": "Water"}),
            json!({"@iot.id": 5}),
        ];
        let topics = topics(&all);
        let told: Vec<_> = topics
            .iter()
            .flatten()
            .map(|[topic, name]| (&**topic, &**name))
            .collect();
        let expected = [
            ("Air/1", "Air"),
            ("Air/a%2Fb", "Air"),
            ("kitchen/air", "kitchen/air"),
            ("Water", "Water"),
        ];
        assert_eq!(told, expected);
        assert!(topics[4].is_none());
    }

    #[test]
    fn a_datastream_without_a_topic_is_called_by_its_name() {
        let topic = |datastream: Json| called(&datastream);
        assert_eq!(
            topic(json!({"name": "Air +1"})).as_deref(),
            Some("Air %2B1")
        );
        assert_eq!(topic(json!({})), None);
    }
}
