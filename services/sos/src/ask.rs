//! A request on its way through an operation.

use crate::catalog::Catalog;
use crate::exception::Exception;
use crate::inventory::Inventory;
use crate::params::{Params, Version};
use std::sync::Arc;
use weir_hub::trace::Incoming;
use weir_hub::{Exchange, Hub, Principal, Request, Ticket, Verb};
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

    /// Asks the hub.
    pub(crate) fn open(&self, request: Request) -> Result<Exchange, Exception> {
        Ok(self.hub.open(self.now, &self.principal, request)?)
    }

    /// Asks the hub for what is acknowledged later.
    pub(crate) fn ticket(&self, request: Request) -> Result<Ticket, Exception> {
        match self.open(request)? {
            Exchange::Accepted(ticket) => Ok(ticket),
            _ => Err(Exception::internal("the hub answered something else")),
        }
    }

    /// Has the hub do all of it, in this order, or none where one of it would be refused.
    pub(crate) fn all_or_none(&self, requests: Vec<Request>) -> Result<Vec<Ticket>, Exception> {
        for request in &requests {
            self.hub.would_take(&self.principal, request)?;
        }
        let done = requests.into_iter().map(|request| self.ticket(request));
        done.collect()
    }
}
