//! A service: a resource tree over any protocol that has methods and paths.

use crate::elsewhere::Elsewhere;
use crate::pace::Pace;
use crate::pieces::Pieces;
use crate::rendering::Watched;
use crate::tally::Tally;
use crate::work::Workers;
use bytes::Bytes;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use weir_hub::trace::Incoming;
use weir_hub::{Fault, Framing, Next, Principal, Subscription};
use weir_model::{Cursor, Time};

/// A resource tree below some paths.
pub trait Service: Send + Sync {
    /// Name in configuration and metrics.
    fn name(&self) -> &'static str;

    /// The paths it answers, each with all that lies below it.
    fn mounts(&self) -> &'static [&'static str];

    /// Answers a call; never blocks.
    fn call(&self, call: Call) -> Answer;

    /// What it does beside answering: to be found, to push what it was asked for. It is asked for once and
    /// runs on a network thread; when the gateway drains ([`crate::Gateway::draining`]) it has as long as
    /// links have to say its farewell, and ends.
    fn background(
        &self,
        context: Arc<dyn crate::Gateway>,
    ) -> Option<crate::LocalFuture<'static, ()>> {
        let _nothing_by_default = context;
        None
    }

    /// The topics that are its own on protocols of topics, each with all that lies below it, and the path
    /// that it stands for: a message published at one is a `POST` to the path, who subscribes to one
    /// follows what is at the path ([`Service::watch`]).
    fn topics(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What is to be followed at a path that one of its topics stands for; an error is an answer.
    fn watch(&self, call: &Call) -> Result<Watched, Response> {
        Err(Response::text(
            404,
            format!("nothing to follow at `{}`", call.path),
        ))
    }
}

/// What is asked of a service.
pub struct Call {
    /// On whose behalf.
    pub principal: Principal,
    /// Where the request came from, where the protocol tells.
    pub peer: Option<IpAddr>,
    /// `http` or `https`, where the client's own link speaks one of them.
    pub scheme: Option<&'static str>,
    /// The gateway's clock.
    pub now: Time,
    /// `GET`, `POST`, ... as HTTP spells it.
    pub method: String,
    /// The path, percent-encoding as received, without the query.
    pub path: String,
    /// Decoded pairs of the query, in order; a name without `=` has an empty value.
    pub query: Vec<(String, String)>,
    /// The query, percent-encoding as received, where the protocol has it as one text: for services that tell what is
    /// encoded from what separates.
    pub raw_query: String,
    /// Header fields, names in lower case; other protocols spell their options as these.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
    /// How the protocol wraps what streams, shared by all who are wrapped alike.
    pub wrapper: Arc<dyn Wrapper>,
    /// Where work goes that takes a while ([`crate::answer_of`]).
    pub workers: Arc<dyn Workers>,
    /// WebSocket subprotocols offered, where the call asks to become a WebSocket.
    pub websocket: Option<Vec<String>>,
    /// How it came, for the trace of what it publishes.
    pub incoming: Incoming,
}

impl Call {
    /// The first header field of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The first query value of this name.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// All query values of this name.
    pub fn queries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// How a protocol wraps a stream of frames (HTTP/1.1 chunks, content codings).
pub trait Wrapper: Send + Sync {
    /// Wraps a framing, so that a group's subscribers share the wrapped bytes too.
    fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing>;

    /// Wraps what goes to one subscriber only.
    fn bytes(&self, inner: &[u8], out: &mut Vec<u8>);
}

/// Wraps nothing: for protocols that carry frames as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsItIs;

impl Wrapper for AsItIs {
    fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing> {
        inner
    }

    fn bytes(&self, inner: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(inner);
    }
}

/// A whole answer. Status codes are HTTP's (RFC 9110 section 15); other protocols map them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Three digits.
    pub status: u16,
    /// Header fields.
    pub headers: Vec<(&'static str, String)>,
    /// The whole body.
    pub body: Bytes,
}

impl Response {
    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// A text body; errors are one sentence that says what to do.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        let text = text.into() + "\n";
        Self::with_body(status, "text/plain; charset=utf-8", text.into_bytes())
    }

