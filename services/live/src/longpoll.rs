//! Polling and long polling: one answer now, or at the next message.

use crate::fault::{from_hub, refuse};
use crate::framing::gap_json;
use crate::query;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use weir_binding::{Answer, Call, Pending, Response};
use weir_codec::Format;
use weir_hub::{Exchange, Gap, Hub, Item, Latest, Next, Request, Shape, Since, Subscription};
use weir_model::{BatchBuilder, Cursor};

/// Answers a plain GET: the last values; with `since` what came after it, which is not waited for
/// where no wait is asked for.
pub(crate) fn answer(hub: &Arc<Hub>, call: &Call, rest: &str) -> Result<Answer, Response> {
    match (query::wait(call)?, query::since(call)?) {
        (Some(patience), _) => long_poll(hub, call, rest, patience),
        (None, Since::Cursor(_)) => long_poll(hub, call, rest, Duration::ZERO),
        (None, _) => poll(hub, call, rest).map(Answer::Now),
    }
}

/// The last values; `304` where they are those that the client names in `If-None-Match`.
fn poll(hub: &Arc<Hub>, call: &Call, rest: &str) -> Result<Response, Response> {
    let format = query::format(call)?;
    let filters = query::filters(call, rest)?;
    refuse_what_is_live(call)?;
    let one = matches!(&filters[..], [filter] if filter.is_topic());
    let opened = hub.open(call.now, &call.principal, Request::Latest(filters));
    let Exchange::Latest(latest) = opened.map_err(|fault| from_hub(&fault, &[]))? else {
        return Err(refuse(500, "the hub answered something else"));
    };
    if one && latest.batch.is_empty() {
        return Err(refuse(
            404,
            format!("nothing was published at `{rest}` yet"),
        ));
    }
    let Latest {
        batch,
        newest,
        head,
    } = latest;
    // The number tells a datastream that was forgotten: nothing newer takes its place.
    let tag = format!("\"{newest}.{:x}\"", batch.len());
    let known = call
        .header("if-none-match")
        .is_some_and(|known| known.contains(&tag));
    let mut response = Response::empty(304);
    if !known {
        let mut body = Vec::new();
        (format.encode)(&batch, &mut body);
        response = Response::with_body(200, format.media, body);
    }
    Ok(positioned(response, tag, head))
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
    patience: Duration,
) -> Result<Answer, Response> {
    let format = query::format(call)?;
    let subscribe = query::subscribe(call, rest, Shape::Items)?;
    let opened = hub.open(call.now, &call.principal, Request::Subscribe(subscribe));
    match opened.map_err(|fault| from_hub(&fault, &[]))? {
        Exchange::Subscription(subscription) => Ok(Answer::Later(Box::new(LongPoll {
            subscription,
            format,
            patience,
            gap: None,
        }))),
        _ => Err(refuse(500, "the hub answered something else")),
    }
}

/// One late answer: all messages that are due then, as one.
struct LongPoll {
    subscription: Box<Subscription>,
    format: &'static Format,
    patience: Duration,
    gap: Option<Gap>,
}

impl Pending for LongPoll {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            match self.subscription.poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Next::Gap(gap, _))) => self.gap = Some(gap),
                Poll::Ready(Ok(Next::Items(items, last))) => {
                    if let Some(body) = merged(&items, self.format) {
                        let response = Response::with_body(200, self.format.media, body);
                        return Poll::Ready(self.told(response, last));
                    }
                }
                Poll::Ready(Ok(Next::Bytes(..))) => {}
                Poll::Ready(Ok(Next::Ended(ending))) => {
                    let refused = refuse(503, ending.to_string()).header("retry-after", "1");
                    return Poll::Ready(self.told(refused, self.subscription.position()));
                }
                Poll::Ready(Err(fault)) => return Poll::Ready(from_hub(&fault, &[])),
            }
        }
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.patience)
    }

    fn expire(&mut self) -> Response {
        self.told(Response::empty(204), self.subscription.position())
    }
}

impl LongPoll {
    fn told(&self, response: Response, cursor: Cursor) -> Response {
        let response = positioned(response, format!("\"{cursor}\""), cursor);
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
    fn messages_that_waited_are_answered_as_one_in_order_and_as_far_as_due() {
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
