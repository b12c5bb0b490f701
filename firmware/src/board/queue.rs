//! Bytes that the serial port's interrupt took, until the device does.

use core::sync::atomic::{AtomicU8, Ordering};

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
    pub(super) fn has_room(&self) -> bool {
        after(self.end.load(Ordering::Relaxed)) != self.begin.load(Ordering::Acquire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.end.load(Ordering::Acquire) == self.begin.load(Ordering::Relaxed)
    }

    /// Puts a byte, if there is room.
    pub(super) fn put(&self, byte: u8) {
        let end = self.end.load(Ordering::Relaxed);
        if self.has_room()
            && let Some(place) = self.bytes.get(usize::from(end))
        {
            place.store(byte, Ordering::Relaxed);
            self.end.store(after(end), Ordering::Release);
        }
    }

    pub(super) fn take(&self) -> Option<u8> {
        if self.is_empty() {
            return None;
        }
        let begin = self.begin.load(Ordering::Relaxed);
        let byte = self.bytes.get(usize::from(begin))?.load(Ordering::Relaxed);
        self.begin.store(after(begin), Ordering::Release);
        Some(byte)
    }
}
