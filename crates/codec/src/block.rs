//! The columnar coder: observations in compressed columns, and series in typed slices.
//!
//! `docs/reference/block.md` specifies it byte by byte. What it deliberately does not do: it keeps no
//! index and knows no files; who wants to read a part cuts chunks. The decision worth arguing: every
//! page of a column is coded in one of few simple ways, by what a sample says of them, and decoded in
//! straight loops without tables; prediction does what an entropy coder would do, at many times its
//! speed.
//!
//! [`encode_series`] and [`decode_series`] are for typed arrays; [`Encoder`] and [`Columns`] carry all
//! that an observation may have; the format `block` is these on a whole message.

pub(crate) mod bytes;
mod chunk;
mod columns;
mod crc;
mod decimal;
mod encoder;
pub(crate) mod few;
mod ints;
mod lz;
mod numbers;
mod planes;
mod predict;
mod runs;
mod series;
mod shape;
mod table;
mod texts;

#[cfg(feature = "legacy")]
pub use crate::legacy::carried;
pub(crate) use chunk::len as chunk_len;
pub use chunk::{Chunk, HEAD_BYTES};
pub use columns::Columns;
pub use encoder::{Encoder, Order, Rows};
pub use series::{count, decode_series, encode_series};

/// Most rows of a chunk.
pub const ROWS_MAX: usize = 1 << 20;
/// Rows of a chunk as they are written here: enough for names not to count, few enough for the first
/// to be there soon.
pub const CHUNK_ROWS: usize = 16_384;
/// Marks a row without a time in slices of times, nanoseconds since the Unix epoch elsewhere.
pub const NO_TIME: i64 = weir_model::batch::NO_TIME;

/// A text in an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Span {
    /// No text.
    pub(crate) const ABSENT: Self = Self {
        start: u32::MAX,
        len: 0,
    };

    pub(crate) fn of(self, arena: &[u8]) -> Option<&str> {
        let start = self.start as usize;
        // An arena holds what was checked to be UTF-8.
        let bytes = arena.get(start..start + self.len as usize)?;
        core::str::from_utf8(bytes).ok()
    }
}

/// Numbers of the columns of a chunk.
mod column {
    pub(super) const NAMES: u8 = 1;
    pub(super) const ORDER: u8 = 2;
    pub(super) const TIMES: u8 = 3;
    pub(super) const KINDS: u8 = 4;
    pub(super) const NUMBERS: u8 = 5;
    pub(super) const TRUTHS: u8 = 6;
    pub(super) const TEXTS: u8 = 7;
    pub(super) const PLACES: u8 = 8;
    pub(super) const ENDS: u8 = 9;
    pub(super) const RESULT_TIMES: u8 = 10;
    pub(super) const VALID: u8 = 11;
    pub(super) const QUALITY: u8 = 12;
    pub(super) const FEATURE: u8 = 13;
    pub(super) const PARAMETERS: u8 = 14;
    /// Of stores only.
    pub(super) const DESCRIPTIONS: u8 = 15;
    /// Columns from here on may be passed over by who does not know them.
    pub(super) const OPTIONAL: u8 = 128;
}

/// Kinds of results, as the column of kinds has them.
mod kind {
    pub(super) const NULL: u8 = 0;
    pub(super) const NUMBER: u8 = 1;
    pub(super) const BOOL: u8 = 2;
    pub(super) const TEXT: u8 = 3;
    pub(super) const JSON: u8 = 4;
}

/// Orders of rows, as the column of the order has them.
mod order {
    pub(super) const SERIES: u8 = 0;
    pub(super) const ROUNDS: u8 = 1;
    pub(super) const MIXED: u8 = 2;
}
