//! Polling and long polling: one answer now, or at the next message.

use crate::fault::{from_hub, refuse};
use crate::query;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use weir_codec::Format;
use weir_hub::units::in_unit;
use weir_hub::{
    Caller, Ending, Gap, Hub, InUnit, Item, Latest, Next, Principal, Shape, Since, Subscription,
};
use weir_model::{BatchBuilder, Cursor, Filter, Time};
use weir_service::{
    Answer, Busy, Call, Length, Outcome, Pending, Response, Workers, answer_of, gap_json,
    hand_over, too_busy,
};

/// Messages and bytes of them after which an answer is whole though more is due.
const MESSAGES_MAX: usize = 2048;
const BYTES_MAX: usize = 1 << 20;
/// Bytes of messages that are made one at once; more are where that holds up nobody.
const AT_ONCE_BYTES_MAX: usize = 4 << 10;

/// Answers a plain GET: the last values; with `since` what came after it, which is not waited for
/// where no wait is asked for.
pub(crate) fn answer(hub: &Arc<Hub>, call: &Call, rest: &str) -> Result<Answer, Response> {
    match (query::wait(call)?, query::since(call)?) {
        (Some(patience), _) => long_poll(hub, call, rest, Some(patience)),
        (None, Since::Cursor(_)) => long_poll(hub, call, rest, None),
        (None, _) => last_values(hub, call, rest),
    }
}

/// The last values: of one topic at once, of many where that holds up nobody.
fn last_values(hub: &Arc<Hub>, call: &Call, rest: &str) -> Result<Answer, Response> {
    let format = query::format(call)?;
    let filters = query::filters(call, rest)?;
    refuse_what_is_live(call)?;
    let unit = query::unit(call);
    let known = call.header("if-none-match").map(str::to_owned);
    let (hub, principal, now) = (hub.clone(), call.principal.clone(), call.now);
    let is_one = matches!(&filters[..], [filter] if filter.is_topic());
    let poll = move || {
        let asked = Asked {
            principal,
            now,
            known,
            unit,
            format,
        };
        poll(&hub, &asked, filters).unwrap_or_else(|refused| refused)
    };
    Ok(if is_one {
        Answer::Now(poll().fitting(call.workers.memory()))
    } else {
        answer_of(&*call.workers, Length::Long, poll)
    })
}

/// Who asks for last values, and how.
struct Asked {
    principal: Principal,
    now: Time,
    /// What is known already: `If-None-Match`.
    known: Option<String>,
    unit: InUnit,
    format: &'static Format,
}

/// The last values; `304` where they are those that the client names in `If-None-Match`.
fn poll(hub: &Arc<Hub>, asked: &Asked, filters: Vec<Filter>) -> Result<Response, Response> {
    let one = match &filters[..] {
        [filter] if filter.is_topic() => Some(filter.as_str().to_owned()),
        _ => None,
    };
    let caller = hub.caller(asked.now, &asked.principal);
    let caller = caller.map_err(|fault| from_hub(&fault, &[]))?;
    let latest = caller.latest(&filters);
    let latest = latest.map_err(|fault| from_hub(&fault, &[]))?;
    if let (Some(topic), true) = (one, latest.batch.is_empty()) {
        return Err(absent(caller, &topic));
    }
    let Latest {
        batch,
        newest,
        head,
    } = latest;
    let batch = in_unit(batch, &asked.unit);
    let batch = batch.map_err(|refused| refuse(400, refused.to_string()))?;
    // The number tells a datastream that was forgotten: nothing newer takes its place.
    let tag = format!("\"{newest}.{:x}\"", batch.len());
    let known = asked
        .known
        .as_ref()
        .is_some_and(|known| known.trim() == "*" || known.contains(&tag));
    let mut response = Response::empty(304);
    if !known {
        let mut body = Vec::new();
        (asked.format.encode)(&batch, &mut body);
        response = Response::with_body(200, asked.format.media, body);
    }
    Ok(positioned(response, tag, head))
}

/// Nothing is known at this topic; where it is known of what lies below, that is said.
fn absent(caller: Caller<'_>, topic: &str) -> Response {
    let below = Filter::parse(&format!("{topic}/+")).ok();
    let found = below.and_then(|below| caller.latest(&[below]).ok());
    let hint = match found {
        Some(latest) if !latest.batch.is_empty() => format!("; there is `{topic}/+`"),
        _ => String::new(),
    };
    let sentence = format!("no observation was published at `{topic}` yet{hint}");
    refuse(404, sentence)
}

