//! Messages that a binding counts itself, since only it knows what one is, and other numbers of its own.

use std::sync::atomic::{AtomicU64, Ordering};

/// Messages of one binding and scheme since the start.
#[derive(Debug, Default)]
pub struct Tally {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Tally {
    /// Notes messages that clients published.
    pub fn receive(&self, messages: u64) {
        self.received.fetch_add(messages, Ordering::Relaxed);
    }

    /// Notes messages that went out to clients.
    pub fn send(&self, messages: u64) {
        self.sent.fetch_add(messages, Ordering::Relaxed);
    }

    /// Messages that clients published.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Messages that went out to clients.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// A number that a binding shows in the metrics; each set of labels has a value of its own.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    /// Its name, `weir_...`; that of a counter ends with `_total`.
    pub name: &'static str,
    /// Whether it only grows.
    pub counts: bool,
    /// What it says, as a sentence.
    pub help: &'static str,
}
