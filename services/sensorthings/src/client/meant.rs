//! What a Datastream says of all of its observations, beside what one of them says of itself.
//!
//! An Observation has a result and times; sensor, property and unit are its Datastream's (18-088 section 8.2.4). So a
//! number in another unit is converted before it is posted, as a server that knows both tells it. What it deliberately
//! does not do: change the Datastream, or post what would be told as something else.

use serde_json::Value as Json;
use std::io;
use weir_hub::units::Conversion;
use weir_model::{Observation, Value};
use weir_service::invalid;

/// By which names a Datastream's unit, Sensor and ObservedProperty are called.
pub(super) struct Says {
    units: Vec<String>,
    sensors: Vec<String>,
    properties: Vec<String>,
}

impl Says {
    /// Of a Datastream with its Sensor and its ObservedProperty.
    pub(super) fn of(datastream: &Json) -> Self {
        let unit = &datastream["unitOfMeasurement"];
        let (sensor, property) = (&datastream["Sensor"], &datastream["ObservedProperty"]);
        Self {
            units: names(unit, &["symbol", "definition", "name"]),
            sensors: names(sensor, &["name", "metadata"]),
            properties: names(property, &["name", "definition"]),
        }
    }

    /// The observation's result as the Datastream tells it; an error where it would be told as something else.
    pub(super) fn result<'r>(&self, row: &Observation<'r>) -> io::Result<Value<'r>> {
        let topic = row.topic;
        check(topic, "Sensor", &self.sensors, row.sensor)?;
        check(topic, "ObservedProperty", &self.properties, row.property)?;
        match row.unit {
            Some(unit) if !self.units.iter().any(|own| own == unit) => self.converted(row, unit),
            _ => Ok(row.value),
        }
    }

    fn converted<'r>(&self, row: &Observation<'r>, unit: &str) -> io::Result<Value<'r>> {
        let topic = row.topic;
        let Some(own) = self.units.first() else {
            let sentence = format!("the Datastream has no unit, and the observation has `{unit}`");
            return Err(invalid(format!("`{topic}`: {sentence}")));
        };
        let mut known = self.units.iter();
        let found = known.find_map(|own| Conversion::between(unit, own));
        let number = row.value.number().filter(|_| row.value.is_numeric());
        let result = match (found, number) {
            (Some(conversion), Some(number)) => Some(Value::Number(conversion.apply(number))),
            (Some(_), None) if row.value == Value::Null => Some(Value::Null),
            _ => None,
        };
        let is_finite = |it: &Value<'_>| !matches!(it, Value::Number(it) if !it.is_finite());
        result.filter(is_finite).ok_or_else(|| {
            let sentence = format!("the Datastream is in `{own}`, and the observation in `{unit}`");
            invalid(format!(
                "`{topic}`: {sentence}, which cannot be given in it"
            ))
        })
    }
}

fn check(topic: &str, what: &str, known: &[String], said: Option<&str>) -> io::Result<()> {
    match said {
        Some(said) if !known.iter().any(|name| name == said) => {
            let own = known.first().map_or("unknown", String::as_str);
            Err(invalid(format!(
                "`{topic}`: the Datastream's {what} is `{own}`, and the observation says `{said}`"
            )))
        }
        _ => Ok(()),
    }
}

/// What members of an entity say, the code of UCUM by itself.
fn names(entity: &Json, members: &[&str]) -> Vec<String> {
    let texts = members.iter().filter_map(|member| entity[member].as_str());
    let texts = texts.map(|text| text.strip_prefix("ucum:").unwrap_or(text));
    let said = texts.filter(|text| !text.trim().is_empty());
    said.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;
    use weir_model::BatchBuilder;

    fn told(says: &Says, member: &str, said: &str, value: Value<'_>) -> Result<String, String> {
        let mut rows = BatchBuilder::new();
        rows.begin();
        match member {
            "unit" => rows.unit(said),
            "sensor" => rows.sensor(said),
            "type" => rows.property(said),
            _ => {}
        }
        rows.value(value);
        rows.end().unwrap();
        let batch = rows.finish();
        let result = says.result(&batch.row(0));
        result
            .map(|value| format!("{value:?}"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_given_in_the_unit_of_its_datastream() {
        let says = Says::of(&json!({
            "unitOfMeasurement": {"name": "Metre", "symbol": "m", "definition": "ucum:m"},
            "Sensor": {"name": "urn:s:old"},
            "ObservedProperty": {"name": "level", "definition": "urn:p:level"},
        }));
        let number = |unit, number| told(&says, "unit", unit, Value::Number(number));
        assert_eq!(number("cm", 50.0).unwrap(), "Number(0.5)");
        assert_eq!(number("m", 50.0).unwrap(), "Number(50.0)");
        assert_eq!(number("Metre", 50.0).unwrap(), "Number(50.0)");
        let refused = number("s", 7.0).unwrap_err();
        assert!(
            refused.contains("`m`") && refused.contains("`s`"),
            "{refused}"
        );
        number("km", 1e308).unwrap_err();
        told(&says, "unit", "cm", Value::Text("high")).unwrap_err();
        assert_eq!(told(&says, "unit", "cm", Value::Null).unwrap(), "Null");
        for (member, good, bad) in [
            ("sensor", "urn:s:old", "urn:s:new"),
            ("type", "urn:p:level", "urn:p:flow"),
            ("", "", ""),
        ] {
            told(&says, member, good, Value::Null).unwrap();
            let refused = told(&says, member, bad, Value::Null);
            assert_eq!(refused.is_err(), !member.is_empty(), "{refused:?}");
        }
    }

    #[test]
    fn a_datastream_without_a_unit_takes_none() {
        let says = Says::of(&json!({"unitOfMeasurement": {"symbol": null}}));
        told(&says, "unit", "cm", Value::Number(1.0)).unwrap_err();
        let foreign = Says::of(&json!({"unitOfMeasurement": {
            "name": "Degree Celsius", "symbol": "°C", "definition": "http://example/c",
        }}));
        let kelvin = told(&foreign, "unit", "K", Value::Number(300.0));
        assert_eq!(kelvin.unwrap(), "Number(26.85)");
    }
}
