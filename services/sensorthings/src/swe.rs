//! Parameters of tasks in the JSON encoding of SWE Common (OGC 17-011r2, 08-094r1 section 7; 17-079r1
//! section 8.1): what a capability describes, and whether what a task gives is that.
//!
//! A record of quantities, counts, categories, booleans, texts, times and records in it. Deliberately no
//! arrays, choices, ranges and streams: a capability that asks for one is refused when it is made.

use crate::fault::{Fault, Result};
use crate::filter::Value;
use crate::limits::{DEPTH_MAX, PARAMETERS_MAX, PATTERN_BYTES_MAX};
use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value as Json};

/// A component, read where a capability is made and again where a task is.
#[derive(Debug)]
pub(crate) struct Component {
    name: String,
    is_optional: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Record(Vec<Component>),
    Quantity(Numbers),
    Count(Numbers),
    /// A category or a text.
    Text(Tokens),
    Boolean,
    Time,
}

/// `AllowedValues` (08-094r1 section 7.2.8): one of these, or within one of these; any where none is said.
#[derive(Debug, Default)]
struct Numbers {
    values: Vec<f64>,
    intervals: Vec<(f64, f64)>,
}

/// `AllowedTokens`: one of these, or of this pattern.
#[derive(Debug, Default)]
struct Tokens {
    values: Vec<String>,
    pattern: Option<Regex>,
}

/// Reads `taskingParameters` of a capability.
pub(crate) fn record(said: &Json) -> Result<Component> {
    let mut budget = PARAMETERS_MAX;
    let record = component(said, "taskingParameters", 0, &mut budget)?;
    match record.kind {
        Kind::Record(_) => Ok(record),
        _ => Err(Fault::bad("taskingParameters: a DataRecord was expected")),
    }
}

fn component(said: &Json, path: &str, depth: usize, budget: &mut usize) -> Result<Component> {
    if depth > DEPTH_MAX {
        return Err(Fault::over("depth of taskingParameters", DEPTH_MAX));
    }
    *budget = budget
        .checked_sub(1)
        .ok_or_else(|| Fault::over("components of taskingParameters", PARAMETERS_MAX))?;
    let kind = match said["type"].as_str() {
        Some("DataRecord") => Kind::Record(fields(said, path, depth, budget)?),
        Some("Quantity") => Kind::Quantity(numbers(said, path)?),
        Some("Count") => Kind::Count(numbers(said, path)?),
        Some("Category" | "Text") => Kind::Text(tokens(said, path)?),
        Some("Boolean") => Kind::Boolean,
        Some("Time") => Kind::Time,
        Some(other) => {
            let problem = format!("{path}: parameters of type `{other}` are not supported");
            return Err(Fault::new(501, problem));
        }
        None => return Err(Fault::bad(format!("{path}: `type` is missing"))),
    };
    Ok(Component {
        name: said["name"].as_str().unwrap_or_default().to_owned(),
        is_optional: said["optional"] == true,
        kind,
    })
}

fn fields(said: &Json, path: &str, depth: usize, budget: &mut usize) -> Result<Vec<Component>> {
    let list = said.get("field").or(said.get("fields"));
    let list = list
        .and_then(Json::as_array)
        .filter(|list| !list.is_empty());
    let list =
        list.ok_or_else(|| Fault::bad(format!("{path}: `field` is a list of components")))?;
    let mut fields: Vec<Component> = Vec::with_capacity(list.len());
    for said in list {
        let name = said["name"].as_str().unwrap_or_default();
        let path = format!("{path}/{name}");
        if weir_model::topic::check(name).is_err() || name.contains('/') {
            return Err(Fault::bad(format!("{path}: `name` is no name of a field")));
        }
        if fields.iter().any(|known| known.name == name) {
            return Err(Fault::bad(format!("{path} is there twice")));
        }
        fields.push(component(said, &path, depth + 1, budget)?);
    }
    Ok(fields)
}

fn member<'j>(constraint: &'j Json, names: [&str; 2]) -> &'j [Json] {
    let found = names.iter().find_map(|name| constraint[*name].as_array());
    found.map_or(&[], Vec::as_slice)
}

