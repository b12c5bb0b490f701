//! One connection: its phases, each with no more state than it needs.
//!
//! Written as one future by hand, so that an idle connection is a socket, the machine's few words and
//! its links, with no buffer.

use super::House;
use super::deliver::{Deliverer, Out};
use super::durable::RECORD_TIME;
use super::link::Outward;
use super::login::Who;
use super::publish::{Refused, refused, rejected, request_of};
use crate::limits::CREDIT;
use crate::session::{LinkId, Mechanisms, Received, Server, ServerEvent, ServerLimits, Sink};
use crate::wire::{Condition, DeliveryState};
use bytes::Bytes;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::bridge::came_back;
use weir_binding::{Context as Gateway, Held, LocalFuture, Short, Tally};
use weir_carrier::clock::{Timer, now};
use weir_carrier::crowd::Place;
use weir_carrier::linger::Linger;
use weir_carrier::outbox::{Outbox, poll_read};
use weir_carrier::{Link, Stream};
use weir_hub::{ClientId, Principal, Ticket};
use weir_sansio::{Instant, Output, Session};

/// Bytes that may wait for a socket before nothing more is made for it.
pub(super) const UNSENT_BYTES_MAX: usize = 64 << 10;
/// Reads of one turn, so that one client does not hold up a thread.
const READS_MAX: usize = 8;
/// How soon the log is asked again that could take nothing.
const BUSY_TIME: weir_sansio::Duration = weir_sansio::Duration::from_millis(5);
/// Messages of one client on their way to the disk before nothing more is read of it.
const TICKETS_MAX: usize = 4 * CREDIT as usize;

thread_local! {
    /// Where sections are written before they are sent.
    static HEAD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A connection on its way.
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) house: Arc<House>,
    pub(super) context: Arc<dyn Gateway>,
    /// What the WebSocket's opening presented.
    pub(super) credential: Option<Box<str>>,
    pub(super) peer_is_local: bool,
    pub(super) server: Server,
    outbox: Outbox,
    /// What came and is not whole, and what waits to be sent, counted.
    held: Held,
    pub(super) stage: Stage,
    timer: Timer,
    draining: Option<LocalFuture<'static, ()>>,
    pub(super) member: Option<Box<Member>>,
    /// When the log is asked again.
    retry: Instant,
    /// Whether there are tickets that were not asked for yet.
    is_fresh: bool,
}

/// What a connection is doing.
pub(super) enum Stage {
    /// Reading and sending.
    Open,
    /// Finding out who the client is.
    LoggingIn(Box<Who>),
    /// Taking leave.
    Lingering(Box<Linger>),
}

/// A client that was let in, and its links.
pub(super) struct Member {
    pub(super) principal: Principal,
    /// It was told to go.
    is_expelled: bool,
    /// What the hub knows its messages by.
    pub(super) client: ClientId,
    pub(super) inward: Vec<Inward>,
    pub(super) outward: Vec<Outward>,
    /// Messages that are on their way to the disk, in their order.
    tickets: VecDeque<(LinkId, u32, Ticket)>,
    /// A message that the log could not take yet; nothing is read meanwhile.
    held: Option<Box<Received>>,
    tally: Arc<Tally>,
    /// Which link is served first next time.
    pub(super) turn: usize,
    /// Where it waits for what others are told too.
    pub(super) place: Place,
    /// When the records of durable links are mended, if they are other than what is so.
    record_at: Instant,
}

/// A link that messages come in by.
pub(super) struct Inward {
    pub(super) id: LinkId,
    /// Where they go; none where each says it.
    pub(super) address: Option<Box<str>>,
}

/// How a turn of delivering went.
#[derive(Default)]
struct Turn {
    /// Something was sent.
    sent: bool,
    /// There may be more at once.
    more: bool,
    /// There was as much as goes out in one turn.
    full: bool,
}

/// Whether a step was the last for now.
enum Step {
    Again,
    Wait,
}

