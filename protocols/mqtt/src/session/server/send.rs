//! What the driver decides, on its way to the client.

use super::{Phase, Server, State};
use crate::limits::IN_FLIGHT_MAX;
use crate::session::inbound::Inbound;
use crate::session::outbound::{Outbound, Stage, Token};
use crate::wire::{
    Ack, Connack, Disconnect, Packet, Properties, Property, PropertyList, Publish, QoS, ReasonCode,
    Suback, Version,
};
use alloc::vec::Vec;
use weir_sansio::Instant;

/// How a client is accepted.
#[derive(Clone, Debug, Default)]
pub struct Acceptance<'a> {
    /// What is left of its session; `None` for a new one.
    pub session: Option<State>,
    /// The client identifier, where the server assigned it.
    pub assigned_client_id: Option<&'a str>,
    /// Seconds that the session lives on, where that is other than asked for.
    pub session_expiry_secs: Option<u32>,
    /// Where answers to the client may be sent, where it asked for that.
    pub response_information: Option<&'a str>,
}

/// A message for the client, without its payload.
pub struct Delivery<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// Its quality of service, the subscription's considered.
    pub qos: QoS,
    /// Whether the retain flag is set.
    pub retain: bool,
    /// Its properties, without an alias.
    pub properties: &'a mut PropertyList,
    /// How long the payload is.
    pub payload_bytes: usize,
    /// By what it is found again.
    pub token: Token,
}

/// What became of a [`Delivery`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Its head is written; the payload must follow.
    Head,
    /// The client takes no more messages of its quality at once: offer it again. Nothing else is held
    /// back [MQTT-3.3.4-10] [MQTT-4.9.0-3].
    Full,
    /// It is larger than the client takes and counts as sent [MQTT-3.1.2-25].
    TooLarge,
}

impl Server {
    /// Accepts the client [MQTT-3.1.4-5]; what it sent meanwhile is read with the next (empty) input.
    pub fn accept(&mut self, now: Instant, acceptance: &Acceptance<'_>) {
        let Some(version) = self.version.filter(|_| self.phase == Phase::Deciding) else {
            return;
        };
        if let Some(secs) = acceptance.session_expiry_secs {
            self.session_expiry_secs = secs;
        }
        let quota = self.peer.receive_max.min(IN_FLIGHT_MAX);
        let state = acceptance.session.clone().unwrap_or_default();
        self.inbound = Inbound::resume(&state.received);
        self.outbound = Outbound::resume(&state.in_flight, quota).behind(state.last_id);
        self.phase = Phase::Open;
        self.heard = now;
        let properties = match version {
            Version::V5 => self.connack_properties(acceptance),
            Version::V31 | Version::V311 => PropertyList::default(),
        };
        let connack = Connack {
            // [MQTT-3.2.2-2] [MQTT-3.2.2-3]
            session_present: acceptance.session.is_some(),
            code: ReasonCode::SUCCESS,
            properties: properties.as_properties(),
        };
        self.send_packet(&Packet::Connack(connack));
        // [MQTT-4.4.0-1]
        let released = state
            .in_flight
            .iter()
            .filter(|of| of.stage == Stage::Pubcomp);
        for of in released {
            let ack = Ack::new(of.packet_id, ReasonCode::SUCCESS);
            self.send_packet(&Packet::Pubrel(ack));
        }
    }

    fn connack_properties(&self, acceptance: &Acceptance<'_>) -> PropertyList {
        let mut list = PropertyList::default();
        if let Some(secs) = acceptance.session_expiry_secs {
            list.push(Property::SessionExpiryInterval(secs));
        }
        list.push(Property::ReceiveMaximum(self.limits.receive_max));
        let bytes = u32::try_from(self.limits.packet_bytes_max).unwrap_or(u32::MAX);
        list.push(Property::MaximumPacketSize(bytes));
        // [MQTT-3.2.2-16]
        if let Some(id) = acceptance.assigned_client_id {
            list.push(Property::AssignedClientIdentifier(id));
        }
        list.push(Property::TopicAliasMaximum(self.limits.topic_aliases_max));
        // [MQTT-3.1.2-28]
        if let Some(information) = acceptance.response_information {
            list.push(Property::ResponseInformation(information));
        }
        list
    }

