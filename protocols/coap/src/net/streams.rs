//! A connection's server: TCP, TLS and WebSocket (RFC 8323).

use super::desk::{Desk, Machine, Who};
use super::{Shared, seed};
use crate::session::{Connection, Event, ExchangeId, ObservationId};
use crate::wire::{Framing, Message};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_binding::{Context as Gateway, Held, LocalFuture, Short};
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{Outbox, poll_read_at_most};
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
    context: Arc<dyn Gateway>,
    outbox: Outbox,
    /// What came and is not whole, and what waits to be sent, counted.
    held: Held,
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
            context: shared.context.clone(),
            desk: Desk::new(shared, scheme, link.credential),
            local: link.peer.ip().to_canonical().is_loopback(),
            stream: link.stream,
            outbox: Outbox::default(),
            held: Held::default(),
            timer: Timer::default(),
            heard: now(),
            over: false,
        })
    }

    /// Says whether more may be handed to the socket.
    fn has_room(&self) -> bool {
        let unsent = match &self.stream {
            Stream::WebSocket(socket) => socket.unsent(),
            _ => self.outbox.waiting(),
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
                    _ => self.outbox.push(bytes),
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
        self.outbox.poll_flush(&mut self.stream, cx)
    }

    /// Counts what is held; gives the peer up where memory is too short for it, or where it takes nothing.
    fn count(&mut self) -> io::Result<()> {
        let unsent = self.outbox.waiting() + self.connection.unsent_bytes() + self.stream.unsent();
        let arriving = self.connection.arriving_bytes() + self.stream.held();
        let counted = self
            .held
            .count(&*self.context, (arriving, unsent), &self.outbox);
        match counted {
            Err(short @ Short::Arriving) if !self.over => {
                self.connection.give_up(&short.to_string());
                self.over = true;
                Ok(())
            }
            counted => Ok(counted?),
        }
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
                let connection = &mut self.connection;
                let read = poll_read_at_most(stream, cx, READ_BYTES, |bytes| {
                    (!bytes.is_empty()).then(|| connection.handle_input(now(), bytes))
                });
                match read? {
                    Poll::Pending => return Ok(false),
                    Poll::Ready(taken) => taken,
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
            this.count()?;
            if !written && !moved {
                match this.timer.poll_due(cx, this.held.deadline(&this.outbox)) {
                    true => continue,
                    false => return Poll::Pending,
                }
            }
            moved |= written && this.connection.unsent_bytes() > 0;
            if this.connection.is_released() && this.connection.open_requests() == 0 {
                this.over = true;
            }
            let deadline = this.deadline();
            let look = this.held.deadline(&this.outbox).min(this.desk.deadline());
            let due = this.timer.poll_due(cx, deadline.min(look));
            moved |= due;
            if due && now() >= deadline {
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
