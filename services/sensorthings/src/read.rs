//! `GET`: collections, entities, properties, links (18-088 section 9).

use crate::context::Context;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::history::Of;
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::members::Members;
use crate::node::Node;
use crate::path::{End, Path, Step};
use crate::query::{Query, options};
use crate::result_format::{Page, ResultFormat};
use crate::{computed, features, render, walk};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::sync::Arc;
use weir_service::Response;

/// What a path without its last part leads to.
pub(crate) enum Target {
    Entity(Arc<Entity>),
    Observation(Id),
    Entities(Vec<Arc<Entity>>),
    Observations(Of),
    /// A navigation that leads nowhere.
    Nothing,
}

/// The answer.
pub(crate) fn answer(
    context: &Context<'_>,
    path: &Path,
    pairs: &[(String, String)],
) -> Result<Response> {
    let (kind, _) = path.target();
    let mut query = Query::of_pairs(kind, pairs)?;
    let format = match path.end {
        End::All => ResultFormat::of(kind, &mut query)?,
        _ => ResultFormat::Json,
    };
    let target = resolve(context, path)?;
    let url = |next: &str| {
        let options = options(pairs);
        format!("{}/{}?{options}{next}", context.root, path.to_url())
    };
    match (target, &path.end) {
        (Target::Nothing, _) => Ok(Response::empty(204)),
        (Target::Entities(entities), end) => {
            let nodes = entities
                .iter()
                .map(|entity| Node::Entity(Cow::Borrowed(entity)));
            let query = query_of(&query, end);
            let write = |out: &mut _| render::collection(context, nodes.collect(), &query, out);
            page(format, kind, &query, write, url)
        }
        (Target::Observations(of), end) => {
            let query = query_of(&query, end);
            let write = |out: &mut _| render::of_history(context, &of, &query, out);
            page(format, kind, &query, write, url)
        }
        (Target::Entity(entity), end) => {
            let node = Node::Entity(Cow::Borrowed(&entity));
            one(context, &node, &query, end, format)
        }
        (Target::Observation(id), end) => {
            let place = context.view.place_of(&id);
            let found = place.map(|at| {
                walk::one(context, at, |observed| {
                    one(context, &Node::Observed(observed), &query, end, format)
                })
            });
            let found = found.transpose()?.flatten();
            found.ok_or_else(|| Fault::missing(format!("Observations({})", id.in_url())))
        }
    }
}

/// With `$ref` only links are wanted (18-088 section 9.2.7).
fn query_of(query: &Query, end: &End) -> Query {
    let mut query = query.clone();
    if *end == End::Ref {
        query.select = vec!["@iot.selfLink".into()];
        query.expand.clear();
    }
    query
}

/// A page of entities in a format; as JSON it is written in its place.
fn page(
    format: ResultFormat,
    kind: Kind,
    query: &Query,
    write: impl FnOnce(&mut Vec<u8>) -> Result<render::Listed>,
    url: impl Fn(&str) -> String,
) -> Result<Response> {
    let mut out = Vec::new();
    if format != ResultFormat::Json {
        let (count, next) = write(&mut out)?;
        let page = Page {
            values: render::read(&out)?,
            count,
            next: next.map(|next| url(&next)),
        };
        return Ok(format.collection(kind, query, page));
    }
    let mut object = Members::begin(&mut out);
    let (count, next) = write(object.open(&["value"]))?;
    if let Some(count) = count {
        object.member(&["@iot.count"], &count.into());
    }
    if let Some(next) = next {
        object.member(&["@iot.nextLink"], &url(&next).into());
    }
    object.end();
    Ok(Response::with_body(200, "application/json", out))
}

fn one(
    context: &Context<'_>,
    node: &Node<'_>,
    query: &Query,
    end: &End,
    format: ResultFormat,
) -> Result<Response> {
    match end {
        End::All | End::Ref => {
            let text = render::text(context, node, &query_of(query, end))?;
            match format {
                ResultFormat::Json => Ok(Response::with_body(200, "application/json", text)),
                other => Ok(other.entity(node.kind(), query, render::read(&text)?)),
            }
        }
        End::Property(names, is_value) => property(context, node, names, *is_value),
    }
}

