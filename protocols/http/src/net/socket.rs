//! The phase of a WebSocket.

use super::connection::Phase;
use super::route::Shared;
use super::streaming::{Beat, Pulse, Turn};
use crate::limits::{HEADS_BYTES_MAX, HEARTBEAT_TIME, OUTSTANDING_MAX, UNSENT_BYTES_MAX};
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Answer, Delivery, Held, Inbound, Pending, Short, Socket, Tally};
use weir_carrier::Stream;
use weir_carrier::clock::Timer;
use weir_carrier::limits::SCRATCH_BYTES;
use weir_carrier::linger::Linger;
use weir_carrier::outbox::{Outbox, poll_read_at_most, poll_write};
use weir_carrier::websocket::{
    Close, CloseCode, Failure, Message, Opcode, Reader, Role, write_close, write_frame,
};
use weir_hub::Ending;

/// A WebSocket on its way.
pub(super) struct Sockets {
    delivery: Option<Delivery>,
    inbound: Box<dyn Inbound>,
    reader: Reader,
    /// What the socket has not taken yet.
    rest: Bytes,
    /// Bytes of it that were frames of our own.
    rest_own: usize,
    /// Frames of our own that go before the next delivery.
    own: Vec<u8>,
    acks: VecDeque<Ack>,
    /// Bytes of memory that they take.
    acks_bytes: usize,
    pulse: Pulse,
    turn: Turn,
    /// Beats since the peer last sent anything.
    silent: u8,
    /// Where messages are counted.
    tally: Arc<Tally>,
    /// What it holds of messages that are not whole and of frames that are not sent, counted.
    held: Held,
    /// A close frame has been written: what is left goes out, then the connection ends.
    closing: bool,
}

/// What is sent back for a message, at its place among the others.
enum Ack {
    Now(Bytes),
    Later(Box<dyn Pending>),
}

/// Bytes of memory that what is sent back takes beside its body.
const ACK_BYTES: usize = 128;
/// Unanswered pings after which a peer is gone.
const SILENT_BEATS_MAX: u8 = 3;

impl Sockets {
    pub(super) fn new(
        socket: Socket,
        first: Bytes,
        deflate: bool,
        bytes_max: usize,
        tally: Arc<Tally>,
    ) -> Self {
        let beat = socket
            .delivery
            .as_ref()
            .and_then(|delivery| delivery.heartbeat.as_ref());
        let every = beat.map_or(HEARTBEAT_TIME, |beat| beat.0);
        Self {
            delivery: socket.delivery.map(|delivery| Delivery {
                tally: Some(tally.clone()),
                ..delivery
            }),
            inbound: socket.inbound,
            reader: Reader::new(Role::Server, deflate, bytes_max),
            rest: first,
            rest_own: 0,
            own: Vec::new(),
            acks: VecDeque::new(),
            acks_bytes: 0,
            pulse: Pulse::new(every),
            turn: Turn::new(),
            silent: 0,
            tally,
            held: Held::default(),
            closing: false,
        }
    }