    /// Refuses the client; then it is over.
    pub fn refuse(&mut self, code: ReasonCode, reason: &str) {
        if let Some(version) = self.version.filter(|_| self.phase == Phase::Deciding) {
            self.connack_refusal(version, code, Some(reason));
        }
        self.over(code, None, false);
    }

    /// Says how a message of the client went; the acknowledgment leaves in its turn [MQTT-4.3.2-4]
    /// [MQTT-4.3.3-8].
    pub fn acknowledge(&mut self, packet_id: u16, code: ReasonCode, reason: Option<&str>) {
        self.inbound.settle(packet_id, code);
        while let Some((id, qos, code)) = self.inbound.next_due() {
            let mut properties = PropertyList::default();
            if let Some(reason) = reason.filter(|_| id == packet_id) {
                self.push_reason(&mut properties, reason);
            }
            let ack = Ack {
                packet_id: id,
                code,
                properties: properties.as_properties(),
            };
            let packet = match qos {
                QoS::ExactlyOnce => Packet::Pubrec(ack),
                _ => Packet::Puback(ack),
            };
            self.send_packet(&packet);
        }
    }

    /// Says that the release of a QoS 2 message is noted [MQTT-4.3.3-11].
    pub fn complete(&mut self, packet_id: u16) {
        let ack = Ack::new(packet_id, ReasonCode::SUCCESS);
        self.send_packet(&Packet::Pubcomp(ack));
    }

    /// Why something failed, for whom wants to know and has room [MQTT-3.1.2-29] [MQTT-3.4.2-2]
    /// [MQTT-3.5.2-2] [MQTT-3.14.2-3].
    fn push_reason(&self, properties: &mut PropertyList, reason: &str) {
        if self.peer.problem_information && self.version == Some(Version::V5) {
            let bytes_max = self.peer.packet_bytes_max.saturating_sub(16).min(1024);
            properties.push_within(Property::ReasonString(reason), bytes_max);
        }
    }

    /// Answers a SUBSCRIBE with a code for each filter, in their order [MQTT-3.9.3-1] [MQTT-2.2.1-6]
    /// [MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-3.8.4-6].
    pub fn suback(&mut self, packet_id: u16, codes: &[u8]) {
        self.send_packet(&Packet::Suback(Suback {
            packet_id,
            properties: Properties::NONE,
            codes,
        }));
    }

    /// Answers an UNSUBSCRIBE with a code for each filter, in their order [MQTT-3.11.3-1]
    /// [MQTT-3.10.4-4] [MQTT-3.10.4-5].
    pub fn unsuback(&mut self, packet_id: u16, codes: &[u8]) {
        self.send_packet(&Packet::Unsuback(Suback {
            packet_id,
            properties: Properties::NONE,
            codes,
        }));
    }

    pub(super) fn send_packet(&mut self, packet: &Packet<'_>) {
        if let Some(version) = self.version {
            packet.encode(version, &mut self.out);
        }
    }

    /// DISCONNECT, for who understands it and never with a session expiry [MQTT-3.14.0-1]
    /// [MQTT-3.14.2-2].
    pub(super) fn say_farewell(&mut self, code: ReasonCode, reason: Option<&str>) {
        match (self.phase, self.version) {
            (Phase::Open, Some(Version::V5)) => {
                let mut properties = PropertyList::default();
                if let Some(reason) = reason {
                    self.push_reason(&mut properties, reason);
                }
                self.send_packet(&Packet::Disconnect(Disconnect {
                    code,
                    properties: properties.as_properties(),
                }));
            }
            (Phase::Deciding, Some(version)) => self.connack_refusal(version, code, reason),
            _ => {}
        }
    }

