//! Columns of small numbers that seldom change: kinds, truths, and which rows have something.

use super::bytes::{Input, put_varint};
use super::few::Few;
use super::ints;
use crate::error::DecodeError;
use alloc::vec::Vec;

/// Appends a column.
pub(super) fn put(items: &[u8], out: &mut Vec<u8>) {
    if items.iter().all(|&item| item == 1) {
        return put_varint(out, 0);
    }
    let runs = || items.chunk_by(|a, b| a == b);
    let (mut values, mut lengths) = (Few::<i64, 64>::default(), Few::<i64, 64>::default());
    for run in runs() {
        values.push(i64::from(run[0]));
        lengths.push(run.len() as i64);
    }
    put_varint(out, values.len() as u64);
    ints::put(&values, out);
    ints::put(&lengths, out);
}

/// Reads a column of `count` numbers up to `most`; says how many of them are not 0.
pub(super) fn get<const N: usize>(
    input: &mut Input<'_>,
    count: usize,
    most: u8,
    items: &mut Few<u8, N>,
) -> Result<usize, DecodeError> {
    let start = input.place();
    let runs = input.count(count, "runs")?;
    if runs == 0 {
        items.fill(count, 1);
        return Ok(count);
    }
    let (mut values, mut lengths) = (Few::<i64, 64>::default(), Few::<i64, 64>::default());
    values.fill(runs, 0);
    lengths.fill(runs, 0);
    ints::get(input, &mut values)?;
    let sum = ints::get_sizes(input, count, "rows of the runs", &mut lengths)?;
    if sum != count
        || values
            .iter()
            .any(|value| !(0..=i64::from(most)).contains(value))
    {
        return Err(DecodeError::expected(start, "runs of all rows"));
    }
    items.clear();
    let mut there = 0;
    for (&value, &length) in values.iter().zip(lengths.iter()) {
        (0..length).for_each(|_| items.push(value as u8));
        there += if value == 0 { 0 } else { length as usize };
    }
    Ok(there)
}

/// Moves the first items, of which there are `there`, to the rows that have one, in their order.
pub(super) fn spread<T: Copy>(
    items: &mut [T],
    mut there: usize,
    has: impl Fn(usize) -> bool,
    absent: T,
) {
    for row in (0..items.len()).rev() {
        if has(row) && there > 0 {
            there -= 1;
            items[row] = items[there];
        } else {
            items[row] = absent;
        }
    }
}
