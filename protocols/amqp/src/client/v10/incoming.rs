//! A link in: a delivery in parts, and the credit for more (section 2.6.7).

use super::outgoing::Way;
use super::peer::Peer;
use crate::client::{ClientEvent, Incoming as Message};
use crate::limits::{INCOMING_WINDOW, MESSAGE_BYTES_MAX};
use crate::wire::{Attach, Body, Flow, Map, Message as Sections, Transfer, Value};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;

/// A link in.
#[derive(Default)]
pub(super) struct Incoming {
    /// The peer's handle of it.
    pub(super) handle: u32,
    /// Deliveries since the link is there.
    count: u32,
    /// Deliveries that are not settled.
    pub(super) unsettled: u32,
    /// Deliveries settled since the peer was last given credit.
    freed: u32,
    parts: Vec<u8>,
    /// The delivery whose parts come.
    current: Option<u32>,
    settled: bool,
    too_long: bool,
}

/// A delivery that has come whole.
pub(super) struct Whole {
    pub(super) id: u32,
    pub(super) settled: bool,
    too_long: bool,
    bytes: Bytes,
}

impl Incoming {
    pub(super) fn attached(&mut self, attach: &Attach) {
        self.handle = attach.handle;
        self.count = attach.initial_delivery_count.unwrap_or(0);
    }

    pub(super) fn flow(
        &mut self,
        handle: usize,
        credit: u32,
        next_incoming: u32,
        way: &Way,
    ) -> Flow {
        self.freed = 0;
        Flow {
            next_incoming_id: Some(next_incoming),
            incoming_window: INCOMING_WINDOW,
            next_outgoing_id: way.next_id(),
            outgoing_window: INCOMING_WINDOW,
            handle: Some(handle as u32),
            delivery_count: Some(self.count),
            link_credit: Some(credit),
            available: None,
            drain: false,
            echo: false,
        }
    }

    /// Notes that one was settled; says how many since credit was given.
    pub(super) fn settled(&mut self) -> u32 {
        self.unsettled = self.unsettled.saturating_sub(1);
        self.freed += 1;
        self.freed
    }

    /// Takes a part; the delivery, once it is whole.
    pub(super) fn take(&mut self, transfer: &Transfer, payload: &[u8]) -> Option<Whole> {
        let id = self.current.or(transfer.delivery_id).unwrap_or(0);
        self.current = Some(id);
        self.settled |= transfer.settled.unwrap_or(false);
        self.too_long |= self.parts.len() + payload.len() > MESSAGE_BYTES_MAX;
        if !self.too_long {
            self.parts.extend_from_slice(payload);
        }
        if transfer.more && !transfer.aborted {
            return None;
        }
        self.current = None;
        self.count = self.count.wrapping_add(1);
        let whole = Whole {
            id,
            settled: core::mem::take(&mut self.settled),
            too_long: core::mem::take(&mut self.too_long),
            bytes: core::mem::take(&mut self.parts).into(),
        };
        (!transfer.aborted).then_some(whole)
    }
}

impl Whole {
    /// What the layer above is told of it.
    pub(super) fn event(self, peer: Peer, exchange: &str) -> ClientEvent {
        let tag = u64::from(self.id);
        if self.too_long {
            let reason = format!("it is longer than {MESSAGE_BYTES_MAX} bytes");
            return poison(tag, String::new(), reason, self.bytes);
        }
        let message = match Sections::read(&self.bytes) {
            Ok(message) => message,
            Err(fault) => {
                let reason = format!("{} (byte {})", fault.rule, fault.offset);
                return poison(tag, String::new(), reason, self.bytes);
            }
        };
        let properties = message.properties.unwrap_or_default();
        let (to, subject) = (properties.to.as_deref(), properties.subject.as_deref());
        let topic = match peer.topic(exchange, to, subject) {
            Ok(topic) => topic,
            Err(reason) => {
                let key = subject.or(to).unwrap_or("").to_string();
                let payload = body(message.body).unwrap_or(self.bytes);
                return poison(tag, key, reason.to_string(), payload);
            }
        };
        let Some(payload) = body(message.body) else {
            let reason = "its body is neither bytes nor a text".to_string();
            return poison(tag, topic, reason, self.bytes);
        };
        let mut headers = texts(&message.application_properties);
        headers.extend(texts(&message.message_annotations));
        ClientEvent::Message(Box::new(Message {
            tag,
            topic,
            content_type: properties.content_type.map(|it| it.as_str().to_string()),
            headers,
            payload,
            redelivered: message
                .header
                .is_some_and(|header| header.delivery_count > 0),
        }))
    }
}

/// Bytes of one section are not copied.
fn body(body: Body) -> Option<Bytes> {
    match body {
        Body::Data(mut sections) if sections.len() == 1 => sections.pop(),
        Body::Data(sections) => Some(sections.concat().into()),
        Body::Value(Value::String(text)) => Some(text.into()),
        Body::Value(Value::Binary(bytes)) => Some(bytes),
        Body::Value(_) | Body::Sequence(_) => None,
    }
}

fn texts(map: &Map) -> Vec<(String, String)> {
    let entries = map.0.iter().filter_map(|(name, value)| {
        let value = match value.as_str() {
            Some(text) => text.to_string(),
            None => value.as_i64()?.to_string(),
        };
        Some((name.as_str()?.to_string(), value))
    });
    entries.collect()
}

fn poison(tag: u64, key: String, reason: String, payload: Bytes) -> ClientEvent {
    ClientEvent::Poison {
        tag,
        key,
        reason,
        payload,
    }
}
