//! What was found damaged: told once in the gateway's log, and counted.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What was found damaged at the start and since.
#[derive(Default)]
pub(crate) struct Damage {
    place: String,
    count: AtomicU64,
    /// By file and byte.
    chunks: Mutex<BTreeSet<(u32, u64)>>,
}

impl Damage {
    /// None yet, in the directory of this name.
    pub(crate) fn in_place(place: String) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }

    pub(crate) fn tell(&self, sentence: &str) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let place = &self.place;
        tracing::error!(%place, "the history is DAMAGED: {sentence}");
    }

    /// Notes a chunk that cannot be read.
    pub(crate) fn note_chunk(&self, file: u32, offset: u64, sentence: &str) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        if chunks.insert((file, offset)) {
            drop(chunks);
            self.tell(&format!("{sentence}; all others are read"));
        }
    }

    /// Whether a file has a chunk that is known not to be read.
    pub(crate) fn is_in(&self, file: u32) -> bool {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.range((file, 0)..=(file, u64::MAX)).next().is_some()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