impl Connection {
    pub(super) fn new(link: Link, house: Arc<House>, context: Arc<dyn Gateway>) -> Self {
        let settings = &house.settings;
        let limits = ServerLimits {
            frame_bytes_max: settings.frame_bytes_max,
            message_bytes_max: settings.message_bytes_max,
            idle_millis: settings.idle_secs * 1000,
            ..ServerLimits::default()
        };
        let mechanisms = Mechanisms {
            external: link.credential.is_some(),
        };
        Self {
            peer_is_local: link.peer.ip().is_loopback(),
            credential: link.credential.map(Into::into),
            stream: link.stream,
            draining: Some(context.draining()),
            house,
            context,
            server: Server::new(now(), limits, mechanisms),
            outbox: Outbox::default(),
            held: Held::default(),
            stage: Stage::Open,
            timer: Timer::default(),
            member: None,
            retry: Instant::NEVER,
            is_fresh: false,
        }
    }

    /// As in an address of its kind, for metrics.
    fn scheme(&self) -> &'static str {
        match &self.stream {
            Stream::Tcp(_) => "amqp",
            Stream::Tls(_) => "amqps",
            Stream::WebSocket(socket) => match socket.below() {
                Stream::Tls(_) => "amqp10+wss",
                _ => "amqp10+ws",
            },
        }
    }

    /// Lets the client in.
    pub(super) fn enter(&mut self, principal: Principal) {
        self.member = Some(Box::new(Member {
            principal,
            is_expelled: false,
            client: ClientId::new(),
            inward: Vec::new(),
            outward: Vec::new(),
            tickets: VecDeque::new(),
            held: None,
            tally: self.context.tally("amqp", self.scheme()),
            turn: 0,
            place: Place::default(),
            record_at: Instant::NEVER,
        }));
        self.server.admit(Ok(()));
        // What came meanwhile is read now.
        let Ok(()) = self.server.handle_input(now(), &[]);
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> io::Result<Step> {
        let drained = match &mut self.draining {
            Some(draining) => draining.as_mut().poll(cx).is_ready(),
            None => false,
        };
        if drained {
            self.draining = None;
            let sentence = "the gateway is stopping";
            self.server.close(Condition::CONNECTION_FORCED, sentence);
        }
        self.look_at_standing();
        self.poll_tickets(cx);
        let mut reads = 0;
        loop {
            if !self.pump() {
                return Ok(Step::Again);
            }
            if !self.may_read() {
                break;
            }
            if reads == READS_MAX {
                cx.waker().wake_by_ref();
                break;
            }
            match self.read(cx)? {
                Poll::Pending => break,
                Poll::Ready(true) => reads += 1,
                Poll::Ready(false) => {
                    self.stage = Stage::Lingering(Box::new(Linger::begin()));
                    self.outbox = Outbox::default();
                    return Ok(Step::Again);
                }
            }
        }
        self.deliver(cx)?;
        // Asking for a commit wakes the disk's thread, so whoever gets what came just now goes first.
        if std::mem::take(&mut self.is_fresh) {
            cx.waker().wake_by_ref();
        }
        match self.count()? || self.poll_time(cx) {
            true => Ok(Step::Again),
            false => Ok(Step::Wait),
        }
    }

    /// Counts what is held; says whether the client is told to go because there is no room for what it sends.
    fn count(&mut self) -> io::Result<bool> {
        let arriving = self.server.arriving_bytes() + self.stream.held();
        let held = (arriving, self.outbox.held() + self.stream.unsent());
        match self.held.count(&*self.context, held, &self.outbox) {
            Err(short @ Short::Arriving) => {
                let sentence = short.to_string();
                self.server
                    .close(Condition::RESOURCE_LIMIT_EXCEEDED, &sentence);
                Ok(true)
            }
            counted => Ok(counted.map(|()| false)?),
        }
    }

    /// Closes the connection of who may be here no longer.
    fn look_at_standing(&mut self) {
        let Some(member) = &mut self.member else {
            return;
        };
        if member.principal.standing.is_revoked() && !member.is_expelled {
            member.is_expelled = true;
            let sentence = "the rights of this login were withdrawn or have expired";
            self.server.close(Condition::UNAUTHORIZED_ACCESS, sentence);
        }
    }

    fn may_read(&self) -> bool {
        let waits = self
            .member
            .as_ref()
            .is_some_and(|member| member.held.is_some() || member.tickets.len() >= TICKETS_MAX);
        !waits && self.outbox.waiting() < UNSENT_BYTES_MAX
    }

    /// Reads once; `false` at the end of the stream.
    fn read(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<bool>> {
        let server = &mut self.server;
        let read = poll_read(&mut self.stream, cx, |bytes| {
            let Ok(()) = server.handle_input(now(), bytes);
            !bytes.is_empty()
        });
        match read {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(read) => read.map(Poll::Ready),
        }
    }

    /// Does what the machine wants; `false` where the stage has changed.
    fn pump(&mut self) -> bool {
        if let Some(held) = self.member.as_mut().and_then(|member| member.held.take())
            && !self.publish(held)
        {
            return true;
        }
        loop {
            match self.server.poll_output() {
                Output::Transmit(bytes) => Out(&mut self.outbox).shared(bytes.into()),
                Output::Timeout(_) => return true,
                Output::Event(event) => match event {
                    ServerEvent::Login(login) => {
                        let who = self.look_up(login);
                        self.stage = Stage::LoggingIn(Box::new(who));
                        return false;
                    }
                    ServerEvent::Closed(closed) => {
                        if let Some(error) = closed.error {
                            tracing::debug!(%error, "connection closed");
                        }
                        self.end();
                        return false;
                    }
                    ServerEvent::Delivery(received) => {
                        if !self.publish(received) {
                            return true;
                        }
                    }
                    other => self.take(other),
                },
            }
        }
    }

    fn take(&mut self, event: ServerEvent) {
        if let ServerEvent::Attach(id, attach) = &event {
            return self.attach(*id, attach);
        }
        let Some(member) = &mut self.member else {
            return;
        };
        match event {
            ServerEvent::Settled(id, token, state) => {
                let mut links = member.outward.iter_mut();
                let Some(of) = links.find(|of| of.id == id) else {
                    return;
                };
                if let Some(work) = &mut of.work {
                    work.settle(token, state.as_ref());
                }
                if of.durable.is_some() {
                    member.record_at = member.record_at.min(now() + RECORD_TIME);
                }
            }
            ServerEvent::Detached(id, closed) => {
                let ended = member.outward.iter_mut().find(|of| of.id == id);
                ended.into_iter().for_each(|of| of.leave(closed));
                member.outward.retain(|of| of.id != id);
                member.inward.retain(|of| of.id != id);
            }
            _ => {}
        }
    }

    /// Gives a message to the hub; `false` where it is held until the log takes it.
    fn publish(&mut self, received: Box<Received>) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        let (of_link, id) = (received.link, received.delivery_id);
        let link = member.inward.iter().find(|of| of.id == received.link);
        let address = link.and_then(|of| of.address.as_deref());
        let now_there = self.context.now();
        let request = request_of(&received, address, now_there, member.client);
        let published = request.map_err(Refused::Error).and_then(|publish| {
            if came_back(self.context.hub(), &publish.attributes.properties) {
                return Err(Refused::CameBack);
            }
            let caller = self.context.hub().caller(now_there, &member.principal);
            let published = caller.and_then(|caller| caller.publish(publish));
            published.map_err(|fault| refused(&fault))
        });
        match published {
            Ok(ticket) => {
                member.tally.receive(1);
                // What is promised is accepted when it is on disk.
                if !received.settled {
                    member.tickets.push_back((of_link, id, ticket));
                    self.is_fresh = true;
                }
            }
            Err(Refused::Busy) => {
                member.held = Some(received);
                self.retry = now() + BUSY_TIME;
                return false;
            }
            // It is set aside with its reason, and the link goes on.
            // [AMQP-3.4.3-1]
            Err(Refused::Error(error)) => self.server.settle(of_link, id, rejected(error)),
            Err(Refused::CameBack) => self.server.settle(of_link, id, DeliveryState::Accepted),
            Err(Refused::Stopping) => self.server.settle(of_link, id, DeliveryState::Released),
            Err(Refused::Broken(reason)) => self.server.close(Condition::INTERNAL_ERROR, &reason),
        }
        true
    }

    /// Accepts what has come to the disk.
    fn poll_tickets(&mut self, cx: &mut Context<'_>) {
        let Some(member) = &mut self.member else {
            return;
        };
        while let Some((link, id, ticket)) = member.tickets.front() {
            let Poll::Ready(done) = ticket.poll(cx) else {
                return;
            };
            match done {
                Ok(_) => self.server.settle(*link, *id, DeliveryState::Accepted),
                // What is not on disk is not accepted: the client sends it again elsewhere or later.
                Err(fault) => {
                    let sentence = fault.to_string();
                    self.server.close(Condition::INTERNAL_ERROR, &sentence);
                }
            }
            member.tickets.pop_front();
        }
        member.tickets = VecDeque::new();
    }

    /// Takes what is due and sends; a turn of all others comes before the next, so that what came
    /// meanwhile goes out as one.
    fn deliver(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let mut turn = self.deliver_once(cx)?;
        if turn.sent {
            self.context.hub().settle();
        }
        // Most often nothing came meanwhile, and whoever brings it wakes.
        if turn.more && !turn.full {
            turn = self.deliver_once(cx)?;
        }
        if turn.more || turn.full {
            match &mut self.member {
                Some(member) => member.place.waker(cx).wake(),
                None => cx.waker().wake_by_ref(),
            }
        }
        Ok(())
    }

    fn deliver_once(&mut self, cx: &mut Context<'_>) -> io::Result<Turn> {
        let mut turn = Turn::default();
        let member = self.member.as_mut().filter(|of| !of.outward.is_empty());
        if let Some(member) = member.filter(|_| self.server.is_open()) {
            let told = member.place.waker(cx);
            let mut told = Context::from_waker(&told);
            let (server, outbox, context) = (&mut self.server, &mut self.outbox, &self.context);
            let (delivered, sent) = HEAD.with_borrow_mut(|head| {
                let mut deliverer = Deliverer {
                    context,
                    server,
                    outbox,
                    head,
                    now: context.now(),
                    sent: 0,
                };
                (deliverer.deliver(member, &mut told), deliverer.sent)
            });
            turn.more = delivered.map_err(io::Error::other)?;
            turn.sent = sent > 0;
            if sent > 0 {
                member.tally.send(sent);
                if member.outward.iter().any(|of| of.durable.is_some()) {
                    member.record_at = member.record_at.min(now() + RECORD_TIME);
                }
            }
        }
        // What the machine has to say of it: drained credit, ended links.
        if let Some(bytes) = self.server.take_bytes() {
            self.outbox.push(bytes.into());
        }
        let before = self.outbox.waiting();
        let flushed = self.outbox.poll_flush(&mut self.stream, cx)?.is_ready();
        turn.more &= flushed;
        turn.full = flushed && before >= UNSENT_BYTES_MAX;
        Ok(turn)
    }

    /// Says whether something was due.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> bool {
        let held = self
            .member
            .as_ref()
            .is_some_and(|member| member.held.is_some());
        let retry = if held { self.retry } else { Instant::NEVER };
        let record_at = self
            .member
            .as_ref()
            .map_or(Instant::NEVER, |of| of.record_at);
        let look = self.held.deadline(&self.outbox);
        let deadline = self.server.deadline().min(retry).min(record_at).min(look);
        if !self.timer.poll_due(cx, deadline) {
            return false;
        }
        if let Some(member) = self.member.as_mut().filter(|_| now() >= record_at) {
            member.record_at = Instant::NEVER;
            member.outward.iter_mut().for_each(Outward::record);
        }
        self.server.handle_timeout(now());
        true
    }

    /// Takes leave: what is left to be said goes out.
    fn end(&mut self) {
        self.member = None;
        if let Output::Transmit(bytes) = self.server.poll_output() {
            self.outbox.push(Bytes::from(bytes));
        }
        self.stage = Stage::Lingering(Box::new(Linger::begin()));
    }
}

impl Future for Connection {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::Open => match this.poll_open(cx)? {
                    Step::Again => {}
                    Step::Wait => return Poll::Pending,
                },
                Stage::LoggingIn(_) => {
                    if this.poll_login(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Stage::Lingering(linger) => {
                    let (stream, outbox) = (&mut this.stream, &mut this.outbox);
                    return linger.poll(stream, outbox, &mut this.timer, cx);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_is_small() {
        let sizes = (
            size_of::<Connection>(),
            size_of::<Member>(),
            size_of::<Outward>(),
        );
        assert!(sizes.0 + sizes.1 <= 900 && sizes.2 <= 320, "{sizes:?}");
    }
}
