//! What an answer is put in.

use crate::exception::{Code, Exception};
use crate::params::Version;
use weir_codec::document::soap::{self, Fault};
use weir_codec::document::{Xml, exi, json, read_xml};
use weir_service::{Call, Response};

/// How bytes are made of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Xml,
    Exi,
    /// With its values in channels and deflated: EXI-C.
    ExiCompressed,
    Json,
}

/// What an answer is put in.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    coding: Coding,
    envelope: Option<(soap::Version, Option<String>)>,
    /// A fault of the envelope itself, which no exception says.
    fault: Option<Fault>,
}

const JSON: &str = "application/json";
const EXI: &str = "application/exi";
const EXI_C: &str = "application/exi;c=1";

impl Form {
    /// XML, unless another is asked for.
    pub(crate) fn plain(call: &Call) -> Self {
        Self::of(wanted(call).unwrap_or(Coding::Xml), None)
    }

    /// EXI, unless another is asked for.
    pub(crate) fn exi(call: &Call) -> Self {
        Self::of(wanted(call).unwrap_or_else(|| exi_of_request(call)), None)
    }

    /// JSON, unless another is asked for.
    pub(crate) fn json(call: &Call) -> Self {
        Self::of(wanted(call).unwrap_or(Coding::Json), None)
    }

    /// An envelope, as EXI if the request was.
    pub(crate) fn soap(
        call: &Call,
        version: soap::Version,
        message_id: Option<String>,
        exi: bool,
    ) -> Self {
        let of_request = if exi {
            exi_of_request(call)
        } else {
            Coding::Xml
        };
        let is_exi = |coding: &Coding| matches!(coding, Coding::Exi | Coding::ExiCompressed);
        let coding = wanted(call).filter(is_exi).unwrap_or(of_request);
        Self::of(coding, Some((version, message_id)))
    }

    fn of(coding: Coding, envelope: Option<(soap::Version, Option<String>)>) -> Self {
        Self {
            coding,
            envelope,
            fault: None,
        }
    }

    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    /// Whether an answer can be sent before it is whole.
    pub(crate) fn streams(&self) -> bool {
        self.coding == Coding::Xml
    }

    /// Whether an answer that is no XML may be sent as it is.
    pub(crate) fn is_bare(&self) -> bool {
        self.envelope.is_none()
    }

    /// What stands before and after the answer's element.
    pub(crate) fn around(&self, action: &str) -> (String, String) {
        match &self.envelope {
            Some((version, relates)) => soap::around(*version, relates.as_deref(), action),
            None => (
                String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"),
                String::new(),
            ),
        }
    }

    /// Media type of an answer.
    pub(crate) fn media(&self) -> &'static str {
        match (self.coding, &self.envelope) {
            (Coding::Json, _) => JSON,
            (Coding::Exi, _) => EXI,
            (Coding::ExiCompressed, _) => EXI_C,
            (Coding::Xml, Some((version, _))) => version.media(),
            (Coding::Xml, None) => "application/xml; charset=utf-8",
        }
    }

    /// A whole answer; `xml` has what [`Form::around`] says around it.
    pub(crate) fn whole(
        &self,
        status: u16,
        operation: &str,
        version: Version,
        xml: String,
    ) -> Response {
        let body = match self.coding {
            Coding::Xml => Ok(xml.into_bytes()),
            Coding::Exi => exi::from_xml(xml.as_bytes()),
            Coding::ExiCompressed => exi::compressed_from_xml(xml.as_bytes()),
            Coding::Json => read_xml(xml.as_bytes()).map(|root| {
                let before = [
                    ("request", operation),
                    ("service", "SOS"),
                    ("version", version.text()),
                ];
                json::to_string(&root, &before).into_bytes()
            }),
        };
        match body {
            Ok(body) => Response::with_body(status, self.media(), body).header("vary", "accept"),
            Err(fault) => Response::text(500, fault.to_string()),
        }
    }

    /// An exception as a report, or as a fault of SOAP.
    // [SOS2-8.0-6]
    pub(crate) fn exception(
        &self,
        operation: &str,
        version: Version,
        exception: &Exception,
    ) -> Response {
        let (status, xml) = match &self.envelope {
            None => (exception.status(), exception.report(version.text())),
            Some((soap_version, relates)) => {
                let fault = self.fault.clone().unwrap_or_else(|| fault_of(exception));
                let xml = soap::fault(*soap_version, relates.as_deref(), &fault);
                (fault_status(*soap_version, &fault, exception), xml)
            }
        };
        let response = self.whole(status, operation, version, xml);
        match exception.status() {
            405 => response.header("allow", "POST"),
            401 => response.header("www-authenticate", "Bearer"),
            429 | 503 => response.header("retry-after", "1"),
            _ => response,
        }
    }
}

