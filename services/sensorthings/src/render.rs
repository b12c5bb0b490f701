//! Entities as JSON (18-088 section 8.1): control information, properties, links, what is expanded.

use crate::computed::shown;
use crate::entity::{Entity, Object};
use crate::fault::{Fault, Result};
use crate::filter::{eval, holds};
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::limits::RENDERED_MAX;
use crate::node::{Asked, Context, Node, Observed};
use crate::observations::{self, Of, by_keys};
use crate::query::Query;
use serde_json::Value as Json;
use weir_model::{Time, Value, percent};

/// The URL of an entity.
pub(crate) fn self_link(root: &str, kind: Kind, id: &Id) -> String {
    format!("{root}/{}({})", kind.set(), id.in_url())
}

/// An entity as a JSON object.
// [STA-A.1.1-1]
pub(crate) fn entity(context: &Context<'_>, node: &Node<'_>, query: &Query) -> Result<Json> {
    context.rendered.set(context.rendered.get() + 1);
    if context.rendered.get() > RENDERED_MAX {
        return Err(Fault::over("entities of one answer", RENDERED_MAX));
    }
    let (kind, id) = (node.kind(), node.id(context.view));
    let link = self_link(context.root, kind, &id);
    let selected = |name: &str| query.select.is_empty() || query.select.iter().any(|it| it == name);
    let mut object = Object::new();
    if selected("id") || selected("@iot.id") {
        object.insert("@iot.id".into(), id.to_json());
    }
    if selected("@iot.selfLink") {
        object.insert("@iot.selfLink".into(), link.clone().into());
    }
    properties(context, node, query, &mut object)?;
    for way in kind.navigations() {
        let expanded = query
            .expand
            .iter()
            .find(|(known, _)| known.name == way.name);
        match expanded {
            Some((_, inner)) => expand(context, node, way, inner, &link, &mut object)?,
            None if selected(way.name) && node.has(way) => {
                let name = format!("{}@iot.navigationLink", way.name);
                object.insert(name, format!("{link}/{}", way.name).into());
            }
            _ => {}
        }
    }
    Ok(Json::Object(object))
}

/// The properties that are selected; of `properties/a/b`, all of `properties`.
// [STA-A.2.1.2-2]
fn properties(
    context: &Context<'_>,
    node: &Node<'_>,
    query: &Query,
    object: &mut Object,
) -> Result<()> {
    let selected = |name: &str| {
        let names = |it: &String| it.split('/').next() == Some(name);
        query.select.is_empty() || query.select.iter().any(names)
    };
    for (name, _) in node
        .kind()
        .properties()
        .iter()
        .filter(|(name, _)| selected(name))
    {
        if let Some(value) = shown(context, node, name)? {
            object.insert((*name).into(), value);
        }
    }
    Ok(())
}

/// A property as it is kept; `None` where the entity has it not.
pub(crate) fn property(node: &Node<'_>, name: &str) -> Option<Json> {
    match node {
        Node::Entity(entity) => entity.body.get(name).cloned(),
        Node::Observed(observed) => of_observation(observed, name),
    }
}

fn of_observation(observed: &Observed<'_>, name: &str) -> Option<Json> {
    let (row, extra) = (&observed.row, &observed.row.extra);
    let span = |from: Time, to: Time| Json::from(format!("{}/{}", instant(from), instant(to)));
    let text = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
    match name {
        "phenomenonTime" => Some(match extra.end {
            Some(end) => span(observed.at.time, end),
            None => instant(observed.at.time).into(),
        }),
        "result" => Some(result(row.value)),
        "resultTime" => Some(
            extra
                .result_time
                .map_or(Json::Null, |time| instant(time).into()),
        ),
        "validTime" => extra.valid.map(|(from, to)| span(from, to)),
        "resultQuality" => extra.quality.map(text),
        "parameters" => extra.parameters.map(text),
        _ => None,
    }
}

/// RFC 3339 with three decimals at least, as SensorThings' examples have it.
pub(crate) fn instant(time: Time) -> String {
    let text = time.to_string();
    match text.strip_suffix('Z').filter(|text| !text.contains('.')) {
        Some(whole) => format!("{whole}.000Z"),
        None => text,
    }
}

