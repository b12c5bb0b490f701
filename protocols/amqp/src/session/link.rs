//! One link's state, sender or receiver (AMQP 1.0 section 2.6).

use crate::wire::{ReceiverSettles, Role, SenderSettles, Tag};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// What tells a link of a connection from the others, those before it on the same handle too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId {
    /// The session's channel.
    pub channel: u16,
    /// The link's handle, the same in both directions.
    pub handle: u32,
    /// Counts the connection's links.
    pub key: u32,
}

/// What the layer above knows a message by that it sent; the delivery tag is made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token {
    /// The message.
    pub cursor: u64,
    /// Which part of it.
    pub part: u32,
}

impl Token {
    /// The delivery tag.
    pub fn tag(&self) -> Tag {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.cursor.to_be_bytes());
        bytes[8..].copy_from_slice(&self.part.to_be_bytes());
        let length = if self.part == 0 { 8 } else { 12 };
        // Twelve bytes always fit.
        Tag::new(&bytes[..length]).unwrap_or_else(|| unreachable!())
    }

    /// The token that a delivery tag was made of.
    pub fn of(tag: &[u8]) -> Option<Self> {
        let (cursor, part) = tag.split_first_chunk::<8>()?;
        let part = match part {
            [] => 0,
            part => u32::from_be_bytes(part.try_into().ok()?),
        };
        Some(Self {
            cursor: u64::from_be_bytes(*cursor),
            part,
        })
    }
}

/// Where frames of deliveries go: small pieces joined, payloads as they are.
pub trait Sink {
    /// Where small pieces are appended.
    fn small(&mut self) -> &mut Vec<u8>;
    /// Appends bytes that others may share.
    fn shared(&mut self, bytes: Bytes);
}

impl Sink for Vec<u8> {
    fn small(&mut self) -> &mut Vec<u8> {
        self
    }

    fn shared(&mut self, bytes: Bytes) {
        self.extend_from_slice(&bytes);
    }
}

/// How sending went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way.
    Yes,
    /// The client takes no more now.
    Full,
    /// The client takes no message as large.
    TooLarge,
}

/// How far a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The layer above decides about the client's attach.
    Deciding,
    Attached,
    /// This side has detached; what still comes is passed over.
    Detached,
}

/// A link as this side sees it.
pub(super) struct Link {
    pub(super) key: u32,
    pub(super) stage: Stage,
    pub(super) name: String,
    /// This side's role.
    pub(super) role: Role,
    pub(super) snd_settle_mode: SenderSettles,
    pub(super) rcv_settle_mode: ReceiverSettles,
    /// Largest message: that the client takes, or that is taken of it.
    pub(super) message_bytes_max: usize,
    pub(super) delivery_count: u32,
    /// Deliveries that may still be sent; of a receiver, that the client was told.
    pub(super) credit: u32,
    /// The client wants its credit used up or given back (section 2.6.7).
    pub(super) drain: bool,
    /// Deliveries that are not settled.
    pub(super) unsettled: usize,
    /// A delivery of which more is to come.
    pub(super) partial: Option<Box<Partial>>,
}

/// A delivery that is not whole yet.
pub(super) struct Partial {
    pub(super) delivery_id: u32,
    pub(super) tag: Tag,
    pub(super) settled: bool,
    pub(super) resume: bool,
    pub(super) second: bool,
    pub(super) payload: Vec<u8>,
}
