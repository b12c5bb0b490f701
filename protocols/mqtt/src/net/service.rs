//! Topics that are a service's: what is published there is posted to it, who subscribes there follows what
//! it tells.

use super::refused::Refusal;
use crate::wire::ReasonCode;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context as Waiting, Poll};
use weir_binding::{Answer, AsItIs, Call, Changes, Gateway, Pending, Response};
use weir_hub::{Content, Item, Message, Principal, Ticket};
use weir_model::percent;

/// A call of a service, as a topic and a payload make one.
pub(super) fn call(
    context: &dyn Gateway,
    principal: &Principal,
    method: &str,
    path: &str,
    body: Bytes,
) -> Call {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let text = |text: &str| percent::decode(text).unwrap_or_else(|_| text.to_owned());
    let pairs = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (text(name), text(value))
        });
    Call {
        principal: principal.clone(),
        peer: None,
        scheme: None,
        now: context.now(),
        method: method.to_owned(),
        path: path.to_owned(),
        query: pairs.collect(),
        raw_query: query.to_owned(),
        headers: Vec::new(),
        body,
        wrapper: Arc::new(AsItIs),
        workers: context.workers(),
        websocket: None,
        incoming: Default::default(),
    }
}

/// The code of an answer that is an error, by its status (RFC 9110 section 15).
pub(super) fn code_of(status: u16, otherwise: ReasonCode) -> ReasonCode {
    match status {
        401 | 403 => ReasonCode::NOT_AUTHORIZED,
        429 | 503 | 507 => ReasonCode::QUOTA_EXCEEDED,
        500 => ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR,
        _ => otherwise,
    }
}

/// What a message of a client waits for.
pub(super) enum Awaited {
    /// The disk.
    Ticket(Ticket),
    /// A service's answer.
    Answer(Box<dyn Pending>),
}

impl Awaited {
    /// Ready once the client may be told: nothing of what went well, else why it did not. `None` where the
    /// log has failed.
    pub(super) fn poll(&mut self, cx: &mut Waiting<'_>) -> Poll<Option<Result<(), Refusal>>> {
        match self {
            Awaited::Ticket(ticket) => ticket.poll(cx).map(|done| done.ok().map(|_| Ok(()))),
            Awaited::Answer(pending) => pending.poll(cx).map(|response| Some(outcome(&response))),
        }
    }
}

/// Whether an answer says that something was done.
pub(super) fn outcome(response: &Response) -> Result<(), Refusal> {
    if response.status < 400 {
        return Ok(());
    }
    let code = match response.status {
        404 | 405 => ReasonCode::TOPIC_NAME_INVALID,
        status => code_of(status, ReasonCode::PAYLOAD_FORMAT_INVALID),
    };
    let reason = String::from_utf8_lossy(&response.body);
    Err(Refusal {
        code,
        reason: reason.trim_end().to_owned(),
        is_for_now: response.status == 429 || response.status >= 500,
    })
}

/// What a posted message waits for; what is known at once is said at once.
pub(super) fn awaited(answer: Answer) -> Result<Option<Awaited>, Refusal> {
    match answer {
        Answer::Now(response) => outcome(&response).map(|()| None),
        Answer::Later(pending) => Ok(Some(Awaited::Answer(pending))),
        _ => Err(Refusal {
            code: ReasonCode::TOPIC_NAME_INVALID,
            reason: "nothing is taken at this topic".to_owned(),
            is_for_now: false,
        }),
    }
}

/// What changes behind a topic, as messages of that topic.
pub(super) struct Followed {
    pub(super) topic: Arc<str>,
    pub(super) changes: Arc<dyn Changes>,
    pub(super) context: Arc<dyn Gateway>,
}

impl Followed {
    /// The next messages, of where the log is now.
    pub(super) fn poll(&self, cx: &mut Waiting<'_>) -> Poll<Vec<Item>> {
        self.changes.poll(self.context.now(), cx).map(|texts| {
            let at = self.context.hub().positions().0;
            let item = |text: Bytes| {
                let content = Content::Opaque("application/json".into());
                let arrival = weir_model::Time::from_nanos(0);
                let mut message = Message::new(at, arrival, self.topic.clone(), content);
                message.body = text;
                let mut item = Item::all(Arc::new(message));
                item.whole = true;
                item
            };
            texts.into_iter().map(item).collect()
        })
    }
}
