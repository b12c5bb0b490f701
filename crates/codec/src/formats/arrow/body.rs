//! The body of a record batch, written buffer by buffer; its metadata learn where each one lies.

use super::names::ALIGNMENT;
use alloc::vec::Vec;

/// Where the metadata of a record batch are still to be filled in.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    pub(super) body_len: usize,
}

/// A body being written.
pub(super) struct Body<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    places: Places,
    rows: usize,
}

impl<'o> Body<'o> {
    /// Begins where the output ends, for columns of this many rows.
    pub(super) fn new(out: &'o mut Vec<u8>, places: Places, rows: usize) -> Self {
        let start = out.len();
        Self {
            out,
            start,
            places,
            rows,
        }
    }

    fn put_pair(&mut self, at: usize, first: usize, second: usize) -> usize {
        self.out[at..at + 8].copy_from_slice(&(first as i64).to_le_bytes());
        self.out[at + 8..at + 16].copy_from_slice(&(second as i64).to_le_bytes());
        at + 16
    }

    /// Writes one buffer, aligned.
    fn buffer(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.out.len();
        write(self.out);
        let len = self.out.len() - begin;
        let padded = self.start + (self.out.len() - self.start).next_multiple_of(ALIGNMENT);
        self.out.resize(padded, 0);
        self.places.buffers = self.put_pair(self.places.buffers, begin - self.start, len);
    }

    /// Begins a column: how many rows it has, how many are null, and which are not.
    fn column(&mut self, is_there: impl Fn(usize) -> bool) {
        let nulls = (0..self.rows).filter(|&row| !is_there(row)).count();
        self.places.nodes = self.put_pair(self.places.nodes, self.rows, nulls);
        let rows = if nulls == 0 { 0 } else { self.rows };
        self.buffer(|out| write_bits(rows, is_there, out));
    }

    /// A column of items of fixed width; `T::default` stands for null.
    pub(super) fn fixed<const N: usize>(&mut self, item: impl Fn(usize) -> Option<[u8; N]>) {
        self.column(|row| item(row).is_some());
        let rows = self.rows;
        self.buffer(|out| {
            for row in 0..rows {
                out.extend_from_slice(&item(row).unwrap_or([0; N]));
            }
        });
    }

    pub(super) fn bools(&mut self, item: impl Fn(usize) -> Option<bool>) {
        self.column(|row| item(row).is_some());
        let rows = self.rows;
        self.buffer(|out| write_bits(rows, |row| item(row) == Some(true), out));
    }

    pub(super) fn texts<'t>(&mut self, item: impl Fn(usize) -> Option<&'t str>) {
        self.column(|row| item(row).is_some());
        let rows = self.rows;
        self.buffer(|out| {
            let mut end = 0_i32;
            out.extend_from_slice(&end.to_le_bytes());
            for row in 0..rows {
                end += item(row).map_or(0, str::len) as i32;
                out.extend_from_slice(&end.to_le_bytes());
            }
        });
        self.buffer(|out| {
            let texts = (0..rows).filter_map(item);
            texts.for_each(|text| out.extend_from_slice(text.as_bytes()));
        });
    }

    /// Says how long the body is.
    pub(super) fn finish(self) {
        let len = (self.out.len() - self.start) as i64;
        let at = self.places.body_len;
        self.out[at..at + 8].copy_from_slice(&len.to_le_bytes());
    }
}

/// One bit a row, the first the lowest of its byte.
fn write_bits(rows: usize, bit: impl Fn(usize) -> bool, out: &mut Vec<u8>) {
    for first in (0..rows).step_by(8) {
        let bits = (first..rows.min(first + 8)).filter(|&row| bit(row));
        out.push(bits.fold(0, |byte, row| byte | 1 << (row - first)));
    }
}
