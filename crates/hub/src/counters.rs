//! What the hub counts, for metrics.

use crate::fault::Fault;
use crate::interest::Policy;
use crate::memory::Bounds;
use crate::problem::ByKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// Totals since the start; every one only grows but the gauges.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    published_messages: AtomicU64,
    published_observations: AtomicU64,
    published_bytes: AtomicU64,
    repeated: AtomicU64,
    refused: AtomicU64,
    pub(crate) refused_by: ByKind,
    /// Messages of which only the bytes were kept.
    pub(crate) bytes_by: ByKind,
    /// Messages of which a part was not understood.
    pub(crate) parts_by: ByKind,
    delivered_messages: AtomicU64,
    delivered_bytes: AtomicU64,
    missed: [AtomicU64; 3],
    gaps: AtomicU64,
    uncompared: AtomicU64,
    stalled: AtomicU64,
    subscribers: AtomicU64,
    /// Bytes that are under way, which every queue looks at.
    pub(crate) memory: Bounds,
}

/// The counters at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages accepted.
    pub published_messages: u64,
    /// Observations accepted.
    pub published_observations: u64,
    /// Bytes of bodies accepted.
    pub published_bytes: u64,
    /// Publishes acknowledged again by their idempotency key.
    pub repeated: u64,
    /// Publishes refused.
    pub refused: u64,
    /// Messages handed to subscribers.
    pub delivered_messages: u64,
    /// Bytes handed to subscribers.
    pub delivered_bytes: u64,
    /// Messages that slow subscribers missed, by policy in the order of [`Policy::ALL`].
    pub missed: [u64; 3],
    /// Gaps told.
    pub gaps: u64,
    /// Observations that a condition, a window or a unit left out, since they could not be converted.
    pub uncompared: u64,
    /// Peers given up that took nothing.
    pub stalled: u64,
    /// Subscribers now.
    pub subscribers: u64,
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn published(&self, observations: usize, bytes: usize) {
        add(&self.published_messages, 1);
        add(&self.published_observations, observations as u64);
        add(&self.published_bytes, bytes as u64);
    }

    pub(crate) fn repeated(&self) {
        add(&self.repeated, 1);
    }

    pub(crate) fn refused(&self, fault: &Fault, messages: u64) {
        add(&self.refused, messages);
        self.refused_by.count_many(fault.cause(), messages);
    }

    pub(crate) fn delivered(&self, messages: u64, bytes: u64) {
        add(&self.delivered_messages, messages);
        add(&self.delivered_bytes, bytes);
    }

    pub(crate) fn lapped(&self, policy: Policy, messages: u64) {
        let index = Policy::ALL.iter().position(|(_, known)| *known == policy);
        add(&self.missed[index.unwrap_or_default()], messages);
    }

    pub(crate) fn stalled(&self) {
        add(&self.stalled, 1);
    }

    pub(crate) fn gap(&self) {
        add(&self.gaps, 1);
    }

    pub(crate) fn uncompared(&self, observations: u64) {
        add(&self.uncompared, observations);
    }

    pub(crate) fn subscribed(&self) {
        add(&self.subscribers, 1);
    }

    pub(crate) fn unsubscribed(&self) {
        self.subscribers.fetch_sub(1, Ordering::Relaxed);
    }

    /// The counters now.
    pub(crate) fn now(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            published_messages: read(&self.published_messages),
            published_observations: read(&self.published_observations),
            published_bytes: read(&self.published_bytes),
            repeated: read(&self.repeated),
            refused: read(&self.refused),
            delivered_messages: read(&self.delivered_messages),
            delivered_bytes: read(&self.delivered_bytes),
            missed: [0, 1, 2].map(|policy| read(&self.missed[policy])),
            gaps: read(&self.gaps),
            uncompared: read(&self.uncompared),
            stalled: read(&self.stalled),
            subscribers: read(&self.subscribers),
        }
    }
}
