//! One connection: what its machine's events mean, and what it sends unasked.
//!
//! An idle connection is a socket, the machine's few words and its links, with no buffer.

use super::attach::Place;
use super::deliver::Deliverer;
use super::durable::{Holders, RECORD_TIME};
use super::link::Outward;
use super::login::Who;
use super::member::Member;
use super::publish::{Refused, refused, rejected, request_of};
use super::settings::Settings;
use crate::limits::{CREDIT, UNSENT_BYTES_MAX};
use crate::session::{LinkId, Mechanisms, Received, Server, ServerEvent, ServerLimits};
use crate::wire::{Attach, Condition, DeliveryState};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_binding::bridge::came_back;
use weir_binding::{Gateway, Hosted, Tally};
use weir_carrier::clock::{Timer, now};
use weir_carrier::driver::{Driven, Due, Heard, Leave, Over, Serving};
use weir_carrier::outbox::Outbox;
use weir_carrier::{Link, Stream};
use weir_hub::Principal;
use weir_sansio::{Instant, Session};

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
    holders: Arc<Holders>,
    host: Hosted,
    /// What the WebSocket's opening presented.
    credential: Option<Box<str>>,
    peer_is_local: bool,
    server: Server,
    /// Who the client is, while that is found out.
    login: Option<Box<Who>>,
    member: Option<Box<Member>>,
    tally: Arc<Tally>,
    /// When the log is asked again.
    retry: Instant,
    /// Whether there are tickets that were not asked for yet.
    is_fresh: bool,
}

/// Serves a link to its end.
pub(super) fn serve(
    link: Link,
    settings: &Settings,
    holders: Arc<Holders>,
    context: Arc<dyn Gateway>,
) -> Serving<Connection> {
    let limits = ServerLimits {
        frame_bytes_max: settings.frame_bytes_max,
        message_bytes_max: settings.message_bytes_max,
        idle_millis: settings.idle_secs * 1000,
        ..ServerLimits::default()
    };
    let mechanisms = Mechanisms {
        external: link.credential.is_some(),
    };
    let connection = Connection {
        peer_is_local: link.peer.ip().is_loopback(),
        credential: link.credential.map(Into::into),
        tally: context.tally("amqp", scheme(&link.stream)),
        host: Hosted::new(context),
        holders,
        server: Server::new(now(), limits, mechanisms),
        login: None,
        member: None,
        retry: Instant::NEVER,
        is_fresh: false,
    };
    Serving::new(link.stream, connection)
}

/// As in an address of its kind, for metrics.
fn scheme(stream: &Stream) -> &'static str {
    match stream {
        Stream::Tcp(_) => "amqp",
        Stream::Tls(_) => "amqps",
        Stream::WebSocket(socket) => match socket.below() {
            Stream::Tls(_) => "amqp10+wss",
            _ => "amqp10+ws",
        },
    }
}

impl Connection {
    /// Lets the client in.
    fn enter(&mut self, principal: Principal) {
        self.member = Some(Box::new(Member::new(principal)));
        self.server.admit(Ok(()));
        // What came meanwhile is read now.
        let Ok(()) = self.server.handle_input(now(), &[]);
    }

    /// Goes on with a login; ready once there is none.
    fn poll_login(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(who) = &mut self.login else {
            return Poll::Ready(());
        };
        let known = ready!(who.poll(cx));
        self.login = None;
        match known {
            Ok(principal) => self.enter(principal),
            Err((code, reason)) => self.server.admit(Err((code, &reason))),
        }
        Poll::Ready(())
    }

