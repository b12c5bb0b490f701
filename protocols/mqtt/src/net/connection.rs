//! One connection: its phases, each with no more state than it needs.
//!
//! Written as one future by hand, so that an idle connection is a socket, the machine's few words and
//! its subscriptions, with no buffer.

use super::House;
use super::accept::Accepting;
use super::deliver::Deliverer;
use super::live::Live;
use super::member::{Due, Member, TAKEN};
use super::publish::{self, Refused};
use super::refused::{Refusal, is_answered};
use super::sessions::Counts;
use super::subscribe::{self, Opener};
use crate::limits::RECEIVE_MAX;
use crate::session::{Closed, Message, Server, ServerEvent, ServerLimits};
use crate::wire::{QoS, ReasonCode};
use bytes::Bytes;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use weir_binding::{Context as Gateway, Held, LocalFuture, Short};
use weir_carrier::clock::{Timer, now};
use weir_carrier::linger::Linger;
use weir_carrier::outbox::{Outbox, poll_read};
use weir_carrier::{Link, Stream};
use weir_hub::Ticket;
use weir_sansio::{Instant, Output, Session};

/// Bytes that may wait for a socket before nothing more is made for it.
pub(super) const UNSENT_BYTES_MAX: usize = 64 << 10;
/// Reads of one turn, so that one client does not hold up a thread.
const READS_MAX: usize = 8;
/// How soon the log is asked again that could take nothing.
const BUSY_TIME: weir_sansio::Duration = weir_sansio::Duration::from_millis(5);

/// A connection on its way.
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) house: Arc<House>,
    pub(super) context: Arc<dyn Gateway>,
    /// What the WebSocket's opening presented.
    pub(super) credential: Option<Box<str>>,
    pub(super) peer: std::net::IpAddr,
    pub(super) server: Server,
    pub(super) outbox: Outbox,
    /// What came and is not whole, and what waits to be sent, counted.
    held: Held,
    pub(super) stage: Stage,
    pub(super) timer: Timer,
    pub(super) draining: Option<LocalFuture<'static, ()>>,
    pub(super) live: Arc<Live>,
    pub(super) member: Option<Box<Member>>,
    /// When the log is asked again.
    retry: Instant,
    /// Whether there are tickets that were not asked for yet.
    pub(super) is_fresh: bool,
    /// Nothing is sent before this is on disk.
    pub(super) hold: Option<Box<Ticket>>,
    /// Whether something was made that is sent when the session's record says it, and how many bytes
    /// waited before it.
    pub(super) promised: bool,
    pub(super) mark: usize,
}

