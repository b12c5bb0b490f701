//! From the other broker to the log: published as any client would, acknowledged when it is on disk.

use super::has_been_here;
use super::kept::Kept;
use super::mapping::first;
use super::settings::Plan;
use super::told::{Told, count};
use crate::net::publish::{Refused, refused, request_of};
use crate::session::Message;
use crate::wire::QoS;
use std::sync::Arc;
use weir_binding::Context as Gateway;
use weir_hub::{
    Attributes, ClientId, Exchange, Fault, LogFault, Media, Principal, Publish, Request, Ticket,
};

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
    /// It goes no further, and is acknowledged so that it does not come again.
    Passed,
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
        let named = first(&self.plan.inward, |line| line.to_local(&message.topic));
        let Some((line, topic)) = named else {
            self.told
                .refused(&at(&message.topic), "no line names its topic");
            return Taken::Passed;
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
        let taken = self.publish(publish);
        let promised = message.qos == QoS::ExactlyOnce && !matches!(taken, Taken::Busy);
        self.kept.taken += u64::from(promised);
        taken
    }

    fn opaque(&self, message: &Message) -> Publish {
        let media = Media::Opaque("application/octet-stream".into());
        let mut publish = Publish::new(message.topic.clone(), media, message.payload.clone());
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

    fn publish(&mut self, mut publish: Publish) -> Taken {
        loop {
            let request = Request::Publish(publish.clone());
            let fault = match self.ask(request) {
                Ok(ticket) => return Taken::Logged(ticket),
                Err(fault) => fault,
            };
            match fault {
                Fault::Log(LogFault::Busy) => return Taken::Busy,
                // Another message than the one that was given this number before a crash.
                Fault::KeyReused(_) if publish.key.is_some() => publish.key = None,
                // A wrong content type does not stop it.
                Fault::Undecodable { .. } | Fault::Message(_) if !is_opaque(&publish.media) => {
                    publish.media = Media::Opaque(content_type(&publish.attributes));
                }
                fault => {
                    return match refused(&fault) {
                        Refused::Over(_) => Taken::Over,
                        _ => {
                            self.told.refused(&at(&publish.topic), &fault.to_string());
                            Taken::Passed
                        }
                    };
                }
            }
        }
    }

    fn ask(&self, request: Request) -> Result<Ticket, Fault> {
        let hub = self.context.hub();
        match hub.open(self.context.now(), &Principal::gateway(), request)? {
            Exchange::Accepted(ticket) => Ok(ticket),
            _ => Err(Fault::Stopping),
        }
    }
}

fn at(topic: &str) -> String {
    format!("a message at `{topic}`")
}

fn is_opaque(media: &Media) -> bool {
    matches!(media, Media::Opaque(_))
}

fn content_type(attributes: &Attributes) -> String {
    let given = attributes.content_type.clone();
    given.unwrap_or_else(|| "application/octet-stream".into())
}
