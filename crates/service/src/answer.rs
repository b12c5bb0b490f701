//! What a service answers: at once, later, in pieces, or as long as somebody follows.

use crate::elsewhere::Elsewhere;
use crate::pace::Pace;
use crate::pieces::Pieces;
use crate::response::{Pending, Response};
use crate::tally::Tally;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use weir_hub::{Fault, Next, Subscription};
use weir_model::{Cursor, Time};

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
