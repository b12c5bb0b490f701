//! HTTP streaming and server-sent events.

use crate::fault::from_hub;
use crate::framing::{Lines, Parts, Prefixed, Sse};
use crate::pace;
use crate::query;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use weir_codec::{FORMATS, Format};
use weir_hub::{Framing, Hub, Shape};
use weir_service::{Answer, Call, Delivery, Elsewhere, Response, Scheme, Stream};

/// Silence after which a comment or an empty line keeps proxies from closing the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Opens a response that never ends.
pub(crate) fn open(hub: &Arc<Hub>, call: &Call, rest: &str, sse: bool) -> Result<Answer, Response> {
    let scheme = if sse { Scheme::Sse } else { Scheme::Streaming };
    let format = payload_format(call, sse)?;
    let parts = (!sse && is_multipart(call)).then(|| Arc::new(Parts::new()));
    let framing = framing(call, sse, format, parts.clone());
    let shape = Shape::Framed(format, call.wrapper.framing(framing));
    let subscribe = query::subscribe(call, rest, shape)?;
    let caller = hub.caller(call.now, &call.principal);
    let subscribed = caller.and_then(|caller| caller.subscribe(subscribe));
    let subscription = subscribed.map_err(|fault| from_hub(&fault, &[]))?;
    let (parts, cursor) = (parts.as_deref(), subscription.position().to_string());
    let head = head(sse, format, parts, cursor);
    let delivery = Delivery {
        scheme,
        subscription,
        heartbeat: heartbeat(call, sse, format),
        farewell: farewell(call, sse, parts),
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

fn framing(call: &Call, sse: bool, format: &Format, parts: Option<Arc<Parts>>) -> Arc<dyn Framing> {
    let bare = call.query("bare").is_some();
    match (parts, format.text) {
        _ if sse => Arc::new(Sse { bare }),
        (Some(parts), _) => parts,
        (None, true) => Arc::new(Lines {
            bare,
            one_line: format.one_line,
        }),
        (None, false) => Arc::new(Prefixed { bare }),
    }
}

/// The head, with what keeps proxies from holding events back: nginx reads `X-Accel-Buffering`, caches
/// and compressing proxies `no-transform`.
fn head(sse: bool, format: &Format, parts: Option<&Parts>, cursor: String) -> Response {
    let media = match parts {
        _ if sse => "text/event-stream".to_owned(),
        Some(parts) => format!("multipart/mixed; boundary={}", parts.boundary),
        None => format.media.to_owned(),
    };
    let opening = if sse {
        Bytes::from(format!("retry: {}\n\n", retry_millis()))
    } else {
        Bytes::new()
    };
    Response::with_body(200, &media, opening)
        .header("cache-control", "no-store, no-transform")
        .header("x-accel-buffering", "no")
        .header("weir-cursor", cursor)
        .header("vary", "accept")
}

/// One to three seconds, another for each client, so that a restart is not answered by all at once.
fn retry_millis() -> u64 {
    1000 + weir_random::number() % 2000
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

fn farewell(call: &Call, sse: bool, parts: Option<&Parts>) -> Bytes {
    match parts {
        _ if sse => wrapped(call, format!("retry: {}\n\n", retry_millis()).as_bytes()),
        Some(parts) => wrapped(call, format!("--{}--\r\n", parts.boundary).as_bytes()),
        None => Bytes::new(),
    }
}

fn wrapped(call: &Call, bytes: &[u8]) -> Bytes {
    let mut out = Vec::new();
    call.wrapper.bytes(bytes, &mut out);
    out.into()
}
