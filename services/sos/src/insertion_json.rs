//! Observations in JSON, as clients of 52North's server send them: objects with the members that O&M has, results as
//! values, as records of fields, or as fields and rows of values.

use crate::area::system;
use crate::exception::Exception;
use crate::limits::FIELDS_MAX;
use crate::moment::{period, time};
use serde_json::{Map, Value as Json};
use weir_codec::crs::{Crs, HEIGHT, Position};
use weir_model::{BatchBuilder, Extra, Time, Value};

/// Name of the parameter that says where an observation was made (OGC 10-004r3 section 7.2.2.7).
const SAMPLING_GEOMETRY: &str = "http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry";

/// Reads `observation`: an object or a list of such.
pub(crate) fn read(request: &Json, builder: &mut BatchBuilder) -> Result<(), Exception> {
    for observation in each(&request["observation"]).filter(|own| own.is_object()) {
        Shared::of(observation)?.results(&observation["result"], builder)?;
    }
    Ok(())
}

/// One, or those of a list.
pub(crate) fn each(value: &Json) -> impl Iterator<Item = &Json> {
    let one = std::slice::from_ref(value);
    value.as_array().map_or(one, Vec::as_slice).iter()
}

/// What an observation says beside its result.
struct Shared<'a> {
    procedure: &'a str,
    property: &'a str,
    feature: Option<&'a str>,
    position: Option<Position>,
    span: Span,
    result_time: Option<Time>,
    /// An object of JSON.
    parameters: Option<String>,
}

/// Begin and end; an instant has no end.
type Span = (Option<Time>, Option<Time>);

impl<'a> Shared<'a> {
    fn of(observation: &'a Json) -> Result<Self, Exception> {
        let said = |name: &'static str| {
            let text = observation[name].as_str();
            text.ok_or_else(|| Exception::missing(name))
        };
        let (feature, position) = feature(&observation["featureOfInterest"])?;
        let (parameters, position) = parameters(&observation["parameter"], position)?;
        Ok(Self {
            procedure: said("procedure")?,
            property: said("observedProperty")?,
            feature,
            position,
            span: span("phenomenonTime", &observation["phenomenonTime"])?,
            result_time: span("resultTime", &observation["resultTime"])?.0,
            parameters,
        })
    }

    fn results(&self, result: &Json, builder: &mut BatchBuilder) -> Result<(), Exception> {
        if let Json::Array(fields) = result {
            let row = fields
                .iter()
                .map(|field| &field["value"])
                .collect::<Vec<_>>();
            return self.row(&described(fields)?, &row, builder);
        }
        if let (Json::Array(fields), Json::Array(rows)) = (&result["fields"], &result["values"]) {
            let fields = described(fields)?;
            for row in rows {
                let row = row.as_array().ok_or_else(|| bad("a row of values"))?;
                self.row(&fields, &row.iter().collect::<Vec<_>>(), builder)?;
            }
            return Ok(());
        }
        let mut digits = String::new();
        let observed = Observed {
            property: self.property,
            unit: result["uom"].as_str(),
            value: simple(result.get("value").unwrap_or(result), &mut digits)?,
            nil_reason: None,
        };
        self.push(&observed, self.span, builder)
    }

    /// An observation for each field of a row that is a result; of several, each is of what its field is defined as.
    fn row(
        &self,
        fields: &[Field<'_>],
        values: &[&Json],
        builder: &mut BatchBuilder,
    ) -> Result<(), Exception> {
        if fields.len() != values.len() {
            return Err(bad("as many values as fields"));
        }
        let (mut own, mut result_time) = (self.span, self.result_time);
        for (field, value) in fields.iter().zip(values) {
            match field.role {
                Role::Time => own = span("result", value)?,
                Role::ResultTime => result_time = span("result", value)?.0,
                Role::Result | Role::Other => {}
            }
        }
        let shared = Shared {
            parameters: self.parameters.clone(),
            result_time,
            ..*self
        };
        let is_result = |field: &&Field<'_>| field.role == Role::Result;
        let several = fields.iter().filter(is_result).count() > 1;
        for (field, value) in fields.iter().zip(values) {
            if field.role == Role::Result && !value.is_null() {
                let property = field.definition.filter(|_| several);
                let nil_reason = field.nil_reason(value);
                let mut digits = String::new();
                let observed = Observed {
                    property: property.unwrap_or(self.property),
                    unit: field.unit,
                    value: match nil_reason {
                        Some(_) => Value::Null,
                        None => simple(value, &mut digits)?,
                    },
                    nil_reason: nil_reason.filter(|reason| !reason.is_empty()),
                };
                shared.push(&observed, own, builder)?;
            }
        }
        Ok(())
    }

    fn push(
        &self,
        observed: &Observed<'_>,
        (begin, end): Span,
        builder: &mut BatchBuilder,
    ) -> Result<(), Exception> {
        builder.begin();
        builder.sensor(self.procedure);
        builder.property(observed.property);
        let unit = observed.unit.into_iter();
        unit.for_each(|unit| builder.unit(unit));
        builder.value(observed.value);
        begin.into_iter().for_each(|time| builder.time(time));
        if let Some(Position { place, .. }) = self.position {
            builder.latitude(place.latitude);
            builder.longitude(place.longitude);
        }
        builder.extra(Extra {
            end,
            result_time: self.result_time,
            quality: observed.nil_reason,
            feature: self.feature,
            parameters: self.parameters.as_deref(),
            ..Extra::default()
        });
        let ended = builder.end();
        ended.map_err(|error| Exception::invalid("observation", error.to_string()))
    }
}

