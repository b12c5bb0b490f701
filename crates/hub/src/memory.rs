//! Memory that messages take on their way, all together, and the most that they may.
//!
//! Each queue has a bound of its own, but there may be many queues, and a small machine. What it deliberately
//! does not do: measure the process. What is counted is what the hub can give up or refuse: messages that
//! wait for somebody, bytes made for subscribers, bodies on their way in (docs/concepts/faults.md).

use crate::exchange::Fault;
use crate::hub::Hub;
use crate::limits::{
    QUEUE_BYTES_MAX, SHED_NANOS_MIN, TIGHT_QUEUE_BYTES_MAX, WORK_BYTES_OF_MESSAGE,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_model::Time;

/// Bytes of messages, counted.
#[derive(Debug)]
pub struct Memory {
    held: AtomicUsize,
    most: AtomicUsize,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            held: AtomicUsize::new(0),
            most: AtomicUsize::new(usize::MAX),
        }
    }
}

impl Memory {
    /// Bytes that are held.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// The most that may be.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Room for so many bytes more, where there is.
    pub fn room(self: &Arc<Self>, bytes: usize) -> Option<Room> {
        let mut room = Room::default();
        room.grow(self, bytes).then_some(room)
    }

    /// Room for what is there already.
    pub(crate) fn hold(self: &Arc<Self>, bytes: usize) -> Room {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        Room {
            memory: Some(self.clone()),
            bytes,
        }
    }

    /// Whether more than half of it is held.
    pub(crate) fn is_tight(&self) -> bool {
        self.held() > self.most() / 2
    }

    /// The most that a queue may hold now.
    pub(crate) fn queue_bytes_max(&self) -> usize {
        match self.is_tight() {
            true => TIGHT_QUEUE_BYTES_MAX,
            false => QUEUE_BYTES_MAX,
        }
    }
}

/// Bytes that are counted until they are given back, which dropping does.
#[derive(Debug, Default)]
pub struct Room {
    memory: Option<Arc<Memory>>,
    bytes: usize,
}

impl Room {
    /// How many they are.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes it so large, where there is room; else it stays as it was. It may become smaller, too.
    pub fn grow(&mut self, memory: &Arc<Memory>, bytes: usize) -> bool {
        if bytes == self.bytes {
            return true;
        }
        let more = bytes.saturating_sub(self.bytes);
        let before = memory.held.fetch_add(more, Ordering::Relaxed);
        if more > 0 && before.saturating_add(more) > memory.most() {
            memory.held.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        let less = self.bytes.saturating_sub(bytes);
        memory.held.fetch_sub(less, Ordering::Relaxed);
        self.bytes = bytes;
        self.memory.get_or_insert_with(|| memory.clone());
        true
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.held.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

impl Hub {
    /// Memory of messages.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.counters.memory
    }

    /// Bounds the memory of all messages together; else there is no bound but those of each queue.
    pub fn limit_memory(&self, most: usize) {
        self.memory().most.store(most, Ordering::Relaxed);
        self.core().retained.limit(most);
    }

    /// Room to take a message of so many bytes in: what waits for slow subscribers is given up for it, and
    /// where that is not enough the publisher is to try again.
    pub(crate) fn admit(&self, now: Time, bytes: usize) -> Result<Room, Fault> {
        // The body is there already; it is read into something about as large, and copied for the log.
        let needed = bytes
            .saturating_mul(3)
            .saturating_add(WORK_BYTES_OF_MESSAGE);
        let memory = self.memory();
        if let Some(room) = memory.room(needed) {
            return Ok(room);
        }
        self.shed(now);
        memory.room(needed).ok_or(Fault::Short)
    }

    /// Leaves each queue its part of a quarter of what there may be, now and then.
    fn shed(&self, now: Time) {
        let last = self.shed.load(Ordering::Relaxed);
        if (now.nanos() - last).abs() < SHED_NANOS_MIN {
            return;
        }
        self.shed.store(now.nanos(), Ordering::Relaxed);
        let groups: Vec<_> = {
            let core = self.core();
            let groups = core.groups.iter().map(|(_, slot)| &slot.group);
            groups.cloned().collect()
        };
        let part = self.memory().most() / 4 / groups.len().max(1);
        let bytes_max = part.min(TIGHT_QUEUE_BYTES_MAX);
        groups.iter().for_each(|group| group.shed(bytes_max));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn room_is_given_as_long_as_there_is_and_comes_back() {
        let memory = Arc::new(Memory::default());
        memory.most.store(100, Ordering::Relaxed);
        let mut room = memory.room(60).unwrap();
        assert!(memory.room(41).is_none());
        assert!(room.grow(&memory, 90) && !room.grow(&memory, 101));
        assert_eq!(memory.held(), 90);
        assert!(room.grow(&memory, 10));
        let there_already = memory.hold(200);
        assert_eq!(memory.held(), 210);
        assert!(memory.room(1).is_none() && room.grow(&memory, 5));
        drop((room, there_already));
        assert_eq!(memory.held(), 0);
    }
}
