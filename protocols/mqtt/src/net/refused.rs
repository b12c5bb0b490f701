//! Messages that are not taken, and what becomes of them.
//!
//! MQTT 5 has a reason for each. 3.1.1 has none, and neither version answers QoS 0: an acknowledgement of 3.1.1 says
//! that a message is kept. The decision worth arguing: so what cannot be kept where it was to go is set aside, in the
//! log, before it is acknowledged; what passes by itself is not acknowledged and comes again; only of what its
//! publisher may not do nothing is kept, as the standard has it [MQTT311-3.3.5-2]. A connection that is closed over a
//! message would be closed over it for ever.

use super::connection::Connection;
use super::member::{Due, TAKEN};
use super::sessions::Counts;
use crate::session::Message;
use crate::wire::{QoS, ReasonCode, Version};
use weir_binding::bridge::{SetAside, Taken, count};
use weir_binding::{Gateway, Metric};

/// Where messages of clients are that could be kept nowhere else and could not be answered. Not below `$SYS`: who may
/// read how the gateway is need not be one who may read what others publish.
pub(super) const ASIDE: &str = "$aside/mqtt";

static REFUSED: Metric = Metric {
    name: "weir_mqtt_refused_messages_total",
    counts: true,
    help: "Messages of MQTT clients that were not taken, by what became of them.",
};

/// Why a message is not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: ReasonCode,
    pub(super) reason: String,
    /// It may be taken later.
    pub(super) is_for_now: bool,
}

/// Whether a refusal of a message reaches its publisher.
pub(super) fn is_answered(version: Version, qos: QoS) -> bool {
    version == Version::V5 && qos != QoS::AtMostOnce
}

/// Says whether nothing of a message is to be kept: its publisher may not publish it, or it is here already.
pub(super) fn is_dropped(code: ReasonCode) -> bool {
    matches!(
        code,
        ReasonCode::NOT_AUTHORIZED | ReasonCode::NO_MATCHING_SUBSCRIBERS
    )
}

/// Counts a message that was not taken.
fn note(context: &dyn Gateway, outcome: &str) {
    count(&context.meter(&REFUSED, &format!(r#"outcome="{outcome}""#)));
}

/// Sets aside what was to be published at a topic.
pub(super) fn set_aside(context: &dyn Gateway, message: &Message, reason: &str) -> Taken {
    let aside = SetAside {
        way: "in",
        name: &message.topic,
        reason,
        payload: message.payload.clone(),
    };
    let taken = aside.put(context, ASIDE);
    if let Taken::Logged(_) = taken {
        note(context, "aside");
    }
    taken
}

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
