//! What a body says: members of a type, links, times, the properties of an observation.

use crate::draft::Row;
use crate::entity::Object;
use crate::fault::{Fault, Result};
use crate::filter::Value;
use crate::geojson::{check_system, is_geojson};
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use serde_json::Value as Json;
use weir_hub::json;
use weir_model::Time;

/// A body as JSON, or the byte that is wrong in it.
pub(crate) fn read_json(body: &[u8]) -> Result<Json> {
    json::read(body).map_err(|wrong| Fault {
        at: Some(wrong.at),
        ..Fault::bad(wrong.what)
    })
}

/// An instant without what is finer than milliseconds.
pub(crate) fn millis(time: Time) -> Time {
    Time::from_nanos(time.nanos() - time.nanos().rem_euclid(1_000_000))
}

/// Whether the members are those of the type, and what cannot be left out is there.
// [STA-A.3.1.1-3]
pub(crate) fn check(kind: Kind, body: &Object, whole: bool) -> Result<()> {
    for name in body.keys().filter(|name| !name.contains('@')) {
        if kind.property(name).is_none() && kind.navigation(name).is_none() {
            return Err(Fault::bad(format!("{} have no `{name}`", kind.set())));
        }
    }
    for (name, needed) in kind.properties() {
        let value = body.get(*name);
        if *needed
            && (value.is_none() && whole || value.is_some_and(Json::is_null) && *name != "result")
        {
            return Err(Fault::bad(format!("{} need `{name}`", kind.set())));
        }
        let is_text = matches!(
            *name,
            "name" | "description" | "encodingType" | "definition" | "observationType"
        );
        if is_text && value.is_some_and(|it| !it.is_string()) {
            return Err(Fault::bad(format!("`{name}` is a text")));
        }
        if matches!(*name, "properties" | "unitOfMeasurement")
            && value.is_some_and(|it| !it.is_object() && !it.is_null())
        {
            return Err(Fault::bad(format!("`{name}` is an object")));
        }
        if matches!(*name, "location" | "feature") && is_geojson(body) {
            check_system(name, value)?;
        }
        if *name == "time" && value.is_some_and(|it| time(it).is_err()) {
            return Err(Fault::bad("`time` is no time as RFC 3339 has them"));
        }
    }
    Ok(())
}

/// The properties of a body, without those that the service computes.
pub(crate) fn properties(kind: Kind, body: &Object) -> Object {
    let known = body.iter().filter(|(name, value)| {
        kind.property(name).is_some() && !kind.is_computed(name) && !value.is_null()
    });
    known
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The identifier, where a link is said (18-088 section 10.2.1.1); what is said beside it of an entity that
/// is there already is not asked for.
pub(crate) fn link(said: &Json) -> Option<Id> {
    said.as_object()?.get("@iot.id").and_then(Id::of_json)
}

pub(crate) fn list<'j>(way: &Navigation, said: &'j Json) -> Result<Vec<&'j Json>> {
    match said {
        Json::Array(many) => Ok(many.iter().collect()),
        _ => Err(Fault::bad(format!("{}: a list was expected", way.name))),
    }
}

pub(crate) fn slug(name: &str) -> String {
    let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let text: String = name
        .to_lowercase()
        .chars()
        .map(|letter| if kept(letter) { letter } else { '-' })
        .take(100)
        .collect();
    let text = text.trim_matches(['-', '.']);
    if text.is_empty() {
        "unnamed".into()
    } else {
        text.into()
    }
}

fn time(said: &Json) -> Result<(Time, Option<Time>)> {
    let text = said.as_str().unwrap_or_default();
    match Value::of_time(text) {
        Value::Time(time) => Ok((time, None)),
        Value::Interval(from, to) if from <= to => Ok((from, Some(to))),
        _ => Err(Fault::bad(format!(
            "{said} is no time as ISO 8601 has them"
        ))),
    }
}

/// The properties of an observation.
// [STA-A.3.1.1-8]
pub(crate) fn row(body: &Object) -> Result<Row> {
    let said = |name: &str| body.get(name).filter(|json| !json.is_null());
    let text = |json: &Json| match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let of = |name: &str| {
        said(name)
            .map(|json| time(json).map_err(|it| it.within(name)))
            .transpose()
    };
    let phenomenon = of("phenomenonTime")?;
    let result_time = match of("resultTime")? {
        Some((_, Some(_))) => return Err(Fault::bad("resultTime: an instant was expected")),
        result => result.map(|(time, _)| time),
    };
    let valid = match of("validTime")? {
        Some((from, Some(to))) => Some((from, to)),
        Some(_) => return Err(Fault::bad("validTime: an interval was expected")),
        None => None,
    };
    if said("parameters").is_some_and(|json| !json.is_object()) {
        return Err(Fault::bad("parameters: an object was expected"));
    }
    Ok(Row {
        result: body.get("result").cloned().unwrap_or_default(),
        // Without one it is the server's, whenever the result came about. [STA-A.3.1.1-12]
        time: phenomenon.map(|(time, _)| time),
        end: phenomenon.and_then(|(_, end)| end),
        result_time,
        valid,
        quality: said("resultQuality").map(text),
        parameters: said("parameters").map(Json::to_string),
        feature: None,
        components: None,
    })
}
