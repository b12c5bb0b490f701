//! Observations as elements of the WSDL's type.

use crate::members::{Member, check, check_leaf, one};
use weir_codec::document::Element;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Time, Value};

/// The WSDL's type `Observation`.
const OBSERVATION: &[Member] = &[
    one("topic"),
    one("sensor"),
    one("type"),
    one("number"),
    one("boolean"),
    one("text"),
    one("json"),
    one("unit"),
    one("time"),
    one("latitude"),
    one("longitude"),
    one("feature"),
    one("end"),
    one("resultTime"),
    one("validTime"),
    one("quality"),
    one("parameters"),
];

/// The WSDL's type `Period`.
const PERIOD: &[Member] = &[one("from"), one("to")];

/// Members of which an observation has one: its result.
const RESULTS: &[&str] = &["number", "boolean", "text", "json"];

/// The observations in an element; an error is a sentence.
pub(crate) fn read_rows(body: &Element) -> Result<Batch, String> {
    let mut builder = BatchBuilder::new();
    for (number, element) in body.all("observation").enumerate() {
        let bad = |problem: String| format!("observation {}: {problem}", number + 1);
        builder.begin();
        read_row(element, &mut builder).map_err(bad)?;
        builder.end().map_err(|error| bad(error.to_string()))?;
    }
    Ok(builder.finish())
}

fn read_row(element: &Element, row: &mut BatchBuilder) -> Result<(), String> {
    check(element, OBSERVATION)?;
    check_result(element)?;
    row.value(Value::Null);
    for member in element.elements() {
        if let Some(extra) = read_time(member)? {
            row.extra(extra);
            continue;
        }
        check_leaf(member)?;
        let text = member.text();
        let number = || {
            let read = text.parse::<f64>().ok().filter(|number| number.is_finite());
            read.ok_or_else(|| format!("`{}`: `{text}` is no number", member.local))
        };
        match member.local.as_str() {
            "topic" => row.topic(Naming::Topic, &text),
            "sensor" => row.sensor(&text),
            "type" => row.property(&text),
            "unit" => row.unit(&text),
            "number" => row.value(Value::of_number(number()?, &text)),
            "boolean" => row.value(Value::Bool(truth(&text)?)),
            "text" => row.value(Value::Text(&member.content())),
            "json" => row.value(Value::Json(&compact(member)?)),
            "time" => row.time(time(member)?),
            "latitude" => row.latitude(number()?),
            "longitude" => row.longitude(number()?),
            "feature" => row.extra(Extra {
                feature: Some(&text),
                ..Extra::default()
            }),
            "quality" => row.extra(Extra {
                quality: Some(&text),
                ..Extra::default()
            }),
            "parameters" => row.extra(Extra {
                parameters: Some(&object(member)?),
                ..Extra::default()
            }),
            other => return Err(format!("`{other}` is no member of an observation")),
        }
    }
    Ok(())
}

/// An observation has one result at most.
fn check_result(element: &Element) -> Result<(), String> {
    let is_result = |own: &&Element| RESULTS.contains(&own.local.as_str());
    let mut results = element.elements().filter(is_result);
    match (results.next(), results.next()) {
        (Some(first), Some(second)) => Err(format!(
            "`{}` and `{}` are two results, and an observation has one",
            first.local, second.local
        )),
        _ => Ok(()),
    }
}

fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is no boolean")),
    }
}

/// The times beside the observation's own, if the member is one.
fn read_time(member: &Element) -> Result<Option<Extra<'static>>, String> {
    let mut extra = Extra::default();
    match member.local.as_str() {
        "end" => extra.end = Some(time(member)?),
        "resultTime" => extra.result_time = Some(time(member)?),
        "validTime" => {
            check(member, PERIOD)?;
            let both = member.child("from").zip(member.child("to"));
            let (from, to) = both.ok_or("`validTime` needs `from` and `to`")?;
            extra.valid = Some((time(from)?, time(to)?));
        }
        _ => return Ok(None),
    }
    Ok(Some(extra))
}

/// JSON is kept compact, and must be such.
fn compact(member: &Element) -> Result<String, String> {
    match json(member)? {
        value if value.is_array() || value.is_object() => Ok(value.to_string()),
        _ => Err(format!(
            "`{}`: an array or an object was expected",
            member.local
        )),
    }
}

fn object(member: &Element) -> Result<String, String> {
    match json(member)? {
        value if value.is_object() => Ok(value.to_string()),
        _ => Err(format!("`{}`: an object was expected", member.local)),
    }
}

fn json(member: &Element) -> Result<serde_json::Value, String> {
    let read = weir_hub::json::read(member.text().as_bytes());
    read.map_err(|error| format!("`{}`: {error}", member.local))
}

/// An instant of XML Schema.
pub(crate) fn time(member: &Element) -> Result<Time, String> {
    check_leaf(member)?;
    let text = member.text();
    // xs:dateTime may lack a zone (XML Schema part 2 section 3.2.7); then it is UTC here.
    let read = text.parse().or_else(|_| format!("{text}Z").parse());
    read.map_err(|error: weir_model::time::TimeError| format!("`{}`: {error}", member.local))
}