    /// How many more QoS 1 and 2 messages the client takes now.
    pub fn room(&self) -> u16 {
        self.outbound.room()
    }

    /// Says whether a message was sent on an earlier connection and is to be sent again.
    pub fn is_unacknowledged(&self, token: &Token) -> bool {
        self.outbound.is_stale(token)
    }

    /// Says whether there are such messages.
    pub fn has_unacknowledged(&self) -> bool {
        self.outbound.has_stale()
    }

    /// Forgets those of them that cannot be found any more.
    pub fn abandon(&mut self, lost: impl Fn(&Token) -> bool) {
        self.outbound.abandon(lost);
    }

    /// The largest packet that the client takes.
    pub fn client_bytes_max(&self) -> usize {
        self.peer.packet_bytes_max
    }

    /// Appends a message's head to `out`, or says why not. One that is unacknowledged from an earlier
    /// connection is sent again under its identifier.
    pub fn deliver(&mut self, delivery: Delivery<'_>, out: &mut Vec<u8>) -> Sent {
        self.deliver_as(delivery, false, out)
    }

    /// The same for a message of which nobody knows any more whether it was sent before: it says that it
    /// may have been.
    pub fn deliver_perhaps_again(&mut self, delivery: Delivery<'_>, out: &mut Vec<u8>) -> Sent {
        self.deliver_as(delivery, true, out)
    }

    fn deliver_as(&mut self, delivery: Delivery<'_>, may_repeat: bool, out: &mut Vec<u8>) -> Sent {
        let Some(version) = self.version.filter(|_| self.phase == Phase::Open) else {
            return Sent::Full;
        };
        let Delivery {
            topic,
            qos,
            retain,
            properties,
            payload_bytes,
            token,
        } = delivery;
        // DUP is 0 at first [MQTT-4.3.1-1] [MQTT-4.3.2-2] [MQTT-4.3.3-2].
        let mut publish = Publish {
            qos,
            retain,
            topic,
            properties: properties.as_properties(),
            ..Publish::default()
        };
        // [MQTT-3.1.2-24] [MQTT-3.1.2-25]
        if publish.packet_length(version, payload_bytes) > self.peer.packet_bytes_max {
            self.outbound.abandon(|lost| *lost == token);
            return Sent::TooLarge;
        }
        if qos != QoS::AtMostOnce {
            // [MQTT-3.3.1-1] [MQTT-3.3.1-3]
            let again = self.outbound.resend(&token);
            publish.dup = again.is_some() || may_repeat;
            publish.packet_id = match again {
                Some(again) => again.packet_id,
                None => match self.outbound.send(qos, token) {
                    Some(id) => id,
                    None => return Sent::Full,
                },
            };
        }
        let (id, dup) = (publish.packet_id, publish.dup);
        let topic = if self.alias(version, topic, properties, payload_bytes) {
            ""
        } else {
            topic
        };
        let publish = Publish {
            dup,
            qos,
            retain,
            topic,
            packet_id: id,
            properties: properties.as_properties(),
            payload: &[],
        };
        publish.encode_head(version, payload_bytes, out);
        Sent::Head
    }

    /// Lets an alias stand for the topic where the client takes one; says whether it knows it already.
    fn alias(
        &mut self,
        version: Version,
        topic: &str,
        properties: &mut PropertyList,
        payload_bytes: usize,
    ) -> bool {
        let aliases_max = self.peer.topic_aliases_max;
        let bytes = topic.len() + properties.as_properties().bytes().len() + payload_bytes;
        // An alias makes the packet that sets it longer, which must fit too.
        let fits = bytes.saturating_add(64) < self.peer.packet_bytes_max;
        if version != Version::V5 || aliases_max == 0 || !fits {
            return false;
        }
        let aliases = self.aliases.get_or_insert_default();
        let Some((alias, known)) = aliases.1.of(topic, aliases_max) else {
            return false;
        };
        properties.push(Property::TopicAlias(alias));
        known
    }
}
