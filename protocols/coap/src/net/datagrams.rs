//! A socket's server: datagrams in, answers and notifications out.
//!
//! Written as one future by hand: what has arrived is taken at once, answered in order and sent at once,
//! and none of it allocates a task. A socket that is bound to all of the machine's addresses is told
//! which of them each datagram came to, so that the answer leaves from there. What is secured is opened
//! before the endpoint sees it, and closed behind it.

use super::desk::{Desk, Machine, Who};
use super::path::Path;
use super::seed::seed;
use super::settings::Settings;
use super::shared::Shared;
use crate::secure::{Guard, Opened, Remote};
use crate::session::{Arrival, Endpoint, Event, ExchangeId, ObservationId, Parameters};
use crate::wire::{Code, Message, Number};
use bytes::Bytes;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use weir_binding::LocalFuture;
use weir_carrier::clock::{Timer, now};
use weir_carrier::{Batch, Datagrams, Leaving};
use weir_hub::Room;
use weir_sansio::{Instant, Output};

/// Batches taken in a row before other tasks of the thread have their turn.
const TURN: usize = 8;
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

type Peers = Endpoint<Remote<Path>>;

impl Machine for Peers {
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
    /// Whether this is the socket that answers who asks a group.
    joins: bool,
    shared: Shared,
    endpoint: Peers,
    guard: Option<Guard<Path>>,
    desk: Desk,
    timer: Timer,
    draining: LocalFuture<'static, ()>,
    batch: Batch,
    unsent: VecDeque<Leaving>,
    /// Of bodies that are not whole, and of answers that are kept: the limits forget what is too much.
    held: (Room, Room),
}

impl Serving {
    pub(super) fn new(socket: Datagrams, shared: Shared, joins: bool) -> io::Result<Self> {
        let mut groups = Vec::new();
        if joins {
            groups = join(&socket)?;
        }
        if socket.local_addr()?.ip().is_unspecified() {
            socket.tell_destinations()?;
        }
        Ok(Self {
            groups,
            joins,
            socket,
            guard: shared.keys.guard(),
            endpoint: Endpoint::new(Parameters::default(), shared.limits(), seed()?),
            desk: Desk::new(shared.clone(), "coap", None),
            timer: Timer::default(),
            draining: shared.context.draining(),
            shared,
            batch: Batch::default(),
            unsent: VecDeque::new(),
            held: Default::default(),
        })
    }

    /// Takes what was received; says whether it could: what cannot be answered is not read.
    fn receive(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        for _ in 0..TURN {
            if !self.flush(cx)? {
                return Ok(false);
            }
            let received = self.socket.poll_receive_batch(cx, &mut self.batch)?;
            if received.is_pending() {
                return Ok(true);
            }
            self.take(false);
        }
        cx.waker().wake_by_ref();
        Ok(true)
    }

    fn receive_of_groups(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        for index in 0..self.groups.len() {
            while self.flush(cx)?
                && self.groups[index]
                    .poll_receive_batch(cx, &mut self.batch)?
                    .is_ready()
            {
                self.take(true);
            }
        }
        Ok(())
    }

    /// Takes a batch; each request is handed on before the next datagram is looked at.
    // [RFC7252-5.3.2-2] [RFC7252-8.2-3] [RFC7252-8.2.1-1]
    fn take(&mut self, of_group: bool) {
        let now = now();
        for index in 0..self.batch.len() {
            let Some((arrived, bytes)) = self.batch.get(index) else {
                return;
            };
            let grouped = arrived.to.is_some_and(|to| to.is_multicast());
            if grouped && !self.joins {
                continue;
            }
            let arrival = Arrival {
                multicast: of_group || grouped,
                untrusted: self.shared.settings.is_untrusted(arrived.peer.ip()),
            };
            let path = Path {
                peer: arrived.peer,
                local: arrived.to.filter(|to| !to.is_multicast()),
            };
            // What is sent to a group is sent in the clear: keys are between two.
            let answer = match self.guard.as_mut().filter(|_| !arrival.multicast) {
                None => {
                    let peer = Remote::plain(path);
                    self.endpoint.receive(now, peer, arrival, bytes);
                    None
                }
                Some(guard) => {
                    let opened = guard.open(path, bytes);
                    take_opened(&mut self.endpoint, now, arrival, bytes, opened)
                }
            };
            self.unsent.extend(answer.map(|bytes| path.leaving(bytes)));
            self.put(now);
        }
    }

