//! Subscribing at least once: a message is acknowledged when the one after it is asked for.

use super::link::{Connection, ended};
use super::url::{self, Url};
use crate::client::{ClientEvent, Incoming, Options, Settle};
use std::collections::VecDeque;
use std::io;
use weir_binding::{Event, LocalFuture, Subscriber, Target};
use weir_model::{Cursor, Filter};

/// Receives messages.
pub(super) struct AmqpSubscriber {
    connection: Connection,
    /// What was handed over last.
    last: Option<u64>,
    /// What came already.
    ready: VecDeque<Event>,
}

impl AmqpSubscriber {
    pub(super) async fn open(
        target: Target,
        filters: &[Filter],
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let options = Options {
            filters: filters.iter().map(Filter::to_string).collect(),
            format: Some(target.format.name.into()),
            since: since.map(|cursor| cursor.to_string()),
            ..url::options(&Url::parse(&target.url)?, &target)
        };
        Ok(Self {
            connection: Connection::open(&target, &options).await?,
            last: None,
            ready: VecDeque::new(),
        })
    }

    fn take(&mut self, message: Incoming) {
        let value = |name: &str| {
            let mut headers = message.headers.iter();
            let found = headers.find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        if let Some(gap) = value("weir-gap") {
            self.ready.push_back(Event::Gap(gap.to_owned()));
        }
        let cursor = value("weir-cursor").and_then(|cursor| cursor.parse().ok());
        self.ready
            .push_back(Event::Message(message.payload, cursor));
        self.last = Some(message.tag);
    }

    async fn receive(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(tag) = self.last.take() {
                self.connection.machine.settle(tag, Settle::Accept);
            }
            match self.connection.next().await {
                Ok(ClientEvent::Message(message)) => self.take(*message),
                // What is none for a person to read is the broker's to set aside (a dead-letter exchange).
                Ok(ClientEvent::Poison {
                    tag, key, reason, ..
                }) => {
                    tracing::warn!("AMQP: a message at `{key}` is set aside: {reason}");
                    self.connection.machine.settle(tag, Settle::Reject);
                }
                Ok(ClientEvent::Closed(closed)) => return Err(ended(closed)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Subscriber for AmqpSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(self.receive())
    }
}
