//! `/soap/observations`: the plain web service of paper 001 (section II.B), with its WSDL.
//!
//! Four operations, document/literal wrapped, by SOAP 1.1 and 1.2 in XML or EXI: publish, latest, history and
//! describe; each is one request to the hub.
//!
//! What it deliberately does not do: RPC encoding, attachments, headers but WS-Addressing's; the envelope is
//! the codec's ([`weir_codec::document::soap`]), which SOS shares. The decision worth arguing: a result is one
//! of four typed elements instead of a text with a kind, since that is what generated clients can use.
#![forbid(unsafe_code)]

pub mod client;
mod fault;
mod members;
mod operations;
mod rows;
mod wsdl;

use fault::{Fault, Form};
use operations::{OPERATIONS, Operation, Reply};
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_codec::document::soap::{self, Envelope};
use weir_codec::document::{self, Element};
use weir_hub::{Hub, Ticket};
use weir_service::{Answer, Call, Next, Pending, Response, Service, answer_then};

/// Namespace of the operations and their types.
pub(crate) const NAMESPACE: &str = weir_codec::document::observations::NAMESPACE;

const PATH: &str = "/soap/observations";

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
pub struct Soap {
    hub: Arc<Hub>,
}

impl Soap {
    /// The service of a hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }
}

impl Service for Soap {
    fn name(&self) -> &'static str {
        "soap"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/soap"]
    }

    fn call(&self, call: Call) -> Answer {
        match (call.path.as_str(), call.method.as_str()) {
            (PATH, "GET") if call.query("wsdl").is_some() || call.query("WSDL").is_some() => {
                let text = wsdl::document(&format!("{}{PATH}", call.origin_or_local()));
                Answer::Now(Response::with_body(200, "text/xml; charset=utf-8", text))
            }
            (PATH, "GET") => {
                let sentence = format!("POST an envelope here; {PATH}?wsdl says which");
                Answer::Now(Response::text(405, sentence).header("allow", "POST"))
            }
            (PATH, "POST") => self.post(call),
            (PATH, other) => {
                let sentence = format!("{other} is not possible here; POST is");
                Answer::Now(Response::text(405, sentence).header("allow", "POST"))
            }
            (other, _) => Answer::Now(Response::text(404, format!("no resource `{other}`"))),
        }
    }
}

impl Soap {
    /// What is long to read or to answer, and what reads files, is done off the network's threads.
    fn post(&self, call: Call) -> Answer {
        let (hub, workers) = (self.hub.clone(), call.workers.clone());
        if call.body.len() > AT_ONCE_BYTES {
            return answer_then(&*workers, move || match Asked::of(&call) {
                Ok(asked) => asked.run(&hub, &call),
                Err(refused) => Next::Answer(*refused),
            });
        }
        match Asked::of(&call) {
            Ok(asked) if asked.operation.takes_a_while => {
                answer_then(&*workers, move || asked.run(&hub, &call))
            }
            Ok(asked) => asked.run(&hub, &call).into(),
            Err(refused) => Answer::Now(*refused),
        }
    }
}

/// Envelopes up to this are read where they arrive: that takes less than to hand them over and back.
const AT_ONCE_BYTES: usize = 4096;

/// A request for an operation that there is.
struct Asked {
    operation: &'static Operation,
    form: Form,
    body: Element,
}

impl Asked {
    fn of(call: &Call) -> Result<Self, Box<Response>> {
        let (form, body) = read(call).map_err(|refused| Box::new(refused.0.fault(&refused.1)))?;
        let found = OPERATIONS.iter().find(|own| body.is(NAMESPACE, own.name));
        let sentence = match (found, foreign(&body)) {
            (Some(operation), None) => {
                return Ok(Self {
                    operation,
                    form,
                    body,
                });
            }
            (Some(_), Some(other)) => {
                format!("{{{}}}{} is not expected here", other.uri, other.local)
            }
            (None, _) => format!("there is no operation {{{}}}{}", body.uri, body.local),
        };
        Err(Box::new(form.fault(&Fault::sender(sentence))))
    }

    fn run(self, hub: &Arc<Hub>, call: &Call) -> Next {
        let form = self.form;
        match self.operation.run(hub, call, &self.body) {
            Ok(Reply::Document(xml)) => Next::Answer(form.answer(&xml)),
            Ok(Reply::Stored(ticket)) => Next::Wait(Box::new(Stored { ticket, form })),
            Err(fault) => Next::Answer(form.fault(&fault)),
        }
    }
}

/// The first element below that is not of the WSDL's namespace, which qualifies all of its elements.
fn foreign(body: &Element) -> Option<&Element> {
    body.elements().find_map(|child| {
        if child.uri == NAMESPACE {
            foreign(child)
        } else {
            Some(child)
        }
    })
}

/// The operation's element, and what its answer is put in.
fn read(call: &Call) -> Result<(Form, Element), Box<(Form, Fault)>> {
    let media = call.header("content-type").unwrap_or_default();
    let essence = media.split(';').next().unwrap_or_default().trim();
    let exi = essence == "application/exi";
    let version = match essence {
        "application/soap+xml" => soap::Version::V12,
        _ => soap::Version::V11,
    };
    let form = |version, relates| Form {
        version,
        relates,
        exi,
    };
    let refuse = |form, fault| Box::new((form, fault));
    let root = if exi {
        document::exi::read(&call.body)
    } else {
        document::read_xml(&call.body)
    };
    let root =
        root.map_err(|fault| refuse(form(version, None), Fault::sender(fault.to_string())))?;
    let Envelope {
        version,
        body,
        message_id,
    } = soap::open(root)
        .map_err(|(version, fault)| refuse(form(version, None), Fault::of(fault)))?;
    let form = form(version, message_id);
    match body {
        Some(body) => Ok((form, body)),
        None => Err(refuse(form, Fault::sender("the envelope's Body is empty"))),
    }
}

/// A publication that is answered once it is on disk.
struct Stored {
    ticket: Ticket,
    form: Form,
}

impl Pending for Stored {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.ticket.poll(cx).map(|done| match done {
            Ok(cursor) => self
                .form
                .answer(&operations::published(&cursor.to_string())),
            Err(fault) => self.form.fault(&fault.into()),
        })
    }
}

#[cfg(test)]
mod tests;
