//! From the other broker to the log: published as any client would, acknowledged when it is on disk.

use super::kept::Kept;
use super::settings::Plan;
use crate::net::publish::request_of;
use crate::session::Message;
use crate::wire::QoS;
use std::sync::Arc;
use weir_binding::Gateway;
use weir_binding::bridge::{self, SetAside, Told, count, first, has_been_here, opaque};
use weir_hub::{ClientId, Publish, Ticket};

/// What a message is taken with.
pub(super) struct Inward<'a> {
    pub(super) plan: &'a Plan,
    pub(super) here: &'a str,
    pub(super) origin: &'a str,
    pub(super) kept: &'a mut Kept,
    pub(super) told: &'a Told,
    pub(super) client: ClientId,
    pub(super) context: &'a Arc<dyn Gateway>,
}

/// What became of a message.
pub(super) enum Taken {
    /// It is in the log, and on disk once this says so.
    Logged(Ticket),
    /// It was here before, and is acknowledged so that it does not come again.
    Passed,
    /// It can be kept nowhere, and why: the other broker keeps it.
    Stands(String),
    /// The log takes nothing now: to be tried again.
    Busy,
    /// The gateway is stopping, or its log has failed.
    Over,
}

impl Inward<'_> {
    /// Gives a message to the hub.
    pub(super) fn take(&mut self, message: &Message) -> Taken {
        let user = message.properties.as_deref().map(|of| of.user.as_slice());
        if has_been_here(user.unwrap_or_default(), self.here) {
            count(&self.told.looped);
            return Taken::Passed;
        }
        let named = first(&self.plan.inward, |line| {
            line.names.to_local(&message.topic)
        });
        let Some((line, topic)) = named else {
            return self.set_aside(message, "no line names its topic");
        };
        let mut renamed = message.clone();
        renamed.topic = topic;
        renamed.retain &= line.retain;
        let wanted = request_of(&renamed, self.context.now(), Some(self.client));
        let mut publish = match wanted {
            Ok(publish) => publish,
            // What the other broker took is not refused for what it says of itself.
            Err(_) => self.opaque(&renamed),
        };
        publish.origin = self.origin.into();
        if message.qos == QoS::ExactlyOnce && publish.key.is_none() {
            publish.key = Some(self.key(message.packet_id));
        }
        let taken = match bridge::give(&**self.context, publish) {
            bridge::Taken::Refused(reason) => self.set_aside(message, &reason),
            taken => self.outcome(taken, message),
        };
        let promised = message.qos == QoS::ExactlyOnce && !matches!(taken, Taken::Busy);
        self.kept.taken += u64::from(promised);
        taken
    }

    fn opaque(&self, message: &Message) -> Publish {
        let mut publish = opaque(&message.topic, None, message.payload.clone());
        publish.retain = message.retain;
        publish.client = Some(self.client);
        publish
    }

    /// What a QoS 2 message is known by when it comes again after a crash: then those that were not
    /// recorded as taken come first, in their order [MQTT-4.6.0-1].
    fn key(&self, packet_id: u16) -> Vec<u8> {
        let (taken, session) = (self.kept.taken, self.kept.sessions);
        format!("{}/{session}/{taken}/{packet_id}", self.origin).into_bytes()
    }

    fn set_aside(&self, message: &Message, reason: &str) -> Taken {
        let aside = SetAside {
            way: "in",
            name: &message.topic,
            reason,
            payload: message.payload.clone(),
        };
        self.outcome(aside.keep(&**self.context, self.told), message)
    }

    fn outcome(&self, taken: bridge::Taken, message: &Message) -> Taken {
        match taken {
            bridge::Taken::Logged(ticket) => Taken::Logged(ticket),
            bridge::Taken::Busy => Taken::Busy,
            bridge::Taken::Over => Taken::Over,
            bridge::Taken::Refused(reason) => {
                Taken::Stands(format!("`{}` cannot be kept: {reason}", message.topic))
            }
        }
    }
}
