//! A node as expressions are asked of it: what their paths find in it and behind it, and the order that they sort by.

use crate::computed;
use crate::context::Context;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::filter::{Expression, Source, Value, eval, order};
use crate::id::Id;
use crate::kind::Kind;
use crate::limits::FOUND_MAX;
use crate::node::Node;
use crate::walk::visit;
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::sync::Arc;
use weir_model::Time;

/// A node that expressions are asked of.
pub(crate) struct Asked<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) node: Node<'a>,
}

impl Source for Asked<'_> {
    fn value(&self, path: &[String]) -> Result<Value<'_>> {
        value(self.context, &self.node, path)
    }

    fn now(&self) -> Time {
        self.context.now
    }

    fn visit(&self, visits: usize) -> Result<()> {
        self.context.visit(visits)
    }
}

fn value(context: &Context<'_>, node: &Node<'_>, path: &[String]) -> Result<Value<'static>> {
    let (name, rest) = path
        .split_first()
        .ok_or_else(|| Fault::bad("an empty path"))?;
    let kind = node.kind();
    if matches!(&**name, "id" | "@iot.id") {
        return Ok(match node.id(context.view) {
            Id::Number(number) => Value::Number(number as f64),
            Id::Text(text) => Value::Text(text.to_string().into()),
        });
    }
    if let Some(way) = kind.navigation(name) {
        if let (Kind::Observation, Node::Entity(entity)) = (way.to, node) {
            return of_observations(context, entity, rest);
        }
        let mut related = node.related(context, way);
        return if way.many {
            of_many(context, &related, rest)
        } else {
            related
                .pop()
                .map_or(Ok(Value::Null), |node| value(context, &node, rest))
        };
    }
    let name = kind.property(name).ok_or_else(|| {
        Fault::bad(format!(
            "{} have no property or navigation `{name}`",
            kind.set()
        ))
    })?;
    Ok(match node {
        Node::Entity(entity) if kind.is_computed(name) => {
            computed::value(context, entity, name, rest)?
        }
        Node::Entity(entity) => of_entity(entity, name, rest),
        Node::Observed(observed) => of_observation(&observed.row, name, rest),
    })
}

/// What a path finds in many entities, all in one list: those behind a further navigation to many too.
fn of_many(context: &Context<'_>, nodes: &[Node<'_>], path: &[String]) -> Result<Value<'static>> {
    let mut values = Vec::new();
    for node in nodes {
        context.visit(1)?;
        keep(context, &mut values, value(context, node, path)?)?;
    }
    Ok(Value::Many(values))
}

/// Adds what was found, as far as there is room for it.
fn keep(
    context: &Context<'_>,
    values: &mut Vec<Value<'static>>,
    found: Value<'static>,
) -> Result<()> {
    match found {
        // What is in a list was counted when it came there.
        Value::Many(many) => values.extend(many),
        one => {
            context.keep(&one)?;
            values.push(one);
        }
    }
    if values.len() > FOUND_MAX {
        Err(Fault::over(
            "values that a path finds for one entity",
            FOUND_MAX,
        ))
    } else {
        Ok(())
    }
}

/// What a path finds in the observations of an entity; what the one before says too is left out.
fn of_observations(
    context: &Context<'_>,
    entity: &Arc<Entity>,
    path: &[String],
) -> Result<Value<'static>> {
    let mut values = Vec::new();
    visit(context, entity, &mut |observed| {
        let found = value(context, &Node::Observed(observed), path)?;
        if values.last() != Some(&found) {
            keep(context, &mut values, found)?;
        }
        Ok(true)
    })?;
    Ok(Value::Many(values))
}

fn of_entity(entity: &Entity, name: &str, rest: &[String]) -> Value<'static> {
    let Some(json) = entity.body.get(name) else {
        return Value::Null;
    };
    match (name, json) {
        ("time" | "creationTime", Json::String(text)) => Value::of_time(text),
        _ => Value::below(json, rest),
    }
}

fn of_observation(
    row: &weir_model::Observation<'_>,
    name: &str,
    rest: &[String],
) -> Value<'static> {
    let extra = &row.extra;
    match name {
        "result" if rest.is_empty() => Value::of_result(row.value).into_owned(),
        "result" => match row.value {
            weir_model::Value::Json(text) => of_text(text, rest),
            _ => Value::Null,
        },
        "phenomenonTime" => match (row.time, extra.end) {
            (Some(from), Some(to)) => Value::Interval(from, to),
            (Some(time), None) => Value::Time(time),
            _ => Value::Null,
        },
        "resultTime" => extra.result_time.map_or(Value::Null, Value::Time),
        "validTime" => extra
            .valid
            .map_or(Value::Null, |(from, to)| Value::Interval(from, to)),
        "resultQuality" => extra
            .quality
            .map_or(Value::Null, |text| of_text(text, rest)),
        _ => extra
            .parameters
            .map_or(Value::Null, |text| of_text(text, rest)),
    }
}

/// JSON kept as text, or text.
fn of_text(text: &str, rest: &[String]) -> Value<'static> {
    match serde_json::from_str::<Json>(text) {
        Ok(json) => Value::below(&json, rest),
        Err(_) => Value::Text(text.to_owned().into()),
    }
}

/// What a node is sorted by.
pub(crate) fn sort_keys(
    orders: &[(Expression, bool)],
    asked: &Asked<'_>,
) -> Result<Vec<Value<'static>>> {
    let keys = orders.iter().map(|(key, _)| {
        let key = eval(key, asked)?.into_owned();
        asked.context.keep(&key)?;
        Ok(key)
    });
    keys.collect()
}

/// The order of two lists of keys.
pub(crate) fn by_keys(orders: &[(Expression, bool)], a: &[Value<'_>], b: &[Value<'_>]) -> Ordering {
    let each = orders
        .iter()
        .zip(a.iter().zip(b))
        .map(|((_, down), (a, b))| if *down { order(b, a) } else { order(a, b) });
    each.fold(Ordering::Equal, Ordering::then)
}
