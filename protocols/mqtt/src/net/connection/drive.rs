//! What a connection's events mean, and what it sends unasked.

use super::Connection;
use crate::limits::{RECEIVE_MAX, UNSENT_BYTES_MAX};
use crate::net::accepting::Accepting;
use crate::net::deliver::Deliverer;
use crate::net::member::{Due, Member, TAKEN};
use crate::net::refused::Refusal;
use crate::net::sessions::Counts;
use crate::net::subscribe::{self, Opener};
use crate::session::{Server, ServerEvent};
use crate::wire::ReasonCode;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use weir_binding::Hosted;
use weir_carrier::clock::Timer;
use weir_carrier::driver::{Driven, Due as Made, Gate, Heard, Leave, Over};
use weir_carrier::outbox::Outbox;
use weir_sansio::Instant;

/// Where a message is not taken, it is kept until the log takes it.
fn heard(is_taken: bool) -> Heard {
    if is_taken { Heard::Done } else { Heard::Kept }
}

impl Connection {
    /// What is made from here on may be dropped, as far as it is promised.
    fn note_mark(&mut self, outbox: &Outbox) {
        if self.hold.is_none() && !self.promised {
            self.mark = outbox.waiting();
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
                    context: &self.host.context,
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
            None => due.tell(&mut self.server),
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
            (Some(Ok(())), due) => due.tell(&mut self.server),
            (Some(Err(refusal)), Due::Posted(message)) => {
                self.refuse(message, Some(TAKEN), &refusal);
            }
            (Some(Err(_)), due) => due.tell(&mut self.server),
            // What is not on disk is not acknowledged: the client sends it again elsewhere or later.
            (None, _) => {
                let code = ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR;
                self.server.close(code, true);
            }
        }
    }
}

impl Driven for Connection {
    type Machine = Server;
    type Host = Hosted;
    type End = Over;

    const UNSENT_BYTES_MAX: usize = UNSENT_BYTES_MAX;

    fn machine(&mut self) -> &mut Server {
        &mut self.server
    }

    fn host(&mut self) -> &mut Hosted {
        &mut self.host
    }

