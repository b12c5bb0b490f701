//! MQTT 3.1.1: the device publishes to a topic that it has subscribed to (paper 003, section III).
//!
//! The exchange is settled when its own message is acknowledged (PUBACK, or PUBCOMP) and, of QoS 2, the
//! echo is released as well.

use weir_mqtt::session::{Client, ClientEvent, ConnectOptions, Delivery, Sent, Token};
use weir_mqtt::wire::{PropertyList, QoS, ReasonCode, SubscriptionOptions, Version};
use weir_sansio::{Instant, Output, Session};

use super::{Device, Times};
use crate::sockets::{Peer, Tcp, Traffic};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::READ_BYTES_MAX;

/// A client that is publisher and subscriber.
pub(super) struct Mqtt {
    tcp: Tcp,
    client: Client,
    topic: String,
    qos: QoS,
    buffer: Vec<u8>,
    out: Vec<u8>,
    count: u64,
}

fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl Mqtt {
    pub(super) fn open(peer: &Peer, qos: u8, topic: &str) -> Result<Self, String> {
        let options = ConnectOptions {
            version: Version::V311,
            client_id: "device".into(),
            keep_alive: 0,
            ..ConnectOptions::default()
        };
        let mut device = Self {
            tcp: Tcp::connect(peer, None)?,
            client: Client::new(now(), options),
            topic: topic.into(),
            qos: QoS::of_bits(qos).ok_or("a quality of service from 0 to 2")?,
            buffer: vec![0; READ_BYTES_MAX],
            out: Vec::new(),
            count: 0,
        };
        device.wait_for(|event| matches!(event, ClientEvent::Connected(_)))?;
        device.subscribe()?;
        Ok(device)
    }

    fn subscribe(&mut self) -> Result<(), String> {
        let options = SubscriptionOptions {
            qos: self.qos,
            ..SubscriptionOptions::default()
        };
        let filters = [(self.topic.as_str(), options)];
        let asked = self
            .client
            .subscribe(now(), &filters, &PropertyList::default())
            .map_err(|fault| fault.rule)?;
        let granted = self.qos.bits();
        let answer = self.wait_for(
            |event| matches!(event, ClientEvent::Answered(packet, _) if *packet == asked),
        )?;
        match answer {
            ClientEvent::Answered(_, codes) if codes == [granted] => Ok(()),
            other => Err(format!(
                "the subscription is not granted as asked: {other:?}"
            )),
        }
    }

    /// Sends what is due and receives until the event comes.
    fn wait_for(&mut self, wanted: impl Fn(&ClientEvent) -> bool) -> Result<ClientEvent, String> {
        loop {
            while let Some(event) = self.next_event()? {
                if wanted(&event) {
                    return Ok(event);
                }
            }
            self.receive()?;
        }
    }

    /// Sends what is due; the next event, if there is one.
    fn next_event(&mut self) -> Result<Option<ClientEvent>, String> {
        loop {
            match self.client.poll_output() {
                Output::Transmit(bytes) => self.tcp.send(&bytes)?,
                Output::Event(ClientEvent::Closed { code, reason }) => {
                    let reason = reason.unwrap_or_default();
                    return Err(format!("the connection is over: {code:?} {reason}"));
                }
                Output::Event(event) => return Ok(Some(event)),
                Output::Timeout(_) => return Ok(None),
            }
        }
    }

    fn receive(&mut self) -> Result<(), String> {
        let length = self.tcp.receive(&mut self.buffer)?;
        let Ok(()) = self.client.handle_input(now(), &self.buffer[..length]);
        Ok(())
    }

    fn publish(&mut self, payload: &[u8]) -> Result<(), String> {
        self.count += 1;
        self.out.clear();
        let delivery = Delivery {
            topic: &self.topic,
            qos: self.qos,
            retain: false,
            properties: &mut PropertyList::default(),
            payload_bytes: payload.len(),
            token: Token {
                cursor: self.count,
                ..Token::default()
            },
        };
        match self.client.publish(now(), delivery, &mut self.out) {
            Sent::Head => {}
            other => return Err(format!("a message cannot be sent: {other:?}")),
        }
        self.out.extend_from_slice(payload);
        self.tcp.send(&self.out)
    }
}

impl Device for Mqtt {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        self.publish(payload)?;
        let mut acknowledged = self.qos == QoS::AtMostOnce;
        let mut echo_ns = None;
        loop {
            while let Some(event) = self.next_event()? {
                match event {
                    ClientEvent::Message(message) => {
                        if message.payload == payload {
                            echo_ns = Some(now_ns());
                        }
                        if message.qos != QoS::AtMostOnce {
                            let success = ReasonCode::SUCCESS;
                            self.client.acknowledge(now(), message.packet_id, success);
                        }
                    }
                    ClientEvent::Acknowledged(token, code) if token.cursor == self.count => {
                        if code.is_failure() {
                            return Err(format!("the message is refused: {code:?}"));
                        }
                        acknowledged = true;
                    }
                    _ => {}
                }
            }
            let released = self.qos != QoS::ExactlyOnce || self.client.received().is_empty();
            if let Some(echo_ns) = echo_ns.filter(|_| acknowledged && released) {
                let settled_ns = now_ns();
                return Ok(Some(Times {
                    echo_ns,
                    settled_ns,
                }));
            }
            self.receive()?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        self.tcp.traffic()
    }

    fn close(&mut self) {
        self.client.disconnect(ReasonCode::SUCCESS);
        // The server may be gone already.
        let _ = self.next_event();
    }
}
