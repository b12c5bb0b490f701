//! A connection's server: TCP, TLS and WebSocket (RFC 8323).

use super::desk::{Desk, Machine, Who};
use super::{Shared, seed};
use crate::session::{Connection, Event, ExchangeId, ObservationId};
use crate::wire::{Framing, Message};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use weir_binding::LocalFuture;
use weir_carrier::clock::{Timer, now};
use weir_carrier::{Link, Stream};
use weir_sansio::{Duration, Instant, Output, Session};

/// Bytes read from a socket at once.
const READ_BYTES: usize = 16 << 10;
/// Bytes handed to the socket at once.
const WRITE_BYTES: usize = 64 << 10;
/// Bytes of answers that wait to be sent; beyond, nothing is read and nobody notified.
const UNSENT_BYTES_MAX: usize = 256 << 10;
/// Within this a peer must say what it can take.
const GREETING_TIME: Duration = Duration::from_secs(10);
/// After this a connection on which nothing is under way is closed.
const IDLE_TIME: Duration = Duration::from_secs(600);

impl Machine for Connection {
    fn respond(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        message: Message,
        observe: bool,
    ) -> Option<ObservationId> {
        Connection::respond(self, now, exchange, message, observe)
    }

    fn notify(&mut self, now: Instant, observation: ObservationId, message: Message) {
        Connection::notify(self, now, observation, message);
    }

    fn is_writable(&self) -> bool {
        self.unsent_bytes() < UNSENT_BYTES_MAX
    }
}

/// A connection that is served.
pub(super) struct Serving {
    stream: Stream,
    connection: Connection,
    desk: Desk,
    local: bool,
    out: Vec<u8>,
    sent: usize,
    timer: Timer,
    heard: Instant,
    draining: Option<LocalFuture<'static, ()>>,
    over: bool,
}

impl Serving {
    pub(super) fn new(link: Link, shared: Shared) -> io::Result<Self> {
        link.stream.tune()?;
        let (framing, scheme) = match &link.stream {
            Stream::WebSocket(_) => (Framing::Frames, "coap+ws"),
            Stream::Tls(_) => (Framing::Stream, "coaps+tcp"),
            Stream::Tcp(_) => (Framing::Stream, "coap+tcp"),
        };
        Ok(Self {
            connection: Connection::new(framing, shared.limits(), seed()?),
            draining: Some(shared.context.draining()),
            desk: Desk::new(shared, scheme, link.credential),
            local: link.peer.ip().to_canonical().is_loopback(),
            stream: link.stream,
            out: Vec::new(),
            sent: 0,
            timer: Timer::default(),
            heard: now(),
            over: false,
        })
    }

    /// Says whether more may be handed to the socket.
    fn has_room(&self) -> bool {
        let unsent = match &self.stream {
            Stream::WebSocket(socket) => socket.unsent(),
            _ => self.out.len() - self.sent,
        };
        unsent < WRITE_BYTES
    }

    /// Has asked what is asked, and hands on what is to be sent; says whether anything moved.
    fn put(&mut self) -> bool {
        let mut moved = false;
        while self.has_room() {
            match self.connection.poll_output() {
                Output::Transmit(bytes) => match &mut self.stream {
                    Stream::WebSocket(socket) => socket.send_message(&bytes),
                    _ => self.out.extend_from_slice(&bytes),
                },
                Output::Event(Event::Request(incoming)) => {
                    let who = Who::Unknown { local: self.local };
                    self.desk.ask(&mut self.connection, now(), incoming, who);
                }
                Output::Event(Event::Ended(observation)) => self.desk.ended(observation),
                Output::Event(_) => {}
                Output::Timeout(_) => return moved,
            }
            moved = true;
        }
        moved
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.out.len() {
            let piece = &self.out[self.sent..];
            match ready!(Pin::new(&mut self.stream).poll_write(cx, piece))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                sent => self.sent += sent,
            }
        }
        self.out = Vec::new();
        self.sent = 0;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Takes what the peer sent; says whether there was anything.
    fn read(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        if self.over || !self.connection.is_writable() {
            return Ok(false);
        }
        let taken = match &mut self.stream {
            Stream::WebSocket(socket) => match socket.poll_message(cx)? {
                Poll::Pending => return Ok(false),
                Poll::Ready(None) => None,
                Poll::Ready(Some(message)) => Some(self.connection.handle_input(now(), &message)),
            },
            stream => {
                let mut bytes = [0; READ_BYTES];
                let mut buffer = ReadBuf::new(&mut bytes);
                match Pin::new(stream).poll_read(cx, &mut buffer)? {
                    Poll::Pending => return Ok(false),
                    Poll::Ready(()) if buffer.filled().is_empty() => None,
                    Poll::Ready(()) => Some(self.connection.handle_input(now(), buffer.filled())),
                }
            }
        };
        self.heard = now();
        self.over = !matches!(taken, Some(Ok(())));
        Ok(true)
    }

    /// When the peer has been silent for too long.
    fn deadline(&self) -> Instant {
        match (self.connection.is_greeted(), self.connection.is_idle()) {
            (false, _) => self.heard + GREETING_TIME,
            (true, true) => self.heard + IDLE_TIME,
            (true, false) => Instant::NEVER,
        }
    }

    fn poll_draining(&mut self, cx: &mut Context<'_>) {
        let ready = |draining: &mut LocalFuture<'static, ()>| draining.as_mut().poll(cx).is_ready();
        if self.draining.as_mut().is_some_and(ready) {
            self.draining = None;
            self.connection.release();
        }
    }
}

impl Future for Serving {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.poll_draining(cx);
        loop {
            let mut moved = this.read(cx)?;
            moved |= this.desk.poll(cx, &mut this.connection, now());
            moved |= this.put();
            let written = this.poll_write(cx)?.is_ready();
            if !written && !moved {
                return Poll::Pending;
            }
            moved |= written && this.connection.unsent_bytes() > 0;
            if this.connection.is_released() && this.connection.open_requests() == 0 {
                this.over = true;
            }
            let deadline = this.deadline();
            if this.timer.poll_due(cx, deadline.min(this.desk.deadline())) && now() >= deadline {
                this.connection.release();
                this.put();
                this.over = true;
            }
            if this.over && this.connection.unsent_bytes() == 0 {
                ready!(this.poll_write(cx))?;
                return Pin::new(&mut this.stream).poll_shutdown(cx);
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }
}
