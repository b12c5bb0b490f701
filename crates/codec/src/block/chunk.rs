//! A chunk: what can be cut out, moved and read by itself.

use super::bytes::{Input, put_framed, put_varint};
use super::column;
use super::crc::crc32c;
use super::{ROWS_MAX, bytes};
use crate::error::DecodeError;
use alloc::vec::Vec;
use weir_model::Limits;

/// Three letters and the version.
const MAGIC: [u8; 4] = *b"WBK\x01";
/// Bytes before the body: magic, length and checksum.
pub const HEAD_BYTES: usize = 12;
/// Columns that are known.
const COLUMNS: usize = column::DESCRIPTIONS as usize + 1;

/// A chunk whose checksum is right, and where its columns begin.
pub struct Chunk<'a> {
    rows: usize,
    begin: usize,
    columns: [Option<bytes::Input<'a>>; COLUMNS],
}

/// Appends a chunk with the body that `write` appends.
pub(super) fn put(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[0; HEAD_BYTES - MAGIC.len()]);
    write(out);
    // Rows of at most 2^20 and texts of a message are far below 4 GiB.
    let len = (out.len() - start - HEAD_BYTES) as u32;
    out[start + 4..start + 8].copy_from_slice(&len.to_le_bytes());
    let checksum = checksum(&out[start..]);
    out[start + 8..start + HEAD_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// Of magic and length, then the body.
fn checksum(chunk: &[u8]) -> u32 {
    crc32c(crc32c(0, &chunk[..8]), &chunk[HEAD_BYTES..])
}

/// Appends a column of the body.
pub(super) fn put_column(number: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(number);
    put_framed(out, write);
}

/// Appends the number of rows, with which a body begins.
pub(super) fn put_rows(rows: usize, out: &mut Vec<u8>) {
    put_varint(out, rows as u64);
}

/// Bytes of the chunk that begins here; `None` while its head is not whole.
pub(crate) fn len(bytes: &[u8], at: usize) -> Result<Option<usize>, DecodeError> {
    let known = bytes.len().min(MAGIC.len());
    if let Some(wrong) = (0..known).find(|&index| bytes[index] != MAGIC[index]) {
        let what = match wrong {
            3 => "version 1 of block",
            _ => "a chunk, which begins with WBK",
        };
        return Err(DecodeError::expected(at + wrong, what));
    }
    let Some(len) = bytes.get(4..).and_then(|rest| rest.first_chunk::<4>()) else {
        return Ok(None);
    };
    Ok(Some(
        HEAD_BYTES.saturating_add(u32::from_le_bytes(*len) as usize),
    ))
}

impl<'a> Chunk<'a> {
    /// Takes the first chunk off `bytes`, which stand at `at` in their message; `None` at the end.
    pub fn take(
        bytes: &mut &'a [u8],
        at: usize,
        limits: &Limits,
    ) -> Result<Option<Self>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let end = DecodeError::truncated(at + bytes.len());
        let Some(len) = len(bytes, at)? else {
            return Err(end);
        };
        let chunk = bytes.split_off(..len).ok_or(end)?;
        if checksum(chunk).to_le_bytes() != chunk[8..HEAD_BYTES] {
            return Err(DecodeError::expected(
                at + 8,
                "another checksum: the chunk was changed or damaged",
            ));
        }
        let chunk = Self::body(&chunk[HEAD_BYTES..], at + HEAD_BYTES, limits)?;
        match &chunk.columns[usize::from(column::DESCRIPTIONS)] {
            None => Ok(Some(chunk)),
            // It counts the descriptions of somebody's catalog.
            Some(column) => column.clone().expected("a column that messages have"),
        }
    }

    /// Reads where the columns are in a body that has no head before it.
    pub fn body(body: &'a [u8], begin: usize, limits: &Limits) -> Result<Self, DecodeError> {
        let mut input = Input::new(body, begin);
        let most = limits.observations.min(ROWS_MAX);
        let rows = input.count(most, "observations")?;
        let mut chunk = Self {
            rows,
            begin,
            columns: [const { None }; COLUMNS],
        };
        let mut last = 0;
        while !input.is_at_end() {
            let start = input.place();
            let number = input.byte()?;
            if number <= last {
                return Err(DecodeError::expected(start, "columns in ascending order"));
            }
            last = number;
            let len = input.count(usize::MAX, "bytes of a column")?;
            let begin = input.place();
            let column = Input::new(input.take(len)?, begin);
            match chunk.columns.get_mut(usize::from(number)) {
                Some(place) => *place = Some(column),
                None if number >= column::OPTIONAL => {}
                None => return Err(DecodeError::expected(start, "a column of a known number")),
            }
        }
        Ok(chunk)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Offset of the body in the message.
    pub(crate) fn begin(&self) -> usize {
        self.begin
    }

    /// Reads a column to its end with `read`, where it is there.
    pub(super) fn column<T>(
        &self,
        number: u8,
        read: impl FnOnce(&mut Input<'a>) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        let Some(mut input) = self.columns[usize::from(number)].clone() else {
            return Ok(None);
        };
        let found = read(&mut input)?;
        if input.is_at_end() {
            Ok(Some(found))
        } else {
            input.expected("the end of the column")
        }
    }
}
