//! The cells: a protocol, how the echo comes about, a payload and a pace.

use serde::{Deserialize, Serialize};

use crate::experiments::Effort;

/// A protocol and what it promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Protocol {
    /// CoAP, confirmable messages.
    CoapCon,
    /// CoAP, non-confirmable messages.
    CoapNon,
    /// WebSocket.
    WebSocket,
    /// MQTT at quality of service 0.
    MqttQos0,
    /// MQTT at quality of service 1.
    MqttQos1,
    /// MQTT at quality of service 2.
    MqttQos2,
}

/// How the server comes to send back what it got (paper 003, section III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Echo {
    /// The server answers the message itself.
    Answer,
    /// The device subscribes to what it publishes.
    Subscription,
}

/// When the next packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pace {
    /// As soon as the last one has come back: acknowledgments of TCP ride on the next packet.
    Next,
    /// After a rest longer than TCP delays an acknowledgment, as a sensor would.
    Rest,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// By which protocol.
    pub(crate) protocol: Protocol,
    /// How the echo comes about.
    pub(crate) echo: Echo,
    /// Bytes of payload, one way.
    pub(crate) payload_bytes: usize,
    /// When packets are sent.
    pub(crate) pace: Pace,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Interleaved rounds.
    pub(crate) rounds: usize,
    /// Packets a round.
    pub(crate) packets: u32,
    /// Packets a round where the device rests between them.
    pub(crate) packets_rested: u32,
    /// Packets before counting starts.
    pub(crate) warm_up: u32,
}

impl Protocol {
    /// All, in the order of the report.
    pub(crate) const ALL: [Self; 6] = [
        Self::CoapCon,
        Self::CoapNon,
        Self::WebSocket,
        Self::MqttQos0,
        Self::MqttQos1,
        Self::MqttQos2,
    ];

    /// Its name as a level of a factor.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CoapCon => "coap-con",
            Self::CoapNon => "coap-non",
            Self::WebSocket => "websocket",
            Self::MqttQos0 => "mqtt-qos-0",
            Self::MqttQos1 => "mqtt-qos-1",
            Self::MqttQos2 => "mqtt-qos-2",
        }
    }

    /// The ways in which an echo comes about: a broker only hands on.
    pub(crate) fn echoes(self) -> &'static [Echo] {
        match self {
            Self::CoapCon | Self::CoapNon | Self::WebSocket => &[Echo::Answer, Echo::Subscription],
            _ => &[Echo::Subscription],
        }
    }

    /// The quality of service, of MQTT.
    pub(crate) fn qos(self) -> Option<u8> {
        match self {
            Self::MqttQos0 => Some(0),
            Self::MqttQos1 => Some(1),
            Self::MqttQos2 => Some(2),
            _ => None,
        }
    }
}

impl Echo {
    /// Its name as a level of a factor.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Subscription => "subscription",
        }
    }
}

impl Pace {
    /// Its name as a level of a factor.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Rest => "rest",
        }
    }
}

impl Setting {
    /// The cell's name: `factor=level;factor=level`.
    pub(crate) fn name(&self) -> String {
        let Self {
            protocol,
            echo,
            payload_bytes,
            pace,
        } = self;
        format!(
            "protocol={};echo={};payload={payload_bytes};pace={}",
            protocol.name(),
            echo.name(),
            pace.name()
        )
    }
}

impl Scale {
    /// Of an effort: in full as many packets as the paper's, over five rounds.
    pub(crate) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 3,
                packets: 150,
                packets_rested: 8,
                warm_up: 20,
            },
            Effort::Full => Self {
                rounds: 5,
                packets: 2000,
                packets_rested: 50,
                warm_up: 100,
            },
        }
    }

    /// Packets of one round of a cell.
    pub(crate) fn packets_of(&self, setting: &Setting) -> u32 {
        match setting.pace {
            Pace::Next => self.packets,
            Pace::Rest => self.packets_rested,
        }
    }
}

/// Payloads, bytes: of the paper's figures only 100 is named in its text.
pub(crate) fn payloads(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[1, 10, 100, 1000],
        Effort::Full => &[1, 10, 20, 50, 100, 200, 500, 1000],
    }
}

fn payloads_rested(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[100],
        Effort::Full => &[1, 100, 1000],
    }
}

/// All cells, in the order of the report.
pub(crate) fn settings(effort: Effort) -> Vec<Setting> {
    let mut all = Vec::new();
    for (pace, payloads) in [
        (Pace::Next, payloads(effort)),
        (Pace::Rest, payloads_rested(effort)),
    ] {
        for protocol in Protocol::ALL {
            for &echo in protocol.echoes() {
                all.extend(payloads.iter().map(|&payload_bytes| Setting {
                    protocol,
                    echo,
                    payload_bytes,
                    pace,
                }));
            }
        }
    }
    all
}

/// The names of all cells.
pub(crate) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_has_its_own_name_and_the_quick_ones_are_among_the_full() {
        let full: BTreeSet<String> = names(Effort::Full).into_iter().collect();
        assert_eq!(full.len(), settings(Effort::Full).len());
        assert!(names(Effort::Quick).iter().all(|name| full.contains(name)));
    }

    #[test]
    fn a_full_run_sends_as_many_packets_as_the_papers() {
        let scale = Scale::of(Effort::Full);
        assert_eq!(scale.rounds as u32 * scale.packets, 10_000);
    }
}
