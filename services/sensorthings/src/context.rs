//! What a request is answered from, and what it may cost.

use crate::fault::{Fault, Result};
use crate::filter::Value;
use crate::id::Id;
use crate::kind::Kind;
use crate::late::Late;
use crate::limits::{SCANNED_MAX, VISITED_MAX};
use crate::view::View;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use weir_hub::{Caller, Change, Extent, Grants, Hub, Principal, Ticket};
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

impl<'a> Context<'a> {
    /// Of a request that has cost nothing yet and may cost what one may.
    pub(crate) fn new(
        hub: &'a Arc<Hub>,
        view: &'a View,
        late: &'a Mutex<Late>,
        principal: &'a Principal,
        now: Time,
    ) -> Self {
        Self {
            hub,
            view,
            late,
            principal,
            now,
            root: "",
            rendered: Cell::new(0),
            written: Cell::new(0),
            scans_left: Cell::new(SCANNED_MAX),
            visits_left: Cell::new(VISITED_MAX),
            incoming: Default::default(),
            extent: RefCell::default(),
        }
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.principal.grants
    }

    /// The hub, on behalf of who asks: the request was counted when it came.
    pub(crate) fn caller(&self) -> Result<Caller<'_>> {
        Ok(self.hub.caller_again(self.now, self.principal)?)
    }

    /// Takes from what the paths of expressions may visit.
    pub(crate) fn visit(&self, visits: usize) -> Result<()> {
        let left = self.visits_left.get().checked_sub(visits);
        let over = || Fault::over("entities and values that expressions visit", VISITED_MAX);
        self.visits_left.set(left.ok_or_else(over)?);
        Ok(())
    }

    /// Has the hub make a change for the caller.
    pub(crate) fn make(&self, change: Change) -> Result<Ticket> {
        self.make_for(self.principal, change)
    }

    /// Has the hub make a change for somebody.
    pub(crate) fn make_for(&self, who: &Principal, change: Change) -> Result<Ticket> {
        Ok(self.hub.caller_again(self.now, who)?.make(change)?)
    }

    /// Takes as much as it costs to keep a value.
    pub(crate) fn keep(&self, value: &Value<'_>) -> Result<()> {
        self.visit(value.bytes() / VISIT_BYTES)
    }
}
