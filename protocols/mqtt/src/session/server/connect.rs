//! CONNECT as the server takes it.

use super::{Phase, Server, ServerEvent};
use crate::limits::CLIENT_ID_BYTES_MAX;
use crate::session::message::ConnectRequest;
use crate::wire::{
    Connack, Connect, Fault, Framed, Packet, Properties, Property, PropertyList, ReasonCode,
    Version, frame, version_of,
};
use alloc::boxed::Box;
use weir_sansio::Duration;

impl Server {
    pub(super) fn receive_connect(&mut self, connect: &Connect<'_>) -> Result<(), Fault> {
        self.version = Some(connect.version);
        self.is_bridge = connect.bridge;
        for property in connect.properties.iter() {
            match property {
                Property::ReceiveMaximum(count) => self.peer.receive_max = count,
                Property::MaximumPacketSize(bytes) => self.peer.packet_bytes_max = bytes as usize,
                Property::TopicAliasMaximum(count) => self.peer.topic_aliases_max = count,
                Property::RequestProblemInformation(wanted) => {
                    self.peer.problem_information = wanted;
                }
                // [MQTT-4.12.0-1]: no method is supported.
                Property::AuthenticationMethod(_) => {
                    let rule = "no extended authentication is supported";
                    let code = ReasonCode::BAD_AUTHENTICATION_METHOD;
                    return Err(Fault::new(code, 0, rule));
                }
                _ => {}
            }
        }
        check_client_id(connect)?;
        let request = ConnectRequest::of(connect)?;
        self.session_expiry_secs = request.session_expiry_secs;
        // [MQTT-3.2.2-22]
        let keep_alive = Duration::from_millis(u64::from(connect.keep_alive) * 1500);
        self.patience = (connect.keep_alive > 0).then_some(keep_alive);
        self.phase = Phase::Deciding;
        self.events
            .push_back(ServerEvent::Connect(Box::new(request)));
        Ok(())
    }

    /// [MQTT-3.1.4-1] Answers a CONNECT that was not understood, in the version that it says, or in 3.1.1 where that is
    /// one that is not spoken here. What says none is no MQTT, and is closed without a word.
    pub(super) fn refuse_unread(&mut self, fault: &Fault, bytes: &[u8]) {
        let body = match frame(bytes, usize::MAX) {
            Ok(Framed::Whole(header)) => &bytes[header.length..header.end],
            _ => return,
        };
        if bytes[0] != 0x10 {
            return;
        }
        let Some(version) = version_of(body) else {
            return;
        };
        // 3.1.1 has a return code for these alone and closes without a word otherwise.
        let sayable = matches!(
            fault.code,
            ReasonCode::UNSUPPORTED_PROTOCOL_VERSION | ReasonCode::CLIENT_IDENTIFIER_NOT_VALID
        );
        if version == Version::V5 || sayable {
            self.connack_refusal(version, fault.code, Some(fault.rule));
        }
    }

    /// Appends a CONNACK that refuses [MQTT-3.2.2-6] [MQTT-3.2.2-8].
    pub(super) fn connack_refusal(
        &mut self,
        version: Version,
        code: ReasonCode,
        reason: Option<&str>,
    ) {
        let mut properties = PropertyList::default();
        if let Some(reason) = reason {
            // [MQTT-3.2.2-19]
            let bytes_max = self.peer.packet_bytes_max.saturating_sub(10);
            properties.push_within(Property::ReasonString(reason), bytes_max);
        }
        let connack = Connack {
            session_present: false,
            code,
            properties: match version {
                Version::V5 => properties.as_properties(),
                Version::V31 | Version::V311 => Properties::NONE,
            },
        };
        Packet::Connack(connack).encode(version, &mut self.out);
    }
}

fn check_client_id(connect: &Connect<'_>) -> Result<(), Fault> {
    let fault = |rule| Err(Fault::new(ReasonCode::CLIENT_IDENTIFIER_NOT_VALID, 0, rule));
    // [MQTT-3.1.3-5] [MQTT-3.1.3-8]
    if connect.client_id.len() > CLIENT_ID_BYTES_MAX {
        return fault("the client identifier is longer than 512 bytes");
    }
    match connect.version {
        // [MQTT311-3.1.3-8]
        Version::V311 if connect.client_id.is_empty() && !connect.clean_start => {
            fault("a session that is kept needs a client identifier")
        }
        // MQTT 3.1, section 3.1. Longer ones than its 23 characters are taken, as by other brokers.
        Version::V31 if connect.client_id.is_empty() => {
            fault("a client of MQTT 3.1 needs a client identifier")
        }
        _ => Ok(()),
    }
}
