//! Questions as the plug-ins send them; what else they say is passed over.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};
use weir_hub::json::Unique;
use weir_model::Time;

/// `POST /query`.
#[derive(Deserialize)]
pub(crate) struct Query {
    pub(crate) range: Span,
    #[serde(default, rename = "intervalMs")]
    pub(crate) interval_ms: Option<f64>,
    #[serde(default, rename = "maxDataPoints")]
    pub(crate) points: Option<f64>,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
    #[serde(default, rename = "adhocFilters")]
    pub(crate) filters: Vec<Condition>,
}

/// From when to when.
#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Span {
    #[serde(deserialize_with = "time")]
    pub(crate) from: Time,
    #[serde(deserialize_with = "time")]
    pub(crate) to: Time,
}

/// One line of a panel.
#[derive(Deserialize)]
pub(crate) struct Target {
    #[serde(default)]
    pub(crate) target: Option<String>,
    #[serde(default, rename = "refId")]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) hide: bool,
    /// `timeseries` or `table`, as older plug-ins say it.
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default, deserialize_with = "payload")]
    pub(crate) payload: Payload,
}

/// What is typed or chosen beside a target.
#[derive(Default)]
pub(crate) struct Payload(pub(crate) Map<String, Json>);

impl Payload {
    /// A text of it, where it is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let text = self.0.get(name).and_then(Json::as_str);
        text.filter(|text| !text.is_empty())
    }
}

/// An ad hoc filter.
#[derive(Deserialize)]
pub(crate) struct Condition {
    pub(crate) key: String,
    pub(crate) operator: String,
    pub(crate) value: String,
}

/// `POST /search`.
#[derive(Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    pub(crate) target: Option<String>,
}

/// `POST /variable`.
#[derive(Deserialize)]
pub(crate) struct Variable {
    #[serde(default, deserialize_with = "payload")]
    pub(crate) payload: Payload,
}

/// `POST /metric-payload-options`.
#[derive(Deserialize)]
pub(crate) struct Options {
    #[serde(default)]
    pub(crate) name: String,
}

/// `POST /tag-values`.
#[derive(Deserialize)]
pub(crate) struct TagValues {
    #[serde(default)]
    pub(crate) key: String,
}

/// `POST /annotations`.
#[derive(Deserialize)]
pub(crate) struct Annotations {
    pub(crate) range: Span,
    pub(crate) annotation: Annotation,
}

/// Which annotation is asked for; it is given back.
#[derive(Deserialize)]
pub(crate) struct Annotation {
    #[serde(default)]
    pub(crate) query: Option<String>,
    #[serde(flatten)]
    pub(crate) rest: Map<String, Json>,
}

/// RFC 3339, or milliseconds since 1970 as a number or in digits.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
    let problem = || serde::de::Error::custom("expected a time such as 2026-01-02T03:04:05Z");
    let said = Json::deserialize(from)?;
    if let Some(millis) = said.as_f64().or_else(|| said.as_str()?.parse().ok()) {
        return Time::from_seconds(millis / 1000.0).ok_or_else(problem);
    }
    let text = said.as_str().ok_or_else(problem)?;
    text.parse().map_err(|_| problem())
}

/// An object, or text that holds one; anything else says nothing.
fn payload<'de, D: Deserializer<'de>>(from: D) -> Result<Payload, D::Error> {
    let Unique(said) = Unique::deserialize(from)?;
    let held = match &said {
        Json::String(text) => serde_json::from_str(text).unwrap_or(Json::Null),
        _ => said,
    };
    Ok(match held {
        Json::Object(map) => Payload(map),
        _ => Payload::default(),
    })
}