    /// A body of a media type.
    pub fn with_body(status: u16, media: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", media.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// The answer with one more header field.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// What a service answers.
pub enum Answer {
    /// All of it now.
    Now(Response),
    /// One answer, when it is ready.
    Later(Box<dyn Pending>),
    /// A head, and a body in pieces, each made once the last was taken.
    Pieces(Box<dyn Pieces>),
    /// A head now and bytes as they come.
    Stream(Stream),
    /// A WebSocket.
    Socket(Socket),
}

/// An answer that is still to come.
pub trait Pending: Send {
    /// The answer, once ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response>;

    /// How long to wait for it at most.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// The answer when patience ends.
    fn expire(&mut self) -> Response {
        Response::text(503, "not ready in time: try again")
    }
}

/// A response head and what follows it.
pub struct Stream {
    /// Status and header fields; the body goes first.
    pub head: Response,
    /// What follows.
    pub delivery: Delivery,
}

/// An accepted WebSocket.
pub struct Socket {
    /// The subprotocol chosen among those offered.
    pub subprotocol: Option<String>,
    /// What is sent, framed already; `None` for one that only publishes.
    pub delivery: Option<Delivery>,
    /// What becomes of messages received.
    pub inbound: Box<dyn Inbound>,
}

/// Takes messages that a WebSocket's client sends.
pub trait Inbound: Send {
    /// A whole message; the answer's body is sent back as a text message once ready, if it has one.
    fn receive(&mut self, now: Time, text: bool, payload: Bytes) -> Answer;
    /// Whether what its sender may was taken away; the stream then ends.
    fn is_revoked(&self) -> bool;
}

/// The delivery schemes, for metrics and menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// One answer now.
    Polling,
    /// One answer at the next message.
    LongPolling,
    /// A response that never ends.
    Streaming,
    /// Server-sent events.
    Sse,
    /// WebSocket.
    WebSocket,
}

impl Scheme {
    /// Every scheme with its name.
    pub const ALL: &'static [(&'static str, Scheme)] = &[
        ("polling", Scheme::Polling),
        ("long-polling", Scheme::LongPolling),
        ("streaming", Scheme::Streaming),
        ("sse", Scheme::Sse),
        ("websocket", Scheme::WebSocket),
    ];
}

/// A subscription on its way to one client: the one driver of all streaming schemes.
pub struct Delivery {
    /// Which scheme.
    pub scheme: Scheme,
    /// Where the messages come from.
    pub subscription: Box<Subscription>,
    /// Sent when nothing else was for so long, wrapped for this client.
    pub heartbeat: Option<(Duration, Bytes)>,
    /// Sent before the end when the gateway stops, wrapped for this client.
    pub farewell: Bytes,
    /// Where a binding counts what goes out.
    pub tally: Option<Arc<Tally>>,
    /// How often the client can take something new.
    pub pace: Pace,
    /// Where is framed what reads of the past.
    pub elsewhere: Elsewhere,
}

impl Delivery {
    /// How long the carrier waits after a piece before it takes the next, where the client sets the pace
    /// and has caught up.
    pub fn rest(&self) -> Option<Duration> {
        let period = self.pace.period()?;
        self.subscription.is_live().then_some(period)
    }

    /// The next bytes to send; `None` at the end. Where the client sets the pace, what it could not take
    /// meanwhile is passed over for the newest.
    pub fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<(Bytes, Cursor)>, Fault>> {
        loop {
            if let Some(framed) = self.elsewhere.poll(cx) {
                let framed = ready!(framed);
                self.count();
                return Poll::Ready(Ok(framed));
            }
            if self.pace.period().is_some() {
                self.subscription.thin();
            }
            return match self.subscription.poll_next(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(Next::Bytes(bytes, cursor))) => {
                    self.count();
                    Poll::Ready(Ok(Some((bytes, cursor))))
                }
                Poll::Ready(Ok(Next::Unframed(unframed, cursor))) => {
                    self.elsewhere.begin(unframed, cursor);
                    continue;
                }
                Poll::Ready(Ok(Next::Items(..) | Next::Gap(..))) => continue,
                Poll::Ready(Ok(Next::Ended(_))) => Poll::Ready(Ok(None)),
                Poll::Ready(Err(fault)) => Poll::Ready(Err(fault)),
            };
        }
    }

    /// Says whether [`Self::poll_next`] may give more at once, or wakes `cx` when it may; takes nothing.
    pub fn poll_more(&mut self, cx: &mut Context<'_>) -> bool {
        self.elsewhere.is_busy() || self.subscription.poll_more(cx)
    }

    fn count(&mut self) {
        let count = self.subscription.take_count();
        self.tally.iter().for_each(|tally| tally.send(count));
    }
}
