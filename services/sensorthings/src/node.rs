//! One entity or observation, and what paths of expressions find in it.

use crate::computed;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::filter::{Source, Value};
use crate::id::{At, Id};
use crate::kind::{Kind, Navigation};
use crate::limits::{FOUND_MAX, VISITED_MAX};
use crate::observations::{self, Of};
use crate::places::Late;
use crate::view::View;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use weir_hub::{Extent, Grants, Hub, Principal};
use weir_model::Time;

/// Bytes of a value that count as much as an entity that is visited.
const VISIT_BYTES: usize = 32;

/// What a request is answered from.
pub(crate) struct Context<'a> {
    pub(crate) hub: &'a Arc<Hub>,
    pub(crate) view: &'a View,
    pub(crate) late: &'a Mutex<Late>,
    pub(crate) principal: &'a Principal,
    pub(crate) now: Time,
    /// URL of the service's root, without a slash at its end.
    pub(crate) root: &'a str,
    /// How many entities were written.
    pub(crate) rendered: Cell<usize>,
    /// Bytes of them.
    pub(crate) written: Cell<usize>,
    /// How many observations may still be looked at.
    pub(crate) scans_left: Cell<usize>,
    /// How much the paths of expressions may still visit.
    pub(crate) visits_left: Cell<usize>,
    /// How the request came.
    pub(crate) incoming: weir_hub::trace::Incoming,
    /// The extent of the datastream that was asked for one last.
    pub(crate) extent: RefCell<Option<(Kind, Id, Option<Extent>)>>,
}

impl Context<'_> {
    pub(crate) fn grants(&self) -> &Grants {
        &self.principal.grants
    }

    /// Takes from what the paths of expressions may visit.
    fn visit(&self, visits: usize) -> Result<()> {
        let left = self.visits_left.get().checked_sub(visits);
        let over = || Fault::over("entities and values that expressions visit", VISITED_MAX);
        self.visits_left.set(left.ok_or_else(over)?);
        Ok(())
    }

    /// Takes as much as it costs to keep a value.
    pub(crate) fn keep(&self, value: &Value<'_>) -> Result<()> {
        self.visit(value.bytes() / VISIT_BYTES)
    }
}

/// An observation of the history.
#[derive(Clone, Debug)]
pub(crate) struct Observed<'a> {
    pub(crate) row: weir_model::Observation<'a>,
    pub(crate) at: At,
    pub(crate) datastream: &'a Arc<Entity>,
}

/// An entity or an observation.
#[derive(Clone)]
pub(crate) enum Node<'a> {
    Entity(Cow<'a, Arc<Entity>>),
    Observed(&'a Observed<'a>),
}

impl<'a> Node<'a> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Node::Entity(entity) => entity.kind,
            Node::Observed(_) => Kind::Observation,
        }
    }

    pub(crate) fn id(&self, view: &View) -> Id {
        match self {
            Node::Entity(entity) => entity.id.clone(),
            Node::Observed(observed) => Id::Text(view.id_of(observed.at).into()),
        }
    }

    /// Whether a navigation of the type is one of this: an observation is of a datastream or of a
    /// multi-datastream.
    pub(crate) fn has(&self, way: &Navigation) -> bool {
        match (self, way.to) {
            (Node::Observed(observed), Kind::Datastream | Kind::MultiDatastream) => {
                observed.datastream.kind == way.to
            }
            _ => true,
        }
    }

    /// Those that a navigation leads to and that may be read; of observations, none: they are looked up
    /// in the history.
    pub(crate) fn related(
        &self,
        context: &'a Context<'a>,
        way: &'static Navigation,
    ) -> Vec<Node<'a>> {
        let entity = |entity: &'a Arc<Entity>| Node::Entity(Cow::Borrowed(entity));
        let may_read = |it: &&Arc<Entity>| context.view.may_read(context.grants(), it);
        match self {
            Node::Observed(_) if !self.has(way) => Vec::new(),
            Node::Observed(observed) if way.to == observed.datastream.kind => {
                vec![entity(observed.datastream)]
            }
            Node::Observed(observed) => {
                let feature = observed.feature(context.view).into_iter();
                // What nobody described says no more than the observation does.
                let shown = feature.filter(|it| it.is_implied || may_read(&&**it));
                shown.map(Node::Entity).collect()
            }
            Node::Entity(from) => {
                let from: &Entity = from;
                let found = match from.kind.keeps(way.to) {
                    true => from
                        .link(way)
                        .iter()
                        .filter_map(|id| context.view.find(way.to, id))
                        .collect(),
                    false => context.view.linking(from.kind, &from.id, way.to),
                };
                let seen = |it| context.view.seen(context.grants(), it);
                found.into_iter().filter_map(seen).map(entity).collect()
            }
        }
    }
}

impl Observed<'_> {
    /// The feature of interest: that which the observation names, or that where its thing was at its time.
    fn feature<'v>(&self, view: &'v View) -> Option<Cow<'v, Arc<Entity>>> {
        let default = || view.default_feature(self.datastream, self.at.time);
        let id = match (self.row.extra.feature, &self.datastream.origin) {
            (Some(named), _) => Id::of_text(named),
            (None, origin) => match default() {
                Some(default) => return Some(Cow::Borrowed(default)),
                None => origin.clone()?,
            },
        };
        let known = view.find(Kind::FeatureOfInterest, &id);
        Some(match known {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(Arc::new(Entity::implied(Kind::FeatureOfInterest, &id))),
        })
    }

    /// Whether it is of a feature.
    pub(crate) fn is_of(&self, view: &View, feature: &Id) -> bool {
        match self.row.extra.feature {
            Some(named) => Id::of_text(named) == *feature,
            None => self.feature(view).is_some_and(|own| own.id == *feature),
        }
    }
}

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
        return match way.many {
            true => of_many(context, &related, rest),
            false => related
                .pop()
                .map_or(Ok(Value::Null), |node| value(context, &node, rest)),
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
    match values.len() > FOUND_MAX {
        true => Err(Fault::over(
            "values that a path finds for one entity",
            FOUND_MAX,
        )),
        false => Ok(()),
    }
}

/// What a path finds in the observations of an entity; what the one before says too is left out.
fn of_observations(
    context: &Context<'_>,
    entity: &Arc<Entity>,
    path: &[String],
) -> Result<Value<'static>> {
    let of = match entity.kind {
        Kind::FeatureOfInterest => Of::Feature(entity.clone()),
        _ => Of::Datastream(entity.clone()),
    };
    let mut values = Vec::new();
    observations::visit(context, &of, &mut |observed| {
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
        _ => below(json, rest),
    }
}

pub(crate) fn below(mut json: &Json, rest: &[String]) -> Value<'static> {
    for name in rest {
        json = match name.parse::<usize>() {
            Ok(index) if json.is_array() => &json[index],
            _ => &json[name.as_str()],
        };
    }
    Value::of_json(json).into_owned()
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
        Ok(json) => below(&json, rest),
        Err(_) => Value::Text(text.to_owned().into()),
    }
}
