//! One entity or observation: what it has, and what its navigations lead to.

use crate::context::Context;
use crate::entity::Entity;
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::observed::Observed;
use crate::values::{instant, result};
use crate::view::View;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::sync::Arc;
use weir_model::Time;

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
                let found = if from.kind.keeps(way.to) {
                    from.link(way)
                        .iter()
                        .filter_map(|id| context.view.find(way.to, id))
                        .collect()
                } else {
                    context.view.linking(from.kind, &from.id, way.to)
                };
                let seen = |it| context.view.seen(context.grants(), it);
                found.into_iter().filter_map(seen).map(entity).collect()
            }
        }
    }
}

impl Node<'_> {
    /// A property as it is kept; `None` where the entity has it not.
    pub(crate) fn property(&self, name: &str) -> Option<Json> {
        match self {
            Node::Entity(entity) => entity.body.get(name).cloned(),
            Node::Observed(observed) => of_observation(observed, name),
        }
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
