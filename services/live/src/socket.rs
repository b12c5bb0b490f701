//! WebSocket: messages both ways on one connection.
//!
//! A text that begins with `{"weir":` is no message but a control, as from the gateway: the client says its
//! pace, or asks what time it is here. Each control is answered before the next message.

use crate::control;
use crate::fault::{from_hub, refuse};
use crate::framing::WebSocket;
use crate::pace;
use crate::query;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_codec::Format;
use weir_hub::{Fault, Hub, Media, Principal, Publish, Shape, Ticket};
use weir_model::Time;
use weir_service::{
    Answer, Call, Delivery, Elsewhere, Inbound, Pace, Pending, Response, Scheme, Socket,
};

/// Accepts a WebSocket: it gets what the filters match, and publishes what it sends at the path's topic;
/// with `?publish` it only publishes.
pub(crate) fn open(hub: &Arc<Hub>, call: &Call, rest: &str) -> Result<Answer, Response> {
    let (subprotocol, format) = subprotocol(call)?;
    let pace = pace::of(call)?;
    let delivery = match call.query("publish") {
        Some(_) => None,
        None => Some(delivery(hub, call, rest, format, pace.clone())?),
    };
    let inbound = Box::new(Publisher {
        hub: hub.clone(),
        principal: call.principal.clone(),
        topic: query::decode_path(rest)?,
        format,
        pace,
    });
    Ok(Answer::Socket(Socket {
        subprotocol,
        delivery,
        inbound,
    }))
}

fn delivery(
    hub: &Arc<Hub>,
    call: &Call,
    rest: &str,
    format: &'static Format,
    pace: Pace,
) -> Result<Delivery, Response> {
    let bare = call.query("bare").is_some();
    let shape = Shape::Framed(format, call.wrapper.framing(Arc::new(WebSocket { bare })));
    let subscribe = query::subscribe(call, rest, shape)?;
    let caller = hub.caller(call.now, &call.principal);
    let subscribed = caller.and_then(|caller| caller.subscribe(subscribe));
    Ok(Delivery {
        scheme: Scheme::WebSocket,
        subscription: subscribed.map_err(|fault| from_hub(&fault, &[]))?,
        heartbeat: None,
        farewell: Bytes::new(),
        tally: None,
        pace,
        elsewhere: Elsewhere::new(call.workers.clone()),
    })
}

/// The first `weir.ENC` offered that is known; without one, `?as=` or the default.
fn subprotocol(call: &Call) -> Result<(Option<String>, &'static Format), Response> {
    let offered = call.websocket.iter().flatten();
    let ours: Vec<_> = offered.filter(|name| name.starts_with("weir.")).collect();
    let known = ours.iter().find_map(|name| {
        weir_codec::by_name(&name[5..]).map(|format| (Some((*name).clone()), format))
    });
    match known {
        Some(chosen) => Ok(chosen),
        None if ours.is_empty() => Ok((None, query::format(call)?)),
        None => Err(refuse(
            400,
            format!("no subprotocol of those; {}", query::format_names()),
        )),
    }
}

/// Publishes what the client sends.
struct Publisher {
    hub: Arc<Hub>,
    principal: Principal,
    topic: String,
    format: &'static Format,
    /// How often the client can take something new.
    pace: Pace,
}

impl Inbound for Publisher {
    fn receive(&mut self, now: Time, text: bool, payload: Bytes) -> Answer {
        if text && payload.starts_with(control::BEGIN) {
            return Answer::Now(control::take(&payload, now, &self.pace));
        }
        let media = Media::Format(self.format);
        let publish = Publish::new(self.topic.clone(), media, payload.clone());
        let caller = self.hub.caller(now, &self.principal);
        match caller.and_then(|caller| caller.publish(publish)) {
            Ok(ticket) => Answer::Later(Box::new(Acknowledge { ticket })),
            Err(fault) => Answer::Now(error_message(&fault, &payload)),
        }
    }

    fn is_revoked(&self) -> bool {
        self.principal.standing.is_revoked()
    }
}

/// `{"weir":{"committed":"CURSOR"}}` once the record is.
struct Acknowledge {
    ticket: Ticket,
}

impl Pending for Acknowledge {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.ticket.poll(cx).map(|done| match done {
            Ok(cursor) => {
                let body = format!(r#"{{"weir":{{"committed":"{cursor}"}}}}"#);
                Response::with_body(200, "application/json", body)
            }
            Err(fault) => error_message(&fault, &[]),
        })
    }
}

/// `{"weir":{"error":"..."}}` with the status that HTTP would give.
fn error_message(fault: &Fault, payload: &[u8]) -> Response {
    let refusal = from_hub(fault, payload);
    let sentence = String::from_utf8_lossy(&refusal.body);
    let message = serde_json::json!({
        "weir": { "error": sentence.trim_end(), "status": refusal.status }
    });
    Response::with_body(refusal.status, "application/json", message.to_string())
}
