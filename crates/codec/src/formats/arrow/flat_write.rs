//! FlatBuffers written forwards: a table first, then what it points to.

use super::names::ALIGNMENT;
use alloc::vec::Vec;

/// A field of a table.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// Left out, so that the default counts.
    Absent,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    /// Points to what is written later.
    Link,
}

impl Slot {
    fn width(self) -> usize {
        match self {
            Slot::Absent => 0,
            Slot::Byte(_) => 1,
            Slot::Short(_) => 2,
            Slot::Int(_) | Slot::Link => 4,
            Slot::Long(_) => 8,
        }
    }

    fn bytes(self) -> [u8; 8] {
        let number = match self {
            Slot::Absent | Slot::Link => 0,
            Slot::Byte(number) => i64::from(number),
            Slot::Short(number) => i64::from(number),
            Slot::Int(number) => i64::from(number),
            Slot::Long(number) => number,
        };
        number.to_le_bytes()
    }
}

/// Where a table and its fields stand.
pub(super) struct Table<const N: usize> {
    pub(super) at: usize,
    pub(super) fields: [usize; N],
}

/// A buffer that begins at `base` of the output.
pub(super) struct FlatWrite<'o> {
    pub(super) out: &'o mut Vec<u8>,
    base: usize,
}

impl<'o> FlatWrite<'o> {
    /// Begins a buffer with its link to the root.
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        let base = out.len();
        out.extend_from_slice(&[0; 4]);
        Self { out, base }
    }

    /// Where the link to the root stands.
    pub(super) fn root(&self) -> usize {
        self.base
    }

    pub(super) fn align(&mut self, to: usize) {
        let len = (self.out.len() - self.base).next_multiple_of(to);
        self.out.resize(self.base + len, 0);
    }

    /// Writes a table behind a table of its fields' places.
    pub(super) fn table<const N: usize>(&mut self, slots: [Slot; N]) -> Table<N> {
        let mut offsets = [0; N];
        let mut end = 4_usize;
        for (offset, slot) in offsets.iter_mut().zip(slots) {
            if slot.width() > 0 {
                end = end.next_multiple_of(slot.width());
                *offset = end;
                end += slot.width();
            }
        }
        self.align(4);
        let places_at = self.out.len();
        for number in [4 + 2 * N, end].into_iter().chain(offsets) {
            self.out.extend_from_slice(&(number as u16).to_le_bytes());
        }
        self.align(ALIGNMENT);
        let at = self.out.len();
        self.out.resize(at + end, 0);
        self.put(at, &((at - places_at) as u32).to_le_bytes());
        for (offset, slot) in offsets.iter().zip(slots) {
            self.put(at + offset, &slot.bytes()[..slot.width()]);
        }
        let fields = offsets.map(|offset| at + offset);
        Table { at, fields }
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.out[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Makes a link point to what is written at `target`.
    pub(super) fn link(&mut self, link: usize, target: usize) {
        self.put(link, &((target - link) as u32).to_le_bytes());
    }

    /// Writes a string and links it.
    pub(super) fn string(&mut self, link: usize, text: &str) {
        self.align(4);
        self.link(link, self.out.len());
        self.out
            .extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    /// Writes a vector of zeros and links it; gives where its first item stands.
    pub(super) fn vector(&mut self, link: usize, len: usize, width: usize) -> usize {
        // Items are aligned, so the length before them need not be.
        let aligned = width.min(ALIGNMENT);
        while !(self.out.len() - self.base + 4).is_multiple_of(aligned) {
            self.out.push(0);
        }
        self.link(link, self.out.len());
        self.out.extend_from_slice(&(len as u32).to_le_bytes());
        let first = self.out.len();
        self.out.resize(first + len * width, 0);
        first
    }
}
