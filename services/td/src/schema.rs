//! The shape of a message in `json`, in the words that Thing Descriptions and JSON Schema share.

use serde_json::{Value as Json, json};
use weir_hub::Entry;
use weir_model::Value;

/// A message; that of a datastream says what its values are, as the last of them was.
pub(crate) fn message(of: Option<&Entry>) -> Json {
    json!({
        "type": "object",
        "required": ["observations"],
        "properties": {
            "observations": {"type": "array", "items": observation(of)},
        },
    })
}

/// An observation: only its value is always there.
pub(crate) fn observation(of: Option<&Entry>) -> Json {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "required": ["value"],
        "properties": {
            "topic": text,
            "sensor": text,
            "type": text,
            "value": of.map_or_else(|| json!({}), value),
            "unit": text,
            "time": {"type": "string", "format": "date-time"},
            "lat": {"type": "number", "minimum": -90, "maximum": 90},
            "lon": {"type": "number", "minimum": -180, "maximum": 180},
        },
    })
}

fn value(entry: &Entry) -> Json {
    let last = entry.last.as_ref().map(|last| last.value());
    let class = match last {
        Some(last) if last.is_numeric() => "number",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Text(_)) => "string",
        _ => return json!({}),
    };
    let mut value = json!({"type": class});
    if let Some(unit) = entry.datastream.unit.as_deref() {
        value["unit"] = unit.into();
    }
    json!({"oneOf": [value, {"type": "null"}]})
}
