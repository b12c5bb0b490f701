//! The hub, asked on behalf of who asks.

use serde_json::Value as Json;
use std::sync::Arc;
use weir_hub::{Caller, Entry, Fault, Hub, Page, Past, Principal};
use weir_model::{Batch, Filter, Time};
use weir_service::Response;

/// Who asks, and when.
pub(crate) struct Ask {
    pub(crate) hub: Arc<Hub>,
    pub(crate) now: Time,
    pub(crate) principal: Principal,
}

impl Ask {
    /// The datastreams that match and may be read; none is no fault.
    pub(crate) fn entries(&self, filters: Vec<Filter>) -> Result<Vec<Entry>, Response> {
        match self.caller()?.entries(&filters) {
            Err(Fault::Unknown(_)) => Ok(Vec::new()),
            found => found.map_err(|fault| refuse(&fault)),
        }
    }

    /// A page of the past.
    pub(crate) fn page(&self, past: Past) -> Result<Page, Response> {
        let page = self.caller()?.history(&past);
        page.map_err(|fault| refuse(&fault))
    }

    /// Last values.
    pub(crate) fn latest(&self, filters: Vec<Filter>) -> Result<Batch, Response> {
        let latest = self.caller()?.latest(&filters);
        Ok(latest.map_err(|fault| refuse(&fault))?.batch)
    }

    fn caller(&self) -> Result<Caller<'_>, Response> {
        let caller = self.hub.caller_again(self.now, &self.principal);
        caller.map_err(|fault| refuse(&fault))
    }
}

/// What the hub says no to.
pub(crate) fn refuse(fault: &Fault) -> Response {
    let status = match fault {
        Fault::Denied { principal, .. } if &**principal == "anonymous" => 401,
        Fault::Denied { .. } => 403,
        Fault::Revoked(_) => 401,
        Fault::TooFast { .. } => 429,
        Fault::OverLimit { .. } | Fault::Crowded { .. } | Fault::Incomparable(_) => 400,
        _ => 503,
    };
    Response::text(status, fault.to_string())
}

/// What a question is answered with; an error is an answer too.
pub(crate) type Answered = Result<Json, Response>;
