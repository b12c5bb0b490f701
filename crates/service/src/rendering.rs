//! What a service makes of the hub's messages for who follows one of its resources: on HTTP as server-sent
//! events or on a WebSocket, and on protocols of topics.
//!
//! A service says which messages are meant and how each is told ([`Rendering`]); which protocol carries it
//! is none of its business. The decision worth arguing: a rendering is given a message and writes texts, so
//! that all subscribers of one resource share them as they share any other framed bytes.

use crate::answer::{Answer, Delivery, Inbound, Scheme, Socket, Stream};
use crate::call::Call;
use crate::elsewhere::Elsewhere;
use crate::pace::Pace;
use crate::response::Response;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use weir_hub::{
    Fault, Frame, Framing, FramingKey, Gap, Hub, InUnit, Item, Shape, Since, Subscribe,
};
use weir_model::{Cursor, Filter, Time};
use weir_websocket::{Opcode, write_frame};

/// How messages are told: each of what is due as a JSON text of its own, on one line.
pub trait Rendering: Send + Sync {
    /// Tells it from every other, below 2^28: two with one key write the same of a message for the same
    /// grants.
    fn key(&self) -> u32;

    /// Says whether rendering this reads of the past: then it is done where that holds up nobody.
    fn reads_past(&self, _item: &Item) -> bool {
        false
    }

    /// Writes what is due of a message; nothing where nothing of it is meant.
    fn render(&self, item: &Item, each: &mut dyn FnMut(&[u8]));
}

/// What changes in a service without being a message.
pub trait Changes: Send + Sync {
    /// What changed since this was asked last, as it is now; wakes `cx` when there is something.
    fn poll(&self, now: Time, cx: &mut Context<'_>) -> Poll<Vec<Bytes>>;
}

/// What stands behind a topic of a service.
#[derive(Clone)]
pub enum Watched {
    /// Messages that these filters match, rendered.
    Messages(Vec<Filter>, Arc<dyn Rendering>),
    /// What changes from now on.
    Changes(Arc<dyn Changes>),
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Watched::Messages(filters, _) => f.debug_tuple("Messages").field(filters).finish(),
            Watched::Changes(_) => f.write_str("Changes"),
        }
    }
}

/// Silence after which a comment keeps proxies from closing an event stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// When a client is to come again that lost its stream, milliseconds.
const RETRY: &[u8] = b"retry: 2000\n\n";

/// Answers with a stream of events, or with a WebSocket where the call asks for one, `inbound` taking what
/// its client sends.
pub fn rendered(
    hub: &Arc<Hub>,
    call: &Call,
    filters: Vec<Filter>,
    since: Since,
    rendering: Arc<dyn Rendering>,
    inbound: Box<dyn Inbound>,
) -> Result<Answer, Fault> {
    let is_socket = call.websocket.is_some();
    let framing: Arc<dyn Framing> = match is_socket {
        true => Arc::new(Messages(rendering)),
        false => Arc::new(Events(rendering)),
    };
    let shape = Shape::Framed(&weir_codec::FORMATS[0], call.wrapper.framing(framing));
    let subscribe = Subscribe {
        since,
        // Who renders observations has one unit for each datastream.
        unit: InUnit::Own,
        ..Subscribe::new(filters, shape)
    };
    let caller = hub.caller(call.now, &call.principal)?;
    let subscription = caller.subscribe(subscribe)?;
    let cursor = subscription.position().to_string();
    let wrapped = |bytes: &[u8]| {
        let mut out = Vec::new();
        call.wrapper.bytes(bytes, &mut out);
        Bytes::from(out)
    };
    let delivery = Delivery {
        scheme: if is_socket {
            Scheme::WebSocket
        } else {
            Scheme::Sse
        },
        subscription,
        heartbeat: (!is_socket).then(|| (HEARTBEAT, wrapped(b":\n\n"))),
        farewell: if is_socket {
            Bytes::new()
        } else {
            wrapped(RETRY)
        },
        tally: None,
        pace: Pace::default(),
        elsewhere: Elsewhere::new(call.workers.clone()),
    };
    Ok(match is_socket {
        true => Answer::Socket(Socket {
            subprotocol: None,
            delivery: Some(delivery),
            inbound,
        }),
        false => Answer::Stream(Stream {
            head: head(cursor),
            delivery,
        }),
    })
}

/// The head, with what keeps proxies from holding events back: nginx reads `X-Accel-Buffering`, caches and
/// compressing proxies `no-transform`.
fn head(cursor: String) -> Response {
    Response::with_body(200, "text/event-stream", RETRY)
        .header("cache-control", "no-store, no-transform")
        .header("x-accel-buffering", "no")
        .header("weir-cursor", cursor)
        .header("vary", "accept")
}

/// Server-sent events (HTML Living Standard section 9.2). The cursor is the `id` of the last event of a
/// message, so that who resumes by it has all of the message.
struct Events(Arc<dyn Rendering>);

impl Framing for Events {
    fn key(&self) -> FramingKey {
        ("rendered-sse", self.0.key())
    }

    fn reads_payload(&self) -> bool {
        false
    }

    fn reads_past(&self, items: &[Item]) -> bool {
        items.iter().any(|item| self.0.reads_past(item))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(gap) = &frame.gap {
            let told = format!("event: gap\ndata: {}\n\n", gap_json(gap));
            out.extend_from_slice(told.as_bytes());
        }
        let Some(item) = frame.item else { return };
        let mut last = None;
        self.0.render(item, &mut |text| {
            last = Some(out.len());
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(text);
            out.extend_from_slice(b"\n\n");
        });
        if let Some(at) = last.filter(|_| frame.cursor != Cursor::START) {
            let id = format!("id: {}\n", frame.cursor);
            out.splice(at..at, id.into_bytes());
        }
    }
}

/// WebSocket messages, a text each (RFC 6455 section 5.2); after those of each batch and for a gap
/// `{"weir":{"cursor":"...","gap":{...}}}`.
struct Messages(Arc<dyn Rendering>);

impl Messages {
    fn control(cursor: Cursor, gap: Option<&Gap>, out: &mut Vec<u8>) {
        let gap = gap.map(|gap| format!(r#","gap":{}"#, gap_json(gap)));
        let gap = gap.unwrap_or_default();
        let told = format!(r#"{{"weir":{{"cursor":"{cursor}"{gap}}}}}"#);
        write_frame(Opcode::TEXT, told.as_bytes(), out);
    }
}

impl Framing for Messages {
    fn key(&self) -> FramingKey {
        ("rendered-websocket", self.0.key())
    }

    fn reads_payload(&self) -> bool {
        false
    }

    fn reads_past(&self, items: &[Item]) -> bool {
        items.iter().any(|item| self.0.reads_past(item))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(gap) = &frame.gap {
            Self::control(frame.cursor, Some(gap), out);
        }
        if let Some(item) = frame.item {
            let each = &mut |text: &[u8]| write_frame(Opcode::TEXT, text, out);
            self.0.render(item, each);
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        if cursor != Cursor::START {
            Self::control(cursor, None, out);
        }
    }
}

/// A gap as JSON: `{"reason":"policy","count":3}`.
pub fn gap_json(gap: &Gap) -> String {
    let reason = gap.reason.name();
    match gap.count {
        Some(count) => format!(r#"{{"reason":"{reason}","count":{count}}}"#),
        None => format!(r#"{{"reason":"{reason}"}}"#),
    }
}
