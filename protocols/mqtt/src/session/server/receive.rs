//! Packets as the server takes them.

use super::{Phase, Server, ServerEvent};
use crate::session::inbound::Arrival;
use crate::session::message::{Message, SubscribeRequest};
use crate::session::outbound::Progress;
use crate::wire::{
    Ack, Disconnect, Fault, Header, Packet, Property, Publish, QoS, ReasonCode, Version,
};
use alloc::borrow::ToOwned;
use alloc::string::String;
use weir_model::topic;

impl Server {
    pub(super) fn receive(&mut self, header: &Header, bytes: &[u8]) -> Result<(), Fault> {
        let version = self.version.unwrap_or(Version::V5);
        if self.phase == Phase::Connecting {
            // [MQTT-3.1.0-1]
            if header.packet as u8 != 1 {
                return Err(Fault::protocol(0, "the first packet is not a CONNECT"));
            }
        }
        let packet = Packet::decode(version, header, bytes)?;
        match packet {
            Packet::Connect(connect) if self.phase == Phase::Connecting => {
                self.receive_connect(&connect)
            }
            // [MQTT-3.1.0-2]
            Packet::Connect(_) => Err(Fault::protocol(0, "a second CONNECT")),
            Packet::Publish(publish) => self.receive_publish(&publish),
            Packet::Puback(ack) => {
                let progress = self.outbound.puback(ack.packet_id);
                self.progress(progress, ack.packet_id)
            }
            Packet::Pubrec(ack) => {
                let progress = self.outbound.pubrec(ack.packet_id, ack.code);
                self.progress_pubrec(progress, ack.packet_id)
            }
            Packet::Pubcomp(ack) => {
                let progress = self.outbound.pubcomp(ack.packet_id);
                self.progress(progress, ack.packet_id)
            }
            Packet::Pubrel(ack) => {
                self.receive_pubrel(ack.packet_id);
                Ok(())
            }
            Packet::Subscribe(subscribe) => {
                let request = SubscribeRequest::of(&subscribe, self.is_bridge);
                self.events.push_back(ServerEvent::Subscribe(request));
                Ok(())
            }
            Packet::Unsubscribe(unsubscribe) => {
                let names = unsubscribe.filters.iter().map(|(name, _)| name.into());
                let event = ServerEvent::Unsubscribe(unsubscribe.packet_id, names.collect());
                self.events.push_back(event);
                Ok(())
            }
            // [MQTT-3.12.4-1]
            Packet::Pingreq => {
                Packet::Pingresp.encode(version, &mut self.out);
                Ok(())
            }
            Packet::Disconnect(disconnect) => self.receive_disconnect(&disconnect),
            // [MQTT-4.12.0-6] [MQTT-4.12.0-7]
            Packet::Auth(_) => Err(Fault::protocol(0, "AUTH without an authentication method")),
            Packet::Connack(_) | Packet::Suback(_) | Packet::Unsuback(_) | Packet::Pingresp => {
                Err(Fault::protocol(0, "a packet that only a server sends"))
            }
        }
    }

    fn receive_publish(&mut self, publish: &Publish<'_>) -> Result<(), Fault> {
        // [MQTT-3.3.4-6]
        if publish.properties.subscription_identifier().is_some() {
            return Err(Fault::protocol(
                0,
                "a subscription identifier from a client",
            ));
        }
        let topic = self.resolve(publish)?;
        let named = topic::check(&topic).is_ok();
        match publish.qos {
            QoS::AtMostOnce if named => {
                let message = Message::of(publish, topic);
                self.events.push_back(ServerEvent::Publish(message));
                Ok(())
            }
            QoS::AtMostOnce => Err(TOPIC_NOT_TAKEN),
            // Only 5.0 can refuse a message and go on.
            _ if !named && self.version != Some(Version::V5) => Err(TOPIC_NOT_TAKEN),
            _ => self.receive_promised(publish, topic, named),
        }
    }

