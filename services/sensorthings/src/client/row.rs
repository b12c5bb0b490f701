//! An Observation as a row of a message.

use crate::draft::place;
use serde_json::Value as Json;
use std::io;
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Time, Value};
use weir_service::misspoken;

/// What is expanded of an Observation: where it was made, and of what.
pub(super) const FEATURE: &str = "FeatureOfInterest($select=name,feature)";

/// Adds an Observation of a Datastream: what that says of it, what it is of, and where that is, where it is a point.
pub(super) fn row(
    observation: &Json,
    topic: &str,
    datastream: &Json,
    rows: &mut BatchBuilder,
) -> io::Result<()> {
    rows.begin();
    rows.topic(Naming::Topic, topic);
    let named = |entity: &'static str, member: &str| datastream[entity][member].as_str();
    let unit = named("unitOfMeasurement", "symbol");
    named("Sensor", "name").inspect(|name| rows.sensor(name));
    named("ObservedProperty", "name").inspect(|name| rows.property(name));
    unit.inspect(|unit| rows.unit(unit));
    let mut text = String::new();
    rows.value(match &observation["result"] {
        Json::Number(number) => crate::message::number_of(number, &mut text),
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text),
        Json::Null => Value::Null,
        other => {
            text = other.to_string();
            Value::Json(&text)
        }
    });
    let feature = &observation["FeatureOfInterest"];
    if let Some(place) = place(feature.get("feature")) {
        rows.latitude(place.latitude);
        rows.longitude(place.longitude);
    }
    let (begin, end) = times(observation, "phenomenonTime")?.unzip();
    begin.into_iter().for_each(|time| rows.time(time));
    let valid = times(observation, "validTime")?;
    let (quality, parameters) = (
        own(observation, "resultQuality"),
        own(observation, "parameters"),
    );
    rows.extra(Extra {
        end: end.flatten(),
        result_time: times(observation, "resultTime")?.map(|(time, _)| time),
        valid: valid.map(|(from, to)| (from, to.unwrap_or(from))),
        quality: quality.as_deref(),
        feature: feature["name"].as_str(),
        parameters: parameters.as_deref(),
    });
    rows.end().map_err(|error| misspoken(error.to_string()))
}

/// A member as compact text, a text as it is; empty objects say nothing.
fn own(observation: &Json, name: &str) -> Option<String> {
    match &observation[name] {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Object(members) if members.is_empty() => None,
        other => Some(other.to_string()),
    }
}

/// A member that is an instant, or begin and end of an interval (ISO 8601 with a solidus); an error where it is said
/// and is none.
pub(super) fn times(entity: &Json, name: &str) -> io::Result<Option<(Time, Option<Time>)>> {
    let said = match &entity[name] {
        Json::Null => return Ok(None),
        said => said,
    };
    let text = said.as_str().unwrap_or_default();
    let read = match text.split_once('/') {
        Some((begin, end)) => begin.parse().ok().zip(end.parse().ok().map(Some)),
        None => text.parse().ok().map(|time| (time, None)),
    };
    read.map(Some).ok_or_else(|| {
        let id = &entity["@iot.id"];
        misspoken(format!("{name} of the entity {id}: {said} is no time"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;
    use weir_model::Place;

    #[test]
    fn an_observation_is_a_row_at_the_topic_of_its_datastream() {
        let datastream = json!({
            "name": "Air", "properties": {"topic": "kitchen/temp"}, "Sensor": {"name": "urn:s:1"},
            "unitOfMeasurement": {"symbol": "Cel"}, "ObservedProperty": {"name": "temperature"},
        });
        let point = json!({"type": "Point", "coordinates": [7.6, 51.9]});
        let observation = json!({
            "result": [1, 2], "resultTime": null, "parameters": {},
            "phenomenonTime": "2026-11-20T09:00:00Z/2026-11-20T10:00:00Z",
            "FeatureOfInterest": {"name": "The kitchen", "feature": point},
        });
        let mut rows = BatchBuilder::new();
        row(&observation, "kitchen/temp", &datastream, &mut rows).unwrap();
        let batch = rows.finish();
        let row = batch.row(0);
        assert_eq!((row.topic, row.unit), ("kitchen/temp", Some("Cel")));
        assert_eq!(
            (row.sensor, row.property),
            (Some("urn:s:1"), Some("temperature"))
        );
        let here = Place {
            latitude: 51.9,
            longitude: 7.6,
        };
        assert_eq!(
            (row.place, row.extra.feature),
            (Some(here), Some("The kitchen"))
        );
        assert_eq!(row.value, Value::Json("[1,2]"));
        assert_eq!(row.extra.end, Some("2026-11-20T10:00:00Z".parse().unwrap()));
        assert_eq!(row.extra.parameters, None);
    }

    #[test]
    fn a_time_that_is_none_is_no_arrival() {
        for name in ["phenomenonTime", "resultTime", "validTime"] {
            for said in [json!("yesterday"), json!(7), json!("2026-11-20T09:00:00Z/")] {
                let observation = json!({"@iot.id": 5, "result": 1, (name): said});
                let refused = row(&observation, "a", &json!({}), &mut BatchBuilder::new());
                let told = refused.unwrap_err().to_string();
                assert!(told.contains(name) && told.contains('5'), "{told}");
            }
        }
        let without = json!({"result": 1, "phenomenonTime": null});
        let mut rows = BatchBuilder::new();
        row(&without, "a", &json!({}), &mut rows).unwrap();
        assert_eq!(rows.finish().row(0).time, None);
    }
}
