//! Memory that messages take on their way, all together, and the most that they may.
//!
//! Each queue has a bound of its own, but there may be many queues, and a small machine. What it deliberately
//! does not do: measure the process. What is counted is what can be given up or refused: messages that wait for
//! somebody, bytes made for subscribers, messages that are not whole yet, answers that are not sent
//! (docs/concepts/faults.md). The last two have a part of the bound each, so that whoever fills it with them leaves
//! room to publish.

use crate::limits::{
    PARTIAL_TIME_MAX, QUEUE_BYTES_MAX, TIGHT_QUEUE_BYTES_MAX, UNCOUNTED_BYTES_MAX,
};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use weir_sansio::Instant;

/// The part of the bound that messages may take that are not whole yet, and that answers may take.
const PART: usize = 3;

/// Bytes that are held, counted.
#[derive(Debug)]
pub struct Memory {
    held: AtomicUsize,
    pub(crate) most: AtomicUsize,
    /// How often there was no room.
    refused: AtomicU64,
    /// What it is a part of: its bytes count there too.
    whole: Option<Arc<Memory>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            held: AtomicUsize::new(0),
            most: AtomicUsize::new(usize::MAX),
            refused: AtomicU64::new(0),
            whole: None,
        }
    }
}

impl Memory {
    /// One of at most so many bytes.
    pub fn bounded(most: usize) -> Self {
        Self {
            most: AtomicUsize::new(most),
            ..Self::default()
        }
    }

