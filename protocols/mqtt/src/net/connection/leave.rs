//! How a connection ends: what is left of its session, and who hears of it.

use super::Connection;
use crate::net::member::Member;
use crate::net::record::Stored;
use crate::net::remember::{forget, remember};
use crate::net::will::{DueWill, put_off_until};
use crate::session::{Closed, Will};
use crate::wire::ReasonCode;
use std::sync::atomic::Ordering;
use weir_carrier::clock::now;
use weir_model::Time;
use weir_sansio::Instant;

impl Connection {
    /// Counts a client that is thrown out; one that was refused is counted already.
    pub(super) fn note_end(&self, closed: &Closed) {
        let rule = closed.fault.map(|fault| fault.to_string());
        let is_refused = self.server.version().is_some() && self.member.is_none();
        if is_refused && rule.is_none() {
            return;
        }
        let client = match &self.member {
            Some(member) => member.id.to_string(),
            None => self.peer.to_string(),
        };
        let why = rule.unwrap_or_default();
        self.house
            .thrown
            .note(&*self.host.context, &client, closed.code, &why);
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
        let mut put_off = None;
        match will {
            Some(will) if kept && will.delay_secs > 0 => member.will = Some(will),
            Some(will) => put_off = self.publish_will(&mut member, will),
            None => {}
        }
        // [MQTT-4.1.0-2]
        let stored = kept.then(|| Stored {
            left: Some(self.host.context.now()),
            put_off,
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

    /// Publishes a will that is due; where the log takes it later, a session that is kept has it until then, and it is
    /// said since when and until when it is put off.
    fn publish_will(&self, member: &mut Member, will: Box<Will>) -> Option<(Instant, Time)> {
        let (context, wills) = (&*self.host.context, &self.house.wills);
        let of = (&member.principal, &member.id);
        let due = DueWill::new(context, of, member.claim, will.message.clone());
        if !member.is_kept() {
            wills.publish(context, due);
            return None;
        }
        let refused = wills.try_publish(context, due).is_err();
        refused.then(|| {
            member.will = Some(will);
            (now(), put_off_until(context.now()))
        })
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
