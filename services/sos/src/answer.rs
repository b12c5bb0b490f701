//! A call from its bytes to its answer.

use crate::ask::Ask;
use crate::bindings::{self, Batch, Form};
use crate::catalog::Catalog;
use crate::delivered::{Delivered, Step, Worked};
use crate::exception::{Code, Exception};
use crate::lists;
use crate::operations;
use crate::params::{Params, Version};
use crate::reply::Reply;
use crate::room::Room;
use crate::written::{Progress, written};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use weir_hub::{Hub, Ticket};
use weir_service::{Answer, Call, Opened, Response};

/// What requests are answered from.
#[derive(Clone)]
pub(crate) struct House {
    pub(crate) hub: Arc<Hub>,
    pub(crate) catalog: Arc<Catalog>,
    /// Observations that an answer may cost which it does not give.
    pub(crate) unwanted_max: usize,
}

/// Answers a call, off the network's threads.
pub(crate) fn answer(house: &House, call: Call) -> Answer {
    let (house, workers) = (house.clone(), call.workers.clone());
    Delivered::of(workers, move || worked(&house, &call))
}

/// The answer as far as it is; where it cannot begin yet, the work that goes on.
fn step(progress: Progress, tickets: Vec<Ticket>, form: Form) -> Step {
    match progress {
        Progress::Opened(opened) => Step::Done(Box::new(Worked {
            opened,
            tickets,
            form,
        })),
        Progress::Unfinished(own) => Step::More(Box::new(move || step(own.go_on(), tickets, form))),
    }
}

/// Every answer of a batch, in the order of its requests; together they have the room of one.
pub(crate) fn batch(
    house: &House,
    call: &Call,
    batch: Result<Batch, Exception>,
    mut room: Room,
) -> Worked {
    let form = Form::json(call);
    let mut tickets = Vec::new();
    let opened = match batch {
        Ok(batch) => Opened::Whole(responses(house, call, batch, &mut room, &mut tickets)),
        Err(exception) => Opened::Whole(form.exception("Batch", Version::default(), &exception)),
    };
    Worked {
        opened,
        tickets,
        form,
    }
}

fn responses(
    house: &House,
    call: &Call,
    batch: Batch,
    room: &mut Room,
    tickets: &mut Vec<Ticket>,
) -> Response {
    let mut responses = Vec::with_capacity(batch.requests.len());
    for request in batch.requests {
        let read = bindings::read_json(call, request);
        let mut own = Vec::new();
        let mut progress = asked(house, call, &read.form, read.params, room, &mut own);
        tickets.append(&mut own);
        // Answers in JSON are whole at once.
        let opened = loop {
            match progress {
                Progress::Opened(opened) => break opened,
                Progress::Unfinished(own) => progress = own.go_on(),
            }
        };
        let (status, response) = one_of_batch(&read.form, opened, room);
        responses.push(response);
        if batch.stops_at_failure && status != 200 {
            break;
        }
    }
    let body = json!({
        "request": "Batch",
        "service": "SOS",
        "version": Version::default().text(),
        "responses": responses,
    });
    Response::with_body(200, "application/json", body.to_string())
}

/// An answer's status, and it as an answer among others.
fn one_of_batch(form: &Form, opened: Opened, room: &mut Room) -> (u16, Json) {
    let Opened::Whole(mut response) = opened else {
        return (200, Json::Null);
    };
    if let Err(exception) = room.take_bytes(response.body.len()) {
        response = form.exception("", Version::default(), &exception);
    }
    let body = serde_json::from_slice(&response.body);
    (response.status, body.unwrap_or_default())
}

fn worked(house: &House, call: &Call) -> Step {
    let mut room = Room {
        unwanted: house.unwanted_max,
        ..Room::default()
    };
    if let Some(requests) = bindings::batch(call) {
        return Step::Done(Box::new(batch(house, call, requests, room)));
    }
    let read = bindings::read(call);
    let mut tickets = Vec::new();
    let progress = asked(
        house,
        call,
        &read.form,
        read.params,
        &mut room,
        &mut tickets,
    );
    step(progress, tickets, read.form)
}

// [SOS2-8.0-1]
fn asked(
    house: &House,
    call: &Call,
    form: &Form,
    params: Result<Params, Exception>,
    room: &mut Room,
    tickets: &mut Vec<Ticket>,
) -> Progress {
    let refused = |name: &str, version, exception: &Exception| {
        Progress::Opened(Opened::Whole(form.exception(name, version, exception)))
    };
    let params = match params {
        Ok(params) => params,
        Err(exception) => return refused("", Version::default(), &exception),
    };
    let name = params.operation.clone();
    let version = match version(&params) {
        Ok(version) => version,
        Err(exception) => return refused(&name, Version::default(), &exception),
    };
    if let Err(fault) = house.hub.caller(call.now, &call.principal) {
        return refused(&name, version, &fault.into());
    }
    let mut ask = Ask {
        hub: house.hub.clone(),
        catalog: house.catalog.clone(),
        now: call.now,
        principal: call.principal.clone(),
        url: format!("{}/sos", call.origin_or_local()),
        version,
        params,
        incoming: call.incoming,
    };
    let replied = lists::separate(&mut ask)
        .and_then(|()| ask.params.check_service())
        .and_then(|()| ask.params.check_system())
        .and_then(|()| operations::find(&name, version))
        .and_then(|operation| {
            operations::check_method(operation, &call.method)?;
            (operation.run)(&ask)
        })
        .and_then(|reply| respond(form, &name, version, reply, (room, tickets)));
    replied.unwrap_or_else(|exception| refused(&name, version, &exception))
}

/// Of GetCapabilities the first version of those accepted that is spoken (OGC 06-121r9 section 7.3.2).
// [SOS2-8.1-3]
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
        // The table of exceptions has no locator for it (OGC 06-121r9 section 8).
        Exception {
            locator: None,
            ..Exception::new(Code::VersionNegotiationFailed, "", sentence)
        }
    })
}

fn respond(
    form: &Form,
    name: &str,
    version: Version,
    reply: Reply,
    (room, tickets): (&mut Room, &mut Vec<Ticket>),
) -> Result<Progress, Exception> {
    let document = |xml: String, action| {
        let (head, tail) = form.around(action);
        let whole = form.whole(200, name, version, head + &xml + &tail);
        Progress::Opened(Opened::Whole(whole))
    };
    match reply {
        Reply::Document(xml, action) => Ok(document(xml, action)),
        Reply::Accepted(accepted, xml, action) => {
            *tickets = accepted;
            Ok(document(xml, action))
        }
        Reply::Observed(observed) => written(form, name, version, *observed, room),
    }
}
