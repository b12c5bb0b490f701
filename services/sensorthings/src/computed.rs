//! What a datastream says of its observations (18-088 table 9): from when to when they are, and where.
//!
//! Times are what the history knows without reading; the area is that of the features that observations
//! of the datastream name or have by default. Neither is kept with the entity, so neither can be old.

use crate::context::Context;
use crate::entity::Entity;
use crate::fault::Result;
use crate::filter::Value;
use crate::members::{self, Members};
use crate::memo::{Bounds, around, ring, write_area};
use crate::node::Node;
use crate::stays::{BEGIN, END};
use crate::values::instant;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use weir_hub::{Extent, Made};
use weir_model::Time;

/// Writes a computed property, where it is known.
pub(crate) fn write(
    context: &Context<'_>,
    entity: &Arc<Entity>,
    name: &'static str,
    object: &mut Members<'_>,
) -> Result<()> {
    if name == "observedArea" {
        write_observed_area(context, entity, object)?;
    } else if let Some((from, to)) = span(context, entity, name)? {
        members::times(object.open(&[name]), from, Some(to));
    }
    Ok(())
}

fn write_observed_area(
    context: &Context<'_>,
    entity: &Entity,
    object: &mut Members<'_>,
) -> Result<()> {
    let name = &["observedArea"];
    match &features(context, entity)?[..] {
        // Most have one, whose area is known as text.
        [only] => {
            let area = only.area();
            if !area.is_empty() {
                object.open(name).extend_from_slice(area);
            }
        }
        several => {
            if let Some(bounds) = bounds(several) {
                write_area(bounds, object.open(name));
            }
        }
    }
    Ok(())
}

/// A property as it is shown, computed or not; `None` where the entity has it not.
pub(crate) fn shown(context: &Context<'_>, node: &Node<'_>, name: &str) -> Result<Option<Json>> {
    match node {
        Node::Entity(entity) if entity.kind.is_computed(name) => match name {
            "observedArea" => area(context, entity),
            _ => Ok(span(context, entity, name)?.map(|(from, to)| {
                let span = format!("{}/{}", instant(from), instant(to));
                span.into()
            })),
        },
        _ => Ok(node.property(name)),
    }
}

/// A computed property, or what lies at a path below it, as expressions have it.
pub(crate) fn value(
    context: &Context<'_>,
    entity: &Entity,
    name: &str,
    rest: &[String],
) -> Result<Value<'static>> {
    if name == "observedArea" {
        let area = area(context, entity)?;
        return Ok(area.map_or(Value::Null, |area| Value::below(&area, rest)));
    }
    let span = span(context, entity, name)?;
    Ok(span.map_or(Value::Null, |(from, to)| Value::Interval(from, to)))
}

fn span(context: &Context<'_>, entity: &Entity, name: &str) -> Result<Option<(Time, Time)>> {
    let extent = extent(context, entity)?;
    Ok(extent.and_then(|extent| match name {
        "resultTime" => extent.result,
        _ => Some((
            extent.first,
            extent.end.unwrap_or(extent.last).max(extent.last),
        )),
    }))
}

/// What is asked of one datastream after another is looked up once for each.
fn extent(context: &Context<'_>, entity: &Entity) -> Result<Option<Extent>> {
    let mut known = context.extent.borrow_mut();
    match &*known {
        Some((kind, id, extent)) if (*kind, id) == (entity.kind, &entity.id) => Ok(*extent),
        _ => {
            let extent = look_up(context, entity)?;
            *known = Some((entity.kind, entity.id.clone(), extent));
            Ok(extent)
        }
    }
}

fn look_up(context: &Context<'_>, entity: &Entity) -> Result<Option<Extent>> {
    let topics = entity.published_at().into_iter();
    let all: Vec<_> = topics.map(|topic| Made::from(topic.to_owned())).collect();
    let extents = context.caller()?.extents(&all)?;
    Ok(extents.into_iter().flatten().reduce(Extent::joined))
}

/// The features of a datastream's observations that may be read: those that follow from where its thing was, and those
/// that observations name.
fn features<'a>(context: &'a Context<'_>, entity: &'a Entity) -> Result<Vec<&'a Arc<Entity>>> {
    let view = context.view;
    let mut named = view.named_at(entity).peekable();
    let first = entity.published_at().into_iter().next().unwrap_or_default();
    let last = context.hub.last_of(first);
    let is_named = named.peek().is_some();
    let all_name = is_named && last.as_ref().is_none_or(|it| it.extra().feature.is_some());
    let span = match last.filter(|_| !all_name) {
        None => None,
        Some(_) if view.stays_put(entity) => Some((BEGIN, END)),
        Some(_) => extent(context, entity)?.map(|extent| (extent.first, extent.last)),
    };
    let default = span.map(|span| view.default_features(entity, span));
    let all = default.into_iter().flatten().chain(named);
    let may_read = |it: &&Arc<Entity>| view.may_read(context.grants(), it);
    Ok(all.filter(may_read).collect())
}

/// The box around them (18-088 table 9).
fn bounds(features: &[&Arc<Entity>]) -> Option<Bounds> {
    let each = features.iter().filter_map(|feature| feature.bounds());
    each.reduce(around)
}

fn area(context: &Context<'_>, entity: &Entity) -> Result<Option<Json>> {
    let ring = bounds(&features(context, entity)?).map(ring);
    Ok(ring.map(|ring| json!({"type": "Polygon", "coordinates": [ring]})))
}
