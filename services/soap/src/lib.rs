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
mod operations;
mod rows;
mod wsdl;

use fault::{Fault, Form};
use operations::{OPERATIONS, Reply};
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Answer, Call, Pending, Response, Service, answer_of};
use weir_codec::document::soap::{self, Envelope};
use weir_codec::document::{self, Element};
use weir_hub::{Hub, Ticket};

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

/// Where the client found the service.
impl Soap {
    fn post(&self, call: Call) -> Answer {
        let (form, body) = match read(&call) {
            Ok(read) => read,
            Err(refused) => return Answer::Now(refused.0.fault(&refused.1)),
        };
        let found = OPERATIONS.iter().find(|own| body.is(NAMESPACE, own.name));
        let Some(operation) = found else {
            let sentence = format!("there is no operation {{{}}}{}", body.uri, body.local);
            return Answer::Now(form.fault(&Fault::sender(sentence)));
        };
        let (hub, run) = (self.hub.clone(), operation.run);
        if operation.reads_files {
            let workers = call.workers.clone();
            return answer_of(&*workers, move || match run(&hub, &call, &body) {
                Ok(Reply::Document(xml)) => form.answer(&xml),
                Ok(Reply::Stored(_)) => form.fault(&Fault::receiver("answered something else")),
                Err(fault) => form.fault(&fault),
            });
        }
        match run(&hub, &call, &body) {
            Ok(Reply::Document(xml)) => Answer::Now(form.answer(&xml)),
            Ok(Reply::Stored(ticket)) => Answer::Later(Box::new(Stored { ticket, form })),
            Err(fault) => Answer::Now(form.fault(&fault)),
        }
    }
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
    let root = match exi {
        true => document::exi::read(&call.body),
        false => document::read_xml(&call.body),
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
