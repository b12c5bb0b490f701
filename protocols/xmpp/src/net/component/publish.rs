//! Items that users publish (XEP-0060 section 7.1): into the hub as any other message, answered when they are
//! on disk.

use super::answer::{Asked, Refusal};
use super::node::Wanted;
use crate::jid;
use crate::names::PUBSUB;
use crate::net::payload;
use crate::xml::Element;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_hub::{Fault, Media, Principal, Publish, Ticket};

/// A publication that is not answered yet.
pub(super) struct Publication {
    asked: Asked,
    node: String,
    tickets: Vec<Ticket>,
}

/// Items of one request (XEP-0060 section 7.1.1 has one; more is the feature `multi-items`).
const ITEMS_OF_ONE_REQUEST_MAX: usize = 100;

impl Publication {
    /// Gives the items of a request to the hub: all are read before the first is stored.
    // [XEP0060-7.1-1] [XEP0060-7.1-2]
    pub(super) fn open(
        gateway: &dyn Gateway,
        principal: &Principal,
        asked: Asked,
        publish: &Element,
        document: &[u8],
    ) -> Result<Self, Refusal> {
        let node = publish
            .attribute("node")
            .ok_or_else(|| Refusal::bad("no node").with("nodeid-required"))?;
        let wanted = Wanted::parse(node)?;
        let topic = wanted.topic()?.to_owned();
        let items: Vec<&Element> = publish
            .elements()
            .filter(|item| item.is(PUBSUB, "item"))
            .collect();
        if items.is_empty() {
            return Err(Refusal::bad("nothing to publish").with("item-required"));
        }
        if items.len() > ITEMS_OF_ONE_REQUEST_MAX {
            let text = format!("more than {ITEMS_OF_ONE_REQUEST_MAX} items");
            return Err(Refusal::bad(text).with("max-items-exceeded"));
        }
        let mut messages = Vec::with_capacity(items.len());
        for item in items {
            let read = payload::read(item, document);
            let (media, body) = read.map_err(|text| Refusal::bad(text).with("invalid-payload"))?;
            let media = match wanted.format {
                Some(format) => Media::Format(format),
                None => media,
            };
            let mut message = Publish::new(topic.clone(), media, body);
            message.is_answered = true;
            let id = item.attribute("id").filter(|id| !id.is_empty());
            message.key = id.map(|id| key(asked.from(), &topic, id));
            messages.push(message);
        }
        let stored = messages
            .into_iter()
            .map(|message| store(gateway, principal, message));
        let tickets = stored.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            asked,
            node: node.to_owned(),
            tickets,
        })
    }

    /// How many messages it is.
    pub(super) fn messages(&self) -> u64 {
        self.tickets.len() as u64
    }

    /// The answer, once all is on disk: the items' identifiers are their cursors (section 7.1.2).
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        for ticket in &self.tickets {
            match ticket.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(fault)) => {
                    return Poll::Ready(self.asked.error(&Refusal::from(fault)));
                }
            }
        }
        let item =
            |ticket: &Ticket| Element::new(PUBSUB, "item").with("id", ticket.cursor().to_string());
        let publish = Element::new(PUBSUB, "publish").with("node", self.node.clone());
        let publish = publish.children(self.tickets.iter().map(item));
        let pubsub = Element::new(PUBSUB, "pubsub").child(publish);
        Poll::Ready(self.asked.result(Some(pubsub)))
    }
}

/// The publisher's own name for an item is its idempotency key: what comes again under it is not stored again.
// [XEP0060-7.1-4]
fn key(from: &str, topic: &str, id: &str) -> Vec<u8> {
    let whole = format!("{}\n{topic}\n{id}", jid::bare(from));
    ring::digest::digest(&ring::digest::SHA256, whole.as_bytes())
        .as_ref()
        .to_vec()
}

/// Something else under a name that was given before takes the place of what was there (section 7.1.2).
fn store(
    gateway: &dyn Gateway,
    principal: &Principal,
    mut message: Publish,
) -> Result<Ticket, Refusal> {
    loop {
        let caller = gateway.hub().caller(gateway.now(), principal);
        match caller.and_then(|caller| caller.publish(message.clone())) {
            Ok(ticket) => return Ok(ticket),
            Err(Fault::KeyReused(_)) if message.key.is_some() => message.key = None,
            Err(fault) => return Err(fault.into()),
        }
    }
}
