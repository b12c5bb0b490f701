//! MQTT 3.1.1, the version that all brokers here speak: one connection that publishes and listens.

use bytes::Bytes;
use weir_mqtt::session::{Client, ClientEvent, ConnectOptions, Delivery, Sent, Token};
use weir_mqtt::wire::{PropertyList, QoS, ReasonCode, SubscriptionOptions, Version};

use crate::error::{Cause, Doing, Error};
use crate::sockets::driven::{Driven, now};
use crate::sockets::{Peer, Traffic};

/// A client that is publisher and subscriber.
pub struct Mqtt {
    driven: Driven<Client>,
    out: Vec<u8>,
    count: u64,
}

fn over(event: &ClientEvent) -> Option<Cause> {
    let ClientEvent::Closed { code, reason } = event else {
        return None;
    };
    let reason = reason.as_deref().unwrap_or_default();
    Some(Cause::Closed(format!("{code:?} {reason}")))
}

impl Mqtt {
    /// Connects, without keep-alive.
    pub fn open(peer: &Peer, client_id: String) -> Result<Self, Error> {
        let options = ConnectOptions {
            version: Version::V311,
            client_id,
            keep_alive: 0,
            ..ConnectOptions::default()
        };
        let mut driven = Driven::open(peer, Box::new(Client::new(now(), options)), over)?;
        let connected = |event| matches!(event, ClientEvent::Connected(_)).then_some(());
        driven.wait_for(connected).doing("connecting by MQTT")?;
        Ok(Self {
            driven,
            out: Vec::new(),
            count: 0,
        })
    }

    /// Subscribes; an error unless the quality of service is granted as it is asked for.
    pub fn subscribe(&mut self, filter: &str, qos: QoS) -> Result<(), Error> {
        const DOING: &str = "subscribing by MQTT";
        let options = SubscriptionOptions {
            qos,
            ..SubscriptionOptions::default()
        };
        let client = &mut self.driven.machine;
        let asked = client.subscribe(now(), &[(filter, options)], &PropertyList::default());
        let asked = asked.map_err(|fault| {
            let cause = Cause::Unsendable(fault.rule.to_string());
            self.driven.tcp.failed(cause, DOING)
        })?;
        let answer = |event| match event {
            ClientEvent::Answered(packet, codes) if packet == asked => Some(codes),
            _ => None,
        };
        let codes = self.driven.wait_for(answer).doing(DOING)?;
        match codes == [qos.bits()] {
            true => Ok(()),
            false => {
                let cause = Cause::Refused(format!("with codes {codes:?}"));
                Err(self.driven.tcp.failed(cause, DOING))
            }
        }
    }

    /// Publishes a message and goes on; the number by which its acknowledgment is told.
    pub fn publish(&mut self, topic: &str, qos: QoS, payload: &[u8]) -> Result<u64, Error> {
        const DOING: &str = "publishing by MQTT";
        self.count += 1;
        self.out.clear();
        let delivery = Delivery {
            topic,
            qos,
            retain: false,
            properties: &mut PropertyList::default(),
            payload_bytes: payload.len(),
            token: Token {
                cursor: self.count,
                ..Token::default()
            },
        };
        let sent = self.driven.machine.publish(now(), delivery, &mut self.out);
        if !matches!(sent, Sent::Head) {
            let cause = Cause::Unsendable(format!("{sent:?}"));
            return Err(self.driven.tcp.failed(cause, DOING));
        }
        self.out.extend_from_slice(payload);
        self.driven.tcp.send(&self.out).doing(DOING)?;
        Ok(self.count)
    }

    /// Waits for the next message of a subscription at quality of service 0.
    pub fn message(&mut self) -> Result<Bytes, Error> {
        self.driven.wait_for(|event| match event {
            ClientEvent::Message(message) => Some(message.payload),
            _ => None,
        })
    }

    /// Sends what is due; the next event, if there is one.
    pub fn next_event(&mut self) -> Result<Option<ClientEvent>, Error> {
        self.driven.next_event()
    }

    /// Waits for bytes; silence is an error.
    pub fn receive(&mut self) -> Result<(), Error> {
        self.driven.receive()
    }

    /// Says that a message of quality of service 1 or 2 has come.
    pub fn acknowledge(&mut self, packet: u16) {
        let success = ReasonCode::SUCCESS;
        self.driven.machine.acknowledge(now(), packet, success);
    }

    /// Whether the broker has released all messages of quality of service 2 that came.
    pub fn all_released(&self) -> bool {
        self.driven.machine.received().is_empty()
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        self.driven.tcp.traffic()
    }

    /// Whether the kernel says that its socket sends at once.
    pub fn nodelay(&self) -> Option<bool> {
        self.driven.tcp.nodelay()
    }

    /// Takes leave of the broker, which may be gone already.
    pub fn close(&mut self) {
        self.driven.machine.disconnect(ReasonCode::SUCCESS);
        let _ = self.driven.next_event();
    }
}