/// A result as JSON; whole numbers are written as such.
// [STA-A.3.1.1-10]
pub(crate) fn result(value: Value<'_>) -> Json {
    match value {
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            (number as i64).into()
        }
        Value::Number(number) => number.into(),
        Value::Bool(truth) => truth.into(),
        Value::Text(text) => text.into(),
        Value::Null => Json::Null,
        Value::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

// [STA-A.2.1.2-1]
fn expand(
    context: &Context<'_>,
    node: &Node<'_>,
    way: &'static Navigation,
    query: &Query,
    link: &str,
    object: &mut Object,
) -> Result<()> {
    if !way.many {
        let found = node.related(context, way).into_iter().next();
        let one = found.map(|one| entity(context, &one, query)).transpose()?;
        object.insert(way.name.into(), one.unwrap_or(Json::Null));
        return Ok(());
    }
    let (values, count, next) = match (way.to, node) {
        (Kind::Observation, Node::Entity(from)) => of_history(context, &of(from), query)?,
        _ => collection(context, node.related(context, way), query)?,
    };
    if let Some(count) = count {
        object.insert(format!("{}@iot.count", way.name), count.into());
    }
    if let Some(next) = next {
        let options = query.to_url(&next);
        let next = format!("{link}/{}?{options}", way.name);
        object.insert(format!("{}@iot.nextLink", way.name), next.into());
    }
    object.insert(way.name.into(), values.into());
    Ok(())
}

/// Whose observations those of an entity are.
pub(crate) fn of(entity: &std::sync::Arc<Entity>) -> Of {
    match entity.kind {
        Kind::Datastream | Kind::MultiDatastream => Of::Datastream(entity.clone()),
        _ => Of::Feature(entity.clone()),
    }
}

/// Entities, how many there are in all, and the option that leads on.
pub(crate) type Listed = (Vec<Json>, Option<usize>, Option<String>);

/// A page of observations.
pub(crate) fn of_history(context: &Context<'_>, of: &Of, query: &Query) -> Result<Listed> {
    let mut values = Vec::new();
    let found = observations::page(context, of, query, &mut |observed| {
        values.push(entity(context, &Node::Observed(observed), query)?);
        Ok(())
    })?;
    let next = found.next.map(|token| format!("$skiptoken={token}"));
    Ok((values, found.count, next))
}

/// A page of entities: filtered, sorted, cut.
// [STA-A.2.1.1-1] [STA-A.2.1.4-1] [STA-A.2.1.5-1] [STA-A.2.1.5-2] [STA-A.2.1.5-3] [STA-A.2.1.7-1]
pub(crate) fn collection<'a>(
    context: &'a Context<'a>,
    nodes: Vec<Node<'a>>,
    query: &Query,
) -> Result<Listed> {
    let mut kept = Vec::new();
    for node in nodes {
        let asked = Asked { context, node };
        if query
            .filter
            .as_ref()
            .map_or(Ok(true), |filter| holds(filter, &asked))?
        {
            let keys = query
                .order
                .iter()
                .map(|(key, _)| Ok(eval(key, &asked)?.into_owned()));
            let keys = keys.collect::<Result<Vec<_>>>()?;
            kept.push((keys, asked.node));
        }
    }
    if !query.order.is_empty() {
        kept.sort_by(|(a, _), (b, _)| by_keys(&query.order, a, b));
    }
    let total = kept.len();
    let begin = query.begin()?;
    let page = kept.iter().skip(begin).take(query.page());
    let values = page
        .map(|(_, node)| entity(context, node, query))
        .collect::<Result<Vec<_>>>()?;
    let end = begin.saturating_add(values.len());
    let next = (end < total).then(|| format!("$skip={end}"));
    Ok((values, query.count.then_some(total), next))
}

/// The options of a URL again, with another place to begin at.
pub(crate) fn options(pairs: &[(String, String)], next: &str) -> String {
    let kept = pairs
        .iter()
        .filter(|(name, _)| name != "$skip" && name != "$skiptoken");
    let kept =
        kept.map(|(name, value)| format!("{name}={}", percent::encode(value, b"$,;:'()/*@!~-._")));
    kept.chain([next.to_owned()]).collect::<Vec<_>>().join("&")
}
