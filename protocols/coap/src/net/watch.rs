//! What is observed: how its changes are told, and what a change is told as.

use super::extra::Extra;
use crate::session::ObservationId;
use crate::wire::{Code, Message, Number, Options, path_of, query_of};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Delivery, Pending, Response};
use weir_hub::Principal;
use weir_model::Cursor;

/// Changes taken of an observed resource at once, before it is read again.
const CHANGES_MAX: usize = 64;

/// How changes of what is observed are told.
pub(super) enum Changes {
    /// Something changed: then it is read again (RFC 7641 section 1.2).
    Live(Box<Delivery>),
    /// The messages themselves are told: conditions and windows mean nothing for what is read.
    Messages(Box<Delivery>, bool),
    /// A resource of the plugtests, and which version of it was told.
    Plugtest(u64),
}

/// What tells one observed resource from another: who asks, and all of the request that the answer
/// depends on. Observers of the same share one subscription, one reading and one body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    principal: Option<(Arc<str>, [usize; 2])>,
    request: Vec<u8>,
}

impl Key {
    /// The key of a request; none where each observer begins at a place of its own.
    pub(super) fn of(request: &Message, principal: Option<&Principal>) -> Option<Self> {
        let query = query_of(&request.options);
        if query.iter().any(|(name, _)| name == "since") {
            return None;
        }
        let mut bytes = vec![request.code.0];
        bytes.extend_from_slice(without_own(&request.options).as_bytes());
        bytes.push(0xff);
        bytes.extend_from_slice(&request.payload);
        // Two tokens of one name end at two times, and what is shared would end with one or outlive the other.
        let rights = |principal: &Principal| {
            let grants = Arc::as_ptr(&principal.grants).addr();
            [grants, principal.standing.identity()]
        };
        Some(Self {
            principal: principal.map(|known| (known.name.clone(), rights(known))),
            request: bytes,
        })
    }
}

/// Options without those that are an observer's own.
fn without_own(options: &Options) -> Options {
    let own = [
        Number::OBSERVE,
        Number::ETAG,
        Number::BLOCK1,
        Number::BLOCK2,
        Number::HOP_LIMIT,
        Number::NO_RESPONSE,
        Number::REQUEST_TAG,
    ];
    options.filtered(|number| !own.contains(&number) && !number.is_no_cache_key())
}

/// How a request that observes will be watched.
pub(super) enum Watching {
    /// With others.
    Shared(Key),
    /// By changes of its own, which others may share then.
    Own(Option<Key>, Changes),
}

/// A resource that is observed.
pub(super) struct Watch {
    pub(super) key: Option<Key>,
    pub(super) observers: BTreeSet<ObservationId>,
    pub(super) request: Message,
    /// None where the resource is no service's.
    pub(super) principal: Option<Principal>,
    pub(super) changes: Changes,
    pub(super) reading: Option<Box<dyn Pending>>,
}

/// What a look at an observed resource found.
pub(super) enum Seen {
    Nothing,
    Changed,
    Ended,
    Message(Message),
    Read(Response),
}

