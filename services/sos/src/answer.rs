//! A call from its bytes to its answer.

use crate::ask::Ask;
use crate::bindings::{self, Form};
use crate::exception::{Code, Exception};
use crate::limits::WHOLE_OBSERVATIONS_MAX;
use crate::observations::Observed;
use crate::operations;
use crate::params::{Params, Version};
use crate::reply::Reply;
use crate::results::too_large;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_binding::{Answer, Busy, Call, Outcome, Pending, Response, hand_over};
use weir_hub::{Hub, Ticket};

/// Answers a call, off the network's threads.
pub(crate) fn answer(hub: &Arc<Hub>, call: Call) -> Answer {
    let (hub, workers) = (hub.clone(), call.workers.clone());
    match hand_over(&*workers, move || worked(&hub, &call)) {
        Ok(outcome) => Answer::Later(Box::new(Awaited::Work(outcome))),
        Err(Busy) => {
            let response = Response::text(503, "too many questions wait: try again");
            Answer::Now(response.header("retry-after", "1"))
        }
    }
}

/// What the work came to: an answer, and what must be on disk before it is given.
struct Worked {
    response: Response,
    tickets: Vec<Ticket>,
    form: Form,
}

/// An answer that is still to come.
enum Awaited {
    Work(Outcome<Worked>),
    Disk(Box<Worked>),
}

impl Pending for Awaited {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            match self {
                Awaited::Work(outcome) => match ready!(outcome.poll(cx)) {
                    Some(worked) => *self = Awaited::Disk(Box::new(worked)),
                    None => {
                        let sentence = "the work broke off; the gateway's log says why";
                        return Poll::Ready(Response::text(500, sentence));
                    }
                },
                Awaited::Disk(worked) => return worked.poll(cx),
            }
        }
    }
}

impl Worked {
    /// Ready once all is on disk.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        while let Some(ticket) = self.tickets.last() {
            if let Err(fault) = ready!(ticket.poll(cx)) {
                let exception = Exception::from(fault);
                let version = Version::default();
                return Poll::Ready(self.form.exception("", version, &exception));
            }
            self.tickets.pop();
        }
        Poll::Ready(std::mem::take(&mut self.response))
    }
}

fn worked(hub: &Arc<Hub>, call: &Call) -> Worked {
    let read = bindings::read(call);
    let mut tickets = Vec::new();
    let response = asked(hub, call, &read.form, read.params, &mut tickets);
    Worked {
        response,
        tickets,
        form: read.form,
    }
}

fn asked(
    hub: &Arc<Hub>,
    call: &Call,
    form: &Form,
    params: Result<Params, Exception>,
    tickets: &mut Vec<Ticket>,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(exception) => return form.exception("", Version::default(), &exception),
    };
    let name = params.operation.clone();
    let version = match version(&params) {
        Ok(version) => version,
        Err(exception) => return form.exception(&name, Version::default(), &exception),
    };
    let ask = Ask {
        hub: hub.clone(),
        now: call.now,
        principal: call.principal.clone(),
        url: url(call),
        version,
        params,
    };
    let replied = ask
        .params
        .check_service()
        .and_then(|()| operations::find(&name, version))
        .and_then(|operation| (operation.run)(&ask))
        .and_then(|reply| respond(form, &name, version, reply, tickets));
    replied.unwrap_or_else(|exception| form.exception(&name, version, &exception))
}

/// Where the client found the service.
fn url(call: &Call) -> String {
    let scheme = call.header("x-forwarded-proto").unwrap_or("http");
    let host = call.header("host").unwrap_or("127.0.0.1");
    format!("{scheme}://{host}/sos")
}

/// Of GetCapabilities the first version of those accepted that is spoken (OGC 06-121r9 section 7.3.2).
fn version(params: &Params) -> Result<Version, Exception> {
    if params.operation != "GetCapabilities" {
        return params.version();
    }
    let accepted = params.all("AcceptVersions");
    if accepted.is_empty() {
        let named = params.one("version")?.and_then(Version::named);
        return Ok(named.unwrap_or_default());
    }
    let spoken = accepted.iter().find_map(|text| Version::named(text));
    spoken.ok_or_else(|| {
        let sentence = format!(
            "none of {} is spoken: 2.0.0 and 1.0.0 are",
            accepted.join(", ")
        );
        Exception::new(Code::VersionNegotiationFailed, "AcceptVersions", sentence)
    })
}

fn respond(
    form: &Form,
    name: &str,
    version: Version,
    reply: Reply,
    tickets: &mut Vec<Ticket>,
) -> Result<Response, Exception> {
    let document = |xml: String, action| {
        let (head, tail) = form.around(action);
        form.whole(200, name, version, head + &xml + &tail)
    };
    match reply {
        Reply::Document(xml, action) => Ok(document(xml, action)),
        Reply::Accepted(accepted, xml, action) => {
            *tickets = accepted;
            Ok(document(xml, action))
        }
        Reply::Observed(observed) => whole(form, name, version, *observed),
    }
}

/// All pages as one answer.
fn whole(
    form: &Form,
    name: &str,
    version: Version,
    mut observed: Observed,
) -> Result<Response, Exception> {
    let bare = observed.is_text() && form.is_bare();
    let (head, tail) = match bare {
        true => Default::default(),
        false => form.around(observed.action()),
    };
    let mut body = head.into_bytes();
    while let Some(part) = observed.next()? {
        body.extend_from_slice(&part);
        if !form.streams() && observed.count() > WHOLE_OBSERVATIONS_MAX {
            return Err(too_large());
        }
    }
    body.extend_from_slice(tail.as_bytes());
    if bare {
        return Ok(Response::with_body(200, observed.media(), body));
    }
    let xml =
        String::from_utf8(body).map_err(|_| Exception::internal("an answer was not UTF-8"))?;
    Ok(form.whole(200, name, version, xml))
}
