//! What of a session is written to the log, and when.
//!
//! The decision worth arguing: where a session is kept, what the client may rely on is on disk before the
//! client learns of it. A PUBLISH of QoS 2 leaves when its identifier is there, its PUBREL when PUBREC is
//! noted; a message of QoS 2 that comes has a key of its own in the record before it is published, by which
//! it is known again. So neither a crash nor another gateway takes or gives it twice.

use super::House;
use super::claims::{self, Claims};
use super::connection::Connection;
use super::member::{Due, Member, TAKEN};
use super::publish::{self, Refused};
use super::record::Stored;
use super::refused::{is_dropped, set_aside};
use super::service::Awaited;
use crate::session::{Closed, Message, Will};
use crate::wire::ReasonCode;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_carrier::clock::now;
use weir_carrier::outbox::Outbox;
use weir_hub::{Principal, Standing, Ticket};
use weir_model::Cursor;
use weir_sansio::Instant;

/// How long a record may lag behind what the client has: so much of QoS 1 may come twice after a crash.
const RECORD_TIME: weir_sansio::Duration = weir_sansio::Duration::from_secs(5);

/// For how long a message may wait for its key to be in the log. The log knows a key again for two minutes: who
/// was stopped for longer cannot tell whether another gateway has published it since.
const KEY_TIME: weir_sansio::Duration = weir_sansio::Duration::from_secs(60);

impl Connection {
    /// Writes the session's record, if the session is kept: as if the gateway ended now.
    pub(super) fn record(&mut self) -> Option<Ticket> {
        let member = self.member.as_mut().filter(|member| member.is_kept())?;
        member.recorded = true;
        member.changed = false;
        member.record_at = now() + RECORD_TIME;
        let stored = member.stored(self.server.state());
        remember(&self.house, &*self.host.context, &member.id, &stored)
    }

    pub(super) fn wait_for(&mut self, due: Due, ticket: Ticket) {
        self.wait_for_either(due, Awaited::Ticket(ticket));
    }

    pub(super) fn wait_for_either(&mut self, due: Due, awaited: Awaited) {
        if let Some(member) = &mut self.member {
            member.tickets.push_back((due, awaited));
            self.is_fresh = true;
        }
    }

    /// Takes a message of QoS 2 of a session that is kept: first its key is on its way to the disk, then
    /// it.
    pub(super) fn publish_once(&mut self, message: Box<Message>) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        let key = member.draw_key();
        member.note_key(message.packet_id, key);
        let recorded = self.record();
        match recorded {
            // Others may claim the session meanwhile: who was not first must not publish.
            Some(ticket) if self.is_shared() => {
                self.wait_for(Due::Publish(message, key, now()), ticket);
                true
            }
            None if self.is_shared() => {
                self.server
                    .close(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR, true);
                true
            }
            _ => self.publish_under(message, Some(key)),
        }
    }

    /// Publishes a message whose key has come to the log.
    pub(super) fn publish_noted(&mut self, message: Box<Message>, key: u64, drawn: Instant) {
        match now() > drawn + KEY_TIME {
            // It comes again, here or elsewhere.
            true => self
                .server
                .close(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR, true),
            false => _ = self.publish_under(message, Some(key)),
        }
    }

    fn is_shared(&self) -> bool {
        self.house.sessions.claims().is_some()
    }

    /// Takes one that came before the connection broke, or the gateway: whether it was published is found
    /// out by its key.
    pub(super) fn publish_again(&mut self, message: Box<Message>) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        match member.key_of(message.packet_id) {
            Some(TAKEN) => {
                let due = Due::Acknowledge(message.packet_id);
                super::connection::tell(&mut self.server, due);
                true
            }
            Some(key) => self.publish_under(message, Some(key)),
            None => self.publish(message),
        }
    }

    /// Says whether another gateway has the client's session.
    pub(super) fn is_lost(&self) -> bool {
        let claim = self.member.as_ref().map(|member| member.claim);
        claim.is_some_and(|claim| self.live.is_lost(claim))
    }

    /// What is made from here on is sent once the session's record says it.
    pub(super) fn promise(&mut self) {
        self.promised |= self.member.as_ref().is_some_and(|of| of.is_kept());
    }

    /// Says whether what waits may be sent.
    pub(super) fn poll_hold(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(ticket) = &self.hold else {
            return !self.promised;
        };
        let Poll::Ready(done) = ticket.poll(cx) else {
            return false;
        };
        if self.is_lost() {
            cx.waker().wake_by_ref();
            return false;
        }
        self.hold = None;
        if done.is_err() {
            self.break_off(cx);
        }
        done.is_ok()
    }

    /// Writes the record that what was made waits for; a shared log that takes none ends the connection.
    pub(super) fn begin_hold(&mut self, cx: &mut Context<'_>) {
        if !std::mem::take(&mut self.promised) {
            return;
        }
        self.hold = self.record().map(Box::new);
        if self.hold.is_none() && self.is_shared() {
            self.break_off(cx);
        }
    }

    /// The log takes no record: nothing that was promised is sent.
    fn break_off(&mut self, cx: &mut Context<'_>) {
        self.promised = true;
        self.server
            .close(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR, true);
        cx.waker().wake_by_ref();
    }

    /// What was promised and is in no record is not sent any more.
    pub(super) fn drop_promises(&mut self, outbox: &mut Outbox) {
        if self.hold.take().is_some() | std::mem::take(&mut self.promised) {
            outbox.truncate(self.mark);
        }
    }

    pub(super) fn leave(&mut self, closed: &Closed) {
        let Some(mut member) = self.member.take() else {
            return;
        };
        let counts = &self.house.sessions.counts;
        let subscriptions = member.subscriptions.len() as u64;
        counts
            .subscriptions
            .fetch_sub(subscriptions, Ordering::Relaxed);
        let secs_max = self.house.settings.session_expiry_secs_max;
        member.session_expiry_secs = closed.session_expiry_secs.min(secs_max);
        // [MQTT-3.1.2-8]
        let kept = member.is_kept();
        let will = member.will.take().filter(|_| closed.publish_will);
        match will {
            Some(will) if kept && will.delay_secs > 0 => member.will = Some(will),
            Some(will) => publish_will(
                &*self.host.context,
                (&member.principal, &member.id),
                member.claim,
                &will.message,
            ),
            None => {}
        }
        // [MQTT-4.1.0-2]
        let stored = kept.then(|| Stored {
            left: Some(self.host.context.now()),
            ..member.stored(self.server.state())
        });
        self.write_last(&member, stored.as_ref());
        for of in member.subscriptions.iter().filter(|of| of.is_shared()) {
            let (owner, position) = (&member.principal.name, of.position());
            { &self.house.sessions }.note_share(owner, &of.text, position);
        }
        let stored = stored.filter(|_| !self.live.is_lost(member.claim));
        let sessions = &self.house.sessions;
        sessions.release(&member.id, &self.live, stored);
    }

    fn write_last(&self, member: &Member, stored: Option<&Stored>) {
        let (house, context) = (&self.house, &*self.host.context);
        match stored {
            Some(stored) => drop(remember(house, context, &member.id, stored)),
            None if member.recorded => forget(house, context, &member.id),
            None => {}
        }
    }
}

