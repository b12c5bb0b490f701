//! The value partitions (EXI 1.0 section 7.3.3): global and per name, with their bounds.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::bits::{Window, width};
use crate::names::{NONE, Names};
use crate::options::Options;
use crate::stored::Span;

/// What is kept of a value.
#[derive(Debug, Clone, Copy)]
struct Entry {
    text: Span,
    hash: u32,
    /// The name whose local partition has it, and the compact identifier there.
    owner: u32,
    local: u32,
}

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Its local compact identifier, if it is in the local partition of the name asked for.
    pub(crate) local: Option<u32>,
    pub(crate) global: u32,
}

/// Values by compact identifier; for encoders also by text.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Text of all values, and of what was too long to be kept until [`Values::compact`].
    pub(crate) arena: String,
    entries: Vec<Entry>,
    partitions: Vec<Vec<u32>>,
    partitions_len: usize,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    indexed: bool,
    capacity: u32,
    length_max: u32,
    /// `globalID` of section 7.3.1.
    next: u32,
    /// Bytes of the arena that no entry needs.
    garbage: usize,
}

/// Garbage below this is not worth moving the rest.
const COMPACT_BYTES: usize = 1 << 16;

impl Values {
    pub(crate) fn new(indexed: bool) -> Self {
        Self {
            indexed,
            ..Self::default()
        }
    }

    /// Goes to the start of a stream.
    pub(crate) fn reset(&mut self, options: &Options) {
        self.arena.clear();
        self.entries.clear();
        self.partitions[..self.partitions_len]
            .iter_mut()
            .for_each(Vec::clear);
        self.partitions_len = 0;
        self.index.clear();
        self.capacity = options.value_partition_capacity.unwrap_or(NONE);
        self.length_max = options.value_max_length.unwrap_or(NONE);
        (self.next, self.garbage) = (0, 0);
    }

    /// Values in the global partition.
    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Values in the local partition of a name, unassigned ones included.
    pub(crate) fn local_len(&self, names: &Names, name: u32) -> u32 {
        match names.name(name).partition {
            NONE => 0,
            partition => self.partitions[partition as usize].len() as u32,
        }
    }

    /// The value with a global compact identifier.
    #[inline(always)]
    pub(crate) fn global(&self, id: u32) -> Option<Span> {
        self.entries.get(id as usize).map(|entry| entry.text)
    }

    /// The value with a local compact identifier.
    #[inline]
    pub(crate) fn local(&self, names: &Names, name: u32, id: u32) -> Option<Span> {
        let partition = names.name(name).partition;
        let global = *self.partitions.get(partition as usize)?.get(id as usize)?;
        self.global(global)
    }

    /// The value whose local compact identifier comes next.
    #[inline(always)]
    pub(crate) fn quick_local(
        &self,
        names: &Names,
        name: u32,
        window: &mut Window,
    ) -> Option<Span> {
        let partition = self.partitions.get(names.name(name).partition as usize)?;
        let id = window.take(width(partition.len() as u32))?;
        self.global(*partition.get(id as usize)?)
    }

    /// The value whose global compact identifier comes next.
    #[inline(always)]
    pub(crate) fn quick_global(&self, window: &mut Window) -> Option<Span> {
        let id = window.take(width(self.len()))?;
        self.global(id)
    }

    /// Adds a value whose text stands at the end of the arena, if the options keep it.
    pub(crate) fn add(&mut self, names: &mut Names, name: u32, text: Span, hash: u64) {
        if !self.keeps(text) {
            self.garbage += text.len as usize;
            return;
        }
        let (partition, local) = self.local_slot(names, name);
        let entry = Entry {
            text,
            hash: hash as u32,
            owner: name,
            local,
        };
        let id = self.next;
        if self.entries.len() > id as usize {
            self.evict(names, id);
            self.entries[id as usize] = entry;
        } else {
            self.entries.push(entry);
        }
        self.partitions[partition as usize].push(id);
        if self.indexed {
            let entries = &self.entries;
            self.index.insert_unique(spread(entry.hash), id, |id| {
                spread(entries[*id as usize].hash)
            });
        }
        self.next = if id + 1 == self.capacity { 0 } else { id + 1 };
    }

    /// Empty values and those beyond the bounds are not kept (section 7.3.3).
    fn keeps(&self, text: Span) -> bool {
        let long = text.len > self.length_max
            && text.of(&self.arena).chars().count() as u64 > u64::from(self.length_max);
        text.len > 0 && self.capacity > 0 && !long
    }

    /// The partition of a name and the next compact identifier in it.
    fn local_slot(&mut self, names: &mut Names, name: u32) -> (u32, u32) {
        let mut partition = names.name(name).partition;
        if partition == NONE {
            partition = self.partitions_len as u32;
            names.name_mut(name).partition = partition;
            names.touch(name);
            self.partitions_len += 1;
            if self.partitions.len() < self.partitions_len {
                self.partitions.push(Vec::new());
            }
        }
        (partition, self.partitions[partition as usize].len() as u32)
    }

    /// Makes room: the compact identifier in the local partition stays unassigned for good.
    fn evict(&mut self, names: &Names, id: u32) {
        let old = self.entries[id as usize];
        let partition = names.name(old.owner).partition;
        self.partitions[partition as usize][old.local as usize] = NONE;
        self.garbage += old.text.len as usize;
        if self.indexed
            && let Ok(found) = self.index.find_entry(spread(old.hash), |o| *o == id)
        {
            found.remove();
        }
    }

    /// The hash that [`Values::find`] and [`Values::add`] want.
    pub(crate) fn hash(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// Looks a value up.
    pub(crate) fn find(&self, name: u32, text: &str, hash: u64) -> Option<Hit> {
        let same = |id: &u32| {
            let entry = &self.entries[*id as usize];
            entry.hash == hash as u32 && entry.text.of(&self.arena) == text
        };
        let id = *self.index.find(spread(hash as u32), same)?;
        let entry = &self.entries[id as usize];
        // [C14N-4.5.6-1]
        Some(Hit {
            local: (entry.owner == name).then_some(entry.local),
            global: id,
        })
    }

    /// Copies a value to the end of the arena and adds it.
    pub(crate) fn insert(&mut self, names: &mut Names, name: u32, text: &str, hash: u64) {
        let span = Span {
            at: self.arena.len() as u32,
            len: text.len() as u32,
        };
        if text.len() as u64 <= u64::from(self.length_max).saturating_mul(4) && self.capacity > 0 {
            self.arena.push_str(text);
            self.add(names, name, span, hash);
        }
    }

    /// Gives back the memory of values that are gone; only between events and blocks, since it
    /// moves text.
    #[inline]
    pub(crate) fn compact(&mut self) {
        if self.garbage >= COMPACT_BYTES && self.garbage * 2 >= self.arena.len() {
            self.move_together();
        }
    }

    #[cold]
    fn move_together(&mut self) {
        let mut arena =
            String::with_capacity(self.arena.len() - self.garbage.min(self.arena.len()));
        for entry in &mut self.entries {
            let at = arena.len() as u32;
            arena.push_str(entry.text.of(&self.arena));
            entry.text.at = at;
        }
        self.arena = arena;
        self.garbage = 0;
    }
}

/// Spreads a kept hash over the bits that the table looks at.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
