//! A message on its way in: method, header, body in parts (section 4.2.6).

use crate::client::{ClientEvent, Incoming, names};
use crate::limits::BODY_BYTES_MAX;
use crate::v091::wire::{Fault, Header};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What has come of a message.
pub(super) struct Content {
    tag: u64,
    redelivered: bool,
    key: String,
    header: Option<Header>,
    body: Vec<u8>,
    /// Bytes of the body that have come, kept or not.
    came: u64,
}

impl Content {
    pub(super) fn new(tag: u64, redelivered: bool, key: String) -> Self {
        Self {
            tag,
            redelivered,
            key,
            header: None,
            body: Vec::new(),
            came: 0,
        }
    }

    pub(super) fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// Takes the header; says whether nothing is to follow.
    pub(super) fn head(&mut self, header: Header) -> bool {
        let is_whole = header.body_bytes == 0;
        if header.body_bytes <= BODY_BYTES_MAX as u64 {
            self.body.reserve_exact(header.body_bytes as usize);
        }
        self.header = Some(header);
        is_whole
    }

    /// Takes a part; says whether nothing is to follow. Of a body that is too large nothing is kept.
    pub(super) fn part(&mut self, part: &[u8]) -> Result<bool, Fault> {
        let whole = self.header.as_ref().map_or(0, |header| header.body_bytes);
        self.came += part.len() as u64;
        if self.came > whole {
            return Err(Fault {
                offset: 0,
                rule: "a body is longer than its header says",
            });
        }
        if whole <= BODY_BYTES_MAX as u64 {
            self.body.extend_from_slice(part);
        }
        Ok(self.came == whole)
    }

    /// What the layer above is told of it.
    pub(super) fn event(self) -> ClientEvent {
        let Some(header) = self.header else {
            return poison(self.tag, self.key, "it has no header", self.body);
        };
        if header.body_bytes > BODY_BYTES_MAX as u64 {
            let reason = format!(
                "its body of {} bytes is longer than {BODY_BYTES_MAX}",
                header.body_bytes
            );
            return poison(self.tag, self.key, &reason, self.body);
        }
        let topic = match names::topic_of(&self.key) {
            Ok(topic) => topic,
            Err(reason) => return poison(self.tag, self.key, reason, self.body),
        };
        ClientEvent::Message(Box::new(Incoming {
            tag: self.tag,
            topic,
            content_type: header.properties.content_type,
            headers: header.properties.headers,
            payload: self.body.into(),
            redelivered: self.redelivered,
        }))
    }
}

fn poison(tag: u64, key: String, reason: &str, body: Vec<u8>) -> ClientEvent {
    ClientEvent::Poison {
        tag,
        key,
        reason: reason.to_string(),
        payload: body.into(),
    }
}
