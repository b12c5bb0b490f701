//! Framing that reads of the past: done on threads of its own, one chunk of a delivery at a time, so that who
//! resumes far back holds up nobody.

use crate::work::{Busy, Outcome, Workers, hand_over_next};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_hub::Unframed;
use weir_model::Cursor;

/// Where chunks are framed, and the one that is under way.
pub struct Elsewhere {
    workers: Arc<dyn Workers>,
    under_way: Option<(Outcome<Bytes>, Cursor)>,
}

impl Elsewhere {
    /// Framing by these workers.
    pub fn new(workers: Arc<dyn Workers>) -> Self {
        let under_way = None;
        Self { workers, under_way }
    }

    /// Has a chunk framed.
    pub(crate) fn begin(&mut self, unframed: Arc<Unframed>, cursor: Cursor) {
        let outcome = hand_over_next(&*self.workers, move || unframed.framed());
        let outcome = outcome.unwrap_or_else(|Busy| Outcome::lost());
        self.under_way = Some((outcome, cursor));
    }

    /// Says whether a chunk is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// The chunk that is under way, once it is framed; `None` in its place where the work broke off.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Option<Poll<Option<(Bytes, Cursor)>>> {
        let (outcome, cursor) = self.under_way.as_mut()?;
        let (polled, cursor) = (outcome.poll(cx), *cursor);
        if polled.is_ready() {
            self.under_way = None;
        }
        Some(polled.map(|bytes| bytes.map(|bytes| (bytes, cursor))))
    }
}