/// Publishes the will of a session without a connection, in the name of its owner, if the policy still knows that.
pub(super) fn publish_stored_will(context: &dyn Gateway, id: &str, stored: &Stored, will: &Will) {
    if let Some(owner) = context.named(&stored.owner) {
        publish_will(context, (&owner, id), stored.connection, &will.message);
    }
}

/// Publishes a will as far as its owner may; it counts with no rate, since a client that sent as much as it may would
/// be missed by nobody. Several gateways may: the connection that it is of is its key.
pub(super) fn publish_will(
    context: &dyn Gateway,
    (owner, id): (&Principal, &str),
    connection: Cursor,
    message: &Message,
) {
    if owner.standing.is_revoked() {
        return;
    }
    let principal = Principal {
        standing: Standing::default(),
        ..owner.clone()
    };
    let key = match connection {
        Cursor::START => None,
        of => Some(format!("mqtt-will/{:x}", of.bits()).into_bytes()),
    };
    let (hub, now) = (context.hub(), context.now());
    // Nobody is left to be told.
    let published = publish::publish(hub, now, (&principal, id), None, message, key, false);
    if let Err(Refused::Code(code, reason)) = published
        && !is_dropped(code)
    {
        drop(set_aside(context, message, &reason));
    }
}

/// Writes a session's record; a session that the log does not take lives as long as the gateway.
pub(super) fn remember(
    house: &House,
    context: &dyn Gateway,
    id: &str,
    stored: &Stored,
) -> Option<Ticket> {
    let (key, bytes) = match house.sessions.claims() {
        Some(claims) => claims.state(id, stored.claim, stored),
        None => (claims::own_key(id), stored.write()),
    };
    put(context, key, bytes)
}

/// Claims a session for this gateway.
pub(super) fn claim(
    claims: &Claims,
    context: &dyn Gateway,
    id: &Arc<str>,
    owner: &str,
) -> Option<Ticket> {
    let (key, bytes) = claims.claim(id, owner);
    put(context, key, bytes)
}

/// Writes a record of a session or about one.
pub(super) fn put(context: &dyn Gateway, key: String, bytes: Bytes) -> Option<Ticket> {
    let gateway = context.hub().internal();
    gateway.remember(context.now(), &key, bytes).ok()
}

/// Removes what the log has of a session.
pub(super) fn forget(house: &House, context: &dyn Gateway, id: &str) {
    match house.sessions.claims() {
        Some(claims) => claims
            .keys_of(id)
            .into_iter()
            .for_each(|key| remove(context, key)),
        None => remove(context, claims::own_key(id)),
    }
}

/// Removes a record.
pub(super) fn remove(context: &dyn Gateway, key: String) {
    drop(context.hub().internal().forget(context.now(), &key));
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(accepting) = &mut self.accepting {
            accepting.give_up(&self.house.sessions, &self.live);
        }
        // Broken off: as if the stream had ended.
        if let Some(member) = &self.member {
            let closed = Closed {
                code: ReasonCode::UNSPECIFIED_ERROR,
                fault: None,
                publish_will: !self.host.is_stopping(),
                session_expiry_secs: member.session_expiry_secs,
            };
            self.leave(&closed);
        }
    }
}