/// What thins out messages as they come means nothing for last values; it is not passed over in silence.
fn refuse_what_is_live(call: &Call) -> Result<(), Response> {
    let names = ["where", "every", "agg", "policy"];
    match names.iter().find(|name| call.query(name).is_some()) {
        None => Ok(()),
        Some(name) => Err(refuse(
            400,
            format!(
                "{name}: this is for messages as they come: add wait or stream to the query, or ask \
                 for text/event-stream"
            ),
        )),
    }
}

/// The tag is weak (RFC 9110 section 8.8.1): it is the same in every format.
fn positioned(response: Response, tag: String, cursor: Cursor) -> Response {
    let response = response
        .header("etag", format!("W/{tag}"))
        .header("weir-cursor", cursor.to_string());
    response
        .header("cache-control", "no-cache")
        .header("vary", "accept")
}

fn long_poll(
    hub: &Arc<Hub>,
    call: &Call,
    rest: &str,
    patience: Option<Duration>,
) -> Result<Answer, Response> {
    let format = query::format(call)?;
    let subscribe = query::subscribe(call, rest, Shape::Items)?;
    let caller = hub.caller(call.now, &call.principal);
    let subscribed = caller.and_then(|caller| caller.subscribe(subscribe));
    Ok(Answer::Later(Box::new(LongPoll {
        subscription: subscribed.map_err(|fault| from_hub(&fault, &[]))?,
        format,
        patience,
        workers: call.workers.clone(),
        gap: None,
        due: Vec::new(),
        bytes: 0,
        merging: None,
    })))
}

/// One late answer: all messages that are due then, as one.
struct LongPoll {
    subscription: Box<Subscription>,
    format: &'static Format,
    /// How long the first message is waited for; none for an answer once all that is due was read, which
    /// no clock may cut short: where the log is read, that takes its time.
    patience: Option<Duration>,
    /// Where much is made one, and where answers count.
    workers: Arc<dyn Workers>,
    gap: Option<Gap>,
    /// What was missed, as far as read.
    due: Vec<Item>,
    bytes: usize,
    /// All of that, which is being made one.
    merging: Option<Outcome<Option<bytes::Bytes>>>,
}

impl Pending for LongPoll {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            if self.is_whole()
                && let Some(response) = ready!(self.poll_merged(cx))
            {
                return Poll::Ready(response);
            }
            match self.subscription.poll_next(cx) {
                // It has caught up just now.
                Poll::Pending if self.is_whole() => {}
                Poll::Pending if self.is_due() && self.subscription.is_live() => {
                    return Poll::Ready(self.expire());
                }
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Next::Gap(gap, _))) => self.gap = Some(gap),
                Poll::Ready(Ok(Next::Items(items, _))) => {
                    self.keep(&items);
                    // What was missed is read a part a turn.
                    if !self.subscription.is_live() && !self.is_whole() {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
                Poll::Ready(Ok(Next::Bytes(..) | Next::Unframed(..))) => {}
                Poll::Ready(Ok(Next::Ended(_))) if !self.due.is_empty() => {
                    return Poll::Ready(self.expire());
                }
                Poll::Ready(Ok(Next::Ended(ending))) => {
                    let refused = match ending {
                        Ending::Revoked => refuse(401, ending.to_string()),
                        _ => refuse(503, ending.to_string()).header("retry-after", "1"),
                    };
                    return Poll::Ready(self.told(refused));
                }
                Poll::Ready(Err(fault)) => return Poll::Ready(from_hub(&fault, &[])),
            }
        }
    }

    fn patience(&self) -> Option<Duration> {
        self.patience
    }

    fn expire(&mut self) -> Response {
        let body = merged(&self.due, self.format);
        self.told(match body {
            Some(body) => Response::with_body(200, self.format.media, body),
            None => Response::empty(204),
        })
    }
}

impl LongPoll {
    fn keep(&mut self, items: &[Item]) {
        let told = items.iter().filter(|item| item.message.batch().is_some());
        self.due.extend(told.cloned());
        let bytes = items.iter().map(|item| item.message.body.len());
        self.bytes += bytes.sum::<usize>();
    }