/// What a connection is doing.
pub(super) enum Stage {
    /// Reading and sending.
    Open,
    /// Finding out who wants to connect, and waiting for the connection before to let go.
    Accepting(Box<Accepting>),
    /// Taking leave.
    Lingering(Box<Linger>),
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
        let limits = ServerLimits {
            packet_bytes_max: house.settings.packet_bytes_max,
            ..ServerLimits::default()
        };
        Counts::add(&house.sessions.counts.connections, 1);
        Self {
            peer: link.peer.ip(),
            credential: link.credential.map(Into::into),
            stream: link.stream,
            house,
            draining: Some(context.draining()),
            context,
            server: Server::new(now(), limits),
            outbox: Outbox::default(),
            held: Held::default(),
            stage: Stage::Open,
            timer: Timer::default(),
            live: Arc::default(),
            member: None,
            retry: Instant::NEVER,
            is_fresh: false,
            hold: None,
            promised: false,
            mark: 0,
        }
    }

    /// As in an address of its kind, for metrics.
    pub(super) fn scheme(&self) -> &'static str {
        match &self.stream {
            Stream::Tcp(_) => "mqtt",
            Stream::Tls(_) => "mqtts",
            Stream::WebSocket(socket) => match socket.below() {
                Stream::Tls(_) => "mqtt+wss",
                _ => "mqtt+ws",
            },
        }
    }

    fn poll_signs(&mut self, cx: &mut Context<'_>) {
        let drained = match &mut self.draining {
            Some(draining) => draining.as_mut().poll(cx).is_ready(),
            None => false,
        };
        if drained {
            self.draining = None;
            self.server.close(ReasonCode::SERVER_SHUTTING_DOWN, false);
        }
        let is_out = |it: &Member| it.principal.standing.is_revoked();
        if self.member.as_deref().is_some_and(is_out) {
            // Its will is not its any more: what is revoked publishes nothing.
            self.server.close(ReasonCode::NOT_AUTHORIZED, false);
        }
        // [MQTT-3.1.4-3]
        if self.member.is_some() && (self.live.is_taken_over(cx.waker()) || self.is_lost()) {
            self.server.close(ReasonCode::SESSION_TAKEN_OVER, true);
        }
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> io::Result<Step> {
        if self.hold.is_none() && !self.promised {
            self.mark = self.outbox.waiting();
        }
        self.poll_signs(cx);
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
                    self.lost();
                    return Ok(Step::Again);
                }
            }
        }
        self.deliver(cx)?;
        // Asking for a commit wakes the disk's thread, so whoever gets what came just now goes first.
        if std::mem::take(&mut self.is_fresh) {
            cx.waker().wake_by_ref();
        }
        if self.count()? || self.poll_time(cx) {
            return Ok(Step::Again);
        }
        Ok(Step::Wait)
    }

    /// Counts what is held; says whether the client is told to go because there is no room for what it sends.
    fn count(&mut self) -> io::Result<bool> {
        let arriving = self.server.arriving_bytes() + self.stream.held();
        let held = (arriving, self.outbox.held() + self.stream.unsent());
        match self.held.count(&*self.context, held, &self.outbox) {
            Err(Short::Arriving) => {
                self.server.close(ReasonCode::SERVER_BUSY, true);
                Ok(true)
            }
            counted => Ok(counted.map(|()| false)?),
        }
    }

    fn may_read(&self) -> bool {
        let waits = self.member.as_ref().is_some_and(|member| {
            member.held.is_some() || member.tickets.len() >= usize::from(RECEIVE_MAX)
        });
        !waits && self.outbox.waiting() < UNSENT_BYTES_MAX
    }

    /// Reads once; `false` at the end of the stream.
    fn read(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<bool>> {
        let (server, counts) = (&mut self.server, &self.house.sessions.counts);
        let read = poll_read(&mut self.stream, cx, |bytes| {
            Counts::add(&counts.bytes_received, bytes.len() as u64);
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
        if let Some((held, key)) = self.member.as_mut().and_then(|member| member.held.take())
            && !self.publish_under(held, key)
        {
            return true;
        }
        loop {
            match self.server.poll_output() {
                Output::Transmit(bytes) => self.outbox.push(bytes.into()),
                Output::Timeout(_) => return true,
                Output::Event(event) => match event {
                    ServerEvent::Connect(request) => {
                        let accepting = Accepting::new(self, *request);
                        self.stage = Stage::Accepting(Box::new(accepting));
                        return false;
                    }
                    ServerEvent::Closed(closed) => {
                        self.end(&closed);
                        return false;
                    }
                    ServerEvent::Publish(message) => {
                        if !self.publish(message) {
                            return true;
                        }
                    }
                    ServerEvent::PublishAgain(message) => {
                        if !self.publish_again(message) {
                            return true;
                        }
                    }
                    other => self.take(other),
                },
            }
        }
    }

    fn take(&mut self, event: ServerEvent) {
        let Some(member) = &mut self.member else {
            return;
        };
        match event {
            ServerEvent::Subscribe(request) => {
                let opener = Opener {
                    house: &self.house,
                    context: &self.context,
                    client_bytes_max: self.server.client_bytes_max(),
                };
                let before = member.subscriptions.len();
                let codes = opener.subscribe(member, &request);
                let added = (member.subscriptions.len() - before) as u64;
                Counts::add(&self.house.sessions.counts.subscriptions, added);
                self.answer(Due::Subscribed(request.packet_id, codes));
            }
            ServerEvent::Unsubscribe(packet_id, filters) => {
                let before = member.subscriptions.len();
                let codes = subscribe::unsubscribe(member, &filters);
                let ended = (before - member.subscriptions.len()) as u64;
                let counter = &self.house.sessions.counts.subscriptions;
                counter.fetch_sub(ended, Ordering::Relaxed);
                self.answer(Due::Unsubscribed(packet_id, codes));
            }
            ServerEvent::Delivered(token) => {
                member.changed = true;
                let mut of = member.subscriptions.iter_mut();
                if let Some(of) = of.find(|of| of.key == token.subscription) {
                    of.acknowledged(&token);
                }
            }
            ServerEvent::Received(_) => {
                member.changed = true;
                self.promise();
            }
            ServerEvent::Released(id) => {
                member.receipts.retain(|(of, _)| *of != id);
                self.answer(Due::Complete(id));
            }
            ServerEvent::Connect(_)
            | ServerEvent::Publish(_)
            | ServerEvent::PublishAgain(_)
            | ServerEvent::Closed(_) => {}
        }
    }

    /// Tells the client something of its session, once that is on disk if the session is kept.
    fn answer(&mut self, due: Due) {
        match self.record() {
            Some(ticket) => self.wait_for(due, ticket),
            None => tell(&mut self.server, due),
        }
    }

    /// Gives a message to the hub; `false` where it is held until the log takes it.
    pub(super) fn publish(&mut self, message: Box<Message>) -> bool {
        if let Some((service, path)) = self.context.service_of_topic(&message.topic) {
            let service = service.clone();
            return self.post(&*service, &path, message);
        }
        let kept = self.member.as_ref().is_some_and(|of| of.is_kept());
        match message.qos {
            QoS::ExactlyOnce if kept => self.publish_once(message),
            _ => self.publish_under(message, None),
        }
    }

    /// The same under a key of its own.
    pub(super) fn publish_under(&mut self, message: Box<Message>, key: Option<u64>) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        let counts = &self.house.sessions.counts;
        let client = Some(member.client);
        let (hub, publisher) = (self.context.hub(), (&member.principal, &*member.id));
        let of = key.map(|key| format!("mqtt/{key:x}").into_bytes());
        let answered = is_answered(member.version, message.qos);
        let now_there = self.context.now();
        let published = publish::publish(hub, now_there, publisher, client, &message, of, answered);
        match published {
            Ok(ticket) => {
                Counts::add(&counts.received, 1);
                member.tally.receive(1);
                // What is promised is acknowledged when it is on disk.
                let due = Due::Acknowledge(message.packet_id);
                match message.qos {
                    QoS::AtMostOnce => {}
                    _ => self.wait_for(due, ticket),
                }
            }
            Err(Refused::Busy) => {
                self.hold_message(message, key);
                return false;
            }
            Err(Refused::Code(code, reason)) => {
                let refusal = Refusal {
                    code,
                    reason,
                    is_for_now: false,
                };
                return self.refuse(message, key, &refusal);
            }
            // Its identifier was used anew without a release of the message before.
            Err(Refused::Another) => return self.publish_once(message),
            Err(Refused::Over(code)) => self.server.close(code, true),
        }
        true
    }

    /// Holds a message until the log takes it; nothing is read meanwhile.
    pub(super) fn hold_message(&mut self, message: Box<Message>, key: Option<u64>) {
        if let Some(member) = &mut self.member {
            member.held = Some((message, key));
            self.retry = now() + BUSY_TIME;
        }
    }

    /// Acknowledges what has come to the disk.
    fn poll_tickets(&mut self, cx: &mut Context<'_>) {
        while let Some(member) = &mut self.member {
            // What is held goes first.
            let next = member.tickets.front_mut().filter(|_| member.held.is_none());
            let Some((_, awaited)) = next else {
                break;
            };
            let Poll::Ready(done) = awaited.poll(cx) else {
                return;
            };
            // Another gateway has the session: what is behind its claim does not count here.
            if self.live.is_lost(member.claim) {
                return;
            }
            let Some((due, _)) = member.tickets.pop_front() else {
                return;
            };
            self.settle(due, done);
        }
        let idle = self.member.as_mut().filter(|of| of.tickets.is_empty());
        if let Some(member) = idle {
            member.tickets = std::collections::VecDeque::new();
        }
    }

    /// Goes on with what waited for the disk.
    fn settle(&mut self, due: Due, done: Option<Result<(), Refusal>>) {
        match (done, due) {
            (Some(Ok(())), Due::Publish(message, key, drawn)) => {
                self.publish_noted(message, key, drawn);
            }
            (Some(Ok(())), due) => tell(&mut self.server, due),
            (Some(Err(refusal)), Due::Posted(message)) => {
                self.refuse(message, Some(TAKEN), &refusal);
            }
            (Some(Err(_)), due) => tell(&mut self.server, due),
            // What is not on disk is not acknowledged: the client sends it again elsewhere or later.
            (None, _) => {
                let code = ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR;
                self.server.close(code, true);
            }
        }
    }

    /// Takes what is due and sends; a turn of all others comes before the next, so that what came
    /// meanwhile goes out as one.
    fn deliver(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let turn = self.deliver_once(cx)?;
        if turn.sent {
            self.context.hub().settle();
        }
        let Some(member) = &mut self.member else {
            if turn.full {
                cx.waker().wake_by_ref();
            }
            return Ok(());
        };
        if turn.full || turn.more && member.poll_more(cx) {
            member.place.waker(cx).wake();
        }
        Ok(())
    }

    fn deliver_once(&mut self, cx: &mut Context<'_>) -> io::Result<Turn> {
        let mut turn = Turn::default();
        if self.hold.is_some() {
            if !self.poll_hold(cx) {
                return Ok(turn);
            }
            // What waited goes out before more is made, or it would wait for that, too.
            if !self.promised {
                let before = self.outbox.waiting();
                let _rest_waits = self.outbox.poll_flush(&mut self.stream, cx)?;
                let written = (before - self.outbox.waiting()) as u64;
                Counts::add(&self.house.sessions.counts.bytes_sent, written);
                self.mark = self.outbox.waiting();
            }
        }
        let taking = |member: &&mut Box<Member>| !member.subscriptions.is_empty();
        let member = self.member.as_mut().filter(taking);
        if let Some(member) = member.filter(|_| self.server.is_open()) {
            let mut deliverer = Deliverer {
                opener: Opener {
                    house: &self.house,
                    context: &self.context,
                    client_bytes_max: self.server.client_bytes_max(),
                },
                server: &mut self.server,
                outbox: &mut self.outbox,
                now: self.context.now(),
                sent: 0,
                sent_exactly_once: false,
            };
            let told = member.place.waker(cx);
            let delivered = deliverer.deliver(member, &mut Context::from_waker(&told));
            let (sent, promised) = (deliverer.sent, deliverer.sent_exactly_once);
            turn.more = delivered.map_err(io::Error::other)?;
            if sent > 0 {
                turn.sent = true;
                member.changed = true;
                member.tally.send(sent);
                Counts::add(&self.house.sessions.counts.sent, sent);
            }
            if promised {
                self.promise();
            }
        }
        self.begin_hold(cx);
        if !self.poll_hold(cx) {
            return Ok(turn);
        }
        let before = self.outbox.waiting();
        let flushed = self.outbox.poll_flush(&mut self.stream, cx)?.is_ready();
        let written = before - self.outbox.waiting();
        if written > 0 {
            Counts::add(&self.house.sessions.counts.bytes_sent, written as u64);
        }
        if self.hold.is_none() {
            self.mark = self.outbox.waiting();
        }
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
        let changed = self.member.as_ref().filter(|of| of.changed && of.is_kept());
        let record_at = changed.map_or(Instant::NEVER, |member| member.record_at);
        let look = self.held.deadline(&self.outbox);
        let deadline = self.server.deadline().min(retry).min(record_at).min(look);
        if !self.timer.poll_due(cx, deadline) {
            return false;
        }
        if now() >= record_at {
            drop(self.record());
        }
        self.server.handle_timeout(now());
        true
    }

    /// The stream has ended without a word.
    fn lost(&mut self) {
        self.server.close(ReasonCode::UNSPECIFIED_ERROR, true);
        self.outbox = Outbox::default();
    }

    /// Leaves the client's session as it is to be taken up, and takes leave.
    fn end(&mut self, closed: &Closed) {
        self.note_end(closed);
        self.drop_promises();
        self.leave(closed);
        if let Output::Transmit(bytes) = self.server.poll_output() {
            self.outbox.push(Bytes::from(bytes));
        }
        self.stage = Stage::Lingering(Box::new(Linger::begin()));
    }
}

pub(super) fn tell(server: &mut Server, due: Due) {
    match due {
        Due::Posted(message) => server.acknowledge(message.packet_id, ReasonCode::SUCCESS, None),
        Due::Acknowledge(id) => server.acknowledge(id, ReasonCode::SUCCESS, None),
        Due::Complete(id) => server.complete(id),
        Due::Subscribed(id, codes) => server.suback(id, &codes),
        Due::Unsubscribed(id, codes) => server.unsuback(id, &codes),
        Due::Publish(..) => {}
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
                Stage::Accepting(_) => {
                    if this.poll_accept(cx).is_pending() {
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
        let size = size_of::<Connection>() + size_of::<Member>();
        assert!(
            size <= 800,
            "{} and {}",
            size_of::<Connection>(),
            size_of::<Member>()
        );
        assert!(size_of::<super::super::subscribe::Subscribed>() <= 160);
    }
}