/// A property as an object of one member, or its value alone (18-088 sections 9.2.4 and 9.2.5).
fn property(
    context: &Context<'_>,
    node: &Node<'_>,
    names: &[String],
    is_value: bool,
) -> Result<Response> {
    let (first, rest) = names
        .split_first()
        .ok_or_else(|| Fault::missing("property"))?;
    let found = match &**first {
        "id" | "@iot.id" => Some(node.id(context.view).to_json()),
        name => computed::shown(context, node, name)?,
    };
    let mut found = found.unwrap_or(Json::Null);
    for name in rest {
        found = match found.get_mut(name.as_str()) {
            Some(below) => below.take(),
            None => return Err(Fault::missing(format!("`{name}` in {first}"))),
        };
    }
    let last = names.last().map_or("", String::as_str);
    match (is_value, found) {
        (true, Json::Null) => Ok(Response::empty(204)),
        (true, Json::String(text)) => {
            Ok(Response::with_body(200, "text/plain; charset=utf-8", text))
        }
        (true, other) => Ok(Response::with_body(
            200,
            "text/plain; charset=utf-8",
            other.to_string(),
        )),
        (false, found) => Ok(json_of(&json!({ last: found }))),
    }
}

fn json_of(body: &Json) -> Response {
    Response::with_body(200, "application/json", body.to_string())
}

/// Goes along a path.
pub(crate) fn resolve(context: &Context<'_>, path: &Path) -> Result<Target> {
    let mut target = match (&path.id, path.set) {
        (None, Kind::Observation) => Target::Observations(Of::All),
        (Some(id), Kind::Observation) => Target::Observation(id.clone()),
        (None, Kind::FeatureOfInterest) => Target::Entities(features::listed(context)?),
        (None, set) => {
            let all = context.view.all(set);
            let seen = |it| context.view.seen(context.grants(), it);
            Target::Entities(all.filter_map(seen).cloned().collect())
        }
        (Some(id), set) => Target::Entity(find(context, set, id)?),
    };
    for step in &path.steps {
        target = follow(context, target, step)?;
    }
    Ok(target)
}

/// An entity that is there and may be read; a datastream also by its topic.
// [STA-A.2.1.3-1]
pub(crate) fn find(context: &Context<'_>, kind: Kind, id: &Id) -> Result<Arc<Entity>> {
    let by_topic = match (kind, id) {
        (Kind::Datastream, Id::Text(topic)) => context.view.datastream(topic),
        _ => None,
    };
    let found = by_topic.or_else(|| context.view.find(kind, id));
    let found = found.and_then(|entity| context.view.seen(context.grants(), entity));
    let missing = || Fault::missing(format!("{}({})", kind.set(), id.in_url()));
    let found = found.ok_or_else(missing)?;
    // What only follows is there once it was observed.
    if context.view.follows(found) && !features::is_observed(context, found)? {
        Err(missing())
    } else {
        Ok(found.clone())
    }
}

fn follow(context: &Context<'_>, from: Target, step: &Step) -> Result<Target> {
    let related = match &from {
        Target::Entity(entity) if step.way.to == Kind::Observation => {
            return match &step.id {
                Some(id) => observation_of(context, entity, id),
                None => Ok(Target::Observations(Of::entity(entity))),
            };
        }
        Target::Entity(entity) => {
            kept(Node::Entity(Cow::Borrowed(entity)).related(context, step.way))
        }
        Target::Observation(id) => behind(context, id, step.way)?,
        _ => return Ok(Target::Nothing),
    };
    match (&step.id, step.way.many) {
        (None, true) => Ok(Target::Entities(related)),
        (None, false) => Ok(related
            .into_iter()
            .next()
            .map_or(Target::Nothing, Target::Entity)),
        (Some(id), _) => {
            let found = related.into_iter().find(|entity| entity.id == *id);
            let missing = || Fault::missing(format!("{}({}) there", step.way.name, id.in_url()));
            found.map(Target::Entity).ok_or_else(missing)
        }
    }
}

/// Those that a navigation of an observation leads to.
fn behind(context: &Context<'_>, id: &Id, way: &'static Navigation) -> Result<Vec<Arc<Entity>>> {
    let place = context.view.place_of(id);
    let found = place.map(|at| {
        walk::one(context, at, |observed| {
            Ok(kept(Node::Observed(observed).related(context, way)))
        })
    });
    let found = found.transpose()?.flatten();
    found.ok_or_else(|| Fault::missing(format!("Observations({})", id.in_url())))
}

/// An observation that leads back to the entity that the path comes from.
fn observation_of(context: &Context<'_>, from: &Arc<Entity>, id: &Id) -> Result<Target> {
    let mut ways = Kind::Observation.navigations().iter();
    let back = ways.find(|way| way.to == from.kind);
    let found = back.map_or(Ok(Vec::new()), |back| behind(context, id, back))?;
    if found.iter().any(|entity| entity.id == from.id) {
        Ok(Target::Observation(id.clone()))
    } else {
        Err(Fault::missing(format!(
            "Observations({}) there",
            id.in_url()
        )))
    }
}

fn kept(nodes: Vec<Node<'_>>) -> Vec<Arc<Entity>> {
    let entities = nodes.into_iter().filter_map(|node| match node {
        Node::Entity(entity) => Some(entity.into_owned()),
        Node::Observed(_) => None,
    });
    entities.collect()
}
