//! Publishing with QoS 1: done when the broker has it.

use super::link::{Connection, ended, refused};
use crate::session::{ClientEvent, ConnectOptions, Delivery, Sent, Token};
use crate::wire::{Property, PropertyList, QoS};
use bytes::Bytes;
use std::io;
use weir_binding::{LocalFuture, Publisher, Target};
use weir_carrier::clock::now;

/// Publishes messages, one after the other.
pub(super) struct MqttPublisher {
    target: Target,
    connection: Option<Connection>,
    count: u64,
}

impl MqttPublisher {
    pub(super) async fn open(target: Target) -> io::Result<Self> {
        let connection = Some(Connection::open(&target, ConnectOptions::default()).await?);
        Ok(Self {
            target,
            connection,
            count: 0,
        })
    }

    async fn send(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.target, ConnectOptions::default()).await?,
        };
        self.count += 1;
        let token = Token {
            cursor: self.count,
            ..Token::default()
        };
        let mut properties = PropertyList::default();
        properties.push(Property::ContentType(self.target.format.media));
        let delivery = Delivery {
            topic,
            qos: QoS::AtLeastOnce,
            retain: false,
            properties: &mut properties,
            payload_bytes: body.len(),
            token,
        };
        let mut packet = Vec::with_capacity(body.len() + 64);
        match connection.client.publish(now(), delivery, &mut packet) {
            Sent::Head => packet.extend_from_slice(body),
            Sent::TooLarge => {
                self.connection = Some(connection);
                let sentence = "larger than the broker takes";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
            }
            Sent::Full => return Err(io::ErrorKind::ResourceBusy.into()),
        }
        connection.send(&packet).await?;
        let acknowledged = wait(&mut connection, token).await?;
        self.connection = Some(connection);
        acknowledged
    }
}

/// Waits for the acknowledgment; the outer error is the connection's end.
async fn wait(connection: &mut Connection, token: Token) -> io::Result<io::Result<()>> {
    loop {
        match connection.next().await? {
            ClientEvent::Acknowledged(of, code) if of == token => {
                return Ok(if code.is_failure() {
                    Err(refused(code, None))
                } else {
                    Ok(())
                });
            }
            closed @ ClientEvent::Closed { .. } => return Err(ended(closed)),
            _ => {}
        }
    }
}

impl Publisher for MqttPublisher {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.send(topic, &body).await })
    }
}