/// SOAP 1.1 over HTTP answers every fault with 500 (section 6.2), 1.2 the sender's with 400 (part 2
/// section 7.5.2.2); who may not at all is told so by either.
fn fault_status(version: soap::Version, fault: &Fault, exception: &Exception) -> u16 {
    match (exception.status(), version, fault.code) {
        (status @ (401 | 403 | 413 | 429 | 503 | 507), _, _) => status,
        (_, soap::Version::V12, soap::Code::Sender) => 400,
        _ => 500,
    }
}

/// OGC 12-006 section 13.5.1.
// [SOS2-13.5-1] [SOS2-13.5-2] [SOS2-13.5-3]
fn fault_of(exception: &Exception) -> Fault {
    let (prefix, uri) = exception.code.prefix();
    let mut detail = Xml::new();
    detail.start("ows:Exception");
    detail.prefixes(&[("ows", crate::names::OWS11)]);
    detail.attribute("exceptionCode", exception.code.name());
    if let Some(locator) = &exception.locator {
        detail.attribute("locator", locator);
    }
    detail.leaf("ows:ExceptionText", &exception.text);
    let receiver = match exception.code {
        Code::NoApplicableCode => exception.status() >= 500,
        Code::ResponseExceedsSizeLimit => true,
        _ => false,
    };
    let reason = exception.code.reason();
    Fault {
        code: if receiver {
            soap::Code::Receiver
        } else {
            soap::Code::Sender
        },
        subcodes: vec![(format!("{prefix}:{}", exception.code.name()), uri)],
        reason: reason.map_or_else(|| exception.text.clone(), str::to_owned),
        detail: detail.finish(),
    }
}

/// Which EXI a media type names.
fn exi_of(media: &str) -> Coding {
    let mut parameters = media.split(';').skip(1).map(str::trim);
    if parameters.any(|parameter| parameter.eq_ignore_ascii_case("c=1")) {
        Coding::ExiCompressed
    } else {
        Coding::Exi
    }
}

/// A request in EXI is answered alike.
fn exi_of_request(call: &Call) -> Coding {
    exi_of(call.header("content-type").unwrap_or_default())
}

/// What `Accept` asks for beside XML.
fn wanted(call: &Call) -> Option<Coding> {
    let accept = call.header("accept")?;
    let media = accept.split(',').next()?;
    match media.split(';').next()?.trim() {
        EXI => Some(exi_of(media)),
        JSON => Some(Coding::Json),
        "application/xml" | "text/xml" => Some(Coding::Xml),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [SOS2-13.5-2] [SOS2-13.5-3]
    #[test]
    fn the_faults_of_sos_have_the_code_of_the_standard() {
        let said = "what it was here";
        for (code, at_fault, begins) in [
            (
                Code::ResponseExceedsSizeLimit,
                soap::Code::Receiver,
                "The requested result set exceeds the response size limit of this service",
            ),
            (
                Code::InvalidPropertyOfferingCombination,
                soap::Code::Sender,
                "Observations for the requested combination of observedProperty and offering",
            ),
        ] {
            let fault = fault_of(&Exception::new(code, "", said));
            assert_eq!(fault.code, at_fault);
            assert!(fault.reason.starts_with(begins), "{}", fault.reason);
            let expected = (format!("sos:{}", code.name()), crate::names::SOS20);
            assert_eq!(fault.subcodes, [expected]);
            assert!(fault.detail.contains(said), "{}", fault.detail);
        }
    }
}
