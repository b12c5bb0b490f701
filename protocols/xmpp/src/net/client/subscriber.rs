//! Subscribing: from a cursor where the service is a gateway of our kind; else from now on. Each node has a cursor
//! of its own: what one is ahead, another may not have sent yet.

use super::connection::{Came, Connection};
use super::publisher::refused;
use super::service::{Answer, Service};
use crate::names::{EVENT, FORMS, HEADERS, MESSAGE, PUBSUB};
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
    nodes: Vec<Node>,
    service: Service,
    ready: VecDeque<Event>,
}

/// A node that is subscribed to.
struct Node {
    filter: Filter,
    name: String,
    /// From where to subscribe again.
    position: Option<Cursor>,
}

impl XmppSubscriber {
    pub(super) async fn open(
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let service = Service::open(Connection::open(&target).await?).await?;
        let format = service.is_weir.then_some(target.format);
        let node = |filter| Node::new(filter, format, since);
        let mut subscriber = Self {
            nodes: filters.into_iter().map(node).collect(),
            service,
            target,
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
        for node in &mut self.nodes {
            let request = node.request(self.service.connection.jid());
            match self.service.ask("set", &request).await? {
                Answer::Result(iq) => node.begin(&iq),
                Answer::Error(condition, text) => {
                    let text = format!("`{}` at {}: {text}", node.filter, self.service.jid);
                    return Err(refused(&condition, &text));
                }
                Answer::Anew => return Ok(false),
            }
        }
        Ok(true)
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
            let leaf = items.attribute("node").unwrap_or_default();
            let node = collection(message).unwrap_or_else(|| leaf.to_owned());
            for item in items.elements().filter(|child| child.name == "item") {
                let id = item.attribute("id").unwrap_or_default();
                let cursor = id.parse().ok().filter(|_| self.service.is_weir);
                let is_bare = item.elements().next().is_none();
                let event = match self.message(item, document) {
                    Ok(message) => Event::Message(message, cursor),
                    // It is longer than its server would pass on.
                    Err(_) if is_bare && cursor.is_some() => Event::Gap("policy:1".into()),
                    Err(why) => {
                        tracing::warn!("XMPP: item `{id}` of `{leaf}` is set aside: {why}");
                        continue;
                    }
                };
                if let Some(cursor) = cursor {
                    advance(&mut self.nodes, &node, cursor);
                }
                self.ready.push_back(event);
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
            Media::Format(format) | Media::Claimed(format) if *format == *self.target.format => {
                Ok(bytes)
            }
            Media::Format(format) | Media::Claimed(format) => self.converted(format, &bytes),
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

impl Node {
    /// The node of a filter, of which a gateway of our kind sends messages in a format.
    fn new(filter: Filter, format: Option<&Format>, position: Option<Cursor>) -> Self {
        let name = match format {
            Some(format) => format!("$as/{}/{}", format.name, name_of(filter.as_str())),
            None => name_of(filter.as_str()),
        };
        let position = position.filter(|_| format.is_some());
        Self {
            filter,
            name,
            position,
        }
    }

    fn request(&self, jid: &str) -> String {
        let mut request =
            "<pubsub xmlns='http://jabber.org/protocol/pubsub'><subscribe node='".to_owned();
        escape(&self.name, &mut request);
        request.push_str("' jid='");
        escape(jid, &mut request);
        request.push_str("'/>");
        if let Some(since) = self.position {
            request.push_str(&format!(
                "<options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>\
                 <value>http://jabber.org/protocol/pubsub#subscribe_options</value></field>\
                 <field var='weir#since'><value>{since}</value></field></x></options>"
            ));
        }
        request.push_str("</pubsub>");
        request
    }

    /// It is subscribed to: the answer says from where on, for who has had nothing of it yet.
    fn begin(&mut self, iq: &Element) {
        let options = iq
            .find(PUBSUB, "pubsub")
            .and_then(|pubsub| pubsub.find(PUBSUB, "options"));
        let form = options.and_then(|options| options.find(FORMS, "x"));
        let mut fields = form.into_iter().flat_map(Element::elements);
        let since = fields.find(|field| field.attribute("var") == Some("weir#since"));
        let value = since.and_then(|field| field.find(FORMS, "value"));
        let begins = value.and_then(|value| value.own_text().parse().ok());
        self.position = self.position.or(begins);
    }
}

/// Notes up to where the messages of a node have come.
fn advance(nodes: &mut [Node], name: &str, cursor: Cursor) {
    let meant = nodes.iter_mut().filter(|node| node.name == name);
    meant.for_each(|node| node.position = Some(cursor));
}

/// The collection that a message comes through (XEP-0248 section 5.3).
fn collection(message: &Element) -> Option<String> {
    let mut headers = message.find(HEADERS, "headers")?.elements();
    let header = headers.find(|header| header.attribute("name") == Some("Collection"));
    header.map(Element::own_text)
}

impl Subscriber for XmppSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(self.receive())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cursor(text: &str) -> Cursor {
        text.parse().unwrap()
    }

    fn element(text: &str) -> Element {
        Element::read(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn each_node_is_subscribed_to_again_from_its_own_cursor() {
        let format = weir_codec::by_name("json").unwrap();
        let node = |filter| {
            Node::new(
                Filter::parse(filter).unwrap(),
                Some(format),
                Some(cursor("1-1")),
            )
        };
        let mut nodes = ["a/#", "b/#", "c"].map(node);
        let told = element(
            "<message xmlns='jabber:client'><headers xmlns='http://jabber.org/protocol/shim'>\
             <header name='Collection'>$as/json/a/#</header></headers></message>",
        );
        advance(&mut nodes, &collection(&told).unwrap(), cursor("1-64"));
        advance(&mut nodes, "$as/json/c", cursor("1-32"));
        for (node, since) in nodes.iter().zip(["1-64", "1-1", "1-32"]) {
            let request = element(&node.request("ann@a/1"));
            let form = request
                .find(PUBSUB, "options")
                .unwrap()
                .find(FORMS, "x")
                .unwrap();
            let value = form
                .elements()
                .last()
                .unwrap()
                .find(FORMS, "value")
                .unwrap();
            assert_eq!(value.own_text(), since, "{}", node.name);
        }
    }
}
