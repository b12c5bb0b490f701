//! One series as two typed slices: what a chart wants, and the way to and from WebAssembly.
//!
//! Nothing is allocated but what the caller's lists grow.

use super::chunk::{self, Chunk};
use super::few::Few;
use super::numbers::{self, Numbers};
use super::{CHUNK_ROWS, NO_TIME, column, ints, kind, runs};
use crate::error::DecodeError;
use alloc::vec::Vec;
use weir_model::Limits;

/// Appends one series without a name: times in nanoseconds since the Unix epoch and as many numbers.
///
/// Where one slice is longer, its rest is left out. [`NO_TIME`] stands for no time.
pub fn encode_series(times: &[i64], numbers: &[f64], out: &mut Vec<u8>) {
    let mut writer = Numbers::default();
    let parts = times.chunks(CHUNK_ROWS).zip(numbers.chunks(CHUNK_ROWS));
    for (times, numbers) in parts {
        let rows = times.len().min(numbers.len());
        chunk::put(out, |out| {
            chunk::put_rows(rows, out);
            put_times(&times[..rows], out);
            chunk::put_column(column::NUMBERS, out, |out| {
                writer.put(&numbers[..rows], out)
            });
        });
    }
}

/// Number of rows in all chunks, by their heads alone.
pub fn count(bytes: &[u8], limits: &Limits) -> Result<usize, DecodeError> {
    let mut rest = bytes;
    let mut rows = 0;
    loop {
        let at = bytes.len() - rest.len();
        match Chunk::take(&mut rest, at, limits)? {
            Some(chunk) => rows += chunk.rows(),
            None => return Ok(rows),
        }
    }
}

/// Appends times and numbers of all rows, series after series within each chunk.
///
/// A row without a time has [`NO_TIME`], one whose result is no number has NaN. After an error the
/// lists are as long as before.
pub fn decode_series(
    bytes: &[u8],
    limits: &Limits,
    times: &mut Vec<i64>,
    numbers: &mut Vec<f64>,
) -> Result<(), DecodeError> {
    let (before, numbers_before) = (times.len(), numbers.len());
    let read = decode_chunks(bytes, limits, times, numbers);
    if read.is_err() {
        times.truncate(before);
        numbers.truncate(numbers_before);
    }
    read
}

fn decode_chunks(
    bytes: &[u8],
    limits: &Limits,
    times: &mut Vec<i64>,
    numbers: &mut Vec<f64>,
) -> Result<(), DecodeError> {
    let mut rest = bytes;
    let mut table = Vec::new();
    let mut left = limits.observations;
    loop {
        let at = bytes.len() - rest.len();
        let Some(chunk) = Chunk::take(&mut rest, at, limits)? else {
            return Ok(());
        };
        let more = left.checked_sub(chunk.rows());
        left = more.ok_or(DecodeError::over(at, "observations", limits.observations))?;
        let start = times.len();
        times.resize(start + chunk.rows(), NO_TIME);
        get_times(&chunk, &mut times[start..])?;
        let start = numbers.len();
        numbers.resize(start + chunk.rows(), 0.0);
        let mut kinds = Few::<u8, 256>::default();
        get_kinds(&chunk, &mut kinds)?;
        get_numbers(&chunk, &kinds, &mut table, &mut numbers[start..])?;
    }
}

/// Appends the column of times, unless none is there.
pub(super) fn put_times(times: &[i64], out: &mut Vec<u8>) {
    if !times.contains(&NO_TIME) {
        return chunk::put_column(column::TIMES, out, |out| {
            out.push(0);
            ints::put(times, out);
        });
    }
    let (mut there, mut known) = (Few::<u8, 256>::default(), Few::<i64, 256>::default());
    for &time in times {
        there.push(u8::from(time != NO_TIME));
        if time != NO_TIME {
            known.push(time);
        }
    }
    if !known.is_empty() {
        chunk::put_column(column::TIMES, out, |out| {
            runs::put(&there, out);
            ints::put(&known, out);
        });
    }
}

/// Reads the times of a chunk into as many places.
pub(super) fn get_times(chunk: &Chunk<'_>, times: &mut [i64]) -> Result<(), DecodeError> {
    let found = chunk.column(column::TIMES, |input| {
        let mut there = Few::<u8, 256>::default();
        let count = match input.rest().first() {
            Some(0) => input.byte().map(|_| times.len())?,
            _ => runs::get(input, times.len(), 1, &mut there)?,
        };
        let start = input.place();
        ints::get(input, &mut times[..count])?;
        if times[..count].contains(&NO_TIME) {
            return Err(DecodeError::expected(start, "times after 1677"));
        }
        if count < times.len() {
            runs::spread(times, count, |row| there[row] != 0, NO_TIME);
        }
        Ok(())
    })?;
    if found.is_none() {
        times.fill(NO_TIME);
    }
    Ok(())
}

/// Reads the kinds of results; empty where all are numbers.
pub(super) fn get_kinds<const N: usize>(
    chunk: &Chunk<'_>,
    kinds: &mut Few<u8, N>,
) -> Result<(), DecodeError> {
    kinds.clear();
    chunk.column(column::KINDS, |input| {
        runs::get(input, chunk.rows(), kind::JSON, kinds)
    })?;
    Ok(())
}

/// Reads the numbers into the rows that have one, NaN into the others.
pub(super) fn get_numbers(
    chunk: &Chunk<'_>,
    kinds: &[u8],
    table: &mut Vec<i64>,
    rows: &mut [f64],
) -> Result<(), DecodeError> {
    let is_number = |row: usize| kinds.get(row).is_none_or(|&kind| kind == kind::NUMBER);
    let count = match kinds {
        [] => rows.len(),
        kinds => kinds.iter().filter(|kind| **kind == kind::NUMBER).count(),
    };
    let found = chunk.column(column::NUMBERS, |input| {
        numbers::get(input, table, &mut rows[..count])
    })?;
    if found.is_none() && count > 0 {
        return Err(DecodeError::expected(chunk.begin(), "a column of numbers"));
    }
    if count < rows.len() {
        runs::spread(rows, count, is_number, f64::NAN);
    }
    Ok(())
}