fn numbers(said: &Json, path: &str) -> Result<Numbers> {
    let Some(constraint) = said.get("constraint") else {
        return Ok(Numbers::default());
    };
    let bad = || {
        Fault::bad(format!(
            "{path}: `constraint` has numbers and intervals of two"
        ))
    };
    let pair = |pair: &Json| Some((pair[0].as_f64()?, pair[1].as_f64()?));
    let values = member(constraint, ["value", "values"])
        .iter()
        .map(Json::as_f64);
    let intervals = member(constraint, ["interval", "intervals"])
        .iter()
        .map(pair);
    Ok(Numbers {
        values: values.collect::<Option<_>>().ok_or_else(bad)?,
        intervals: intervals.collect::<Option<_>>().ok_or_else(bad)?,
    })
}

fn tokens(said: &Json, path: &str) -> Result<Tokens> {
    let Some(constraint) = said.get("constraint") else {
        return Ok(Tokens::default());
    };
    let text = |json: &Json| json.as_str().map(str::to_owned);
    let values = member(constraint, ["value", "values"]).iter().map(text);
    let values = values.collect::<Option<_>>();
    let pattern = constraint["pattern"]
        .as_str()
        .map(|pattern| pattern_of(pattern, path));
    Ok(Tokens {
        values: values.ok_or_else(|| Fault::bad(format!("{path}: tokens are texts")))?,
        pattern: pattern.transpose()?,
    })
}

/// A pattern is of the whole text.
fn pattern_of(pattern: &str, path: &str) -> Result<Regex> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(Fault::over("bytes of a pattern", PATTERN_BYTES_MAX));
    }
    let whole = format!("^(?:{pattern})$");
    let built = RegexBuilder::new(&whole)
        .size_limit(PATTERN_BYTES_MAX << 6)
        .build();
    built.map_err(|error| Fault::bad(format!("{path}: pattern: {error}")))
}

impl Component {
    /// Whether the parameters of a task are those that this record describes.
    pub(crate) fn check(&self, said: &Json) -> Result<()> {
        self.check_at(said, "taskingParameters")
    }

    /// Whether its values are a message of one observation for each, as the format `json` reads it.
    pub(crate) fn is_flat_message(&self) -> bool {
        let Kind::Record(fields) = &self.kind else {
            return false;
        };
        let is = |name: &str| fields.iter().any(|field| field.name == name);
        !is("observations") && (!is("value") || fields.len() == 1)
    }

    fn check_at(&self, said: &Json, path: &str) -> Result<()> {
        let holds = match &self.kind {
            Kind::Record(fields) => return check_record(fields, said, path),
            Kind::Quantity(numbers) => said.as_f64().is_some_and(|number| numbers.allow(number)),
            Kind::Count(numbers) => {
                let whole = said.as_f64().filter(|number| number.fract() == 0.0);
                whole.is_some_and(|number| numbers.allow(number))
            }
            Kind::Text(tokens) => said.as_str().is_some_and(|text| tokens.allow(text)),
            Kind::Boolean => said.is_boolean(),
            Kind::Time => said
                .as_str()
                .is_some_and(|text| Value::of_time(text) != Value::Null),
        };
        if holds {
            Ok(())
        } else {
            Err(Fault::bad(format!(
                "{path}: {said} is no {}",
                self.kind.named()
            )))
        }
    }
}

fn check_record(fields: &[Component], said: &Json, path: &str) -> Result<()> {
    let missing = || Fault::bad(format!("{path}: an object was expected"));
    let given: &Map<String, Json> = said.as_object().ok_or_else(missing)?;
    let is_known = |name: &&String| !fields.iter().any(|field| field.name == **name);
    if let Some(name) = given.keys().find(is_known) {
        return Err(Fault::bad(format!(
            "{path}: there is no parameter `{name}`"
        )));
    }
    for field in fields {
        let path = format!("{path}/{}", field.name);
        match given.get(&field.name) {
            Some(said) => field.check_at(said, &path)?,
            None if field.is_optional => {}
            None => return Err(Fault::bad(format!("{path} is missing"))),
        }
    }
    Ok(())
}

impl Numbers {
    fn allow(&self, number: f64) -> bool {
        let any = self.values.is_empty() && self.intervals.is_empty();
        let within = |(from, to): &(f64, f64)| (*from..=*to).contains(&number);
        any || self.values.contains(&number) || self.intervals.iter().any(within)
    }
}

