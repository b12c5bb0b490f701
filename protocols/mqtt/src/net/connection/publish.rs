//! From a message of a client to the log, or to where it waits for that.

use super::Connection;
use crate::net::member::Due;
use crate::net::publish::{self, Refused};
use crate::net::refused::{Refusal, is_answered};
use crate::net::sessions::Counts;
use crate::session::Message;
use crate::wire::QoS;
use weir_carrier::clock::now;

/// How soon the log is asked again that could take nothing.
const BUSY_TIME: weir_sansio::Duration = weir_sansio::Duration::from_millis(5);

impl Connection {
    /// Gives a message to the hub; `false` where it is held until the log takes it.
    pub(super) fn publish(&mut self, message: Box<Message>) -> bool {
        if let Some((service, path)) = self.host.context.service_of_topic(&message.topic) {
            let service = service.clone();
            return self.post(&*service, &path, message);
        }
        let kept = self.member.as_ref().is_some_and(|of| of.is_kept());
        match message.qos {
            QoS::ExactlyOnce if kept => self.publish_once(message),
            _ => self.publish_under(message, None),
        }
    }

    /// The same under a key of its own.
    pub(super) fn publish_under(&mut self, message: Box<Message>, key: Option<u64>) -> bool {
        let Some(member) = &mut self.member else {
            return true;
        };
        let counts = &self.house.sessions.counts;
        let client = Some(member.client);
        let (hub, publisher) = (self.host.context.hub(), (&member.principal, &*member.id));
        let of = key.map(|key| format!("mqtt/{key:x}").into_bytes());
        let answered = is_answered(member.version, message.qos);
        let wills = &self.house.wills;
        let published = wills.poll_of(&*self.host.context, &member.id);
        let published = published.and_then(|()| {
            // Behind that, also in time.
            let now_there = self.host.context.now();
            publish::publish(hub, now_there, publisher, client, &message, of, answered)
        });
        match published {
            Ok(ticket) => {
                Counts::add(&counts.received, 1);
                self.tally.receive(1);
                // What is promised is acknowledged when it is on disk.
                let due = Due::Acknowledge(message.packet_id);
                match message.qos {
                    QoS::AtMostOnce => {}
                    _ => self.wait_for(due, ticket),
                }
            }
            Err(Refused::Busy) => {
                self.hold_message(message, key);
                return false;
            }
            Err(Refused::Code(code, reason)) => {
                let refusal = Refusal {
                    code,
                    reason,
                    is_for_now: false,
                };
                return self.refuse(message, key, &refusal);
            }
            // Its identifier was used anew without a release of the message before.
            Err(Refused::Another) => return self.publish_once(message),
            Err(Refused::Over(code)) => self.server.close(code, true),
        }
        true
    }

    /// Holds a message until the log takes it; nothing is read meanwhile.
    pub(super) fn hold_message(&mut self, message: Box<Message>, key: Option<u64>) {
        if let Some(member) = &mut self.member {
            member.held = Some((message, key));
            self.retry = now() + BUSY_TIME;
        }
    }
}
