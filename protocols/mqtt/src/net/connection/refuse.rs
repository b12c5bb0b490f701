//! What becomes of a message of a client that is not taken.

use super::Connection;
use crate::net::member::{Due, TAKEN};
use crate::net::refused::{ASIDE, Refusal, is_answered, is_dropped, note, set_aside};
use crate::net::sessions::Counts;
use crate::session::Message;
use crate::wire::{QoS, ReasonCode};
use weir_binding::bridge::Taken;

impl Connection {
    /// Does with a message that is not taken what can be done; `false` where it is held until the log takes it.
    pub(super) fn refuse(
        &mut self,
        message: Box<Message>,
        key: Option<u64>,
        refusal: &Refusal,
    ) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        let Refusal {
            code,
            reason,
            is_for_now,
        } = refusal;
        let is_told = is_answered(member.version, message.qos);
        if is_told || is_dropped(*code) {
            note(
                &*self.host.context,
                if is_told { "told" } else { "dropped" },
            );
            member.receipts.retain(|(of, _)| *of != message.packet_id);
            self.count_refused();
            if message.qos != QoS::AtMostOnce {
                let id = message.packet_id;
                self.server.acknowledge(id, *code, Some(reason));
            }
            return true;
        }
        if *is_for_now {
            self.let_go(&message, *code);
            return true;
        }
        let of_service = key == Some(TAKEN);
        if of_service {
            self.say_once(&message.topic, refusal);
        }
        match set_aside(&*self.host.context, &message, reason) {
            // It is not the hub that has refused it.
            Taken::Busy if of_service => self.let_go(&message, *code),
            Taken::Busy => {
                self.hold_message(message, key);
                return false;
            }
            Taken::Logged(ticket) if message.qos != QoS::AtMostOnce => {
                self.wait_for(Due::Acknowledge(message.packet_id), ticket);
                self.count_refused();
            }
            Taken::Logged(_) => self.count_refused(),
            Taken::Refused(_) => self.let_go(&message, *code),
            Taken::Over => self
                .server
                .close(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR, true),
        }
        true
    }

    /// Says in the log that a service refuses what this client is not told of: once for each reason. What the hub
    /// refuses it says itself.
    fn say_once(&mut self, topic: &str, refusal: &Refusal) {
        let Some(member) = &mut self.member else {
            return;
        };
        let bit = 1 << (refusal.code.0 & 31);
        if member.said & bit == 0 {
            member.said |= bit;
            let (client, reason) = (&*member.id, &*refusal.reason);
            tracing::warn!(client, topic, reason, "a message is set aside at {ASIDE}");
        }
    }

    /// It is not kept and not acknowledged: its client brings it again.
    fn let_go(&mut self, message: &Message, code: ReasonCode) {
        if let Some(member) = &mut self.member {
            member.receipts.retain(|(of, _)| *of != message.packet_id);
        }
        if message.qos != QoS::AtMostOnce {
            self.server.close(code, true);
        }
    }

    fn count_refused(&self) {
        Counts::add(&self.house.sessions.counts.refused, 1);
    }
}
