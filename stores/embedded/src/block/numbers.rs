//! A column of doubles, exact to the bit.
//!
//! Layout: one byte says the way. 0: decimal, a byte of decimals, then the numbers times that power
//! of ten as integers. 1: the same and a second column, how many representable doubles the number lies
//! beyond the decimal one (readings that were scaled or shifted in binary). 2: a dictionary: count,
//! the different numbers ascending as ordered bits, the index of each row. 3: exclusive-or with the
//! number before, byte by byte of all rows, as a run ([`super::bytes`]).

use super::bits::{BlockError, Input, put_varint};
use super::bytes;
use super::ints::{self, Scratch};

const DECIMAL: u8 = 0;
const NEAR_DECIMAL: u8 = 1;
const DICTIONARY: u8 = 2;
const XOR: u8 = 3;
const DECIMALS_MAX: u8 = 12;
/// Integers up to here are exact doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Appends a column.
pub fn put(scratch: &mut Scratch, numbers: &[f64], out: &mut Vec<u8>) {
    if let Some((decimals, scaled)) = decimal(numbers) {
        out.extend_from_slice(&[DECIMAL, decimals]);
        return ints::put(scratch, &scaled, out);
    }
    let start = out.len();
    put_xor(scratch, numbers, out);
    for attempt in [put_near_decimal, put_dictionary] {
        let mut other = Vec::new();
        if attempt(scratch, numbers, &mut other) && other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(&other);
        }
    }
}

/// Reads a column of `count` numbers.
pub fn get(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, BlockError> {
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
        _ => input.fail("a column of numbers is of an unknown kind"),
    }
}

fn decimals(input: &mut Input<'_>) -> Result<f64, BlockError> {
    match input.byte()? {
        decimals @ 0..=DECIMALS_MAX => Ok(10_f64.powi(i32::from(decimals))),
        _ => input.fail("too many decimals"),
    }
}

/// The fewest decimals that all numbers have, and the numbers without their point.
fn decimal(numbers: &[f64]) -> Option<(u8, Vec<i64>)> {
    let mut decimals = 0;
    let mut scaled = Vec::with_capacity(numbers.len());
    'more: loop {
        let power = 10_f64.powi(i32::from(decimals));
        scaled.clear();
        for &number in numbers {
            let whole = (number * power).round_ties_even();
            let back = whole as i64 as f64 / power;
            let exact = whole.abs() <= EXACT_MAX && back.to_bits() == number.to_bits();
            if !exact {
                if decimals == DECIMALS_MAX || whole.abs() > EXACT_MAX {
                    return None;
                }
                decimals += 1;
                continue 'more;
            }
            scaled.push(whole as i64);
        }
        return Some((decimals, scaled));
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

fn put_near_decimal(scratch: &mut Scratch, numbers: &[f64], out: &mut Vec<u8>) -> bool {
    const NEAR_DECIMALS_MAX: u8 = 4;
    let split = |decimals: u8, number: f64| {
        let power = 10_f64.powi(i32::from(decimals));
        let whole = (number * power).round_ties_even();
        (
            whole as i64,
            ordered(number).wrapping_sub(ordered(whole as i64 as f64 / power)),
        )
    };
    let cost = |decimals: &u8| -> u64 {
        let bits = numbers.iter().map(|&number| {
            let beyond = split(*decimals, number).1.unsigned_abs();
            u64::from(64 - beyond.leading_zeros())
        });
        bits.sum::<u64>() + u64::from(*decimals) * 3 * numbers.len() as u64
    };
    let fits = numbers.iter().all(|number| number.abs() < 1e11);
    let Some(decimals) = (0..=NEAR_DECIMALS_MAX).min_by_key(cost).filter(|_| fits) else {
        return false;
    };
    let (scaled, beyond): (Vec<_>, Vec<_>) = numbers
        .iter()
        .map(|&number| split(decimals, number))
        .unzip();
    // -0.0 lies beside 0.0 among the ordered bits, so this way is exact for it too.
    out.extend_from_slice(&[NEAR_DECIMAL, decimals]);
    ints::put(scratch, &scaled, out);
    ints::put(scratch, &beyond, out);
    true
}

fn put_dictionary(scratch: &mut Scratch, numbers: &[f64], out: &mut Vec<u8>) -> bool {
    let mut different: Vec<_> = numbers.iter().map(|&number| ordered(number)).collect();
    different.sort_unstable();
    different.dedup();
    if different.len() > numbers.len() / 2 {
        return false;
    }
    let index = |&number: &f64| different.partition_point(|&place| place < ordered(number)) as i64;
    let indices: Vec<_> = numbers.iter().map(index).collect();
    out.push(DICTIONARY);
    put_varint(out, different.len() as u64);
    ints::put(scratch, &different, out);
    ints::put(scratch, &indices, out);
    true
}

fn get_dictionary(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, BlockError> {
    let different = input.count(count)?;
    let different = ints::get(input, different)?;
    let mut numbers = Vec::with_capacity(count);
    for index in ints::get(input, count)? {
        match usize::try_from(index)
            .ok()
            .and_then(|index| different.get(index))
        {
            Some(&place) => numbers.push(unordered(place)),
            None => return input.fail("a number is not in the dictionary"),
        }
    }
    Ok(numbers)
}

fn put_xor(scratch: &mut Scratch, numbers: &[f64], out: &mut Vec<u8>) {
    let mut planes = vec![0; numbers.len() * 8];
    let mut last = 0;
    for (row, number) in numbers.iter().enumerate() {
        let changed = number.to_bits() ^ last;
        last = number.to_bits();
        for (plane, byte) in changed.to_be_bytes().into_iter().enumerate() {
            planes[plane * numbers.len() + row] = byte;
        }
    }
    out.push(XOR);
    scratch.deflater.put(&planes, out);
}

fn get_xor(input: &mut Input<'_>, count: usize) -> Result<Vec<f64>, BlockError> {
    let planes = bytes::get(input)?;
    if planes.len() != count * 8 {
        return input.fail("a column of numbers has another length than its block");
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn size(numbers: &[f64]) -> usize {
        let mut out = Vec::new();
        put(&mut Scratch::default(), numbers, &mut out);
        let back = get(&mut Input::new(&out), numbers.len()).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(numbers));
        out.len()
    }

    #[test]
    fn decimals_shifted_in_binary_cost_little_more_than_decimals() {
        // An altimeter's altitude: raw / 5 - 500, as bicycle computers write it.
        let altitude: Vec<_> = (0..4096)
            .map(|i| f64::from(2564 + (i / 7) % 90) / 5.0 - 500.0)
            .collect();
        assert!(size(&altitude) < 4096, "{}", size(&altitude));
    }

    #[test]
    fn extreme_numbers_are_exact() {
        size(&[
            0.0,
            -0.0,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            5e-324,
            0.1 + 0.2,
            1e22,
            -1e-7,
        ]);
        size(&[-0.0; 100]);
        size(&[]);
    }

    proptest! {
        #[test]
        fn any_column_comes_back(bits in proptest::collection::vec(any::<u64>(), 0..100)) {
            let numbers: Vec<_> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
            size(&numbers);
            let finite: Vec<_> = bits.iter().map(|&bits| (bits % 100_000) as f64 / 100.0).collect();
            size(&finite);
            let far: Vec<_> = bits.iter().map(|&bits| bits as f64 / 3.0).collect();
            size(&far);
        }

        #[test]
        fn any_bytes_are_a_column_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _either = get(&mut Input::new(&bytes), 100);
        }
    }
}
