//! CONNECT and its answer.

use super::{Client, ClientEvent, Connected, Phase};
use crate::limits::IN_FLIGHT_MAX;
use crate::session::inbound::Inbound;
use crate::session::outbound::{Outbound, Stage};
use crate::wire::{
    Ack, Connack, Connect, Fault, LastWill, Packet, Property, PropertyList, QoS, ReasonCode,
    Version,
};

impl Client {
    pub(super) fn connect(&mut self) {
        let options = &self.options;
        let mut properties = PropertyList::default();
        if options.session_expiry_secs > 0 {
            properties.push(Property::SessionExpiryInterval(options.session_expiry_secs));
        }
        properties.push(Property::ReceiveMaximum(options.receive_max.max(1)));
        let bytes = u32::try_from(options.packet_bytes_max).unwrap_or(u32::MAX);
        properties.push(Property::MaximumPacketSize(bytes));
        properties.push(Property::TopicAliasMaximum(options.topic_aliases_max));
        let mut will_properties = PropertyList::default();
        if let Some(will) = &options.will {
            if will.delay_secs > 0 {
                will_properties.push(Property::WillDelayInterval(will.delay_secs));
            }
            if let Some(of) = &will.message.properties {
                of.write(&mut will_properties);
            }
        }
        let will = options.will.as_ref().map(|will| LastWill {
            qos: will.message.qos,
            retain: will.message.retain,
            properties: will_properties.as_properties(),
            topic: &will.message.topic,
            payload: &will.message.payload,
        });
        let connect = Connect {
            version: options.version,
            bridge: options.bridge,
            clean_start: options.clean_start,
            keep_alive: options.keep_alive,
            properties: properties.as_properties(),
            client_id: &options.client_id,
            will,
            user_name: options.user_name.as_deref(),
            password: options.password.as_deref(),
        };
        Packet::Connect(connect).encode(options.version, &mut self.out);
    }

    pub(super) fn receive_connack(&mut self, connack: &Connack<'_>) -> Result<(), Fault> {
        if connack.code.is_failure() {
            let reason = connack.properties.reason_string().map(Into::into);
            self.over(connack.code, reason);
            return Ok(());
        }
        let mut quota = IN_FLIGHT_MAX;
        let mut client_id = None;
        for property in connack.properties.iter() {
            match property {
                Property::ReceiveMaximum(count) => quota = quota.min(count),
                Property::MaximumPacketSize(bytes) => {
                    self.server.packet_bytes_max = bytes as usize;
                }
                Property::TopicAliasMaximum(count) => self.server.topic_aliases_max = count,
                Property::MaximumQoS(true) => self.server.qos_max = QoS::AtLeastOnce,
                Property::MaximumQoS(false) => self.server.qos_max = QoS::AtMostOnce,
                Property::RetainAvailable(retains) => self.server.retains = retains,
                // [MQTT-3.1.2-21] [MQTT-3.2.2-21]
                Property::ServerKeepAlive(secs) => self.server.keep_alive = secs,
                Property::AssignedClientIdentifier(id) => client_id = Some(id.into()),
                _ => {}
            }
        }
        self.resume(connack.session_present, quota)?;
        self.phase = Phase::Open;
        self.events.push_back(ClientEvent::Connected(Connected {
            session_present: connack.session_present,
            client_id,
            qos_max: self.server.qos_max,
            retains: self.server.retains,
        }));
        Ok(())
    }

    fn resume(&mut self, session_present: bool, quota: u16) -> Result<(), Fault> {
        let (held, received) = match session_present {
            // [MQTT-3.2.2-4]
            true if self.options.clean_start => {
                return Err(Fault::protocol(
                    0,
                    "a session is present that was to be discarded",
                ));
            }
            true => (
                core::mem::take(&mut self.options.in_flight),
                core::mem::take(&mut self.options.received),
            ),
            // [MQTT-3.2.2-5]
            false => Default::default(),
        };
        self.inbound = Inbound::resume(&received);
        self.outbound = Outbound::resume(&held, quota);
        // [MQTT-4.4.0-1] [MQTT-4.6.0-4]
        for of in held.iter().filter(|of| of.stage == Stage::Pubcomp) {
            let ack = Ack::new(of.packet_id, ReasonCode::SUCCESS);
            Packet::Pubrel(ack).encode(self.options.version, &mut self.out);
        }
        Ok(())
    }

    /// The version that CONNECT said; 3.1.1 has no DISCONNECT with a code.
    pub(super) fn is_v5(&self) -> bool {
        self.options.version == Version::V5
    }
}
