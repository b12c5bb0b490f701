//! What the demo sends: messages of observations, and the catalog's entry of each datastream.
//!
//! It writes the JSON of the public interface by itself instead of borrowing the gateway's codec:
//! a device that knows only the documentation is the better witness.

use serde::Serialize;
use std::sync::Arc;
use weir_model::{Place, Time};

/// A datastream of the demo, as its catalog entry says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its topic.
    pub topic: String,
    /// What a person calls it.
    pub name: String,
    /// URI of the sensor.
    pub sensor: String,
    /// Observed property; `type` on the wire.
    pub property: String,
    /// Unit, UCUM; empty where there is none.
    pub unit: String,
    /// Where the sensor stands.
    pub place: Option<Place>,
    /// The largest value to expect: the full height of a bar.
    pub maximum: Option<f64>,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// Truth.
    Bool(bool),
    /// A string.
    Text(String),
}

impl Value {
    /// The number, where the result is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// One observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Of what.
    pub stream: Arc<Stream>,
    /// The result.
    pub value: Value,
    /// Where the sensor was, if not where it always is.
    pub place: Option<Place>,
    /// When it was observed; `None` where the publisher is to say its now.
    pub time: Option<Time>,
}

/// Observations that travel together, and the topic they are sent to.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The topic at or above that of every observation.
    pub topic: String,
    /// In order.
    pub observations: Vec<Observation>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    observations: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    topic: &'a str,
    sensor: &'a str,
    r#type: &'a str,
    value: &'a Value,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    sensor: &'a str,
    r#type: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<f64>,
}

impl Message {
    /// The message as `application/json`; observations without a time get `now`.
    pub fn json(&self, now: Time) -> Vec<u8> {
        let observations = self
            .observations
            .iter()
            .map(|observation| row(observation, now));
        to_json(&Envelope {
            observations: observations.collect(),
        })
    }
}

fn row(observation: &Observation, now: Time) -> Row<'_> {
    let stream = &*observation.stream;
    let place = observation.place.or(stream.place);
    Row {
        topic: &stream.topic,
        sensor: &stream.sensor,
        r#type: &stream.property,
        value: &observation.value,
        unit: &stream.unit,
        time: observation.time.unwrap_or(now).to_string(),
        lat: place.map(|place| place.latitude),
        lon: place.map(|place| place.longitude),
    }
}

impl Stream {
    /// The catalog entry as `application/json`, the body of `PUT /catalog/{topic}`.
    pub fn json(&self) -> Vec<u8> {
        to_json(&Entry {
            name: &self.name,
            sensor: &self.sensor,
            r#type: &self.property,
            unit: &self.unit,
            lat: self.place.map(|place| place.latitude),
            lon: self.place.map(|place| place.longitude),
            maximum: self.maximum,
        })
    }
}

/// Every value here is a string, a truth or a finite number, so writing cannot fail.
fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_the_reference_says() {
        let stream = Arc::new(Stream {
            topic: "heating/substation-3/supply/temperature".into(),
            name: "Substation 3".into(),
            sensor: "urn:dev:mac:0024befffe800300".into(),
            property: "temperature".into(),
            unit: "Cel".into(),
            place: Some(Place {
                latitude: 44.8125,
                longitude: 20.4612,
            }),
            maximum: None,
        });
        let observation = Observation {
            stream,
            value: Value::Number(71.25),
            place: None,
            time: None,
        };
        let message = Message {
            topic: "heating".into(),
            observations: vec![observation],
        };
        let json = String::from_utf8(message.json(Time::from_millis(1_763_631_660_250)));
        let text = r#"{"observations":[{"topic":"heating/substation-3/supply/temperature","#
            .to_owned()
            + r#""sensor":"urn:dev:mac:0024befffe800300","type":"temperature","value":71.25,"#
            + r#""unit":"Cel","time":"2025-11-20T09:41:00.250Z","lat":44.8125,"lon":20.4612}]}"#;
        assert_eq!(json, Ok(text));
    }
}
