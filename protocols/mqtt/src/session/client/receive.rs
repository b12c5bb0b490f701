//! Packets as the client takes them.

use super::{Client, ClientEvent, Phase};
use crate::session::inbound::Arrival;
use crate::session::message::Message;
use crate::session::outbound::Progress;
use crate::wire::{Ack, Fault, Header, Packet, Publish, QoS, ReasonCode, Suback, Version};
use alloc::borrow::ToOwned;

impl Client {
    pub(super) fn receive(&mut self, header: &Header, bytes: &[u8]) -> Result<(), Fault> {
        let version = self.version_of(header);
        let packet = Packet::decode(version, header, bytes)?;
        match (self.phase, packet) {
            (Phase::Connecting, Packet::Connack(connack))
                if version == self.version() || connack.code.is_failure() =>
            {
                self.receive_connack(&connack)
            }
            (Phase::Connecting, Packet::Connack(_)) => {
                Err(Fault::malformed(0, "a CONNACK of another version"))
            }
            // [MQTT-3.2.0-1]
            (Phase::Connecting, _) => Err(Fault::protocol(0, "the first packet is not a CONNACK")),
            // [MQTT-3.2.0-2]
            (_, Packet::Connack(_)) => Err(Fault::protocol(0, "a second CONNACK")),
            (_, Packet::Publish(publish)) => self.receive_publish(&publish),
            (_, Packet::Puback(ack)) => {
                let progress = self.outbound.puback(ack.packet_id);
                self.progress(progress, &ack)
            }
            (_, Packet::Pubrec(ack)) => {
                let progress = self.outbound.pubrec(ack.packet_id, ack.code);
                self.progress_pubrec(progress, &ack)
            }
            (_, Packet::Pubcomp(ack)) => {
                let progress = self.outbound.pubcomp(ack.packet_id);
                self.progress(progress, &ack)
            }
            (_, Packet::Pubrel(ack)) => {
                let code = if self.inbound.release(ack.packet_id) {
                    ReasonCode::SUCCESS
                } else {
                    ReasonCode::PACKET_IDENTIFIER_NOT_FOUND
                };
                self.events.push_back(ClientEvent::Released(ack.packet_id));
                self.send_packet(&Packet::Pubcomp(Ack::new(ack.packet_id, code)));
                Ok(())
            }
            (_, Packet::Suback(suback) | Packet::Unsuback(suback)) => self.receive_answer(&suback),
            (_, Packet::Pingresp) => {
                self.pinged = false;
                Ok(())
            }
            (_, Packet::Disconnect(disconnect)) if self.is_v5() => {
                let reason = disconnect.properties.reason_string().map(ToOwned::to_owned);
                self.over(disconnect.code, reason);
                Ok(())
            }
            _ => Err(Fault::protocol(0, "a packet that only a client sends")),
        }
    }

    /// The version that a packet is in: a server of 3.1.1 refuses one of 5.0 in its own, whose CONNACK is
    /// shorter (3.1.1 section 3.2).
    fn version_of(&self, header: &Header) -> Version {
        match self.phase {
            Phase::Connecting if header.end - header.length == 2 => Version::V311,
            _ => self.options.version,
        }
    }

    /// Hands a message over; whatever becomes of it, it is acknowledged [MQTT-4.5.0-2].
    fn receive_publish(&mut self, publish: &Publish<'_>) -> Result<(), Fault> {
        let alias = publish.properties.topic_alias();
        let aliases_max = self.options.topic_aliases_max;
        let topic = self.aliases.0.resolve(publish.topic, alias, aliases_max);
        let Some(topic) = topic.map(ToOwned::to_owned) else {
            let code = ReasonCode::TOPIC_ALIAS_INVALID;
            return Err(Fault::new(code, 0, "a topic alias that means no topic"));
        };
        let message = Message::of(publish, topic);
        if publish.qos == QoS::AtMostOnce {
            self.events.push_back(ClientEvent::Message(message));
            return Ok(());
        }
        let receive_max = if self.is_v5() {
            self.options.receive_max
        } else {
            u16::MAX
        };
        match self.inbound.arrive(publish, receive_max) {
            Arrival::New => self.events.push_back(ClientEvent::Message(message)),
            Arrival::Resent if !publish.dup => self.events.push_back(ClientEvent::Message(message)),
            // Whoever goes on with its identifiers had taken it.
            Arrival::Resent => self.settle(publish.packet_id, ReasonCode::SUCCESS),
            Arrival::Again => {
                let ack = Ack::new(publish.packet_id, ReasonCode::SUCCESS);
                self.send_packet(&Packet::Pubrec(ack));
            }
            Arrival::Waits => {}
            Arrival::TooMany => {
                let rule = "more messages under way than the receive maximum";
                return Err(Fault::new(ReasonCode::RECEIVE_MAXIMUM_EXCEEDED, 0, rule));
            }
        }
        Ok(())
    }

    fn receive_answer(&mut self, suback: &Suback<'_>) -> Result<(), Fault> {
        let Some(at) = self.asked.iter().position(|id| *id == suback.packet_id) else {
            return Err(Fault::protocol(0, "an answer to nothing that was asked"));
        };
        self.asked.swap_remove(at);
        let answered = ClientEvent::Answered(suback.packet_id, suback.codes.to_vec());
        self.events.push_back(answered);
        Ok(())
    }

    fn progress(&mut self, progress: Progress, ack: &Ack<'_>) -> Result<(), Fault> {
        match progress {
            Progress::Done(token) => {
                let done = ClientEvent::Acknowledged(token, ack.code);
                self.events.push_back(done);
            }
            Progress::Wrong => {
                return Err(Fault::protocol(
                    0,
                    "an acknowledgment of another quality of service",
                ));
            }
            Progress::Release(_) | Progress::Again | Progress::Unknown => {}
        }
        Ok(())
    }

    fn progress_pubrec(&mut self, progress: Progress, ack: &Ack<'_>) -> Result<(), Fault> {
        let code = match progress {
            Progress::Done(_) | Progress::Wrong => return self.progress(progress, ack),
            Progress::Release(token) => {
                self.events.push_back(ClientEvent::Received(token));
                ReasonCode::SUCCESS
            }
            Progress::Again => ReasonCode::SUCCESS,
            Progress::Unknown => ReasonCode::PACKET_IDENTIFIER_NOT_FOUND,
        };
        self.send_packet(&Packet::Pubrel(Ack::new(ack.packet_id, code)));
        Ok(())
    }
}
