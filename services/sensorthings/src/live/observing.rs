//! Observations of a message as JSON, those that are meant.

use super::past;
use crate::asked::Asked;
use crate::context::Context;
use crate::fault::Result;
use crate::filter::holds;
use crate::id::{At, Id};
use crate::join::Join;
use crate::kind::Kind;
use crate::limits::VISITED_LIVE_MAX;
use crate::node::Node;
use crate::observed::Observed;
use crate::query::Query;
use crate::render;
use crate::service::Inner;
use std::cell::Cell;
use std::sync::Arc;
use weir_hub::{Item, Principal, Rows, Verb};
use weir_service::Rendering;

/// How the observations of one collection are told to one principal.
pub(crate) struct Observing {
    inner: Arc<Inner>,
    principal: Principal,
    root: String,
    query: Query,
    /// Only those of this feature.
    feature: Option<Id>,
    /// Whether what is told of an observation is more than it and what entities say of themselves.
    reads_past: bool,
    key: Arc<u32>,
}

impl Observing {
    pub(super) fn new(
        inner: &Arc<Inner>,
        principal: Principal,
        root: String,
        query: Query,
        feature: Option<Id>,
    ) -> Self {
        let name = format!("{root} {feature:?} {:?}", query.said);
        Self {
            key: inner.renderings.key(name),
            reads_past: past::is_read(&query, Kind::Observation),
            inner: inner.clone(),
            principal,
            root,
            query,
            feature,
        }
    }

    fn is_meant(&self, context: &Context<'_>, observed: &Observed<'_>) -> Result<bool> {
        if let Some(feature) = &self.feature
            && !observed.is_of(context.view, feature)
        {
            return Ok(false);
        }
        let Some(filter) = &self.query.filter else {
            return Ok(true);
        };
        let node = Node::Observed(observed);
        holds(filter, &Asked { context, node })
    }

    fn text(&self, context: &Context<'_>, observed: &Observed<'_>) -> Option<Vec<u8>> {
        // What a filter cannot be asked of is not meant by it.
        if !self.is_meant(context, observed).unwrap_or(false) {
            return None;
        }
        // Each is an answer of its own.
        context.written.set(0);
        let told = render::text(context, &Node::Observed(observed), &self.query);
        Some(told.unwrap_or_else(|fault| fault.response().body.to_vec()))
    }
}

impl Rendering for Observing {
    fn key(&self) -> u32 {
        *self.key
    }

    fn reads_past(&self, item: &Item) -> bool {
        self.reads_past || !self.inner.placing.knows(self.inner.hub(), &item.message)
    }

    fn render(&self, item: &Item, each: &mut dyn FnMut(&[u8])) {
        let (Some(batch), Ok(view)) = (item.message.batch(), self.inner.current()) else {
            return;
        };
        let context = Context {
            root: &self.root,
            visits_left: Cell::new(VISITED_LIVE_MAX),
            ..Context::new(
                self.inner.hub(),
                &view,
                &self.inner.late,
                &self.principal,
                item.message.arrival,
            )
        };
        let ordinals = self.inner.placing.ordinals(&context, &item.message, batch);
        let mut join = Join::default();
        let mut tell = |observed: &Observed<'_>| {
            if let Some(text) = self.text(&context, observed) {
                each(&text);
            }
            Ok(true)
        };
        for row in 0..batch.len() {
            let is_due = match &item.rows {
                Rows::All => true,
                Rows::Some(due) => due.binary_search(&(row as u32)).is_ok(),
            };
            let observation = batch.row(row);
            if !is_due {
                continue;
            }
            let time = observation.time.unwrap_or(item.message.arrival);
            let ordinal = ordinals.as_ref().and_then(|all| all.get(row));
            let ordinal = ordinal.copied().unwrap_or(0);
            if join.is_whole_at(time) {
                // Telling refuses nothing.
                let _all = join.drain(&context, &mut tell);
            }
            if let Some(multi) = view.component(observation.topic) {
                if context.grants().allow(Verb::Read, &multi.key) {
                    join.take(multi, &observation, ordinal);
                }
                continue;
            }
            let Some(datastream) = view.datastream(observation.topic) else {
                continue;
            };
            let at = At {
                datastream: datastream.id.as_u32(),
                time,
                ordinal,
            };
            let observed = Observed {
                row: observation,
                at,
                datastream,
            };
            let _all = tell(&observed);
        }
        let _all = join.drain(&context, &mut tell);
    }
}
