//! A request on its way through an operation.

use crate::catalog::Catalog;
use crate::exception::Exception;
use crate::inventory::Inventory;
use crate::params::{Params, Version};
use crate::records::Set;
use serde_json::Value as Json;
use std::sync::Arc;
use weir_hub::trace::Incoming;
use weir_hub::{Caller, Change, Hub, Principal, Ticket, Verb};
use weir_model::{Filter, Time};

/// Who asks what.
pub(crate) struct Ask {
    pub(crate) hub: Arc<Hub>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) now: Time,
    pub(crate) principal: Principal,
    /// Where the service is reached, as the client wrote it.
    pub(crate) url: String,
    pub(crate) version: Version,
    pub(crate) params: Params,
    pub(crate) incoming: Incoming,
}

impl Ask {
    /// What is offered to this principal.
    pub(crate) fn inventory(&self) -> Result<Inventory<'_>, Exception> {
        let known = self.catalog.current(&self.hub)?;
        Ok(Inventory::of(known, &self.hub, &self.principal.grants))
    }

    /// Refuses what the caller may not do to a topic or key that it named.
    pub(crate) fn may(&self, verb: Verb, named: &str) -> Result<(), Exception> {
        Ok(self.hub.check(&self.principal, verb, named)?)
    }

    /// The hub, as whom it is asked on behalf of.
    pub(crate) fn caller(&self) -> Result<Caller<'_>, Exception> {
        Ok(self.hub.caller_again(self.now, &self.principal)?)
    }

    /// The records of a set that may be read, each with its identifier.
    pub(crate) fn records(&self, set: Set) -> Result<Vec<(String, Json)>, Exception> {
        self.matching(set, &format!("{}/+", set.root()))
    }

    /// The record of an identifier.
    pub(crate) fn record(&self, set: Set, id: &str) -> Result<Option<Json>, Exception> {
        let found = self.matching(set, &set.key(id))?;
        Ok(found.into_iter().next().map(|(_, body)| body))
    }

    fn matching(&self, set: Set, filter: &str) -> Result<Vec<(String, Json)>, Exception> {
        let filter = Filter::parse(filter)
            .map_err(|error| Exception::invalid("identifier", error.to_string()))?;
        // Who may read none of them sees none.
        let entities = self.caller()?.entities(&[filter]);
        Ok(set.read(entities.unwrap_or_default()))
    }

    /// Has the hub make all of the changes, in this order, or none where one of them would be refused.
    pub(crate) fn all_or_none(&self, changes: Vec<Change>) -> Result<Vec<Ticket>, Exception> {
        for change in &changes {
            self.hub.would_take(&self.principal, change)?;
        }
        let caller = self.caller()?;
        let made = changes.into_iter().map(|change| Ok(caller.make(change)?));
        made.collect()
    }
}
