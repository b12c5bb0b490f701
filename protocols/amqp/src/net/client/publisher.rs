//! Publishing at least once: done when the peer has it.

use super::link::{Connection, ended};
use super::url::{self, Url};
use crate::client::{ClientEvent, Options, Outgoing, Sent};
use bytes::Bytes;
use std::io;
use weir_binding::{LocalFuture, Publisher, Target};
use weir_carrier::clock::now;

/// Publishes messages, one after the other.
pub(super) struct AmqpPublisher {
    target: Target,
    options: Options,
    connection: Option<Connection>,
    count: u64,
}

impl AmqpPublisher {
    pub(super) async fn open(target: Target) -> io::Result<Self> {
        let options = Options {
            publishes: true,
            ..url::options(&Url::parse(&target.url)?, &target)
        };
        let connection = Some(Connection::open(&target, &options).await?);
        Ok(Self {
            target,
            options,
            connection,
            count: 0,
        })
    }

    async fn send(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.target, &self.options).await?,
        };
        self.count += 1;
        let message = Outgoing {
            topic,
            content_type: Some(self.target.format.media),
            headers: &[],
            payload: body,
            token: self.count,
        };
        let mut bytes = Vec::with_capacity(body.len() + 256);
        loop {
            match connection.machine.publish(now(), &message, &mut bytes) {
                Sent::Done => break,
                Sent::Never(reason) => {
                    self.connection = Some(connection);
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
                }
                // Credit comes by an event or without one.
                Sent::Full => connection.granted().await?,
            }
        }
        connection.send(&bytes).await?;
        let confirmed = wait(&mut connection, message.token).await?;
        self.connection = Some(connection);
        confirmed
    }
}

/// Waits for the acknowledgement; the outer error is the connection's end.
async fn wait(connection: &mut Connection, token: u64) -> io::Result<io::Result<()>> {
    loop {
        match connection.next().await? {
            ClientEvent::Confirmed(of, outcome) if of == token => {
                return Ok(outcome.map_err(io::Error::other));
            }
            ClientEvent::Returned(of, reason) if of == token => {
                return Ok(Err(io::Error::other(reason)));
            }
            ClientEvent::Closed(closed) => return Err(ended(closed)),
            _ => {}
        }
    }
}

impl Publisher for AmqpPublisher {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.send(topic, &body).await })
    }
}