    /// Decides about a link.
    fn attach(&mut self, id: LinkId, attach: &Attach) {
        let Some(member) = &mut self.member else {
            return;
        };
        let place = Place {
            holders: &self.holders,
            context: &self.host.context,
            container: self.server.container_id(),
        };
        match place.attach(member, id, attach) {
            Ok(accepted) => self.server.accept(id, accepted),
            Err(error) => self.server.refuse(id, attach, error),
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

    /// Gives a message to the hub; it is kept until the log takes it.
    fn publish(&mut self, received: Box<Received>) -> Heard {
        let Some(member) = &mut self.member else {
            return Heard::Done;
        };
        let (of_link, id) = (received.link, received.delivery_id);
        let link = member.inward.iter().find(|of| of.id == received.link);
        let address = link.and_then(|of| of.address.as_deref());
        let context = &self.host.context;
        let now_there = context.now();
        let request = request_of(&received, address, now_there, member.client);
        let published = request.map_err(Refused::Error).and_then(|publish| {
            if came_back(context.hub(), &publish.attributes.properties) {
                return Err(Refused::CameBack);
            }
            let caller = context.hub().caller(now_there, &member.principal);
            let published = caller.and_then(|caller| caller.publish(publish));
            published.map_err(|fault| refused(&fault))
        });
        match published {
            Ok(ticket) => {
                self.tally.receive(1);
                // What is promised is accepted when it is on disk.
                if !received.settled {
                    member.tickets.push_back((of_link, id, ticket));
                    self.is_fresh = true;
                }
            }
            Err(Refused::Busy) => {
                member.held = Some(received);
                self.retry = now() + BUSY_TIME;
                return Heard::Kept;
            }
            // It is set aside with its reason, and the link goes on.
            // [AMQP-3.4.3-1]
            Err(Refused::Error(error)) => self.server.settle(of_link, id, rejected(error)),
            Err(Refused::CameBack) => self.server.settle(of_link, id, DeliveryState::Accepted),
            Err(Refused::Stopping) => self.server.settle(of_link, id, DeliveryState::Released),
            Err(Refused::Broken(reason)) => self.server.close(Condition::INTERNAL_ERROR, &reason),
        }
        Heard::Done
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
        _: &Outbox,
        _: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Over>> {
        ready!(self.poll_login(cx));
        self.poll_tickets(cx);
        Poll::Ready(Ok(()))
    }

    fn is_revoked(&self) -> bool {
        let is_out = |it: &Member| it.principal.standing.is_revoked() && !it.is_expelled;
        self.member.as_deref().is_some_and(is_out)
    }

    fn take_leave(&mut self, why: Leave) -> Result<(), Over> {
        let condition = match why {
            Leave::Stopping => Condition::CONNECTION_FORCED,
            Leave::Revoked => Condition::UNAUTHORIZED_ACCESS,
            Leave::Short => Condition::RESOURCE_LIMIT_EXCEEDED,
        };
        if let Some(member) = self.member.as_mut().filter(|_| why == Leave::Revoked) {
            member.is_expelled = true;
        }
        self.server.close(condition, &why.to_string());
        Ok(())
    }

    fn resume(&mut self) -> Result<Heard, Over> {
        let held = self.member.as_mut().and_then(|member| member.held.take());
        Ok(held.map_or(Heard::Done, |held| self.publish(held)))
    }

    fn on_event(&mut self, event: ServerEvent) -> Result<Heard, Over> {
        match event {
            ServerEvent::Login(login) => {
                let presented = (self.credential.as_deref(), self.peer_is_local);
                let who = Who::look_up(&*self.host.context, presented, login);
                self.login = Some(Box::new(who));
                return Ok(Heard::Again);
            }
            ServerEvent::Closed(closed) => {
                if let Some(error) = closed.error {
                    tracing::debug!(%error, "connection closed");
                }
                return Err(Over::Closed);
            }
            ServerEvent::Delivery(received) => return Ok(self.publish(received)),
            other => self.take(other),
        }
        Ok(Heard::Done)
    }

    fn may_read(&self, waiting: usize) -> bool {
        let waits = self
            .member
            .as_ref()
            .is_some_and(|member| member.held.is_some() || member.tickets.len() >= TICKETS_MAX);
        !waits && waiting < UNSENT_BYTES_MAX
    }

    fn lost(&mut self, error: io::Error) -> Over {
        Over::Lost(error)
    }

    fn broken(&mut self, error: Infallible) -> Over {
        match error {}
    }

    /// Nobody hears what is left.
    fn ended(&mut self, outbox: &mut Outbox) -> Result<(), Over> {
        *outbox = Outbox::default();
        Err(Over::Closed)
    }

    fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.is_fresh)
    }

    fn deliver(&mut self, outbox: &mut Outbox, cx: &mut Context<'_>) -> Result<Due, Over> {
        let mut due = Due::default();
        let member = self.member.as_mut().filter(|of| !of.outward.is_empty());
        if let Some(member) = member.filter(|_| self.server.is_open()) {
            let told = member.place.waker(cx);
            let mut told = Context::from_waker(&told);
            let (server, context) = (&mut self.server, &self.host.context);
            let (delivered, sent) = HEAD.with_borrow_mut(|head| {
                let mut deliverer = Deliverer {
                    context,
                    server,
                    outbox: &mut *outbox,
                    head,
                    now: context.now(),
                    sent: 0,
                };
                (deliverer.deliver(member, &mut told), deliverer.sent)
            });
            due.more = delivered.map_err(io::Error::other)?;
            due.sent = sent > 0;
            if sent > 0 {
                self.tally.send(sent);
                if member.outward.iter().any(|of| of.durable.is_some()) {
                    member.record_at = member.record_at.min(now() + RECORD_TIME);
                }
            }
        }
        // What the machine has to say of it: drained credit, ended links.
        if let Some(bytes) = self.server.take_bytes() {
            outbox.push(bytes.into());
        }
        Ok(due)
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
        if member.held.is_some() {
            member.record_at.min(self.retry)
        } else {
            member.record_at
        }
    }

    fn on_time(&mut self, now: Instant) -> Result<(), Over> {
        if let Some(member) = self.member.as_mut().filter(|of| now >= of.record_at) {
            member.record_at = Instant::NEVER;
            member.outward.iter_mut().for_each(Outward::record);
        }
        Ok(())
    }

    fn close(&mut self, _: &mut Outbox) {
        self.member = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_is_small() {
        let sizes = (
            size_of::<Serving<Connection>>(),
            size_of::<Member>(),
            size_of::<Outward>(),
        );
        assert!(sizes.0 + sizes.1 <= 900 && sizes.2 <= 320, "{sizes:?}");
    }
}
