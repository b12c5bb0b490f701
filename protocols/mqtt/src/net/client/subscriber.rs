//! Subscribing with QoS 1: a message is acknowledged when the one after it is asked for.

use super::link::{Connection, ended, refused};
use crate::session::{ClientEvent, ConnectOptions, Message};
use crate::wire::{Property, PropertyList, QoS, ReasonCode, RetainHandling, SubscriptionOptions};
use std::collections::VecDeque;
use std::io;
use weir_binding::{Event, LocalFuture, Subscriber, Target};
use weir_carrier::clock::now;
use weir_model::{Cursor, Filter};

/// Receives messages.
pub(super) struct MqttSubscriber {
    connection: Connection,
    /// The packet identifier of the message handed over last.
    last: u16,
    /// What came already.
    ready: VecDeque<Event>,
}

impl MqttSubscriber {
    pub(super) async fn open(
        target: Target,
        filters: &[Filter],
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let connection = Connection::open(&target, ConnectOptions::default()).await?;
        let mut subscriber = Self {
            connection,
            last: 0,
            ready: VecDeque::new(),
        };
        subscriber.subscribe(&target, filters, since).await?;
        Ok(subscriber)
    }

    async fn subscribe(
        &mut self,
        target: &Target,
        filters: &[Filter],
        since: Option<Cursor>,
    ) -> io::Result<()> {
        let mut properties = PropertyList::default();
        let since = since.map(|cursor| cursor.to_string()).unwrap_or_default();
        properties.push(Property::UserProperty("weir-cursor", &since));
        let options = SubscriptionOptions {
            qos: QoS::AtLeastOnce,
            retain_handling: RetainHandling::Never,
            ..SubscriptionOptions::default()
        };
        let converted = |filter: &Filter| format!("$as/{}/{filter}", target.format.name);
        let texts: Vec<String> = filters.iter().map(converted).collect();
        let asked: Vec<_> = texts.iter().map(|text| (text.as_str(), options)).collect();
        let client = &mut self.connection.client;
        let id = client.subscribe(now(), &asked, &properties);
        let id = id.map_err(|fault| io::Error::new(io::ErrorKind::InvalidInput, fault))?;
        loop {
            match self.connection.next().await? {
                ClientEvent::Answered(of, codes) if of == id => {
                    let failed = codes
                        .into_iter()
                        .map(ReasonCode)
                        .find(|code| code.is_failure());
                    return match failed {
                        Some(code) => Err(refused(code, None)),
                        None => Ok(()),
                    };
                }
                ClientEvent::Message(message) => self.take(*message),
                other => return Err(ended(other)),
            }
        }
    }

    fn take(&mut self, message: Message) {
        let user = message.properties.as_deref().map(|of| of.user.as_slice());
        let value = |name: &str| {
            let mut user = user.unwrap_or_default().iter();
            user.find(|(known, _)| known == name)
                .map(|(_, value)| value.as_str())
        };
        if let Some(gap) = value("weir-gap") {
            self.ready.push_back(Event::Gap(gap.to_owned()));
        }
        let cursor = value("weir-cursor").and_then(|cursor| cursor.parse().ok());
        self.ready
            .push_back(Event::Message(message.payload, cursor));
        self.last = message.packet_id;
    }

    async fn receive(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.last > 0 {
                let id = std::mem::take(&mut self.last);
                self.connection
                    .client
                    .acknowledge(now(), id, ReasonCode::SUCCESS);
            }
            match self.connection.next().await {
                Ok(ClientEvent::Message(message)) => self.take(*message),
                Ok(closed @ ClientEvent::Closed { .. }) => return Err(ended(closed)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Subscriber for MqttSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(self.receive())
    }
}
