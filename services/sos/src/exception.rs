//! Exception reports (OGC 06-121r9 section 8, OGC 12-006 section 7.3.2, OGC 09-001 section 15).

use crate::names::OWS11;
use weir_codec::document::Xml;
use weir_hub::{Fault, HistoryFault, LogFault};

/// A code of OWS Common, of SWE Service or of SOS.
#[allow(clippy::enum_variant_names, reason = "the names of OGC")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    OperationNotSupported,
    MissingParameterValue,
    InvalidParameterValue,
    VersionNegotiationFailed,
    OptionNotSupported,
    NoApplicableCode,
    InvalidRequest,
    ResponseExceedsSizeLimit,
    InvalidPropertyOfferingCombination,
}

impl Code {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Code::OperationNotSupported => "OperationNotSupported",
            Code::MissingParameterValue => "MissingParameterValue",
            Code::InvalidParameterValue => "InvalidParameterValue",
            Code::VersionNegotiationFailed => "VersionNegotiationFailed",
            Code::OptionNotSupported => "OptionNotSupported",
            Code::NoApplicableCode => "NoApplicableCode",
            Code::InvalidRequest => "InvalidRequest",
            Code::ResponseExceedsSizeLimit => "ResponseExceedsSizeLimit",
            Code::InvalidPropertyOfferingCombination => "InvalidPropertyOfferingCombination",
        }
    }

    /// The reason of a SOAP fault, where the standard says it (OGC 12-006 section 13.5.1).
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            Code::ResponseExceedsSizeLimit => Some(
                "The requested result set exceeds the response size limit of this service and \
                 thus cannot be delivered.",
            ),
            Code::InvalidPropertyOfferingCombination => Some(
                "Observations for the requested combination of observedProperty and offering do \
                 not use SWE Common encoded results.",
            ),
            _ => None,
        }
    }

    /// Which prefix a SOAP fault's subcode has (OGC 12-006 section 13.5.1).
    pub(crate) fn prefix(self) -> (&'static str, &'static str) {
        match self {
            Code::InvalidRequest => ("swes", crate::names::SWES20),
            Code::ResponseExceedsSizeLimit | Code::InvalidPropertyOfferingCombination => {
                ("sos", crate::names::SOS20)
            }
            _ => ("ows", OWS11),
        }
    }
}

/// What is wrong with a request, or with answering it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    pub(crate) code: Code,
    /// Which parameter.
    pub(crate) locator: Option<String>,
    pub(crate) text: String,
    /// The status of HTTP, where it is not the code's own.
    pub(crate) status: Option<u16>,
}

impl Exception {
    pub(crate) fn new(code: Code, locator: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            code,
            locator: Some(locator.into()),
            text: text.into(),
            status: None,
        }
    }

    pub(crate) fn missing(parameter: &str) -> Self {
        let text = format!("the parameter `{parameter}` is needed");
        Self::new(Code::MissingParameterValue, parameter, text)
    }

    // [SOS2-8.0-2]
    pub(crate) fn invalid(parameter: &str, text: impl Into<String>) -> Self {
        Self::new(Code::InvalidParameterValue, parameter, text)
    }

    // [SOS2-8.0-3]
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self {
            locator: None,
            ..Self::new(Code::InvalidRequest, "", text)
        }
    }

    pub(crate) fn internal(text: impl Into<String>) -> Self {
        Self {
            locator: None,
            status: Some(500),
            ..Self::new(Code::NoApplicableCode, "", text)
        }
    }

    /// The status of HTTP (OGC 06-121r9 table 28).
    pub(crate) fn status(&self) -> u16 {
        self.status.unwrap_or(match self.code {
            Code::OperationNotSupported | Code::OptionNotSupported => 501,
            _ => 400,
        })
    }

    /// The exception by itself, as a SOAP fault's detail holds it.
    pub(crate) fn element(&self, xml: &mut Xml) {
        xml.start("ows:Exception");
        xml.attribute("exceptionCode", self.code.name());
        if let Some(locator) = &self.locator {
            xml.attribute("locator", locator);
        }
        xml.leaf("ows:ExceptionText", &self.text).end();
    }

    /// A report; `version` is that of the service.
    pub(crate) fn report(&self, version: &str) -> String {
        let mut xml = Xml::new();
        xml.start("ows:ExceptionReport");
        xml.prefixes(&[("ows", OWS11)]);
        xml.attribute("version", version);
        xml.attribute("xml:lang", "en");
        self.element(&mut xml);
        xml.finish()
    }
}

/// What a refusal by the hub is to a client.
impl From<Fault> for Exception {
    fn from(fault: Fault) -> Self {
        let text = fault.to_string();
        let (code, status) = match &fault {
            Fault::Denied { principal, .. } if &**principal == "anonymous" => {
                (Code::NoApplicableCode, 401)
            }
            Fault::Revoked(_) => (Code::NoApplicableCode, 401),
            Fault::Denied { .. } | Fault::Reserved(_) => (Code::NoApplicableCode, 403),
            Fault::Topic(_)
            | Fault::Message(_)
            | Fault::Undecodable { .. }
            | Fault::Contradicted { .. }
            | Fault::Incomparable(_) => (Code::InvalidParameterValue, 400),
            Fault::History(HistoryFault::BadPage) | Fault::Unknown(_) | Fault::KeyReused(_) => {
                (Code::InvalidParameterValue, 400)
            }
            Fault::OverLimit { .. } | Fault::Log(LogFault::OverLimit { .. }) => {
                (Code::NoApplicableCode, 413)
            }
            Fault::Log(LogFault::Busy)
            | Fault::Short
            | Fault::Crowded { .. }
            | Fault::TooFast { .. } => (Code::NoApplicableCode, 429),
            Fault::Log(LogFault::Full(_)) => (Code::NoApplicableCode, 507),
            Fault::Log(_) | Fault::Stopping => (Code::NoApplicableCode, 503),
            Fault::History(_) => (Code::NoApplicableCode, 500),
            #[allow(unreachable_patterns, reason = "kinds that come later")]
            _ => (Code::NoApplicableCode, 500),
        };
        Self {
            code,
            locator: None,
            text,
            status: Some(status),
        }
    }
}
