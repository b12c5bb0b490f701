//! The transfer of a message or of a part of one (AMQP 1.0 section 2.7.5).

use super::condition::Fault;
use super::fields::{Composite, Fields};
use super::performative::ReceiverSettles;
use super::reader::{Decode, Reader};
use super::state::DeliveryState;
use super::writer::Encode;
use crate::limits::TAG_BYTES_MAX;
use alloc::vec::Vec;

/// What tells a delivery from the others of its link that are not settled (section 2.6.12).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    bytes: [u8; TAG_BYTES_MAX],
    length: u8,
}

impl Tag {
    /// A tag of up to 32 bytes (section 2.8.7).
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut tag = Self {
            bytes: [0; TAG_BYTES_MAX],
            length: bytes.len() as u8,
        };
        tag.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(tag)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl core::fmt::Debug for Tag {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Tag").field(&self.as_bytes()).finish()
    }
}

impl Decode for Tag {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        let bytes = match reader.u8()? {
            0xa0 => reader.variable(false)?,
            0xb0 => reader.variable(true)?,
            _ => return Err(Fault::decode(start, "bytes are expected")),
        };
        Self::new(bytes).ok_or(Fault::field(start, "a delivery tag of more than 32 bytes"))
    }
}

impl Encode for Tag {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_bytes().encode(out);
    }
}

/// A transfer; the part of the message that it carries stands behind it in the frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// The link.
    pub handle: u32,
    /// Number of the delivery; there on the first transfer of each.
    pub delivery_id: Option<u32>,
    /// Tag of the delivery; there on the first transfer of each.
    pub delivery_tag: Option<Tag>,
    /// What the message is written in; 0 for AMQP's own.
    pub message_format: Option<u32>,
    /// Whether the sender is done with it.
    pub settled: Option<bool>,
    /// Whether more of it follows.
    pub more: bool,
    /// When the receiver settles it, if not as the link says.
    pub rcv_settle_mode: Option<ReceiverSettles>,
    /// How far it is at the sender.
    pub state: Option<DeliveryState>,
    /// Whether it goes on with a delivery of before.
    pub resume: bool,
    /// Whether nothing becomes of it.
    pub aborted: bool,
    /// Whether an answer may wait.
    pub batchable: bool,
}

impl Transfer {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            handle: fields.required("a transfer without a handle")?,
            delivery_id: fields.optional()?,
            delivery_tag: fields.optional()?,
            message_format: fields.optional()?,
            settled: fields.optional()?,
            more: fields.or(false)?,
            rcv_settle_mode: fields.optional()?,
            state: fields.optional()?,
            resume: fields.or(false)?,
            aborted: fields.or(false)?,
            batchable: fields.or(false)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        Composite::new(out, 0x14)
            .field(self.handle)
            .field(self.delivery_id)
            .field(self.delivery_tag)
            .field(self.message_format)
            .field(self.settled)
            .unless(false, self.more)
            .field(self.rcv_settle_mode)
            .field(&self.state)
            .unless(false, self.resume)
            .unless(false, self.aborted)
            .unless(false, self.batchable)
            .finish();
    }
}