    /// A message that wants to be acknowledged [MQTT-3.3.4-1].
    fn receive_promised(
        &mut self,
        publish: &Publish<'_>,
        topic: String,
        named: bool,
    ) -> Result<(), Fault> {
        let id = publish.packet_id;
        let receive_max = match self.version {
            // 3.1.1 has no receive maximum: the driver stops reading instead.
            Some(Version::V31 | Version::V311) => u16::MAX,
            _ => self.limits.receive_max,
        };
        match self.inbound.arrive(publish, receive_max) {
            Arrival::New if named => {
                let message = Message::of(publish, topic);
                self.events.push_back(ServerEvent::Publish(message));
            }
            Arrival::Resent => {
                let message = Message::of(publish, topic);
                self.events.push_back(ServerEvent::PublishAgain(message));
            }
            Arrival::New => self.acknowledge(id, ReasonCode::TOPIC_NAME_INVALID, None),
            // [MQTT-4.3.3-10]
            Arrival::Again => {
                let ack = Packet::Pubrec(Ack::new(id, ReasonCode::SUCCESS));
                self.send_packet(&ack);
            }
            Arrival::Waits => {}
            Arrival::TooMany => {
                let rule = "more messages under way than the receive maximum";
                return Err(Fault::new(ReasonCode::RECEIVE_MAXIMUM_EXCEEDED, 0, rule));
            }
        }
        Ok(())
    }

    fn resolve(&mut self, publish: &Publish<'_>) -> Result<String, Fault> {
        let alias = publish.properties.topic_alias();
        if alias.is_none() {
            return Ok(publish.topic.to_owned());
        }
        // A topic that is none would be kept for nothing.
        if !publish.topic.is_empty() && topic::check(publish.topic).is_err() {
            return Err(TOPIC_NOT_TAKEN);
        }
        let aliases_max = self.limits.topic_aliases_max;
        let aliases = self.aliases.get_or_insert_default();
        let topic = aliases.0.resolve(publish.topic, alias, aliases_max);
        let topic = topic.map(ToOwned::to_owned);
        topic.ok_or(Fault::new(
            ReasonCode::TOPIC_ALIAS_INVALID,
            0,
            "a topic alias that was not set, is 0 or is over the maximum",
        ))
    }

    fn receive_pubrel(&mut self, packet_id: u16) {
        if self.inbound.release(packet_id) {
            self.events.push_back(ServerEvent::Released(packet_id));
            return;
        }
        let code = ReasonCode::PACKET_IDENTIFIER_NOT_FOUND;
        self.send_packet(&Packet::Pubcomp(Ack::new(packet_id, code)));
    }

    fn progress(&mut self, progress: Progress, _packet_id: u16) -> Result<(), Fault> {
        match progress {
            Progress::Done(token) => self.events.push_back(ServerEvent::Delivered(token)),
            Progress::Wrong => return Err(OUT_OF_ORDER),
            Progress::Release(_) | Progress::Again | Progress::Unknown => {}
        }
        Ok(())
    }

    fn progress_pubrec(&mut self, progress: Progress, packet_id: u16) -> Result<(), Fault> {
        let code = match progress {
            Progress::Done(_) | Progress::Wrong => return self.progress(progress, packet_id),
            Progress::Release(token) => {
                self.events.push_back(ServerEvent::Received(token));
                ReasonCode::SUCCESS
            }
            Progress::Again => ReasonCode::SUCCESS,
            Progress::Unknown => ReasonCode::PACKET_IDENTIFIER_NOT_FOUND,
        };
        self.send_packet(&Packet::Pubrel(Ack::new(packet_id, code)));
        Ok(())
    }

    fn receive_disconnect(&mut self, disconnect: &Disconnect<'_>) -> Result<(), Fault> {
        for property in disconnect.properties.iter() {
            match property {
                // Section 3.14.2.2.2
                Property::SessionExpiryInterval(secs) => {
                    if self.session_expiry_secs == 0 && secs > 0 {
                        let rule = "a session that ends with its connection cannot be prolonged";
                        return Err(Fault::protocol(0, rule));
                    }
                    self.session_expiry_secs = secs;
                }
                Property::ServerReference(_) => {
                    return Err(Fault::protocol(0, "a server reference from a client"));
                }
                _ => {}
            }
        }
        // [MQTT-3.14.4-3] [MQTT-3.1.2-8] [MQTT-3.1.2-10]
        let publish_will = disconnect.code != ReasonCode::SUCCESS;
        self.over(disconnect.code, None, publish_will);
        Ok(())
    }
}

// [MQTT-4.7.3-3]
const TOPIC_NOT_TAKEN: Fault = Fault::new(
    ReasonCode::TOPIC_NAME_INVALID,
    0,
    "a topic name that is too long, too deep or has control characters",
);

const OUT_OF_ORDER: Fault = Fault::protocol(0, "an acknowledgment of another quality of service");
