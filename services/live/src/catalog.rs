//! `/catalog`: what the datastreams are.

use crate::fault::{from_hub, method_not_allowed, refuse};
use crate::keys;
use crate::publish::Acknowledge;
use crate::query;
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use weir_codec::result_members;
use weir_hub::{Entry, Hub, entry};
use weir_model::datastream::is_blank;
use weir_model::{Datastream, Extra, Filter, Value};
use weir_service::{Answer, Call, Length, Response, answer_of};

/// Lists, shows, sets or deletes.
pub(crate) fn answer(hub: &Arc<Hub>, call: Call, rest: &str) -> Result<Answer, Response> {
    let known = match call.method.as_str() {
        "GET" => keys::CATALOG,
        "PUT" => keys::DECLARE,
        _ => keys::NONE,
    };
    keys::check(&call, known)?;
    match (call.method.as_str(), rest) {
        ("GET", "") => Ok(describe(hub, call, all())),
        ("GET", _) => {
            let filters = query::filters(&call, rest)?;
            Ok(describe(hub, call, filters))
        }
        ("PUT" | "DELETE", "") => Err(refuse(400, "name a topic: /catalog/{topic}")),
        ("PUT", _) => {
            let bad = |error: String| refuse(400, format!("bad entry: {error}"));
            let datastream = entry::from_json(&call.body).map_err(bad)?;
            check_said(&datastream).map_err(|error| bad(error.into()))?;
            change(hub, &call, &query::decode_path(rest)?, Some(datastream))
        }
        ("DELETE", _) => change(hub, &call, &query::decode_path(rest)?, None),
        (other, _) => Err(method_not_allowed(other, "GET, PUT, DELETE")),
    }
}

/// Refuses what the gateway says itself, and what says nothing.
fn check_said(said: &Datastream) -> Result<(), &'static str> {
    if !said.descriptions.is_empty() {
        return Err("descriptions are made by what is published: leave them out");
    }
    if said.number.is_some() {
        return Err("the gateway gives numbers: leave `number` out");
    }
    if said.declared {
        return Err("what is said here is declared: leave `declared` out");
    }
    let texts = [&said.sensor, &said.property, &said.unit];
    if texts.into_iter().flatten().any(|text| is_blank(text)) {
        Err("a blank `sensor`, `type` or `unit` says nothing: leave it out")
    } else {
        Ok(())
    }
}

fn all() -> Vec<Filter> {
    Filter::parse("#").into_iter().collect()
}

/// There may be a million of them: they are written where that holds up nobody.
fn describe(hub: &Arc<Hub>, call: Call, filters: Vec<Filter>) -> Answer {
    let (hub, workers) = (hub.clone(), call.workers.clone());
    let is_one = matches!(&filters[..], [filter] if filter.is_topic());
    let described = move || described(&hub, &call, filters).unwrap_or_else(|refused| refused);
    if is_one {
        Answer::Now(described().fitting(workers.memory()))
    } else {
        answer_of(&*workers, Length::Long, described)
    }
}

fn described(hub: &Arc<Hub>, call: &Call, filters: Vec<Filter>) -> Result<Response, Response> {
    let one = matches!(&filters[..], [filter] if filter.is_topic());
    let caller = hub.caller(call.now, &call.principal);
    let found = caller.and_then(|caller| caller.entries(&filters));
    let entries = found.map_err(|fault| from_hub(&fault, &[]))?;
    let body = match &entries[..] {
        [entry] if one => to_json(entry, call).to_string(),
        entries => list(entries, call),
    };
    Ok(Response::with_body(200, "application/json", body))
}

/// Written one by one: a tree of a million entries would take gigabytes.
fn list(entries: &[Entry], call: &Call) -> String {
    let mut text = String::from(r#"{"datastreams":["#);
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text += &to_json(entry, call).to_string();
    }
    text + "]}"
}

