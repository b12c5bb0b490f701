//! A request on its way through an operation.

use crate::catalog::Catalog;
use crate::exception::Exception;
use crate::inventory::Inventory;
use crate::params::{Params, Version};
use std::sync::Arc;
use weir_hub::trace::Incoming;
use weir_hub::{Caller, Change, Hub, Principal, Ticket, Verb};
use weir_model::Time;

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
        Ok(self.hub.caller(self.now, &self.principal)?)
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