impl Tokens {
    fn allow(&self, text: &str) -> bool {
        let any = self.values.is_empty() && self.pattern.is_none();
        let of_pattern = || self.pattern.as_ref().is_some_and(|it| it.is_match(text));
        any || self.values.iter().any(|known| known == text) || of_pattern()
    }
}

impl Kind {
    fn named(&self) -> &'static str {
        match self {
            Kind::Record(_) => "record",
            Kind::Quantity(_) => "quantity that is allowed",
            Kind::Count(_) => "count that is allowed",
            Kind::Text(_) => "text that is allowed",
            Kind::Boolean => "boolean",
            Kind::Time => "time as ISO 8601 has them",
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn lamp() -> Component {
        let field = json!([
            {"name": "status", "type": "Category",
             "constraint": {"type": "AllowedTokens", "value": ["on", "off"]}},
            {"name": "color", "type": "Text", "optional": true,
             "constraint": {"type": "AllowedTokens", "pattern": "#([A-Fa-f0-9]{6})"}},
            {"name": "level", "type": "Quantity", "uom": {"code": "%"}, "optional": true,
             "constraint": {"type": "AllowedValues", "value": [-1], "interval": [[0, 100]]}},
            {"name": "blinks", "type": "Count", "optional": true},
            {"name": "soft", "type": "Boolean", "optional": true},
            {"name": "until", "type": "Time", "optional": true},
            {"name": "fade", "type": "DataRecord", "optional": true,
             "field": [{"name": "seconds", "type": "Quantity"}]},
        ]);
        record(&json!({"type": "DataRecord", "field": field})).unwrap()
    }

    #[test]
    fn parameters_are_those_that_are_described() {
        for good in [
            json!({"status": "on"}),
            json!({"status": "off", "color": "#FF11a0", "level": 100, "blinks": 3}),
            json!({"status": "on", "level": -1, "soft": true, "fade": {"seconds": 1.5}}),
            json!({"status": "on", "until": "2026-11-20T12:00:00Z"}),
        ] {
            assert_eq!(lamp().check(&good), Ok(()), "{good}");
        }
        for (bad, place) in [
            (json!({}), "/status"),
            (json!([]), ""),
            (json!({"status": "dim"}), "/status"),
            (json!({"status": "on", "color": "red"}), "/color"),
            (json!({"status": "on", "color": "x#FF11A0"}), "/color"),
            (json!({"status": "on", "level": 101}), "/level"),
            (json!({"status": "on", "level": "1"}), "/level"),
            (json!({"status": "on", "blinks": 1.5}), "/blinks"),
            (json!({"status": "on", "soft": "yes"}), "/soft"),
            (json!({"status": "on", "until": "soon"}), "/until"),
            (json!({"status": "on", "fade": {}}), "/fade/seconds"),
            (json!({"status": "on", "volume": 1}), ""),
        ] {
            let fault = lamp().check(&bad).unwrap_err();
            let place = format!("taskingParameters{place}");
            assert!(fault.message.starts_with(&place), "{}", fault.message);
        }
    }

    #[test]
    fn what_describes_no_parameters_is_refused() {
        let field = |field: Json| json!({"type": "DataRecord", "field": [field]});
        for (bad, status) in [
            (json!({}), 400),
            (json!({"type": "Quantity"}), 400),
            (json!({"type": "DataRecord", "field": []}), 400),
            (field(json!({"type": "Quantity"})), 400),
            (field(json!({"name": "a/b", "type": "Quantity"})), 400),
            (field(json!({"name": "a", "type": "DataArray"})), 501),
            (
                field(json!({"name": "a", "type": "Count", "constraint": {"interval": [[1]]}})),
                400,
            ),
            (
                field(json!({"name": "a", "type": "Text", "constraint": {"pattern": "("}})),
                400,
            ),
        ] {
            assert_eq!(record(&bad).unwrap_err().status, status, "{bad}");
        }
        let mut deep = json!({"name": "a", "type": "Quantity"});
        for _ in 0..=DEPTH_MAX {
            deep = json!({"name": "a", "type": "DataRecord", "field": [deep]});
        }
        assert!(record(&deep).is_err());
    }
}