    fn poll_begin(
        &mut self,
        outbox: &Outbox,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Over>> {
        ready!(self.poll_accept(timer, cx));
        self.note_mark(outbox);
        // [MQTT-3.1.4-3]
        if self.member.is_some() && (self.live.is_taken_over(cx.waker()) || self.is_lost()) {
            self.server.close(ReasonCode::SESSION_TAKEN_OVER, true);
        }
        self.poll_tickets(cx);
        Poll::Ready(Ok(()))
    }

    fn is_revoked(&self) -> bool {
        let is_out = |it: &Member| it.principal.standing.is_revoked();
        self.member.as_deref().is_some_and(is_out)
    }

    fn take_leave(&mut self, why: Leave) -> Result<(), Over> {
        match why {
            Leave::Stopping => self.server.close(ReasonCode::SERVER_SHUTTING_DOWN, false),
            // Its will is not its any more: what is revoked publishes nothing.
            Leave::Revoked => self.server.close(ReasonCode::NOT_AUTHORIZED, false),
            Leave::Short => self.server.close(ReasonCode::SERVER_BUSY, true),
        }
        Ok(())
    }

    fn resume(&mut self) -> Result<Heard, Over> {
        let held = self.member.as_mut().and_then(|member| member.held.take());
        Ok(held.map_or(Heard::Done, |(held, key)| {
            heard(self.publish_under(held, key))
        }))
    }

    fn on_event(&mut self, event: ServerEvent) -> Result<Heard, Over> {
        match event {
            ServerEvent::Connect(request) => {
                let accepting = Accepting::new(
                    &*self.host.context,
                    &self.house.sessions,
                    (self.credential.as_deref(), self.peer.is_loopback()),
                    *request,
                );
                self.accepting = Some(Box::new(accepting));
                return Ok(Heard::Again);
            }
            ServerEvent::Closed(closed) => {
                self.note_end(&closed);
                self.leave(&closed);
                return Err(Over::Closed);
            }
            ServerEvent::Publish(message) => return Ok(heard(self.publish(message))),
            ServerEvent::PublishAgain(message) => return Ok(heard(self.publish_again(message))),
            other => self.take(other),
        }
        Ok(Heard::Done)
    }

    fn may_read(&self, waiting: usize) -> bool {
        let waits = self.member.as_ref().is_some_and(|member| {
            member.held.is_some() || member.tickets.len() >= usize::from(RECEIVE_MAX)
        });
        !waits && waiting < UNSENT_BYTES_MAX
    }

    fn received(&mut self, bytes: usize) {
        Counts::add(&self.house.sessions.counts.bytes_received, bytes as u64);
    }

    fn lost(&mut self, error: io::Error) -> Over {
        Over::Lost(error)
    }

    fn broken(&mut self, error: Infallible) -> Over {
        match error {}
    }

    /// Without a word: the session is left as it is to be taken up, and nobody hears what is left.
    fn ended(&mut self, outbox: &mut Outbox) -> Result<(), Over> {
        self.server.close(ReasonCode::UNSPECIFIED_ERROR, true);
        *outbox = Outbox::default();
        Ok(())
    }

    fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.is_fresh)
    }

    fn poll_gate(&mut self, cx: &mut Context<'_>) -> Gate {
        if self.hold.is_none() {
            return Gate::Open;
        }
        match self.poll_hold(cx) {
            false => Gate::Shut,
            true if self.promised => Gate::Open,
            true => Gate::Opened,
        }
    }

    fn deliver(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<Made, Over> {
        let mut made = Made::default();
        let taking = |member: &&mut Box<Member>| !member.subscriptions.is_empty();
        let member = self.member.as_mut().filter(taking);
        let Some(member) = member.filter(|_| self.server.is_open()) else {
            return Ok(made);
        };
        let context = &self.host.context;
        let mut deliverer = Deliverer {
            opener: Opener {
                house: &self.house,
                context,
                client_bytes_max: self.server.client_bytes_max(),
            },
            server: &mut self.server,
            outbox,
            now: context.now(),
            sent: 0,
            sent_exactly_once: false,
        };
        let told = member.place.waker(cx);
        let delivered = deliverer.deliver(member, &mut Context::from_waker(&told));
        let (sent, promised) = (deliverer.sent, deliverer.sent_exactly_once);
        made.more = delivered.map_err(io::Error::other)?;
        if sent > 0 {
            made.sent = true;
            member.changed = true;
            self.tally.send(sent);
            Counts::add(&self.house.sessions.counts.sent, sent);
        }
        if promised {
            self.promise();
        }
        Ok(made)
    }

    fn may_send(&mut self, cx: &mut Context<'_>) -> bool {
        self.begin_hold(cx);
        self.poll_hold(cx)
    }

    fn sent(&mut self, bytes: usize, outbox: &Outbox) {
        if bytes > 0 {
            Counts::add(&self.house.sessions.counts.bytes_sent, bytes as u64);
        }
        self.note_mark(outbox);
    }

    fn has_more(&mut self, cx: &mut Context<'_>) -> bool {
        let member = self.member.as_mut();
        member.is_some_and(|member| member.poll_more(cx))
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        match &mut self.member {
            Some(member) => member.place.waker(cx).wake(),
            None => cx.waker().wake_by_ref(),
        }
    }

    fn arriving_bytes(&self) -> usize {
        self.server.arriving_bytes()
    }

    fn deadline(&self) -> Instant {
        let Some(member) = &self.member else {
            return Instant::NEVER;
        };
        let is_due = member.changed && member.is_kept();
        let record_at = if is_due {
            member.record_at
        } else {
            Instant::NEVER
        };
        if member.held.is_some() {
            record_at.min(self.retry)
        } else {
            record_at
        }
    }

    fn on_time(&mut self, now: Instant) -> Result<(), Over> {
        let changed = self.member.as_ref().filter(|of| of.changed && of.is_kept());
        if changed.is_some_and(|member| now >= member.record_at) {
            drop(self.record());
        }
        Ok(())
    }

    fn close(&mut self, outbox: &mut Outbox) {
        self.drop_promises(outbox);
    }
}