/// A result and what it is of.
struct Observed<'a> {
    property: &'a str,
    unit: Option<&'a str>,
    value: Value<'a>,
    /// Why there is none.
    nil_reason: Option<&'a str>,
}

fn bad(expected: &str) -> Exception {
    Exception::invalid("result", format!("{expected} was expected"))
}

/// What a value says, whose number is written in `digits`.
fn simple<'a>(value: &'a Json, digits: &'a mut String) -> Result<Value<'a>, Exception> {
    match value {
        Json::Number(number) => {
            *digits = number.to_string();
            Ok(Value::of_number(
                number.as_f64().unwrap_or_default(),
                digits,
            ))
        }
        Json::Bool(truth) => Ok(Value::Bool(*truth)),
        Json::String(text) => Ok(Value::Text(text)),
        Json::Null => Err(Exception::missing("result")),
        _ => Err(bad("a number, a truth or a text")),
    }
}

/// What a field of a record says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Time,
    ResultTime,
    Result,
    Other,
}

struct Field<'a> {
    role: Role,
    definition: Option<&'a str>,
    unit: Option<&'a str>,
    nils: &'a Json,
}

impl<'a> Field<'a> {
    /// Why there is no result, where a value says so.
    fn nil_reason(&self, value: &Json) -> Option<&'a str> {
        let is_same = |nil: &&Json| match (nil["value"].as_f64(), value.as_f64()) {
            (Some(nil), Some(value)) => nil == value,
            _ => nil["value"] == *value && !value.is_null(),
        };
        let nil = each(self.nils).find(is_same)?;
        Some(nil["reason"].as_str().unwrap_or_default())
    }
}

/// Members of a field of a record: those that say what it is, and those that people read. Any other would change what
/// its values mean.
pub(crate) const FIELD_MEMBERS: &[&str] = &[
    "type",
    "name",
    "definition",
    "uom",
    "value",
    "nilValues",
    "label",
    "description",
    "identifier",
    "codespace",
    "quality",
];

/// Refuses a field with a member that is not read.
pub(crate) fn check_members(parameter: &str, field: &Json, also: &[&str]) -> Result<(), Exception> {
    let is_known = |name: &str| FIELD_MEMBERS.contains(&name) || also.contains(&name);
    let mut names = field
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name);
    match names.find(|name| !is_known(name)) {
        Some(name) => {
            let sentence = format!("`{name}` of a field is not read");
            Err(Exception::invalid(parameter, sentence))
        }
        None => Ok(()),
    }
}

