//! Publishing: done when the service has answered.

use super::connection::Connection;
use super::service::{Answer, Service};
use crate::net::component::name_of;
use crate::net::payload;
use crate::xml::escape;
use bytes::Bytes;
use std::io;
use weir_binding::{LocalFuture, Publisher, Target};

/// Attempts for one message: an item has a name, so that what was taken is not taken twice.
const ATTEMPTS_MAX: usize = 4;

/// Publishes messages, one after the other.
pub(super) struct XmppPublisher {
    target: Target,
    service: Service,
    /// What the names of this publisher's items begin with.
    run: u64,
    count: u64,
}

impl XmppPublisher {
    pub(super) async fn open(target: Target) -> io::Result<Self> {
        let connection = Connection::open(&target).await?;
        Ok(Self {
            service: Service::open(connection).await?,
            target,
            run: weir_random::number(),
            count: 0,
        })
    }

    async fn send(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        self.count += 1;
        let format = self.target.format;
        let node = if self.service.is_weir {
            format!("$as/{}/{}", format.name, name_of(topic))
        } else {
            name_of(topic)
        };
        let mut request =
            "<pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='".to_owned();
        escape(&node, &mut request);
        request.push_str(&format!("'><item id='{:016x}-{:x}'>", self.run, self.count));
        payload::write(format, body, &mut request);
        request.push_str("</item></publish></pubsub>");
        let mut created = false;
        for _ in 0..ATTEMPTS_MAX {
            let answer = self.service.ask("set", &request).await?;
            // Nobody reads here what others write to this address.
            self.service.aside.clear();
            match answer {
                Answer::Result(_) => return Ok(()),
                Answer::Error(condition, _) if condition == "item-not-found" && !created => {
                    created = true;
                    self.create(&node).await?;
                }
                Answer::Error(condition, text) => return Err(refused(&condition, &text)),
                Answer::Anew => {}
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Makes a node at a service that wants that first (XEP-0060 section 8.1).
    async fn create(&mut self, node: &str) -> io::Result<()> {
        let mut request =
            "<pubsub xmlns='http://jabber.org/protocol/pubsub'><create node='".to_owned();
        escape(node, &mut request);
        request.push_str("'/></pubsub>");
        match self.service.ask("set", &request).await? {
            Answer::Error(condition, text) if condition != "conflict" => {
                Err(refused(&condition, &text))
            }
            _ => Ok(()),
        }
    }
}

/// A refusal as an error, with the service's own sentence.
pub(super) fn refused(condition: &str, text: &str) -> io::Error {
    let kind = match condition {
        "forbidden" | "not-authorized" | "not-allowed" => io::ErrorKind::PermissionDenied,
        "resource-constraint" => io::ErrorKind::ResourceBusy,
        "bad-request" | "not-acceptable" => io::ErrorKind::InvalidInput,
        "item-not-found" => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let sentence = match text {
        "" => condition.to_owned(),
        text => format!("{condition}: {text}"),
    };
    io::Error::new(kind, sentence)
}

impl Publisher for XmppPublisher {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.send(topic, &body).await })
    }
}
