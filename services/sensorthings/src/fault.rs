//! What is wrong, as JSON that says where: `{"code":400,"type":"error","message":"...","at":12}`.

use serde_json::json;
use weir_hub::{Fault as HubFault, HistoryFault, LogFault, Principal, Verb};
use weir_service::Response;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// Byte of the text that is wrong, where one is.
    pub(crate) at: Option<usize>,
}

pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            at: None,
        }
    }

    /// 400: what the body links is not what the path does.
    pub(crate) fn contradiction(name: &str) -> Self {
        Self::bad(format!("{name}: the body says another than the path"))
    }

    /// 400.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// 400 with the byte that is wrong.
    pub(crate) fn bad_at(message: impl Into<String>, at: usize) -> Self {
        Self {
            at: Some(at),
            ..Self::bad(message)
        }
    }

    /// 404.
    pub(crate) fn missing(what: impl std::fmt::Display) -> Self {
        Self::new(404, format!("there is no {what}"))
    }

    /// 401 for who has not said who it is, 403 for others; `what` is as the caller named it.
    pub(crate) fn denied(principal: &Principal, verb: Verb, what: &str) -> Self {
        Self::refused(&principal.name, verb.name(), what)
    }

    fn refused(principal: &str, verb: &str, what: &str) -> Self {
        let status = if principal == "anonymous" { 401 } else { 403 };
        Self::new(status, format!("{principal} may not {verb} {what}"))
    }

    /// A limit of [`crate::limits`] is passed.
    pub(crate) fn over(what: &str, limit: usize) -> Self {
        Self::bad(format!("{what} over the limit of {limit}"))
    }

    /// The same fault found inside of something.
    pub(crate) fn within(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// As an answer.
    pub(crate) fn response(&self) -> Response {
        let mut body = json!({"code": self.status, "type": "error", "message": self.message});
        if let Some(at) = self.at {
            body["at"] = at.into();
        }
        Response::with_body(self.status, "application/json", body.to_string())
    }
}

impl From<HubFault> for Fault {
    fn from(fault: HubFault) -> Self {
        let status = match &fault {
            // The hub names a topic, which may be none that the caller named.
            HubFault::Denied {
                principal, verb, ..
            } => return Self::refused(principal, verb, "this"),
            HubFault::Unknown(_) => return Self::missing("such datastream"),
            HubFault::Revoked(_) => 401,
            HubFault::Reserved(_) => 403,
            HubFault::OverLimit { what, .. } if what.starts_with("message bytes") => 413,
            HubFault::KeyReused(_) | HubFault::Contradicted { .. } => 409,
            HubFault::Short | HubFault::Crowded { .. } | HubFault::TooFast { .. } => 429,
            HubFault::Log(LogFault::Busy | LogFault::Full(_) | LogFault::Closed)
            | HubFault::Stopping => 503,
            HubFault::Log(LogFault::OverLimit { .. }) => 413,
            HubFault::Log(_) | HubFault::History(HistoryFault::Failed(_)) => 500,
            _ => 400,
        };
        Self::new(status, fault.to_string())
    }
}
