//! Subscribing: from a cursor where the service is a gateway of our kind; else from now on.

use super::connection::{Came, Connection};
use super::publisher::refused;
use super::service::{Answer, Service};
use crate::names::{EVENT, MESSAGE};
use crate::net::component::name_of;
use crate::net::payload;
use crate::xml::{Element, escape};
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use weir_binding::{Event, LocalFuture, Subscriber, Target};
use weir_codec::{Format, sniff};
use weir_hub::Media;
use weir_model::{BatchBuilder, Cursor, Filter, Limits, Time};

/// Receives messages.
pub(super) struct XmppSubscriber {
    target: Target,
    filters: Vec<Filter>,
    service: Service,
    /// From where to subscribe again.
    position: Option<Cursor>,
    ready: VecDeque<Event>,
}

impl XmppSubscriber {
    pub(super) async fn open(
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let connection = Connection::open(&target).await?;
        let mut subscriber = Self {
            service: Service::open(connection).await?,
            target,
            filters,
            position: since,
            ready: VecDeque::new(),
        };
        if !subscriber.subscribe().await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(subscriber)
    }

    /// Subscribes to all; `false` where the stream began anew meanwhile.
    async fn subscribe(&mut self) -> io::Result<bool> {
        // The service learns when this address is gone (RFC 6121 section 4.6).
        let mut presence = "<presence to='".to_owned();
        escape(&self.service.jid, &mut presence);
        presence.push_str("'/>");
        self.service.connection.send(presence).await?;
        for filter in self.filters.clone() {
            let request = self.request(&filter);
            match self.service.ask("set", &request).await? {
                Answer::Result(_) => {}
                Answer::Error(condition, text) => {
                    let text = format!("`{filter}` at {}: {text}", self.service.jid);
                    return Err(refused(&condition, &text));
                }
                Answer::Anew => return Ok(false),
            }
        }
        Ok(true)
    }

    fn request(&self, filter: &Filter) -> String {
        let node = match self.service.is_weir {
            true => format!(
                "$as/{}/{}",
                self.target.format.name,
                name_of(filter.as_str())
            ),
            false => name_of(filter.as_str()),
        };
        let mut request =
            "<pubsub xmlns='http://jabber.org/protocol/pubsub'><subscribe node='".to_owned();
        escape(&node, &mut request);
        request.push_str("' jid='");
        escape(self.service.connection.jid(), &mut request);
        request.push_str("'/>");
        if let (true, Some(since)) = (self.service.is_weir, self.position) {
            request.push_str(&format!(
                "<options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>\
                 <value>http://jabber.org/protocol/pubsub#subscribe_options</value></field>\
                 <field var='weir#since'><value>{since}</value></field></x></options>"
            ));
        }
        request.push_str("</pubsub>");
        request
    }

    /// Takes a message of the service.
    fn take(&mut self, message: &Element, document: &[u8]) {
        if let Some(gap) = message.find(MESSAGE, "gap") {
            let reason = gap.attribute("reason").unwrap_or("unknown");
            let count = gap.attribute("count").map(|count| format!(":{count}"));
            let told = format!("{reason}{}", count.unwrap_or_default());
            self.ready.push_back(Event::Gap(told));
        }
        let events = message
            .find(EVENT, "event")
            .into_iter()
            .flat_map(Element::elements);
        for items in events.filter(|child| child.name == "items") {
            let node = items.attribute("node").unwrap_or_default();
            for item in items.elements().filter(|child| child.name == "item") {
                let id = item.attribute("id").unwrap_or_default();
                match self.message(item, document) {
                    Ok(message) => {
                        let cursor = id.parse().ok().filter(|_| self.service.is_weir);
                        self.position = cursor.or(self.position);
                        self.ready.push_back(Event::Message(message, cursor));
                    }
                    Err(why) => tracing::warn!("XMPP: item `{id}` of `{node}` is set aside: {why}"),
                }
            }
        }
    }

    /// A message in the format that is wanted.
    fn message(&self, item: &Element, document: &[u8]) -> Result<Bytes, String> {
        let (media, bytes) = payload::read(item, document)?;
        if self.service.is_weir {
            return Ok(bytes);
        }
        match media {
            Media::Format(format) if *format == *self.target.format => Ok(bytes),
            Media::Format(format) => self.converted(format, &bytes),
            Media::Undeclared => {
                let mut batch = BatchBuilder::new();
                let format = sniff(&bytes, &mut batch, &Limits::default());
                match format {
                    Some(format) if *format == *self.target.format => Ok(bytes),
                    Some(format) => self.converted(format, &bytes),
                    None => Err("in none of the formats".into()),
                }
            }
            Media::Opaque(media) => Err(format!("`{media}` is none of the formats")),
        }
    }

    fn converted(&self, format: &Format, bytes: &[u8]) -> Result<Bytes, String> {
        let mut batch = BatchBuilder::new();
        let decoded = (format.decode)(bytes, &mut batch, &Limits::default());
        decoded.map_err(|error| format!("not a message in {}: {error}", format.name))?;
        let _arrival = Time::from_nanos(0);
        let mut out = Vec::new();
        (self.target.format.encode)(&batch.finish(), &mut out);
        Ok(out.into())
    }

    async fn receive(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let came = match self.service.aside.pop_front() {
                Some(came) => came,
                None => self.service.connection.next().await?,
            };
            match came {
                Came::Stanza(stanza, document) if stanza.name == "message" => {
                    if self.service.is_from(&stanza) {
                        self.take(&stanza, &document);
                    }
                }
                Came::Stanza(stanza, document) => {
                    if stanza.name == "iq" {
                        self.service
                            .set_aside(Came::Stanza(stanza, document))
                            .await?;
                    }
                }
                Came::Skipped(_) => self.service.set_aside(came).await?,
                Came::Anew => while !self.subscribe().await? {},
            }
        }
    }
}

impl Subscriber for XmppSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(self.receive())
    }
}
