//! What of a session is written to the log, and when.
//!
//! The decision worth arguing: where a session is kept, what the client may rely on is on disk before the
//! client learns of it. A PUBLISH of QoS 2 leaves when its identifier is there, its PUBREL when PUBREC is
//! noted; a message of QoS 2 that comes has a key of its own in the record before it is published, by which
//! it is known again. So neither a crash nor another gateway takes or gives it twice.

use super::Connection;
use crate::net::member::{Due, TAKEN};
use crate::net::remember::remember;
use crate::net::service::Awaited;
use crate::session::Message;
use crate::wire::ReasonCode;
use std::task::{Context, Poll};
use weir_carrier::clock::now;
use weir_carrier::outbox::Outbox;
use weir_hub::Ticket;
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
        if now() > drawn + KEY_TIME {
            // It comes again, here or elsewhere.
            self.server
                .close(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR, true)
        } else {
            _ = self.publish_under(message, Some(key))
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
                due.tell(&mut self.server);
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
}
