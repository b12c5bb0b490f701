//! A socket's server: datagrams in, answers and notifications out.
//!
//! Written as one future by hand: a datagram is taken, answered and sent before the next is read, and
//! none of it allocates a task.

use super::clock::{Timer, now};
use super::desk::{Desk, Machine};
use super::settings::Settings;
use super::{Shared, seed};
use crate::session::{Arrival, Endpoint, Event, ExchangeId, ObservationId, Outgoing, Parameters};
use crate::wire::{Code, Message, Number};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use weir_binding::LocalFuture;
use weir_carrier::Datagrams;
use weir_sansio::{Instant, Output};

/// Datagrams taken in a row before other tasks of the thread have their turn.
const TURN: usize = 256;
/// Longest datagram there is.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// All CoAP nodes (RFC 7252 section 12.8).
const ALL_NODES_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(224, 0, 1, 187));
/// The same, of a link and of a site.
const ALL_NODES_V6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfd)),
    IpAddr::V6(Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 0, 0xfd)),
];

/// Says whether this socket is the one that joins the groups: one of them does.
pub(super) fn joins(settings: &Settings, joined: &AtomicBool) -> bool {
    settings.multicast && !joined.swap(true, Ordering::Relaxed)
}

impl Machine for Endpoint<SocketAddr> {
    fn respond(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        message: Message,
        observe: bool,
    ) -> Option<ObservationId> {
        Endpoint::respond(self, now, exchange, message, observe)
    }

    fn notify(&mut self, now: Instant, observation: ObservationId, message: Message) {
        Endpoint::notify(self, now, observation, message);
    }

    fn is_writable(&self) -> bool {
        true
    }
}

/// A socket that is served.
pub(super) struct Serving {
    socket: Datagrams,
    /// Sockets that receive only what was sent to a group.
    groups: Vec<Datagrams>,
    shared: Shared,
    endpoint: Endpoint<SocketAddr>,
    desk: Desk,
    timer: Timer,
    draining: LocalFuture<'static, ()>,
    buffer: Vec<u8>,
    unsent: Option<Outgoing<SocketAddr>>,
}

impl Serving {
    pub(super) fn new(socket: Datagrams, shared: Shared, joins: bool) -> io::Result<Self> {
        let groups = match joins {
            true => join(&socket)?,
            false => Vec::new(),
        };
        Ok(Self {
            groups,
            socket,
            endpoint: Endpoint::new(Parameters::default(), shared.limits(), seed()?),
            desk: Desk::new(shared.clone(), "coap", None),
            timer: Timer::new(),
            draining: shared.context.draining(),
            shared,
            buffer: vec![0; DATAGRAM_BYTES_MAX],
            unsent: None,
        })
    }

    /// Takes what was received; says whether there may be more.
    fn receive(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        for turn in 0..TURN {
            if self.unsent.is_some() {
                return Ok(false);
            }
            let Poll::Ready(received) = self.socket.poll_receive(cx, &mut self.buffer) else {
                return Ok(turn > 0);
            };
            let (length, peer) = received?;
            self.take(cx, length, peer, false)?;
        }
        cx.waker().wake_by_ref();
        Ok(true)
    }

    fn receive_of_groups(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        for index in 0..self.groups.len() {
            while let Poll::Ready(received) = self.groups[index].poll_receive(cx, &mut self.buffer)
            {
                let (length, peer) = received?;
                self.take(cx, length, peer, true)?;
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        cx: &mut Context<'_>,
        length: usize,
        peer: SocketAddr,
        multicast: bool,
    ) -> io::Result<()> {
        let arrival = Arrival {
            multicast,
            untrusted: self.shared.settings.is_untrusted(peer.ip()),
        };
        self.endpoint
            .receive(now(), peer, arrival, &self.buffer[..length]);
        self.put(cx).map(drop)
    }

    /// Sends what is to be sent and has asked what is asked; gives when the machine wants to be called.
    fn put(&mut self, cx: &mut Context<'_>) -> io::Result<Instant> {
        loop {
            if !self.flush(cx)? {
                return Ok(Instant::NEVER);
            }
            match self.endpoint.poll() {
                Output::Transmit(datagram) => self.unsent = Some(datagram),
                Output::Event(Event::Request(incoming)) => {
                    let local = incoming.peer.ip().to_canonical().is_loopback();
                    self.desk.ask(&mut self.endpoint, now(), incoming, local);
                }
                Output::Event(Event::Ended(observation)) => self.desk.ended(observation),
                Output::Event(_) => {}
                Output::Timeout(at) => return Ok(at),
            }
        }
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let Some(datagram) = &self.unsent else {
            return Ok(true);
        };
        match self.socket.poll_send(cx, &datagram.bytes, datagram.peer) {
            Poll::Pending => return Ok(false),
            // What cannot be sent to one peer is no reason to serve nobody.
            Poll::Ready(_) => self.unsent = None,
        }
        Ok(true)
    }

    /// Tells who observes that it is over, once; who does not hear it asks again.
    fn farewell(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        for observation in self.endpoint.observations() {
            let mut over = Message::new(Code::SERVICE_UNAVAILABLE);
            over.options.push_uint(Number::MAX_AGE, 5);
            Endpoint::notify(&mut self.endpoint, now(), observation, over);
        }
        self.put(cx).map(drop)
    }
}

impl Future for Serving {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.draining.as_mut().poll(cx).is_ready() {
            return Poll::Ready(this.farewell(cx));
        }
        loop {
            let blocked = this.unsent.is_some();
            let mut moved = this.receive(cx)?;
            this.receive_of_groups(cx)?;
            moved |= this.desk.poll(cx, &mut this.endpoint, now());
            let at = this.put(cx)?;
            if this.timer.poll_due(cx, at.min(this.desk.deadline())) {
                this.endpoint.timeout(now());
                moved = true;
            }
            // What was not read while nothing could be sent is read then.
            moved |= blocked;
            if !moved || this.unsent.is_some() {
                return Poll::Pending;
            }
        }
    }
}

/// Joins the groups of all CoAP nodes. A socket bound to one address does not receive what is sent to a
/// group: others do that for it. One bound to all addresses receives it itself, and what a group was
/// asked is then answered as what it alone was asked.
fn join(socket: &Datagrams) -> io::Result<Vec<Datagrams>> {
    let local = socket.local_addr()?;
    let groups: &[IpAddr] = match local.ip() {
        IpAddr::V4(_) => &[ALL_NODES_V4],
        IpAddr::V6(_) => &ALL_NODES_V6,
    };
    let mut sockets = Vec::new();
    for &group in groups {
        match Datagrams::bind(SocketAddr::new(group, local.port()), true) {
            Ok(bound) => {
                let bound = Datagrams::new(bound)?;
                bound.join(group)?;
                sockets.push(bound);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => socket.join(group)?,
            Err(error) => return Err(error),
        }
    }
    Ok(sockets)
}