impl Watch {
    /// A watch of what a request reads, without observers yet.
    pub(super) fn new(
        key: Option<Key>,
        request: &Message,
        principal: Option<Principal>,
        changes: Changes,
    ) -> Self {
        let mut options = without_own(&request.options);
        options.push_uint(Number::OBSERVE, 0);
        Self {
            key,
            observers: BTreeSet::new(),
            request: Message {
                options,
                ..request.clone()
            },
            principal,
            changes,
            reading: None,
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>, plugtest: Option<&dyn Extra>) -> Seen {
        if let Some(reading) = &mut self.reading {
            return match reading.poll(cx) {
                Poll::Pending => Seen::Nothing,
                Poll::Ready(response) => {
                    self.reading = None;
                    cx.waker().wake_by_ref();
                    Seen::Read(response)
                }
            };
        }
        match &mut self.changes {
            Changes::Plugtest(told) => {
                let path = path_of(&self.request.options);
                let Some(plugtest) = plugtest else {
                    return Seen::Ended;
                };
                plugtest.watch(cx.waker());
                match plugtest.version(&path) {
                    Some(version) if version == *told => Seen::Nothing,
                    version => {
                        *told = version.unwrap_or(0);
                        Seen::Message(plugtest.told(&path, &self.request))
                    }
                }
            }
            Changes::Live(delivery) => drain(delivery, cx, |_, _| Seen::Changed),
            Changes::Messages(delivery, text) => {
                let (text, request) = (*text, &self.request);
                drain(delivery, cx, |bytes, cursor| {
                    let mut message = of_frame(request, bytes, text);
                    let tag = cursor.bits().to_be_bytes();
                    message.options.set(Number::ETAG, &tag);
                    Seen::Message(message)
                })
            }
        }
    }
}

/// Takes all that is due; the last counts.
fn drain(
    delivery: &mut Delivery,
    cx: &mut Context<'_>,
    seen: impl Fn(Bytes, Cursor) -> Seen,
) -> Seen {
    let mut last = None;
    for _ in 0..CHANGES_MAX {
        match delivery.poll_next(cx) {
            Poll::Pending => {
                return last.map_or(Seen::Nothing, |(bytes, cursor)| seen(bytes, cursor));
            }
            Poll::Ready(Ok(Some(frame))) => last = Some(frame),
            Poll::Ready(Ok(None) | Err(_)) => return Seen::Ended,
        }
    }
    cx.waker().wake_by_ref();
    last.map_or(Seen::Nothing, |(bytes, cursor)| seen(bytes, cursor))
}

/// The last message of a frame: text as it is, binary behind its length.
fn of_frame(request: &Message, bytes: Bytes, text: bool) -> Message {
    let mut body = bytes.slice_ref(bytes.trim_ascii_end());
    if !text {
        let mut rest = bytes;
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            body = rest.slice_ref(behind.get(..length).unwrap_or_default());
            rest = rest.slice_ref(behind.get(length..).unwrap_or_default());
        }
    }
    let mut message = Message::new(Code::CONTENT).with_payload(body);
    let format = request.options.uint(Number::ACCEPT).or_else(|| {
        let query = crate::wire::query_of(&request.options);
        let named = query.iter().find(|(name, _)| name == "as");
        let format = match named {
            Some((_, name)) => weir_codec::by_name(name),
            None => weir_codec::FORMATS.first(),
        };
        format?.content_format.map(u32::from)
    });
    if let Some(number) = format {
        message.options.set_uint(Number::CONTENT_FORMAT, number);
    }
    message
}

/// Names of the query that mean messages as they come.
pub(super) fn is_of_messages(name: &str) -> bool {
    matches!(name, "where" | "every" | "agg" | "stream")
}

/// What the registration for messages as they come is answered with: where they begin.
pub(super) fn beginning(delivery: &Delivery) -> Message {
    let mut message = Message::new(Code::CONTENT);
    let position = delivery.subscription.position().bits();
    message.options.set(Number::ETAG, &position.to_be_bytes());
    message
}

/// Says whether what is observed begins with what was missed since a cursor.
pub(super) fn is_resume(request: &Message) -> bool {
    let query = query_of(&request.options);
    let mut query = query.iter();
    query.any(|(name, cursor)| name == "since" && !cursor.is_empty())
}

/// The request that reads what was missed, in one answer.
pub(super) fn missed(request: &Message) -> Message {
    without(request, &["stream", "bare", "wait", "policy"])
}

/// The request that is told what comes behind a cursor. Windows begin with what comes: none is replayed.
pub(super) fn resumed_at(request: &Message, cursor: &str) -> Message {
    let query = query_of(&request.options);
    let windows = |(name, _): &(String, String)| matches!(name.as_str(), "every" | "agg");
    let mut resumed = without(request, &["since"]);
    if !query.iter().any(windows) {
        let pair = format!("since={cursor}");
        resumed.options.push(Number::URI_QUERY, pair.as_bytes());
    }
    resumed
}

/// The request that reads what an observation is of.
pub(super) fn readable(request: &Message) -> Message {
    without(request, &["since", "wait", "policy"])
}

fn without(request: &Message, names: &[&str]) -> Message {
    let mut read = request.clone();
    let gone = |pair: &[u8]| {
        let name = pair.split(|&byte| byte == b'=').next().unwrap_or_default();
        names.iter().any(|gone| gone.as_bytes() == name)
    };
    let kept: Vec<Vec<u8>> = request
        .options
        .all(Number::URI_QUERY)
        .filter(|pair| !gone(pair))
        .map(<[u8]>::to_vec)
        .collect();
    read.options.remove(Number::URI_QUERY);
    kept.iter()
        .for_each(|pair| read.options.push(Number::URI_QUERY, pair));
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_hub::Standing;

    #[test]
    fn two_tokens_of_one_name_and_role_share_nothing() {
        let request = Message::new(Code::GET);
        let principal = |standing: &Standing| Principal {
            standing: standing.clone(),
            ..Principal::unrestricted()
        };
        let key = |standing| Key::of(&request, Some(&principal(standing)));
        let [first, second] = [(); 2].map(|()| Standing::new(None));
        assert_eq!(key(&first), key(&first));
        assert_ne!(key(&first), key(&second));
    }
}
