//! A message at a topic that is a service's: it is posted.

use super::Connection;
use crate::net::member::{Due, TAKEN};
use crate::net::service::{awaited, call};
use crate::net::sessions::Counts;
use crate::session::Message;
use crate::wire::QoS;
use weir_binding::Service;

impl Connection {
    /// Posts a message to the service whose topic it was published at; it is acknowledged once that has
    /// answered. `false` where it is held until the log takes it.
    pub(super) fn post(
        &mut self,
        service: &dyn Service,
        path: &str,
        message: Box<Message>,
    ) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        if message.qos == QoS::ExactlyOnce {
            member.note_key(message.packet_id, TAKEN);
            member.changed = true;
        }
        let (principal, body) = (&member.principal, message.payload.clone());
        let call = call(&*self.host.context, principal, "POST", path, body);
        let posted = match awaited(service.call(call)) {
            Ok(posted) => posted,
            Err(refusal) => return self.refuse(message, Some(TAKEN), &refusal),
        };
        Counts::add(&self.house.sessions.counts.received, 1);
        self.tally.receive(1);
        // Nobody waits for what was sent at most once; it is done all the same.
        if message.qos != QoS::AtMostOnce {
            let due = Due::Posted(message);
            match posted {
                Some(awaited) => self.wait_for_either(due, awaited),
                None => due.tell(&mut self.server),
            }
        }
        true
    }
}