fn described(fields: &[Json]) -> Result<Vec<Field<'_>>, Exception> {
    if fields.len() > FIELDS_MAX {
        return Err(Exception::invalid(
            "result",
            format!("more than {FIELDS_MAX} fields"),
        ));
    }
    let mut is_dated = false;
    let checked = fields.iter();
    checked
        .clone()
        .try_for_each(|field| check_members("result", field, &[]))?;
    let described = checked.map(|field| {
        let definition = field["definition"].as_str();
        let is_result_time = definition.is_some_and(|uri| uri.ends_with("ResultTime"));
        let role = match field["type"].as_str() {
            Some("time" | "timeRange") if is_result_time => Role::ResultTime,
            Some("time" | "timeRange") if !std::mem::replace(&mut is_dated, true) => Role::Time,
            Some("quantity" | "count" | "boolean" | "text" | "category") => Role::Result,
            _ => Role::Other,
        };
        Field {
            role,
            definition,
            unit: field["uom"].as_str(),
            nils: &field["nilValues"],
        }
    });
    Ok(described.collect())
}

/// An instant, or a begin and an end as a list or with a solidus between them.
fn span(name: &str, given: &Json) -> Result<Span, Exception> {
    let both = |begin: &str, end: &str| {
        let (begin, end) = period(name, begin, end)?;
        Ok((Some(begin), Some(end)))
    };
    match given {
        Json::Null => Ok((None, None)),
        Json::String(text) => match text.split_once('/') {
            Some((begin, end)) => both(begin, end),
            None => Ok((Some(time(name, text)?), None)),
        },
        Json::Array(all) => match &all[..] {
            [Json::String(begin), Json::String(end)] => both(begin, end),
            _ => Err(Exception::invalid(name, "a begin and an end were expected")),
        },
        _ => Err(Exception::invalid(name, "a time was expected")),
    }
}

/// A feature: its identifier, or an object with one and with a point.
pub(crate) fn feature(given: &Json) -> Result<(Option<&str>, Option<Position>), Exception> {
    let identifier = given["identifier"]["value"].as_str();
    let identifier = identifier.or(given["identifier"].as_str());
    let position = point("featureOfInterest", &given["geometry"])?;
    Ok((given.as_str().or(identifier), position))
}

/// A point. GeoJSON has the longitude first, and a height third (RFC 7946 section 3.1.1); 52North's clients name
/// EPSG 4326 as `crs` where they have the latitude first, as that system has it.
fn point(name: &str, geometry: &Json) -> Result<Option<Position>, Exception> {
    let crs = system_of(name, geometry)?;
    let Json::Array(coordinates) = &geometry["coordinates"] else {
        return Ok(None);
    };
    let numbers: Option<Vec<f64>> = coordinates.iter().map(Json::as_f64).collect();
    // A geometry that is no point is no place of an observation.
    let Some(mut numbers) = numbers else {
        return Ok(None);
    };
    if crs == Crs::Unnamed && numbers.len() > 1 {
        numbers.swap(0, 1);
    }
    let position = crs.position(&numbers);
    let expected = |what| Exception::invalid(name, format!("{what} were expected"));
    position.map(Some).map_err(expected)
}

/// The reference system that GeoJSON names.
pub(crate) fn system_of(parameter: &str, geometry: &Json) -> Result<Crs, Exception> {
    let named = weir_geo::system(geometry);
    let named = named.map_err(|sentence| Exception::invalid(parameter, sentence))?;
    system(parameter, named.unwrap_or_default())
}

/// The parameters as an object, but for the one that says where the observation was made, which goes before where its
/// feature is; and a height with them, which places lack.
fn parameters(
    given: &Json,
    mut position: Option<Position>,
) -> Result<(Option<String>, Option<Position>), Exception> {
    let mut others = Map::new();
    for named in each(given).map(|one| &one["NamedValue"]) {
        let value = &named["value"];
        match named["name"].as_str() {
            Some(SAMPLING_GEOMETRY) => position = point("parameter", value)?.or(position),
            Some(name) => {
                let bare = value.get("value").unwrap_or(value);
                others.insert(name.to_owned(), bare.clone());
            }
            None => {}
        }
    }
    if let Some(height) = position.and_then(|position| position.height) {
        others.insert(HEIGHT.to_owned(), height.into());
    }
    let others = (!others.is_empty()).then(|| Json::Object(others).to_string());
    Ok((others, position))
}
