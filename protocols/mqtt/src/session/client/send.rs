//! What the driver wants to be sent.

use super::{Client, Phase};
use crate::session::server::{Delivery, Sent};
use crate::wire::{
    Ack, Disconnect, Fault, Filters, Packet, Properties, Property, PropertyList, Publish, QoS,
    ReasonCode, Subscribe, SubscriptionOptions, Unsubscribe, Version,
};
use alloc::vec::Vec;
use weir_sansio::Instant;

impl Client {
    pub(super) fn send_packet(&mut self, packet: &Packet<'_>) {
        packet.encode(self.options.version, &mut self.out);
    }

    // [MQTT-3.1.2-20]
    pub(super) fn ping(&mut self, now: Instant) {
        self.sent = now;
        self.pinged = true;
        self.send_packet(&Packet::Pingreq);
    }

    pub(super) fn say_farewell(&mut self, code: ReasonCode) {
        if self.phase == Phase::Open {
            let properties = Properties::NONE;
            self.send_packet(&Packet::Disconnect(Disconnect { code, properties }));
        }
    }

    /// Takes leave; the driver sends what is left and closes [MQTT-3.14.4-1] [MQTT-3.14.4-2].
    pub fn disconnect(&mut self, code: ReasonCode) {
        self.say_farewell(code);
        self.over(code, None);
    }

    /// Asks for subscriptions; says the packet identifier that the answer will have.
    pub fn subscribe(
        &mut self,
        now: Instant,
        filters: &[(&str, SubscriptionOptions)],
        properties: &PropertyList,
    ) -> Result<u16, Fault> {
        let packet_id = self.ask();
        let bytes = Filters::write(filters);
        let subscribe = Subscribe {
            packet_id,
            properties: match self.options.version {
                Version::V5 => properties.as_properties(),
                Version::V31 | Version::V311 => Properties::NONE,
            },
            filters: Filters::of_bytes(&bytes, true)?,
        };
        self.asked.push(packet_id);
        self.sent = now;
        self.send_packet(&Packet::Subscribe(subscribe));
        Ok(packet_id)
    }

    /// Asks for an end of subscriptions; says the packet identifier that the answer will have.
    pub fn unsubscribe(&mut self, now: Instant, filters: &[&str]) -> Result<u16, Fault> {
        let packet_id = self.ask();
        let bytes = Filters::write_names(filters);
        let unsubscribe = Unsubscribe {
            packet_id,
            properties: Properties::NONE,
            filters: Filters::of_bytes(&bytes, false)?,
        };
        self.asked.push(packet_id);
        self.sent = now;
        self.send_packet(&Packet::Unsubscribe(unsubscribe));
        Ok(packet_id)
    }

    /// An identifier for a request. Messages count up from 1 and stay under a limit, requests come from
    /// above, so that none is used twice [MQTT-2.2.1-3].
    fn ask(&mut self) -> u16 {
        loop {
            self.last_asked = self.last_asked.checked_sub(1).unwrap_or(u16::MAX);
            let id = self.last_asked;
            let flying = self.outbound.entries().any(|of| of.packet_id == id);
            if id != 0 && !self.asked.contains(&id) && !flying {
                return id;
            }
        }
    }

    /// The highest quality of service that the server takes.
    pub fn qos_max(&self) -> QoS {
        self.server.qos_max
    }

    /// How many more QoS 1 and 2 messages the server takes now.
    pub fn room(&self) -> u16 {
        self.outbound.room()
    }

    /// Appends a message's head to `out`, or says why not; the payload must follow.
    pub fn publish(&mut self, now: Instant, delivery: Delivery<'_>, out: &mut Vec<u8>) -> Sent {
        if self.phase != Phase::Open {
            return Sent::Full;
        }
        let version = self.options.version;
        // [MQTT-3.2.2-11]
        let qos = delivery.qos.min(self.server.qos_max);
        let mut publish = Publish {
            qos,
            // [MQTT-3.2.2-14]
            retain: delivery.retain && self.server.retains,
            topic: delivery.topic,
            properties: delivery.properties.as_properties(),
            ..Publish::default()
        };
        // [MQTT-3.2.2-15]
        if publish.packet_length(version, delivery.payload_bytes) > self.server.packet_bytes_max {
            return Sent::TooLarge;
        }
        if qos != QoS::AtMostOnce {
            let again = self.outbound.resend(&delivery.token);
            publish.dup = again.is_some();
            let id = again.map(|again| again.packet_id);
            // [MQTT-3.3.4-7] [MQTT-3.3.4-8]
            let Some(id) = id.or_else(|| self.send_new(qos, &delivery)) else {
                return Sent::Full;
            };
            publish.packet_id = id;
        }
        self.sent = now;
        publish.encode_head(version, delivery.payload_bytes, out);
        Sent::Head
    }

    fn send_new(&mut self, qos: QoS, delivery: &Delivery<'_>) -> Option<u16> {
        loop {
            let id = self.outbound.send(qos, delivery.token)?;
            if !self.asked.contains(&id) {
                return Some(id);
            }
            self.outbound.puback(id);
            self.outbound.pubrec(id, ReasonCode::UNSPECIFIED_ERROR);
        }
    }

    /// Says that a message received is taken, or how it went.
    pub fn acknowledge(&mut self, now: Instant, packet_id: u16, code: ReasonCode) {
        self.sent = now;
        self.settle(packet_id, code);
    }

    /// Says how a message went, and what waited behind that.
    pub(super) fn settle(&mut self, packet_id: u16, code: ReasonCode) {
        self.inbound.settle(packet_id, code);
        while let Some((id, qos, code)) = self.inbound.next_due() {
            let ack = Ack::new(id, code);
            self.send_packet(&match qos {
                QoS::ExactlyOnce => Packet::Pubrec(ack),
                _ => Packet::Puback(ack),
            });
        }
    }

    /// The user property's name and value, for requests.
    pub fn user_property(list: &mut PropertyList, name: &str, value: &str) {
        list.push(Property::UserProperty(name, value));
    }
}
