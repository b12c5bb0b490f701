//! Entities and properties as they change, for topics such as `v1.1/Things(1)` and `v1.1/Things(1)/name`
//! (18-088 section 14.2.1 to 14.2.3). Observations are no entities that change: they come as messages.

use super::past;
use crate::asked::Asked;
use crate::computed::shown;
use crate::context::Context;
use crate::entity::{Entity, of_key};
use crate::fault::{Fault, Result};
use crate::filter::holds;
use crate::id::Id;
use crate::kind::Kind;
use crate::lock::lock;
use crate::node::Node;
use crate::path::{End, Path};
use crate::query::Query;
use crate::read::{Target, resolve};
use crate::render;
use crate::service::Inner;
use crate::view::View;
use bytes::Bytes;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};
use weir_hub::Principal;
use weir_model::Time;
use weir_service::{Call, Changes};

/// What changes behind one path.
// [STA-A.8.1.1-1] [STA-A.8.1.1-2] [STA-A.8.1.1-3] [TASKING-4-5]
pub(super) struct Changing {
    inner: Arc<Inner>,
    principal: Principal,
    root: String,
    path: Path,
    query: Query,
    state: Mutex<State>,
}

struct State {
    revision: u64,
    /// A property as it was told last.
    property: Option<Json>,
}

impl Changing {
    pub(super) fn new(
        inner: &Arc<Inner>,
        call: &Call,
        root: String,
        path: Path,
        query: Query,
    ) -> Result<Self> {
        if path.end == End::Ref || path.target().0 == Kind::Observation {
            let problem = format!("`{}` is no topic (18-088 section 14.2)", path.to_url());
            return Err(Fault::bad(problem));
        }
        if past::may_be_long(&query, path.target().0) {
            let problem = "what changes is told at once: $filter goes to no collection there, \
                           and $expand not to Observations";
            return Err(Fault::bad(problem));
        }
        let state = Mutex::new(State {
            revision: inner.hub().changed_since(u64::MAX).revision,
            property: None,
        });
        let changing = Self {
            inner: inner.clone(),
            principal: call.principal.clone(),
            root,
            path,
            query,
            state,
        };
        changing.begin(call.now)?;
        Ok(changing)
    }

    /// Refuses what is not there; notes a property as it is.
    fn begin(&self, now: Time) -> Result<()> {
        let view = self.inner.current()?;
        let context = self.context(&view, now);
        let target = resolve(&context, &self.path)?;
        if let (Target::Entity(entity), End::Property(names, _)) = (target, &self.path.end) {
            self.state().property = property(&context, &entity, names);
        }
        Ok(())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn context<'a>(&'a self, view: &'a View, now: Time) -> Context<'a> {
        Context {
            root: &self.root,
            ..Context::new(
                self.inner.hub(),
                view,
                &self.inner.late,
                &self.principal,
                now,
            )
        }
    }

    /// What is told of these changes.
    fn told(&self, names: Option<Vec<Arc<str>>>, now: Time) -> Result<Vec<Bytes>> {
        let view = self.inner.current()?;
        let context = self.context(&view, now);
        let kind = self.path.target().0;
        let changed: Option<BTreeSet<Id>> = names.map(|names| {
            let ids = names.iter().filter_map(|name| id_of(&view, kind, name));
            ids.collect()
        });
        let is_changed = |id: &Id| changed.as_ref().is_none_or(|changed| changed.contains(id));
        let entities = match resolve(&context, &self.path)? {
            Target::Entity(entity) => vec![entity],
            Target::Entities(entities) => entities,
            _ => Vec::new(),
        };
        let entities = entities.iter().filter(|entity| is_changed(&entity.id));
        let mut told = Vec::new();
        for entity in entities {
            told.extend(self.text(&context, entity)?);
        }
        Ok(told)
    }

    fn text(&self, context: &Context<'_>, entity: &Arc<Entity>) -> Result<Option<Bytes>> {
        if let End::Property(names, _) = &self.path.end {
            let now = property(context, entity, names);
            let mut state = self.state();
            if now == state.property {
                return Ok(None);
            }
            state.property.clone_from(&now);
            let name = names.last().map_or("", String::as_str);
            return Ok(Some(json!({ name: now }).to_string().into()));
        }
        let node = Node::Entity(Cow::Borrowed(entity));
        let asked = Asked { context, node };
        let filter = self.query.filter.as_ref();
        if !filter.map_or(Ok(true), |filter| holds(filter, &asked))? {
            return Ok(None);
        }
        let text = render::text(context, &asked.node, &self.query)?;
        Ok(Some(text.into()))
    }
}

impl Changes for Changing {
    fn poll(&self, now: Time, cx: &mut std::task::Context<'_>) -> Poll<Vec<Bytes>> {
        loop {
            let since = self.state().revision;
            let changed = ready!(self.inner.hub().poll_changed(since, cx));
            self.state().revision = changed.revision;
            // What is gone, or may not be seen any more, is told nothing of.
            let told = self.told(changed.names, now).unwrap_or_default();
            if !told.is_empty() {
                return Poll::Ready(told);
            }
        }
    }
}

fn property(context: &Context<'_>, entity: &Arc<Entity>, names: &[String]) -> Option<Json> {
    let (first, rest) = names.split_first()?;
    let node = Node::Entity(Cow::Borrowed(entity));
    let mut found = match &**first {
        "id" | "@iot.id" => node.id(context.view).to_json(),
        name => shown(context, &node, name).ok()??,
    };
    for name in rest {
        found = found.get_mut(name.as_str())?.take();
    }
    Some(found)
}

/// The entity of a type that a topic or key of the hub names.
fn id_of(view: &View, kind: Kind, name: &str) -> Option<Id> {
    match of_key(name) {
        Some((of, id)) if of == kind => Some(id),
        // The feature that follows from a location has its identifier.
        Some((Kind::Location, id)) if kind == Kind::FeatureOfInterest => Some(id),
        None if kind == Kind::Datastream => view.datastream(name).map(|entity| entity.id.clone()),
        _ => None,
    }
}
