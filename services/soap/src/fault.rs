//! Faults, and the envelopes that answers are put in.

use weir_codec::document::{exi, soap};
use weir_hub::{HistoryFault, LogFault};
use weir_service::Response;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    inner: soap::Fault,
    /// The status of HTTP, where it is not the usual one of faults.
    status: Option<u16>,
}

impl Fault {
    pub(crate) fn of(inner: soap::Fault) -> Self {
        Self {
            inner,
            status: None,
        }
    }

    /// The request is at fault.
    pub(crate) fn sender(reason: impl Into<String>) -> Self {
        Self::of(soap::Fault::new(soap::Code::Sender, reason))
    }

    /// The gateway is.
    pub(crate) fn receiver(reason: impl Into<String>) -> Self {
        Self::of(soap::Fault::new(soap::Code::Receiver, reason))
    }
}

impl From<weir_hub::Fault> for Fault {
    fn from(fault: weir_hub::Fault) -> Self {
        use weir_hub::Fault as Hub;
        let reason = fault.to_string();
        let status = match &fault {
            Hub::Denied { principal, .. } if &**principal == "anonymous" => 401,
            Hub::Revoked(_) => 401,
            Hub::Denied { .. } | Hub::Reserved(_) => 403,
            Hub::OverLimit { .. } | Hub::Log(LogFault::OverLimit { .. }) => 413,
            Hub::Log(LogFault::Busy) | Hub::Short | Hub::Crowded { .. } | Hub::TooFast { .. } => {
                429
            }
            Hub::Log(LogFault::Full(_)) => 507,
            Hub::Log(_) | Hub::Stopping => 503,
            Hub::History(HistoryFault::Failed(_)) => return Self::receiver(reason),
            _ => return Self::sender(reason),
        };
        let made = match status {
            503 | 507 => Self::receiver(reason),
            _ => Self::sender(reason),
        };
        Self {
            status: Some(status),
            ..made
        }
    }
}

/// What an answer is put in: what the request was.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) version: soap::Version,
    /// The message that is answered.
    pub(crate) relates: Option<String>,
    /// Whether the envelope is EXI.
    pub(crate) exi: bool,
}

impl Form {
    /// An answer.
    pub(crate) fn answer(&self, xml: &str) -> Response {
        let action = "urn:weir:observations#answer";
        let envelope = soap::wrap(self.version, self.relates.as_deref(), action, xml);
        self.whole(200, envelope)
    }

    /// A fault: 500 in SOAP 1.1 (section 6.2), 400 in 1.2 where the sender is at fault (part 2 section
    /// 7.5.2.2), and what says to whoever waits or may not what to do.
    pub(crate) fn fault(&self, fault: &Fault) -> Response {
        let usual = match (self.version, fault.inner.code) {
            (soap::Version::V12, soap::Code::Sender) => 400,
            _ => 500,
        };
        let status = fault.status.unwrap_or(usual);
        let envelope = soap::fault(self.version, self.relates.as_deref(), &fault.inner);
        let response = self.whole(status, envelope);
        match status {
            401 => response.header("www-authenticate", "Bearer"),
            429 | 503 => response.header("retry-after", "1"),
            _ => response,
        }
    }

    fn whole(&self, status: u16, envelope: String) -> Response {
        if !self.exi {
            return Response::with_body(status, self.version.media(), envelope);
        }
        match exi::from_xml(envelope.as_bytes()) {
            Ok(packed) => Response::with_body(status, "application/exi", packed),
            Err(fault) => Response::text(500, fault.to_string()),
        }
    }
}
