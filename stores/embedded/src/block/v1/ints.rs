//! A column of 64-bit integers: differences of order 0 to 2, their common factor, packed.
//!
//! Layout: one byte (order, plus 4 for bit-packing); the first `order` differences as signed varints;
//! the greatest common divisor of the rest as a varint (0: all are 0 and nothing follows); the rest
//! divided by it, zigzag, either as a run of varints ([`super::bytes`]) or in groups of 32 of one
//! width, a byte each.

use super::bits::{Input, unzigzag};
use super::bytes;
use weir_codec::DecodeError;

const PACKED: u8 = 4;
const GROUP: usize = 32;

/// Reads a column of `count` numbers.
pub(super) fn get(input: &mut Input<'_>, count: usize) -> Result<Vec<i64>, DecodeError> {
    let tag = input.byte()?;
    let order = usize::from(tag & 3);
    if order > 2 || tag & !(PACKED | 3) != 0 {
        return input.fail("a column of integers of a known kind");
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

fn integrate(numbers: &mut [i64], order: usize) {
    for pass in (1..=order).rev() {
        for index in pass..numbers.len() {
            numbers[index] = numbers[index].wrapping_add(numbers[index - 1]);
        }
    }
}

fn unpack(
    input: &mut Input<'_>,
    count: usize,
    add: &mut impl FnMut(u64),
) -> Result<(), DecodeError> {
    let mut left = count;
    while left > 0 {
        let group = left.min(GROUP);
        let width = u32::from(input.byte()?);
        if width > 64 {
            return input.fail("numbers of at most 64 bits");
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
