//! Messages over HTTP: an envelope with its addressing in, an answer or a fault out.

use crate::limits::ENVELOPE_BYTES_MAX;
use crate::names::{Generation, OASIS};
use crate::random::uuid;
use weir_binding::{Call, Response};
use weir_codec::document::addressing::{Header, Properties};
use weir_codec::document::soap::{self, Code, Version};
use weir_codec::document::{Element, read_xml};

/// What was asked, and how it is answered.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) form: Form,
    /// `wsa:Action`.
    pub(crate) action: String,
    pub(crate) envelope: Element,
    /// The element in the body.
    pub(crate) body: Option<Element>,
}

/// What an answer is put in: what the request was.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) generation: &'static Generation,
    /// The message that is answered.
    relates_to: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    inner: Box<soap::Fault>,
    action: Option<String>,
    /// The status of HTTP, where it is not the usual one of faults.
    status: Option<u16>,
}

impl Fault {
    /// The request is at fault, for a reason that a specification names.
    pub(crate) fn named(name: &str, uri: &'static str, reason: impl Into<String>) -> Self {
        Self {
            inner: Box::new(soap::Fault {
                subcodes: vec![(format!("f:{name}"), uri)],
                ..soap::Fault::new(Code::Sender, reason)
            }),
            action: None,
            status: None,
        }
    }

    /// The same below what that specification calls such faults.
    fn below(mut self, name: &str) -> Self {
        let uri = self.inner.subcodes.first().map(|(_, uri)| *uri);
        self.inner
            .subcodes
            .splice(..0, uri.map(|uri| (format!("f:{name}"), uri)));
        self
    }

    /// The same with the action of that specification's faults.
    pub(crate) fn by(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    fn plain(inner: soap::Fault) -> Self {
        Self {
            inner: Box::new(inner),
            action: None,
            status: None,
        }
    }

    /// The request is at fault.
    pub(crate) fn sender(reason: impl Into<String>) -> Self {
        Self::plain(soap::Fault::new(Code::Sender, reason))
    }

    /// The gateway is.
    pub(crate) fn receiver(reason: impl Into<String>) -> Self {
        Self::plain(soap::Fault::new(Code::Receiver, reason))
    }

    /// The fault with a status of HTTP of its own.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl From<weir_hub::Fault> for Fault {
    fn from(fault: weir_hub::Fault) -> Self {
        use weir_hub::Fault as Hub;
        let reason = fault.to_string();
        match &fault {
            Hub::Denied { principal, .. } if &**principal == "anonymous" => {
                Self::sender(reason).with_status(401)
            }
            Hub::Denied { .. } | Hub::Reserved(_) => Self::sender(reason).with_status(403),
            Hub::OverLimit { .. } => Self::sender(reason).with_status(413),
            Hub::Crowded { .. } => Self::sender(reason).with_status(429),
            Hub::Log(_) | Hub::Stopping => Self::receiver(reason).with_status(503),
            _ => Self::sender(reason),
        }
    }
}

impl Message {
    /// Reads a request; a refusal is the answer already.
    pub(crate) fn read(call: &Call) -> Result<Self, Box<Response>> {
        let nobody = Form {
            generation: &OASIS,
            relates_to: None,
        };
        let refuse = |form: &Form, fault: Fault| Box::new(form.fault(&fault));
        if call.body.len() > ENVELOPE_BYTES_MAX {
            let reason = format!("an envelope here has at most {ENVELOPE_BYTES_MAX} bytes");
            return Err(refuse(&nobody, Fault::sender(reason).with_status(413)));
        }
        let envelope = read_xml(&call.body)
            .map_err(|fault| refuse(&nobody, Fault::sender(fault.to_string())))?;
        let properties = Properties::of(&envelope);
        let generation = Generation::of_addressing(properties.namespace);
        let form = Form {
            generation,
            relates_to: properties.message_id.clone(),
        };
        let body = opened(&envelope, generation).map_err(|fault| refuse(&form, fault))?;
        check(&properties, generation).map_err(|fault| refuse(&form, fault))?;
        Ok(Self {
            form,
            action: properties.action.unwrap_or_default(),
            envelope,
            body,
        })
    }

