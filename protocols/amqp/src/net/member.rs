//! A client that was let in: who it is, its links, and what waits for the disk.

use super::link::Outward;
use crate::session::{LinkId, Received};
use std::collections::VecDeque;
use weir_carrier::crowd::Place;
use weir_hub::{ClientId, Principal, Ticket};
use weir_sansio::Instant;

/// A client that was let in, and its links.
pub(super) struct Member {
    pub(super) principal: Principal,
    /// It was told to go.
    pub(super) is_expelled: bool,
    /// What the hub knows its messages by.
    pub(super) client: ClientId,
    pub(super) inward: Vec<Inward>,
    pub(super) outward: Vec<Outward>,
    /// Messages that are on their way to the disk, in their order.
    pub(super) tickets: VecDeque<(LinkId, u32, Ticket)>,
    /// A message that the log could not take yet; nothing is read meanwhile.
    pub(super) held: Option<Box<Received>>,
    /// Which link is served first next time.
    pub(super) turn: usize,
    /// Where it waits for what others are told too.
    pub(super) place: Place,
    /// When the records of durable links are mended, if they are other than what is so.
    pub(super) record_at: Instant,
}

/// A link that messages come in by.
pub(super) struct Inward {
    pub(super) id: LinkId,
    /// Where they go; none where each says it.
    pub(super) address: Option<Box<str>>,
}

impl Member {
    /// One without links.
    pub(super) fn new(principal: Principal) -> Self {
        Self {
            principal,
            is_expelled: false,
            client: ClientId::new(),
            inward: Vec::new(),
            outward: Vec::new(),
            tickets: VecDeque::new(),
            held: None,
            turn: 0,
            place: Place::default(),
            record_at: Instant::NEVER,
        }
    }
}
