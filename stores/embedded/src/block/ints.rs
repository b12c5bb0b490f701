//! A column of 64-bit integers: differences of order 0 to 2, their common factor, packed.
//!
//! Layout: one byte (order, plus 4 for bit-packing); the first `order` differences as signed varints;
//! the greatest common divisor of the rest as a varint (0: all are 0 and nothing follows); the rest
//! divided by it, zigzag, either as a run of varints ([`super::bytes`]) or in groups of 32 of one
//! width, a byte each.

use super::bits::{BlockError, Input, put_varint, unzigzag, zigzag};
use super::bytes::{self, Deflater};

const PACKED: u8 = 4;
const GROUP: usize = 32;
/// How many numbers are looked at in order to choose the order of the differences.
const SAMPLE: usize = 1024;

/// Memory that columns are encoded in.
#[derive(Default)]
pub struct Scratch {
    rest: Vec<u64>,
    varints: Vec<u8>,
    run: Vec<u8>,
    packed: Vec<u8>,
    /// Deflates runs.
    pub deflater: Deflater,
}

/// Appends a column.
pub fn put(scratch: &mut Scratch, numbers: &[i64], out: &mut Vec<u8>) {
    let order = best_order(numbers);
    let Scratch {
        rest,
        varints,
        run,
        packed,
        deflater,
    } = scratch;
    rest.clear();
    let mut common = 0;
    let mut heads = [0; 2];
    for (index, difference) in differences(numbers, order).enumerate() {
        if index < order {
            heads[index] = difference;
        } else {
            common = gcd(common, difference.unsigned_abs());
            rest.push(difference as u64);
        }
    }
    let divisor = common.max(1);
    for number in rest.iter_mut() {
        let difference = *number as i64;
        let parts = (difference.unsigned_abs() / divisor) as i64;
        *number = zigzag(if difference < 0 {
            parts.wrapping_neg()
        } else {
            parts
        });
    }
    varints.clear();
    run.clear();
    packed.clear();
    if common != 0 {
        rest.iter().for_each(|&number| put_varint(varints, number));
        pack(rest, packed);
        deflater.put(varints, run);
    }
    let is_packed = packed.len() < run.len();
    out.push(order as u8 | if is_packed { PACKED } else { 0 });
    heads[..order.min(numbers.len())]
        .iter()
        .for_each(|&head| put_varint(out, zigzag(head)));
    put_varint(out, common);
    out.extend_from_slice(if is_packed { packed } else { run });
}

/// Reads a column of `count` numbers.
pub fn get(input: &mut Input<'_>, count: usize) -> Result<Vec<i64>, BlockError> {
    let tag = input.byte()?;
    let order = usize::from(tag & 3);
    if order > 2 || tag & !(PACKED | 3) != 0 {
        return input.fail("a column of integers is of an unknown kind");
    }
    let mut numbers = Vec::with_capacity(count);
    for _ in 0..order.min(count) {
        numbers.push(unzigzag(input.varint()?));
    }
    let common = input.varint()?;
    if common == 0 {
        numbers.resize(count, 0);
    } else {
        let rest = count - numbers.len();
        let mut add = |number: u64| {
            numbers.push(unzigzag(number).wrapping_mul(common as i64));
        };
        if tag & PACKED != 0 {
            unpack(input, rest, &mut add)?;
        } else {
            let run = bytes::get(input)?;
            let mut run = Input::new(&run);
            for _ in 0..rest {
                add(run.varint()?);
            }
        }
    }
    integrate(&mut numbers, order);
    Ok(numbers)
}

/// The order whose differences need the fewest bits, judged by the first numbers.
fn best_order(numbers: &[i64]) -> usize {
    let sample = &numbers[..numbers.len().min(SAMPLE)];
    let cost = |order: usize| -> u64 {
        let rest = differences(sample, order).skip(order);
        rest.map(|difference| u64::from(64 - zigzag(difference).leading_zeros()))
            .sum()
    };
    (0..3)
        .min_by_key(|&order| (cost(order), order))
        .unwrap_or(0)
}

/// The first `order` numbers stand for themselves, or for their difference to the one before.
fn differences(numbers: &[i64], order: usize) -> impl Iterator<Item = i64> {
    let (mut last, mut last_difference) = (0_i64, 0_i64);
    numbers.iter().enumerate().map(move |(index, &number)| {
        let difference = number.wrapping_sub(last);
        let second = difference.wrapping_sub(last_difference);
        last = number;
        last_difference = if index == 0 { 0 } else { difference };
        match (order, index) {
            (0, _) | (_, 0) => number,
            (1, _) | (_, 1) => difference,
            _ => second,
        }
    })
}

fn integrate(numbers: &mut [i64], order: usize) {
    for pass in (1..=order).rev() {
        for index in pass..numbers.len() {
            numbers[index] = numbers[index].wrapping_add(numbers[index - 1]);
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    if a == 1 {
        return 1;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn pack(numbers: &[u64], out: &mut Vec<u8>) {
    for group in numbers.chunks(GROUP) {
        let all = group.iter().fold(0, |all, number| all | number);
        let width = 64 - all.leading_zeros();
        out.push(width as u8);
        let (mut bits, mut count) = (0_u128, 0);
        for &number in group {
            bits |= u128::from(number) << count;
            count += width;
            while count >= 8 {
                out.push(bits as u8);
                bits >>= 8;
                count -= 8;
            }
        }
        if count > 0 {
            out.push(bits as u8);
        }
    }
}

fn unpack(
    input: &mut Input<'_>,
    count: usize,
    add: &mut impl FnMut(u64),
) -> Result<(), BlockError> {
    let mut left = count;
    while left > 0 {
        let group = left.min(GROUP);
        let width = u32::from(input.byte()?);
        if width > 64 {
            return input.fail("numbers of more than 64 bits");
        }
        let bytes = input.take((group * width as usize).div_ceil(8))?;
        let mask = (1_u128 << width) - 1;
        let (mut bits, mut have, mut bytes) = (0_u128, 0, bytes.iter());
        for _ in 0..group {
            while have < width {
                bits |= u128::from(bytes.next().copied().unwrap_or_default()) << have;
                have += 8;
            }
            add((bits & mask) as u64);
            bits >>= width;
            have -= width;
        }
        left -= group;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn size(numbers: &[i64]) -> usize {
        let mut out = Vec::new();
        put(&mut Scratch::default(), numbers, &mut out);
        assert_eq!(get(&mut Input::new(&out), numbers.len()).unwrap(), numbers);
        out.len()
    }

    #[test]
    fn a_steady_clock_costs_nothing() {
        let steady: Vec<_> = (0..4096)
            .map(|second| second * 1_000_000_000 + 17)
            .collect();
        assert!(size(&steady) < 24);
        assert!(size(&[i64::MIN, i64::MAX, 0, -1, i64::MIN]) > 0);
        assert_eq!(size(&[]), 2);
    }

    proptest! {
        #[test]
        fn any_column_comes_back(numbers in proptest::collection::vec(any::<i64>(), 0..200)) {
            size(&numbers);
            let small: Vec<_> = numbers.iter().map(|number| number % 1000 * 25).collect();
            size(&small);
        }

        #[test]
        fn any_bytes_are_a_column_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _either = get(&mut Input::new(&bytes), 100);
        }
    }
}