    /// A third of this one.
    pub fn part(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self {
            whole: Some(self.clone()),
            ..Self::default()
        })
    }

    /// Bytes that are held.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// The most that may be.
    pub fn most(&self) -> usize {
        match &self.whole {
            Some(whole) => whole.most() / PART,
            None => self.most.load(Ordering::Relaxed),
        }
    }

    /// Whether what it is a part of has room for other things still.
    pub fn has_room_elsewhere(&self) -> bool {
        self.whole.as_ref().is_some_and(|whole| !whole.is_short())
    }

    /// Whether more than three quarters of it are held.
    pub fn is_short(&self) -> bool {
        let most = self.most();
        self.held() > most - most / 4
    }

    /// The bytes, counted as long as anybody has them; they are there already, so they are counted whether or not
    /// there is room.
    pub fn counted(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        match bytes.len() {
            ..UNCOUNTED_BYTES_MAX => bytes,
            length => Bytes::from_owner(Counted {
                bytes,
                _room: self.hold(length),
            }),
        }
    }

    /// Counts so many bytes more where that is no more than there may be.
    #[inline]
    fn take(&self, bytes: usize) -> bool {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= self.most()
            && self.whole.as_ref().is_none_or(|whole| whole.take(bytes));
        if !fits {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        fits
    }

    /// How often there was no room for something.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts so many bytes more.
    #[inline]
    fn add(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.add(bytes);
        }
    }

    #[inline]
    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give_back(bytes);
        }
    }

    /// Room for so many bytes more, where there is.
    pub fn room(self: &Arc<Self>, bytes: usize) -> Option<Room> {
        let mut room = Room::default();
        room.grow(self, bytes).then_some(room)
    }

    /// Room for what is there already.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Room {
        self.add(bytes);
        Room {
            memory: Some(self.clone()),
            bytes,
        }
    }

    /// Room for bytes that [`Memory::counted`] does not count because they are few.
    pub(crate) fn hold_small(self: &Arc<Self>, bytes: usize) -> Room {
        match bytes < UNCOUNTED_BYTES_MAX {
            true => self.hold(bytes),
            false => Room::default(),
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

/// The memory of all that is under way, and the parts of it that have a bound of their own.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) all: Arc<Memory>,
    pub(crate) arrivals: Arc<Memory>,
    pub(crate) answers: Arc<Memory>,
}

impl Default for Bounds {
    fn default() -> Self {
        let all = Arc::new(Memory::default());
        Self {
            arrivals: all.part(),
            answers: all.part(),
            all,
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
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes it as large as so many bytes are, in steps and nothing where they are few; says whether there is room.
    pub fn grow_in_steps(&mut self, memory: &Arc<Memory>, bytes: usize) -> bool {
        self.grow(memory, bytes / UNCOUNTED_BYTES_MAX * UNCOUNTED_BYTES_MAX)
    }

    /// Makes it as large as so many bytes are that are there already, in steps and nothing where they are few.
    pub fn hold_in_steps(&mut self, memory: &Arc<Memory>, bytes: usize) {
        let steps = bytes / UNCOUNTED_BYTES_MAX * UNCOUNTED_BYTES_MAX;
        if steps != self.bytes {
            *self = memory.hold(steps);
        }
    }

    /// Makes it so large, where there is room; else it stays as it was. It may become smaller, too.
    pub fn grow(&mut self, memory: &Arc<Memory>, bytes: usize) -> bool {
        if bytes == self.bytes {
            return true;
        }
        let more = bytes.saturating_sub(self.bytes);
        match more > 0 {
            true if !memory.take(more) => return false,
            true => {}
            false => memory.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        self.memory.get_or_insert_with(|| memory.clone());
        true
    }
}

/// What a connection holds of messages that are not whole yet, counted.
///
/// Where memory is short a message that has been on its way for long is given up, so that who sends a byte now and
/// then keeps nobody out.
#[derive(Debug)]
pub struct Partial {
    room: Room,
    /// Since when more is held than is not worth counting.
    since: Instant,
}

impl Default for Partial {
    fn default() -> Self {
        Self {
            room: Room::default(),
            since: Instant::NEVER,
        }
    }
}

impl Partial {
    /// Counts what is held now, in steps; says whether there is room for it.
    pub fn hold(&mut self, memory: &Arc<Memory>, now: impl Fn() -> Instant, bytes: usize) -> bool {
        self.since = match bytes < UNCOUNTED_BYTES_MAX {
            true => Instant::NEVER,
            false if self.since == Instant::NEVER => now(),
            false => self.since,
        };
        let is_late = memory.is_short() && now() >= self.since + PARTIAL_TIME_MAX;
        if is_late {
            memory.refused.fetch_add(1, Ordering::Relaxed);
        }
        let fits = !is_late && self.room.grow_in_steps(memory, bytes);
        if !fits {
            *self = Self::default();
        }
        fits
    }

    /// Whether more is held than is not worth counting.
    pub fn is_held(&self) -> bool {
        self.since != Instant::NEVER
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.give_back(self.bytes);
        }
    }
}

/// Bytes and their room.
struct Counted {
    bytes: Bytes,
    _room: Room,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
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

    #[test]
    fn what_is_under_way_long_is_given_up_where_memory_is_short() {
        let memory = Arc::new(Memory::bounded(100_000));
        let at = |seconds| move || Instant::START + std::time::Duration::from_secs(seconds);
        let mut partial = Partial::default();
        assert!(partial.hold(&memory, at(0), 100) && !partial.is_held());
        assert!(partial.hold(&memory, at(0), 10_000) && partial.is_held());
        assert!(partial.hold(&memory, at(3600), 20_000), "there is room");
        let others = memory.hold(60_000);
        assert!(!partial.hold(&memory, at(3601), 20_001), "it is short");
        assert_eq!((memory.held(), memory.refused()), (60_000, 1));
        assert!(partial.hold(&memory, at(3602), 10_000), "a new one");
        assert!(!partial.hold(&memory, at(3603), 50_000), "there is no room");
        drop((others, partial));
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn a_part_is_bounded_by_itself_and_counts_in_the_whole() {
        let memory = Arc::new(Memory::default());
        memory.most.store(90_000, Ordering::Relaxed);
        let (answers, arrivals) = (memory.part(), memory.part());
        let room = answers.room(30_000).unwrap();
        assert!(answers.room(1).is_none() && answers.is_short() && !arrivals.is_short());
        assert_eq!((memory.held(), memory.most()), (30_000, 90_000));
        let taken = memory.room(59_000).unwrap();
        assert!(arrivals.room(2000).is_none(), "the whole is full");
        assert_eq!((arrivals.held(), memory.held()), (0, 89_000));
        drop((room, taken));
        let bytes = answers.counted(vec![0; 40_000].into());
        let (part, other) = (bytes.slice(..10), bytes.clone());
        drop((bytes, other));
        assert_eq!(
            (answers.held(), memory.held()),
            (40_000, 40_000),
            "{part:?}"
        );
        drop(part);
        assert_eq!((answers.held(), memory.held()), (0, 0));
    }
}
