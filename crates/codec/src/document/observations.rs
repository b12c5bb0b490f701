//! Observations as elements of the web services' type, which the WSDL of the plain web service has.

use super::Xml;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use weir_model::{Batch, Extra, Observation, Time, Value};

/// Namespace of the elements.
pub const NAMESPACE: &str = "urn:weir:observations";

/// Writes the observations of a message, where `w` stands for [`NAMESPACE`].
pub fn write_rows(batch: &Batch, xml: &mut Xml) {
    for row in batch.rows() {
        xml.start("w:observation");
        write_row(&row, xml);
        xml.end();
    }
}

fn write_row(row: &Observation<'_>, xml: &mut Xml) {
    let (name, value) = match row.value {
        value if value.is_numeric() => ("w:number", Some(value.to_string())),
        Value::Bool(truth) => ("w:boolean", Some(truth.to_string())),
        Value::Json(json) => ("w:json", Some(json.to_owned())),
        Value::Null => ("w:text", None),
        value => ("w:text", Some(value.to_string())),
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
    write_extra(&row.extra, xml);
}

/// What stands behind the feature in the schema.
fn write_extra(extra: &Extra<'_>, xml: &mut Xml) {
    let leaf = |name, text: Option<String>, xml: &mut Xml| {
        if let Some(text) = text {
            xml.leaf(name, &text);
        }
    };
    let shown = |time: Option<Time>| time.map(|time| time.to_string());
    leaf("w:end", shown(extra.end), xml);
    leaf("w:resultTime", shown(extra.result_time), xml);
    if let Some((from, to)) = extra.valid {
        xml.start("w:validTime");
        xml.leaf("w:from", &from.to_string());
        xml.leaf("w:to", &to.to_string()).end();
    }
    leaf("w:quality", extra.quality.map(str::to_owned), xml);
    leaf("w:parameters", extra.parameters.map(str::to_owned), xml);
}
