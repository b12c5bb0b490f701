//! MQTT 3.1.1 at quality of service 0, as in the paper: the version that all brokers here speak.

use bytes::Bytes;
use weir_bench_peers::mqtt::Mqtt;
use weir_bench_peers::unless_silent;
use weir_mqtt::wire::QoS;

use super::super::job::At;
use super::{Client, Part, Protocol};
use weir_bench_model::clock::now_ns;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mqtt",
    title: "MQTT",
    published: Some("MQTT"),
    ours: Some("weir_mqtt"),
    others: &["mosquitto", "hivemq", "nats", "rabbitmq"],
    apart: &[],
    takes_given: true,
    about: "MQTT 3.1.1 at quality of service 0, as in the paper. The native client is the bench's own; in \
            pages it is mqtt.js.",
    open,
};

/// Connects, and subscribes where it listens.
fn open(at: At, part: Part<'_>) -> Result<Box<dyn Client>, String> {
    let client_id = format!("bench-{}-{}", std::process::id(), now_ns());
    let mut mqtt = Mqtt::open(&at.peer(), client_id)?;
    if let Some(topic) = part.topic() {
        mqtt.subscribe(topic, QoS::AtMostOnce)?;
    }
    Ok(Box::new(mqtt))
}

impl Client for Mqtt {
    fn nodelay(&self) -> Option<bool> {
        self.nodelay()
    }

    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        self.publish(topic, QoS::AtMostOnce, payload)?;
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        Ok(unless_silent(self.message())?)
    }
}
