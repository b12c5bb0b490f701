//! Bytes that the serial port's interrupt took, until the device does.

use core::sync::atomic::{AtomicU8, Ordering, compiler_fence};

/// Bytes that wait, one less than there are: 9 ms of the line, or 2.
const BYTES: usize = if crate::SMALLEST { 32 } else { 128 };

/// One puts, one takes.
pub(super) struct Queue {
    bytes: [AtomicU8; BYTES],
    begin: AtomicU8,
    end: AtomicU8,
}

/// What the serial port received.
pub(super) static RECEIVED: Queue = Queue {
    bytes: [const { AtomicU8::new(0) }; BYTES],
    begin: AtomicU8::new(0),
    end: AtomicU8::new(0),
};

fn after(place: u8) -> u8 {
    (place + 1) % BYTES as u8
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.end.load(Ordering::Relaxed) == self.begin.load(Ordering::Relaxed)
    }

    /// Puts a byte, which is got only if there is room; says whether there was.
    pub(super) fn put(&self, byte: impl FnOnce() -> u8) -> bool {
        let end = self.end.load(Ordering::Relaxed);
        let next = after(end);
        if next == self.begin.load(Ordering::Relaxed) {
            return false;
        }
        if let Some(place) = self.bytes.get(usize::from(end)) {
            place.store(byte(), Ordering::Relaxed);
        }
        // One processor sees what it does in order; only the compiler must not change it.
        compiler_fence(Ordering::Release);
        self.end.store(next, Ordering::Relaxed);
        true
    }

    pub(super) fn take(&self) -> Option<u8> {
        if self.is_empty() {
            return None;
        }
        compiler_fence(Ordering::Acquire);
        let begin = self.begin.load(Ordering::Relaxed);
        let byte = self.bytes.get(usize::from(begin))?.load(Ordering::Relaxed);
        compiler_fence(Ordering::Release);
        self.begin.store(after(begin), Ordering::Relaxed);
        Some(byte)
    }
}