    /// Whether nothing is waited for: who missed something is told at once.
    fn is_due(&self) -> bool {
        self.patience.is_none() || self.gap.is_some()
    }

    /// Whether something is due, and no more can be read at once or no more is put into one answer.
    fn is_whole(&self) -> bool {
        let full = self.due.len() >= MESSAGES_MAX || self.bytes >= BYTES_MAX;
        !self.due.is_empty() && (full || self.subscription.is_live())
    }

    /// What is due as one answer; none where it holds nothing that the format could carry.
    fn poll_merged(&mut self, cx: &mut Context<'_>) -> Poll<Option<Response>> {
        let body = match &mut self.merging {
            None if self.bytes <= AT_ONCE_BYTES_MAX => merged(&self.due, self.format),
            None => {
                let (due, format) = (self.due.clone(), self.format);
                let merging = hand_over(&*self.workers, Length::Long, move || merged(&due, format));
                match merging {
                    Err(Busy) => return Poll::Ready(Some(too_busy())),
                    Ok(merging) => self.merging = Some(merging),
                }
                return self.poll_merged(cx);
            }
            Some(merging) => match ready!(merging.poll(cx)) {
                None => return Poll::Ready(Some(refuse(500, "the work broke off"))),
                Some(body) => body,
            },
        };
        self.merging = None;
        Poll::Ready(match body {
            Some(body) => Some(self.told(Response::with_body(200, self.format.media, body))),
            None => {
                self.due.clear();
                self.bytes = 0;
                None
            }
        })
    }

    /// An answer with its place, and with whether more is due behind it.
    fn told(&self, response: Response) -> Response {
        // What has no room is not told, nor where it ends: who asks again gets it.
        let was_told = response.status;
        let response = response.fitting(self.workers.memory());
        if response.status != was_told {
            return response;
        }
        let cursor = self.subscription.position();
        let mut response = positioned(response, format!("\"{cursor}\""), cursor);
        if !self.subscription.is_live() {
            response = response.header("weir-more", "1");
        }
        match &self.gap {
            Some(gap) => response.header("weir-gap", gap_json(gap)),
            None => response,
        }
    }
}

/// Messages as one in a format; `None` where they hold nothing that it could carry.
fn merged(items: &[Item], format: &'static Format) -> Option<bytes::Bytes> {
    let observations = || items.iter().filter(|item| item.message.batch().is_some());
    if let (Some(one), 1) = (observations().next(), observations().count()) {
        return Some(one.encoded(format));
    }
    let mut builder = BatchBuilder::new();
    for item in observations() {
        let selected = item.selected();
        let batch = selected.as_ref().or(item.message.batch());
        for row in batch.into_iter().flat_map(|batch| batch.rows()) {
            // Rows of a message were checked when it came.
            let _checked_before = builder.push(&row);
        }
    }
    let mut out = Vec::new();
    (format.encode)(builder.batch(), &mut out);
    (!builder.is_empty()).then(|| out.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_hub::{Content, Message, Rows};
    use weir_model::batch::Naming;
    use weir_model::{Time, Value};

    fn item(content: Content, rows: Rows) -> Item {
        let message = Message::new(Cursor::new(1, 1), Time::from_nanos(0), "a".into(), content);
        Item {
            rows,
            ..Item::all(Arc::new(message))
        }
    }

    fn observations(values: &[f64]) -> Content {
        let mut builder = BatchBuilder::new();
        for &value in values {
            builder.begin();
            builder.topic(Naming::Topic, "a");
            builder.value(Value::Number(value));
            builder.end().unwrap();
        }
        Content::Observations {
            batch: builder.finish(),
            format: weir_codec::by_name("json").unwrap(),
        }
    }

    #[test]
    fn messages_that_waited_are_answered_as_one_in_order() {
        let plain = weir_codec::by_name("plain").unwrap();
        let opaque = || item(Content::Opaque("image/png".into()), Rows::All);
        let items = [
            item(observations(&[1.0]), Rows::All),
            opaque(),
            item(observations(&[2.0, 3.0, 4.0]), Rows::Some([0, 2].into())),
        ];
        let body = merged(&items, plain).unwrap();
        assert_eq!(body.trim_ascii_end(), b"1\n2\n4");
        assert_eq!(merged(&items[..1], plain).unwrap().trim_ascii_end(), b"1");
        assert_eq!(merged(&[opaque()], plain), None);
    }
}
