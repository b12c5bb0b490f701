//! HTTP streaming and server-sent events.

use crate::fault::{from_hub, refuse};
use crate::framing::{BOUNDARY, Lines, Parts, Prefixed, Sse};
use crate::pace;
use crate::query;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use weir_binding::{Answer, Call, Delivery, Elsewhere, Response, Scheme, Stream};
use weir_codec::{FORMATS, Format};
use weir_hub::{Exchange, Framing, Hub, Request, Shape};

/// Silence after which a comment or an empty line keeps proxies from closing the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Opens a response that never ends.
pub(crate) fn open(hub: &Arc<Hub>, call: &Call, rest: &str, sse: bool) -> Result<Answer, Response> {
    let scheme = if sse { Scheme::Sse } else { Scheme::Streaming };
    let format = payload_format(call, sse)?;
    let framing = framing(call, sse, format);
    let shape = Shape::Framed(format, call.wrapper.framing(framing));
    let subscribe = query::subscribe(call, rest, shape)?;
    let opened = hub.open(call.now, &call.principal, Request::Subscribe(subscribe));
    let Exchange::Subscription(subscription) = opened.map_err(|fault| from_hub(&fault, &[]))?
    else {
        return Err(refuse(500, "the hub answered something else"));
    };
    let head = head(call, sse, format, subscription.position().to_string());
    let delivery = Delivery {
        scheme,
        subscription,
        heartbeat: heartbeat(call, sse, format),
        farewell: farewell(call, sse),
        tally: None,
        pace: pace::of(call)?,
        elsewhere: Elsewhere::new(call.workers.clone()),
    };
    Ok(Answer::Stream(Stream { head, delivery }))
}

fn is_multipart(call: &Call) -> bool {
    call.header("accept")
        .is_some_and(|accept| accept.contains("multipart/mixed"))
}

/// SSE and multipart are what `Accept` names then; `?as=` picks the payload.
fn payload_format(call: &Call, sse: bool) -> Result<&'static Format, Response> {
    match call.query("as") {
        None if sse || is_multipart(call) => Ok(&FORMATS[0]),
        _ => query::format(call),
    }
}

fn framing(call: &Call, sse: bool, format: &Format) -> Arc<dyn Framing> {
    let bare = call.query("bare").is_some();
    match (sse, format.text) {
        (true, _) => Arc::new(Sse { bare }),
        _ if is_multipart(call) => Arc::new(Parts),
        (false, true) => Arc::new(Lines { bare }),
        (false, false) => Arc::new(Prefixed { bare }),
    }
}

/// The head, with what keeps proxies from holding events back: nginx reads `X-Accel-Buffering`, caches
/// and compressing proxies `no-transform`.
fn head(call: &Call, sse: bool, format: &Format, cursor: String) -> Response {
    let media = match sse {
        true => "text/event-stream".to_owned(),
        false if is_multipart(call) => format!("multipart/mixed; boundary={BOUNDARY}"),
        false => format.media.to_owned(),
    };
    let opening = match sse {
        true => Bytes::from(format!("retry: {}\n\n", retry_millis(&cursor))),
        false => Bytes::new(),
    };
    Response::with_body(200, &media, opening)
        .header("cache-control", "no-store, no-transform")
        .header("x-accel-buffering", "no")
        .header("weir-cursor", cursor)
        .header("vary", "accept")
}

/// One to three seconds, by a client's place, so that a restart is not answered by all at once.
fn retry_millis(seed: &str) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    1000 + RandomState::new().hash_one(seed) % 2000
}

fn heartbeat(call: &Call, sse: bool, format: &Format) -> Option<(Duration, Bytes)> {
    let bare = call.query("bare").is_some();
    let beat: &[u8] = match (sse, format.text) {
        (true, _) => b":\n\n",
        _ if is_multipart(call) => b"\r\n",
        (false, true) if !bare => b"\n",
        _ => return None,
    };
    Some((HEARTBEAT, wrapped(call, beat)))
}

fn farewell(call: &Call, sse: bool) -> Bytes {
    match sse {
        true => wrapped(call, format!("retry: {}\n\n", retry_millis("")).as_bytes()),
        false if is_multipart(call) => wrapped(call, format!("--{BOUNDARY}--\r\n").as_bytes()),
        false => Bytes::new(),
    }
}

fn wrapped(call: &Call, bytes: &[u8]) -> Bytes {
    let mut out = Vec::new();
    call.wrapper.bytes(bytes, &mut out);
    out.into()
}