    /// Has asked what is asked and queued what is to be sent; gives when the machine wants to be called.
    fn put(&mut self, now: Instant) -> Instant {
        loop {
            match self.endpoint.poll() {
                Output::Transmit(datagram) => {
                    let to = datagram.peer;
                    let bytes = self.closed(to, datagram.bytes);
                    let leaving = bytes.map(|bytes| to.address.leaving(bytes));
                    self.unsent.extend(leaving);
                }
                Output::Event(Event::Request(incoming)) => {
                    let who = self.who(incoming.peer);
                    self.desk.ask(&mut self.endpoint, now, incoming, who);
                }
                Output::Event(Event::Ended(observation)) => self.desk.ended(observation),
                Output::Event(_) => {}
                Output::Timeout(at) => return at,
            }
        }
    }

    /// What an endpoint sends, closed where its peer's was; none where it cannot be closed.
    fn closed(&mut self, to: Remote<Path>, bytes: Bytes) -> Option<Bytes> {
        let (Some(_), Some(guard)) = (to.context, &mut self.guard) else {
            return Some(bytes);
        };
        let closed = guard.close(to, &bytes);
        self.shared.keys.look();
        closed.map(Bytes::from)
    }

    fn who(&self, peer: Remote<Path>) -> Who {
        let context = &*self.shared.context;
        let of = |id| self.shared.keys.principal(id, context);
        let known = peer.context.and_then(of);
        let local = peer.address.peer.ip().to_canonical().is_loopback();
        known.map_or(Who::Unknown { local }, Who::Known)
    }

    /// Sends a turn of what is queued; says whether the kernel took it.
    // [RFC7252-4.2-16]
    fn flush(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let sent = self.socket.poll_send_batch(cx, &mut self.unsent)?;
        Ok(sent.is_ready())
    }

    fn count(&mut self) {
        let hub = self.shared.context.hub();
        let (arriving, kept) = &mut self.held;
        arriving.hold_in_steps(hub.arrivals(), self.endpoint.arriving_bytes());
        kept.hold_in_steps(hub.answers(), self.endpoint.kept_bytes());
    }

    /// Tells who observes that it is over, once; who does not hear it asks again.
    fn farewell(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let now = now();
        for observation in self.endpoint.observations() {
            let mut over = Message::new(Code::SERVICE_UNAVAILABLE);
            over.options.push_uint(Number::MAX_AGE, 5);
            Endpoint::notify(&mut self.endpoint, now, observation, over);
        }
        self.put(now);
        while !self.unsent.is_empty() && self.flush(cx)? {}
        Ok(())
    }

    /// Has answered what waited and told what changed; says whether anything moved.
    fn tell(&mut self, cx: &mut Context<'_>) -> bool {
        let now = now();
        let mut moved = self.desk.poll(cx, &mut self.endpoint, now);
        let at = self.put(now);
        if self.timer.poll_due(cx, at.min(self.desk.deadline())) {
            self.endpoint.timeout(now);
            self.put(now);
            moved = true;
        }
        moved
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
            let read = this.receive(cx)?;
            this.receive_of_groups(cx)?;
            // What was not read while nothing could be sent is read once it can.
            if !this.flush(cx)? {
                return Poll::Pending;
            }
            // Between the turns of a long queue comes what arrived meanwhile: acknowledgements, which the kernel
            // would drop where thousands of them wait, and what else the thread serves. More is told behind it.
            if !this.unsent.is_empty() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let moved = this.tell(cx);
            this.count();
            if read && !moved && this.unsent.is_empty() {
                return Poll::Pending;
            }
        }
    }
}

/// Takes what may have been secured, and gives what is answered at once; whose keys it was closed with needs
/// not prove its address.
fn take_opened(
    endpoint: &mut Peers,
    now: Instant,
    arrival: Arrival,
    bytes: &[u8],
    opened: Opened<Path>,
) -> Option<Bytes> {
    match opened {
        Opened::Untouched(peer) => endpoint.receive(now, peer, arrival, bytes),
        Opened::Taken(peer, inner) => {
            let arrival = Arrival {
                untrusted: false,
                ..arrival
            };
            endpoint.receive(now, peer, arrival, &inner);
        }
        Opened::Answer(answer) => return Some(answer.into()),
        Opened::Dropped => {}
    }
    None
}

/// Joins the groups of all CoAP nodes. A socket bound to all addresses receives what is sent to them too,
/// and is told so; one bound to one address does not: others do that for it.
fn join(socket: &Datagrams) -> io::Result<Vec<Datagrams>> {
    let local = socket.local_addr()?;
    let groups: &[IpAddr] = match local.ip() {
        IpAddr::V4(_) => &[ALL_NODES_V4],
        IpAddr::V6(_) => &ALL_NODES_V6,
    };
    let mut sockets = Vec::new();
    for &group in groups {
        if local.ip().is_unspecified() {
            socket.join(group, local.ip())?;
            continue;
        }
        sockets.push(Datagrams::of_group(group, local.port(), local.ip())?);
    }
    Ok(sockets)
}
