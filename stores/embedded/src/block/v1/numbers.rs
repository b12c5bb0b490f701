//! A column of doubles, exact to the bit.
//!
//! Layout: one byte says the way. 0: decimal, a byte of decimals, then the numbers times that power
//! of ten as integers. 1: the same and a second column, how many representable doubles the number lies
//! beyond the decimal one (readings that were scaled or shifted in binary). 2: a dictionary: count,
//! the different numbers ascending as ordered bits, the index of each row. 3: exclusive-or with the
//! number before, byte by byte of all rows, as a run ([`super::bytes`]).

use super::bits::Input;
use super::bytes;
use super::ints;
use weir_codec::DecodeError;

const DECIMAL: u8 = 0;
const NEAR_DECIMAL: u8 = 1;
const DICTIONARY: u8 = 2;
const XOR: u8 = 3;
const DECIMALS_MAX: u8 = 12;

/// Reads a column of `count` numbers.
pub(super) fn get(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, DecodeError> {
    match input.byte()? {
        DECIMAL => {
            let power = decimals(input)?;
            Ok(ints::get(input, count)?
                .into_iter()
                .map(|scaled| scaled as f64 / power)
                .collect())
        }
        NEAR_DECIMAL => {
            let power = decimals(input)?;
            let scaled = ints::get(input, count)?;
            let beyond = ints::get(input, count)?;
            let exact = |(scaled, beyond): (i64, i64)| {
                unordered(ordered(scaled as f64 / power).wrapping_add(beyond))
            };
            Ok(scaled.into_iter().zip(beyond).map(exact).collect())
        }
        DICTIONARY => get_dictionary(input, count),
        XOR => get_xor(input, count),
        _ => input.fail("a column of numbers of a known kind"),
    }
}

fn decimals(input: &mut Input<'_>) -> Result<f64, DecodeError> {
    match input.byte()? {
        decimals @ 0..=DECIMALS_MAX => Ok(10_f64.powi(i32::from(decimals))),
        _ => input.fail("at most twelve decimals"),
    }
}

/// Numbers in their order as integers in theirs, neighbours differing by 1.
fn ordered(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

fn unordered(place: i64) -> f64 {
    f64::from_bits((place ^ ((place >> 63) as u64 >> 1) as i64) as u64)
}

fn get_dictionary(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, DecodeError> {
    let different = input.count(count)?;
    let different = ints::get(input, different)?;
    let mut numbers = Vec::with_capacity(count);
    for index in ints::get(input, count)? {
        match usize::try_from(index)
            .ok()
            .and_then(|index| different.get(index))
        {
            Some(&place) => numbers.push(unordered(place)),
            None => return input.fail("a number of the dictionary"),
        }
    }
    Ok(numbers)
}

fn get_xor(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, DecodeError> {
    let planes = bytes::get(input)?;
    if planes.len() != count * 8 {
        return input.fail("a column of numbers as long as its block");
    }
    let mut last = 0;
    let number = |row: usize| {
        let mut changed = [0; 8];
        for (plane, byte) in changed.iter_mut().enumerate() {
            *byte = planes[plane * count + row];
        }
        last ^= u64::from_be_bytes(changed);
        f64::from_bits(last)
    };
    Ok((0..count).map(number).collect())
}
