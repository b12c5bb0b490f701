//! Observations as elements of the WSDL's type.

use crate::fault::Fault;
use weir_codec::document::{Element, Xml};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Observation, Value};

/// The observations of a request.
pub(crate) fn read_rows(body: &Element) -> Result<Batch, Fault> {
    let mut builder = BatchBuilder::new();
    for (number, element) in body.all("observation").enumerate() {
        let bad = |problem: String| Fault::sender(format!("observation {}: {problem}", number + 1));
        builder.begin();
        read_row(element, &mut builder).map_err(bad)?;
        builder.end().map_err(|error| bad(error.to_string()))?;
    }
    match builder.is_empty() {
        true => Err(Fault::sender("publish needs an `observation`")),
        false => Ok(builder.finish()),
    }
}

fn read_row(element: &Element, row: &mut BatchBuilder) -> Result<(), String> {
    row.value(Value::Null);
    for member in element.elements() {
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
            "number" => row.value(Value::Number(number()?)),
            "boolean" => row.value(Value::Bool(truth(&text)?)),
            "text" => row.value(Value::Text(&member.content())),
            "json" => row.value(Value::Json(&compact(&text)?)),
            "time" => row.time(time(&text)?),
            "latitude" => row.latitude(number()?),
            "longitude" => row.longitude(number()?),
            "feature" => row.extra(Extra {
                feature: Some(&text),
                ..Extra::default()
            }),
            other => return Err(format!("`{other}` is no member of an observation")),
        }
    }
    Ok(())
}

fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is no boolean")),
    }
}

/// JSON is kept compact, and must be such.
fn compact(text: &str) -> Result<String, String> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("`json`: {error}"))?;
    match value.is_array() || value.is_object() {
        true => Ok(value.to_string()),
        false => Err("`json`: an array or an object was expected".into()),
    }
}

fn time(text: &str) -> Result<weir_model::Time, String> {
    // xs:dateTime may lack a zone (XML Schema part 2 section 3.2.7); then it is UTC here.
    let read = text.parse().or_else(|_| format!("{text}Z").parse());
    read.map_err(|error: weir_model::time::TimeError| format!("`time`: {error}"))
}

/// Writes the observations of an answer.
pub(crate) fn write_rows(batch: &Batch, xml: &mut Xml) {
    for row in batch.rows() {
        xml.start("w:observation");
        write_row(&row, xml);
        xml.end();
    }
}

fn write_row(row: &Observation<'_>, xml: &mut Xml) {
    let (name, value) = match row.value {
        Value::Number(number) => ("w:number", Some(number.to_string())),
        Value::Bool(truth) => ("w:boolean", Some(truth.to_string())),
        Value::Text(text) => ("w:text", Some(text.to_owned())),
        Value::Json(json) => ("w:json", Some(json.to_owned())),
        Value::Null => ("w:text", None),
    };
    let text = |text: Option<&str>| text.map(str::to_owned);
    for (name, text) in [
        ("w:topic", text(Some(row.topic))),
        ("w:sensor", text(row.sensor)),
        ("w:type", text(row.property)),
        (name, value),
        ("w:unit", text(row.unit)),
        ("w:time", row.time.map(|time| time.to_string())),
        (
            "w:latitude",
            row.place.map(|place| place.latitude.to_string()),
        ),
        (
            "w:longitude",
            row.place.map(|place| place.longitude.to_string()),
        ),
        ("w:feature", text(row.extra.feature)),
    ] {
        if let Some(text) = text {
            xml.leaf(name, &text);
        }
    }
}
