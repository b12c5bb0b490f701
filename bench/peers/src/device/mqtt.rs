//! MQTT 3.1.1: the device publishes to a topic that it has subscribed to (paper 003, section III).
//!
//! The exchange is settled when its own message is acknowledged (PUBACK, or PUBCOMP) and, of QoS 2, the
//! echo is released as well.

use weir_mqtt::session::ClientEvent;
use weir_mqtt::wire::QoS;

use super::{Device, Times};
use crate::mqtt::Mqtt;
use crate::sockets::{Peer, Traffic};
use weir_bench_model::clock::now_ns;

/// A client that is publisher and subscriber of one topic.
pub(super) struct Echo {
    mqtt: Mqtt,
    topic: String,
    qos: QoS,
}

impl Echo {
    pub(super) fn open(peer: &Peer, qos: u8, topic: &str) -> Result<Self, String> {
        let qos = QoS::of_bits(qos).ok_or("a quality of service from 0 to 2")?;
        let mut mqtt = Mqtt::open(peer, "device".into())?;
        mqtt.subscribe(topic, qos)?;
        let topic = topic.into();
        Ok(Self { mqtt, topic, qos })
    }
}

impl Device for Echo {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        let number = self.mqtt.publish(&self.topic, self.qos, payload)?;
        let mut acknowledged = self.qos == QoS::AtMostOnce;
        let mut echo_ns = None;
        loop {
            while let Some(event) = self.mqtt.next_event()? {
                match event {
                    ClientEvent::Message(message) => {
                        if message.payload == payload {
                            echo_ns = Some(now_ns());
                        }
                        if message.qos != QoS::AtMostOnce {
                            self.mqtt.acknowledge(message.packet_id);
                        }
                    }
                    ClientEvent::Acknowledged(token, code) if token.cursor == number => {
                        if code.is_failure() {
                            return Err(format!("the message is refused: {code:?}"));
                        }
                        acknowledged = true;
                    }
                    _ => {}
                }
            }
            let released = self.qos != QoS::ExactlyOnce || self.mqtt.all_released();
            if let Some(echo_ns) = echo_ns.filter(|_| acknowledged && released) {
                let settled_ns = now_ns();
                return Ok(Some(Times {
                    echo_ns,
                    settled_ns,
                }));
            }
            self.mqtt.receive()?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.mqtt.traffic()?)
    }

    fn close(&mut self) {
        self.mqtt.close();
    }
}