    /// The name behind a namespace in the action.
    pub(crate) fn action_of(&self, namespace: &str) -> Option<&str> {
        self.action.strip_prefix(namespace)?.strip_prefix('/')
    }

    /// The element in the body, which must be this one.
    pub(crate) fn body_as(&self, namespace: &str, name: &str) -> Result<&Element, Fault> {
        let body = self.body.as_ref().filter(|body| body.is(namespace, name));
        body.ok_or_else(|| Fault::sender(format!("a body with {{{namespace}}}{name} was expected")))
    }

    /// There is no such action here (WS-Addressing 1.0 SOAP Binding section 6.4.2).
    pub(crate) fn unknown(&self) -> Fault {
        let reason = format!("the action `{}` cannot be processed here", self.action);
        Fault::named(
            "ActionNotSupported",
            self.form.generation.addressing,
            reason,
        )
    }
}

/// The body of an envelope of SOAP 1.2 (DPWS 1.1 R0034).
fn opened(envelope: &Element, generation: &Generation) -> Result<Option<Element>, Fault> {
    let known = [
        generation.addressing,
        generation.discovery,
        crate::names::EVENTING,
    ];
    let opened = soap::open_knowing(envelope.clone(), &known);
    let opened = opened.map_err(|(_, fault)| Fault::plain(fault))?;
    match opened.version {
        Version::V12 => Ok(opened.body),
        Version::V11 => Err(Fault::plain(soap::Fault::new(
            Code::VersionMismatch,
            "an envelope of SOAP 1.2 was expected",
        ))),
    }
}

fn check(properties: &Properties, generation: &Generation) -> Result<(), Fault> {
    let of_addressing = |name, reason: String| Fault::named(name, generation.addressing, reason);
    for (name, found) in [
        ("Action", &properties.action),
        ("MessageID", &properties.message_id),
    ] {
        if found.as_ref().is_none_or(String::is_empty) {
            let required = if generation == &OASIS {
                "MessageAddressingHeaderRequired"
            } else {
                "MessageInformationHeaderRequired"
            };
            return Err(of_addressing(
                required,
                format!("a header wsa:{name} is required"),
            ));
        }
    }
    // DPWS 1.1 R0031: whoever asks is answered; nobody else is.
    let elsewhere = properties.reply_to.as_ref();
    match elsewhere.filter(|endpoint| endpoint.address != generation.anonymous) {
        None => Ok(()),
        Some(endpoint) => Err(of_addressing(
            "OnlyAnonymousAddressSupported",
            format!("an answer goes to who asked, not to `{}`", endpoint.address),
        )
        .below("InvalidAddressingHeader")),
    }
}

impl Form {
    /// An answer.
    pub(crate) fn answer(&self, action: &str, body: &str) -> Response {
        self.whole(200, action, body)
    }

    /// A fault (SOAP 1.2 part 2 section 7.5.2.2 has the status).
    pub(crate) fn fault(&self, fault: &Fault) -> Response {
        let usual = match fault.inner.code {
            Code::Sender => 400,
            _ => 500,
        };
        let status = fault.status.unwrap_or(usual);
        let general = format!("{}/fault", self.generation.addressing);
        let action = fault.action.as_deref().unwrap_or(&general);
        let body = soap::fault_body(Version::V12, &fault.inner);
        let response = self.whole(status, action, &body);
        match status {
            401 => response.header("www-authenticate", "Bearer"),
            429 | 503 => response.header("retry-after", "1"),
            _ => response,
        }
    }

    fn whole(&self, status: u16, action: &str, body: &str) -> Response {
        let header = Header {
            namespace: self.generation.addressing,
            to: self.generation.anonymous,
            action,
            message_id: Some(&uuid()),
            relates_to: self.relates_to.as_deref(),
            ..Header::default()
        };
        let envelope = header.around(Version::V12, body);
        Response::with_body(status, Version::V12.media(), envelope)
    }
}
