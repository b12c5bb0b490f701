//! The hub, asked on behalf of who asks.

use std::sync::Arc;
use weir_binding::Response;
use weir_hub::{Entry, Exchange, Fault, Hub, Page, Past, Principal, Request};
use weir_model::{Batch, Filter, Time};

/// Who asks, and when.
pub(crate) struct Ask {
    pub(crate) hub: Arc<Hub>,
    pub(crate) now: Time,
    pub(crate) principal: Principal,
}

impl Ask {
    /// The datastreams that match and may be read; none is no fault.
    pub(crate) fn entries(&self, filters: Vec<Filter>) -> Result<Vec<Entry>, Response> {
        match self.open(Request::Describe(filters)) {
            Ok(Exchange::Entries(entries)) => Ok(entries),
            Err(Fault::Unknown(_)) => Ok(Vec::new()),
            other => Err(refusal(other)),
        }
    }

    /// A page of the past.
    pub(crate) fn page(&self, past: Past) -> Result<Page, Response> {
        match self.open(Request::History(past)) {
            Ok(Exchange::Page(page)) => Ok(page),
            other => Err(refusal(other)),
        }
    }

    /// Last values.
    pub(crate) fn latest(&self, filters: Vec<Filter>) -> Result<Batch, Response> {
        match self.open(Request::Latest(filters)) {
            Ok(Exchange::Latest(latest)) => Ok(latest.batch),
            other => Err(refusal(other)),
        }
    }

    fn open(&self, request: Request) -> Result<Exchange, Fault> {
        self.hub.open(self.now, &self.principal, request)
    }
}

fn refusal(opened: Result<Exchange, Fault>) -> Response {
    match opened {
        Err(fault) => refuse(&fault),
        Ok(_) => Response::text(500, "the hub answered something else"),
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