fn change(
    hub: &Arc<Hub>,
    call: &Call,
    topic: &str,
    datastream: Option<Datastream>,
) -> Result<Answer, Response> {
    let is_correction = call.query("correct").is_some();
    let caller = hub.caller(call.now, &call.principal);
    let changed = caller.and_then(|caller| match datastream {
        Some(corrected) if is_correction => caller.correct(topic, corrected),
        datastream => caller.change(topic, datastream),
    });
    match changed {
        Ok(ticket) => Ok(Answer::Later(Box::new(Acknowledge { ticket }))),
        Err(fault) => Err(from_hub(&fault, &call.body)),
    }
}

/// What the descriptions of a datastream say, and from when on; the first holds from ever.
fn versions(entry: &Entry) -> Json {
    let datastream = &entry.datastream;
    let count = datastream.descriptions.len().max(1);
    let version = |number: usize| {
        let (own, says) = (
            datastream.descriptions.get(number),
            datastream.described(number as u8),
        );
        let from = own
            .map(|own| own.from)
            .filter(|from| from.nanos() > i64::MIN);
        let declared = own.map_or(datastream.declared, |own| own.declared);
        let said = [
            ("from", from.map(|from| Json::from(from.to_string()))),
            ("declared", declared.then_some(true.into())),
            ("sensor", says.sensor.map(Json::from)),
            ("type", says.property.map(Json::from)),
            ("unit", says.unit.map(Json::from)),
        ];
        let said = said
            .into_iter()
            .filter_map(|(name, it)| Some((name.to_owned(), it?)));
        Json::Object(said.collect())
    };
    (0..count).map(version).collect()
}

fn to_json(entry: &Entry, call: &Call) -> Json {
    let mut object = Map::new();
    let mut set = |name: &str, value: Option<Json>| {
        value
            .into_iter()
            .for_each(|value| drop(object.insert(name.into(), value)));
    };
    let datastream = &entry.datastream;
    let text = |text: &Option<Box<str>>| text.as_deref().map(Json::from);
    set("topic", Some((&*entry.topic).into()));
    set("number", datastream.number.map(Json::from));
    set("name", text(&datastream.name));
    set("sensor", text(&datastream.sensor));
    set("type", text(&datastream.property));
    set("unit", text(&datastream.unit));
    set("declared", datastream.declared.then_some(true.into()));
    set("lat", datastream.place.map(|place| place.latitude.into()));
    set("lon", datastream.place.map(|place| place.longitude.into()));
    set("maximum", datastream.maximum.map(Json::from));
    let about = datastream.about.as_deref();
    set(
        "about",
        about.and_then(|about| serde_json::from_str(about).ok()),
    );
    set(
        "lastSeen",
        entry.last_seen.map(|time| time.to_string().into()),
    );
    let status = if entry.is_online(call.now) {
        "online"
    } else {
        "stale"
    };
    set("status", Some(status.into()));
    set("opaque", entry.opaque.as_deref().map(Json::from));
    set("versions", call.query("versions").map(|_| versions(entry)));
    if let Some(problem) = &entry.problem {
        set("problem", Some(problem.what.as_str().into()));
        set("problemKind", Some(problem.kind.into()));
        set("problemAt", Some(problem.at.to_string().into()));
        set("problems", Some(problem.count.into()));
    }
    if let (Some(last), Some(value)) = (&entry.last, entry.last_value()) {
        let mut told = made(value.unwrap_or(last.value()), &last.extra());
        if let Err(unit) = value {
            // It is no number of the unit that is said above.
            let value = ("value".to_owned(), told.remove("value").unwrap_or_default());
            let unit = ("unit".to_owned(), unit.into());
            set(
                "asMade",
                Some(Json::Object([value, unit].into_iter().collect())),
            );
        }
        set("time", Some(last.time.to_string().into()));
        set("cursor", Some(last.cursor.to_string().into()));
        object.append(&mut told);
    }
    Json::Object(object)
}

/// The last result and what its observation carries beside it, as any message has them.
fn made(value: Value<'_>, extra: &Extra<'_>) -> Map<String, Json> {
    serde_json::from_str(&result_members(value, extra)).unwrap_or_default()
}