    pub(super) fn poll(
        &mut self,
        stream: &mut Stream,
        shared: &Shared,
        draining: bool,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Phase>> {
        loop {
            if draining && !self.closing {
                self.leave();
            }
            if self.inbound.is_revoked() {
                let why = Ending::Revoked.to_string();
                self.close(&Close::new(CloseCode::POLICY, why));
            }
            if self.poll_send(stream, timer, cx)?.is_ready() {
                return Poll::Ready(Ok(Phase::Linger(Box::new(
                    Linger::begin(Outbox::default()),
                ))));
            }
            let received = self.receive(stream, shared, cx)?;
            let leaving = self.leaving_bytes();
            self.held.leaves(shared.context.hub(), leaving)?;
            match received {
                Received::End => return Poll::Ready(Ok(Phase::Done)),
                Received::Something => continue,
                Received::Nothing => {}
            }
            let patience = || shared.context.patience();
            match self.pulse.poll(!self.rest.is_empty(), patience, timer, cx) {
                Beat::Nothing => return Poll::Pending,
                Beat::Stalled => {
                    shared.context.hub().stalled();
                    return Poll::Ready(Err(Short::Stalled.into()));
                }
                Beat::Heartbeat if self.silent >= SILENT_BEATS_MAX => {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Beat::Heartbeat => self.ping(),
            }
        }
    }

    fn ping(&mut self) {
        self.silent += 1;
        write_frame(Opcode::PING, b"", &mut self.own);
    }

    /// The gateway stops: farewell, then the close frame.
    fn leave(&mut self) {
        if let Some(delivery) = self.delivery.take() {
            self.own.extend_from_slice(&delivery.farewell);
        }
        self.close(&Close::new(
            CloseCode::GOING_AWAY,
            "the gateway is stopping",
        ));
    }

    fn close(&mut self, close: &Close) {
        if !self.closing {
            write_close(close, None, &mut self.own);
        }
        self.closing = true;
        self.delivery = None;
        self.acks = VecDeque::new();
        self.acks_bytes = 0;
    }

    /// Sends what is due; ready once all is sent of a WebSocket that closes.
    fn poll_send(
        &mut self,
        stream: &mut Stream,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut taken = false;
        loop {
            let before = self.rest.len();
            let written = poll_write(stream, cx, &mut self.rest)?;
            if self.rest.len() < before {
                self.pulse.sent();
            }
            if written.is_pending() {
                return Poll::Pending;
            }
            self.acknowledge(cx);
            if !self.own.is_empty() {
                self.rest_own = self.own.capacity();
                self.rest = std::mem::take(&mut self.own).into();
                continue;
            }
            self.rest_own = 0;
            self.rest = Bytes::new();
            if self.closing {
                return Poll::Ready(Ok(()));
            }
            // One chunk a turn, as on other streams.
            if taken {
                if let Some(delivery) = &mut self.delivery {
                    self.turn.end(delivery, cx);
                }
                return Poll::Pending;
            }
            if !self.pull(timer, cx) {
                return Poll::Pending;
            }
            taken = true;
        }
    }

    /// Takes the next delivery; says whether there is something to send.
    fn pull(&mut self, timer: &mut Timer, cx: &mut Context<'_>) -> bool {
        let Some(delivery) = &mut self.delivery else {
            return false;
        };
        match self.turn.poll_next(delivery, timer, cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(Some(bytes))) => self.rest = bytes,
            Poll::Ready(Ok(None)) => {
                let ending = delivery.subscription.ending();
                let ending = ending.unwrap_or(Ending::Stopping);
                let code = match ending {
                    Ending::TooSlow | Ending::Revoked => CloseCode::POLICY,
                    Ending::Stopping => CloseCode::GOING_AWAY,
                };
                self.close(&Close::new(code, ending.to_string()));
            }
            Poll::Ready(Err(fault)) => {
                self.close(&Close::new(CloseCode::INTERNAL, fault.to_string()));
            }
        }
        true
    }

    /// Writes the acknowledgements that are ready, in the order of their messages.
    fn acknowledge(&mut self, cx: &mut Context<'_>) {
        while self.own.len() < UNSENT_BYTES_MAX
            && let Some(ack) = self.acks.pop_front()
        {
            let bytes = ack.bytes();
            let body = match ack {
                Ack::Now(body) => body,
                Ack::Later(mut pending) => match pending.poll(cx) {
                    Poll::Ready(response) => {
                        self.tally.receive(u64::from(response.status < 300));
                        response.body
                    }
                    Poll::Pending => return self.acks.push_front(Ack::Later(pending)),
                },
            };
            self.acks_bytes -= bytes;
            if !body.is_empty() {
                write_frame(Opcode::TEXT, &body, &mut self.own);
            }
        }
        if self.acks.is_empty() {
            self.acks = VecDeque::new();
        }
    }

    fn receive(
        &mut self,
        stream: &mut Stream,
        shared: &Shared,
        cx: &mut Context<'_>,
    ) -> io::Result<Received> {
        let full = self.acks_bytes >= UNSENT_BYTES_MAX || self.own.len() >= UNSENT_BYTES_MAX;
        if full || self.acks.len() >= OUTSTANDING_MAX {
            return Ok(Received::Nothing);
        }
        let mut messages = Vec::new();
        let reader = &mut self.reader;
        // A little of short frames is many.
        let most = if reader.held() < HEADS_BYTES_MAX {
            HEADS_BYTES_MAX
        } else {
            SCRATCH_BYTES
        };
        let read = poll_read_at_most(stream, cx, most, |bytes| {
            (bytes.is_empty(), reader.read(bytes, &mut messages))
        });
        let Poll::Ready((eof, outcome)) = read? else {
            return Ok(Received::Nothing);
        };
        if eof {
            return Ok(Received::End);
        }
        self.silent = 0;
        for message in messages {
            self.take(shared, message);
        }
        if let Err(Failure { code, reason }) = outcome {
            self.close(&Close::new(code, reason));
        }
        let hub = shared.context.hub();
        if let Err(short) = self.held.arrives(hub, self.reader.held()) {
            self.close(&Close::new(CloseCode::TRY_AGAIN_LATER, short.to_string()));
            self.reader = Reader::new(Role::Server, false, 0);
        }
        Ok(Received::Something)
    }

    fn take(&mut self, shared: &Shared, message: Message) {
        if self.closing {
            return;
        }
        let (text, payload) = match message {
            Message::Text(payload) => (true, payload),
            Message::Binary(payload) => (false, payload),
            Message::Ping(payload) => {
                return write_frame(Opcode::PONG, &payload, &mut self.own);
            }
            Message::Pong(_) => return,
            Message::Close(close) => {
                // The code comes back as it came (RFC 6455 section 5.5.1).
                let code = close.map_or(CloseCode::NORMAL, |close| close.code);
                return self.close(&Close::new(code, ""));
            }
        };
        match self.inbound.receive(shared.context.now(), text, payload) {
            Answer::Now(response) => self.expect(Ack::Now(response.body)),
            Answer::Later(pending) => self.expect(Ack::Later(pending)),
            Answer::Pieces(_) | Answer::Stream(_) | Answer::Socket(_) => {}
        }
    }
}

impl Sockets {
    fn expect(&mut self, ack: Ack) {
        self.acks_bytes += ack.bytes();
        self.acks.push_back(ack);
    }

    /// Bytes that wait to be sent and are nobody else's.
    fn leaving_bytes(&self) -> usize {
        self.own.capacity() + self.rest_own + self.acks_bytes
    }
}

impl Ack {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        match self {
            Ack::Now(body) => ACK_BYTES + body.len(),
            Ack::Later(_) => ACK_BYTES,
        }
    }
}

enum Received {
    Nothing,
    Something,
    End,
}
