//! A connection's server: TCP, TLS and WebSocket (RFC 8323).

use super::desk::{Desk, Machine, Who};
use super::seed::seed;
use super::shared::Shared;
use crate::session::{Connection, ConnectionFault, Event, ExchangeId, ObservationId};
use crate::wire::{Framing, Message};
use std::io;
use std::task::{Context, Poll};
use weir_binding::Hosted;
use weir_carrier::clock::{Timer, now};
use weir_carrier::driver::{Driven, Due, Heard, Leave, Over, Serving};
use weir_carrier::outbox::Outbox;
use weir_carrier::{Link, Stream};
use weir_sansio::{Duration, Instant};

/// Bytes of answers that the machine keeps; beyond, nothing is read and nobody notified.
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

/// What is served on a connection.
pub(super) struct Served {
    connection: Connection,
    desk: Desk,
    local: bool,
    host: Hosted,
    heard: Instant,
}

/// Serves a link to its end.
pub(super) fn serve(link: Link, shared: Shared) -> io::Result<Serving<Served>> {
    link.stream.tune()?;
    let (framing, scheme) = match &link.stream {
        Stream::WebSocket(_) => (Framing::Frames, "coap+ws"),
        Stream::Tls(_) => (Framing::Stream, "coaps+tcp"),
        Stream::Tcp(_) => (Framing::Stream, "coap+tcp"),
    };
    let served = Served {
        connection: Connection::new(framing, shared.limits(), seed()?),
        host: Hosted::new(shared.context.clone()),
        desk: Desk::new(shared, scheme, link.credential),
        local: link.peer.ip().to_canonical().is_loopback(),
        heard: now(),
    };
    Ok(Serving::new(link.stream, served))
}

impl Served {
    /// When the peer has been silent for too long.
    fn silent_at(&self) -> Instant {
        match (self.connection.is_greeted(), self.connection.is_idle()) {
            (false, _) => self.heard + GREETING_TIME,
            (true, true) => self.heard + IDLE_TIME,
            (true, false) => Instant::NEVER,
        }
    }
}

impl Driven for Served {
    type Machine = Connection;
    type Host = Hosted;
    type End = Over;

    const UNSENT_BYTES_MAX: usize = 64 << 10;
    const TAKEN_BYTES_MAX: usize = Self::UNSENT_BYTES_MAX;
    const READ_BYTES_MAX: usize = 16 << 10;
    // RFC 8323 section 4.1.
    const IN_MESSAGES: bool = true;

    fn machine(&mut self) -> &mut Connection {
        &mut self.connection
    }

    fn host(&mut self) -> &mut Hosted {
        &mut self.host
    }

    fn poll_begin(
        &mut self,
        _: &Outbox,
        _: &mut Timer,
        _: &mut Context<'_>,
    ) -> Poll<Result<(), Over>> {
        Poll::Ready(Ok(()))
    }

    fn take_leave(&mut self, why: Leave) -> Result<(), Over> {
        if why == Leave::Stopping {
            self.connection.release();
            return Ok(());
        }
        self.connection.give_up(&why.to_string());
        Err(Over::Closed)
    }

    fn on_event(&mut self, event: Event<()>) -> Result<Heard, Over> {
        match event {
            Event::Request(incoming) => {
                let who = Who::Unknown { local: self.local };
                self.desk.ask(&mut self.connection, now(), incoming, who);
            }
            Event::Ended(observation) => self.desk.ended(observation),
            _ => {}
        }
        Ok(Heard::Done)
    }

    fn may_read(&self, _: usize) -> bool {
        self.connection.is_writable()
    }

    fn received(&mut self, _: usize) {
        self.heard = now();
    }

    fn lost(&mut self, error: io::Error) -> Over {
        Over::Lost(error)
    }

    fn broken(&mut self, _: ConnectionFault) -> Over {
        Over::Closed
    }

    fn ended(&mut self, _: &mut Outbox) -> Result<(), Over> {
        Err(Over::Closed)
    }

    fn deliver(&mut self, _: &mut Outbox, cx: &mut Context<'_>) -> Result<Due, Over> {
        let moved = self.desk.poll(cx, &mut self.connection, now());
        if self.connection.is_released() && self.connection.open_requests() == 0 {
            return Err(Over::Closed);
        }
        // What was answered may have something else to ask for, and only asking has it wake.
        Ok(Due {
            sent: moved,
            more: moved,
        })
    }

    fn arriving_bytes(&self) -> usize {
        self.connection.arriving_bytes()
    }

    /// Answers are this connection's alone.
    fn leaving_bytes(&self, outbox: &Outbox) -> usize {
        outbox.waiting() + self.connection.unsent_bytes()
    }

    fn deadline(&self) -> Instant {
        self.silent_at().min(self.desk.deadline())
    }

    fn on_time(&mut self, now: Instant) -> Result<(), Over> {
        if now < self.silent_at() {
            return Ok(());
        }
        self.connection.release();
        Err(Over::Closed)
    }

    fn close(&mut self, _: &mut Outbox) {
        self.desk.hang_up();
    }
}
