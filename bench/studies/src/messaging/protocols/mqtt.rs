//! MQTT 3.1.1 at quality of service 0, as in the paper: the version that all brokers here speak.

use bytes::Bytes;
use weir_mqtt::session::{Client as Session, ClientEvent, ConnectOptions, Delivery, Sent, Token};
use weir_mqtt::wire::{PropertyList, QoS, SubscriptionOptions, Version};
use weir_sansio::{Instant, Output, Session as _};

use super::super::job::At;
use super::tcp::Tcp;
use super::{Client, Protocol};
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
    open: |at, part| Ok(Box::new(Mqtt::open(at, part.topic())?)),
};

/// A connection, with a subscription where it listens.
struct Mqtt {
    tcp: Tcp,
    session: Session,
    out: Vec<u8>,
}

fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl Mqtt {
    /// Connects, and subscribes where there is a filter.
    fn open(at: At, filter: Option<&str>) -> Result<Self, String> {
        let tcp = Tcp::open(at)?;
        let options = ConnectOptions {
            version: Version::V311,
            client_id: format!("bench-{}-{}", std::process::id(), now_ns()),
            keep_alive: 0,
            ..ConnectOptions::default()
        };
        let mut client = Self {
            tcp,
            session: Session::new(now(), options),
            out: Vec::new(),
        };
        client.wait_for(|event| matches!(event, ClientEvent::Connected(_)))?;
        filter.map_or(Ok(()), |filter| client.subscribe(filter))?;
        Ok(client)
    }

    fn subscribe(&mut self, filter: &str) -> Result<(), String> {
        let options = SubscriptionOptions {
            qos: QoS::AtMostOnce,
            ..SubscriptionOptions::default()
        };
        let asked = self
            .session
            .subscribe(now(), &[(filter, options)], &PropertyList::default())
            .map_err(|fault| fault.rule)?;
        let answer = self.wait_for(
            |event| matches!(event, ClientEvent::Answered(packet, _) if *packet == asked),
        )?;
        match answer {
            ClientEvent::Answered(_, codes) if codes == [QoS::AtMostOnce.bits()] => Ok(()),
            other => Err(format!("the subscription is not granted: {other:?}")),
        }
    }

    fn wait_for(&mut self, wanted: impl Fn(&ClientEvent) -> bool) -> Result<ClientEvent, String> {
        loop {
            match self.next_event()? {
                Some(event) if wanted(&event) => return Ok(event),
                Some(_) => {}
                None if self.read()? => {}
                None => return Err("the broker was silent for too long".into()),
            }
        }
    }

    /// Sends what is due; the next event, if there is one.
    fn next_event(&mut self) -> Result<Option<ClientEvent>, String> {
        loop {
            match self.session.poll_output() {
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

    /// Waits for bytes; false where none come in time.
    fn read(&mut self) -> Result<bool, String> {
        let Some(bytes) = self.tcp.read()? else {
            return Ok(false);
        };
        let Ok(()) = self.session.handle_input(now(), bytes);
        Ok(true)
    }
}

impl Client for Mqtt {
    fn nodelay(&self) -> Option<bool> {
        self.tcp.nodelay()
    }

    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        self.out.clear();
        let delivery = Delivery {
            topic,
            qos: QoS::AtMostOnce,
            retain: false,
            properties: &mut PropertyList::default(),
            payload_bytes: payload.len(),
            token: Token::default(),
        };
        match self.session.publish(now(), delivery, &mut self.out) {
            Sent::Head => {}
            other => return Err(format!("a message cannot be sent: {other:?}")),
        }
        self.out.extend_from_slice(payload);
        self.tcp.send(&self.out)
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match self.next_event()? {
                Some(ClientEvent::Message(message)) => return Ok(Some(message.payload)),
                Some(_) => {}
                None if self.read()? => {}
                None => return Ok(None),
            }
        }
    }
}
