//! Messages that are not taken, and what becomes of them.
//!
//! MQTT 5 has a reason for each. 3.1.1 has none, and neither version answers QoS 0: an acknowledgement of 3.1.1 says
//! that a message is kept. The decision worth arguing: so what cannot be kept where it was to go is set aside, in the
//! log, before it is acknowledged; what passes by itself is not acknowledged and comes again; only of what its
//! publisher may not do nothing is kept, as the standard has it [MQTT311-3.3.5-2]. A connection that is closed over a
//! message would be closed over it for ever.

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
pub(super) fn note(context: &dyn Gateway, outcome: &str) {
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
