//! Memory: who is admitted while it is short.

use crate::fault::Fault;
use crate::hub::Hub;
use crate::limits::{SHED_NANOS_MIN, TIGHT_QUEUE_BYTES_MAX, WORK_BYTES_OF_MESSAGE};
use crate::memory::{Memory, Room};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weir_model::Time;

impl Hub {
    /// Memory of all that is under way.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.counters.memory.all
    }

    /// The part of it that messages take which are not whole yet, whoever sends them.
    pub fn arrivals(&self) -> &Arc<Memory> {
        &self.counters.memory.arrivals
    }

    /// The part of it that answers take which their readers have not taken.
    pub fn answers(&self) -> &Arc<Memory> {
        &self.counters.memory.answers
    }

    /// Whether memory is short, of any kind: who takes his time is waited for no longer.
    pub fn is_short(&self) -> bool {
        let bounds = &self.counters.memory;
        [&bounds.all, &bounds.arrivals, &bounds.answers]
            .into_iter()
            .any(|of| of.is_short())
    }

    /// Counts a peer that is given up because it took nothing.
    pub fn stalled(&self) {
        self.counters.stalled();
    }

    /// Bounds the memory of all that is under way; else there is no bound but those of each queue.
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

    /// Bytes that the catalog takes, and the most that they may be.
    pub fn catalog_bytes(&self) -> (usize, usize) {
        let core = self.core();
        (core.catalog.weight(), core.catalog.weight_max)
    }

    /// Bounds the memory of the catalog, and that of the entities beside it; else there is no bound of the catalog
    /// but those of each datastream.
    pub fn limit_catalog(&self, most: usize) {
        let mut core = self.core();
        core.catalog.weight_max = most;
        core.entities.limit(most);
    }
}
