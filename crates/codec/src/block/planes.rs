//! Numbers in planes of bits: some low bits of each side by side, the rest in unary.
//!
//! Both planes are filled from the lowest bit of each byte on. Nothing in one plane is found by
//! reading another, so that a page is decoded in straight loops.

use alloc::vec::Vec;

/// Appends the low `width` bits of each number.
pub(super) fn pack(numbers: &[u64], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    out.reserve(numbers.len() * width as usize / 8 + 8);
    let mask = u64::MAX >> (64 - width);
    let (mut word, mut have) = (0_u64, 0);
    for &number in numbers {
        let number = number & mask;
        word |= number << have;
        have += width;
        if have >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            have -= 64;
            // What did not fit; a shift by the whole width would be none.
            word = if have == 0 {
                0
            } else {
                number >> (width - have)
            };
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..have.div_ceil(8) as usize]);
}

/// Bytes of a plane.
pub(super) fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Puts the next `width` bits of the plane below what each number has; `bytes` may go on behind it.
pub(super) fn unpack(bytes: &[u8], width: u32, numbers: &mut [u64]) {
    if width == 0 {
        return;
    }
    if width > 57 {
        return unpack_wide(bytes, width, numbers);
    }
    let mask = u64::MAX >> (64 - width);
    // Eight bytes hold so many numbers, wherever in the first of them they begin.
    let together = (57 / width) as usize;
    let step = together * width as usize;
    let fast = (bytes.len().saturating_sub(8) * 8 / step).min(numbers.len() / together);
    let (whole, last) = numbers.split_at_mut(fast * together);
    let mut at = 0;
    for several in whole.chunks_exact_mut(together) {
        let Some(&eight) = bytes.get(at >> 3..).and_then(<[u8]>::first_chunk::<8>) else {
            return;
        };
        let mut word = u64::from_le_bytes(eight) >> (at & 7);
        for number in several {
            *number = *number << width | word & mask;
            word >>= width;
        }
        at += step;
    }
    for number in last {
        *number = *number << width | (load(bytes, at >> 3) as u64 >> (at & 7)) & mask;
        at += width as usize;
    }
}

fn unpack_wide(bytes: &[u8], width: u32, numbers: &mut [u64]) {
    let mask = u128::from(u64::MAX >> (64 - width));
    for (index, number) in numbers.iter_mut().enumerate() {
        let at = index * width as usize;
        let low = (load(bytes, at >> 3) >> (at & 7)) & mask;
        *number = number.checked_shl(width).unwrap_or(0) | low as u64;
    }
}

/// Up to sixteen bytes from `at` on, zeros where there are none.
fn load(bytes: &[u8], at: usize) -> u128 {
    let mut word = [0; 16];
    let rest = bytes.get(at..).unwrap_or_default();
    let len = rest.len().min(16);
    word[..len].copy_from_slice(&rest[..len]);
    u128::from_le_bytes(word)
}

/// Longest unary code; it says that the rest of the number stands elsewhere.
pub(super) const ESCAPE: u64 = 24;

/// Appends each number shifted down by `width`: as many zeros, then a one; at most [`ESCAPE`] zeros.
pub(super) fn put_unary(numbers: &[u64], width: u32, out: &mut Vec<u8>) {
    let (mut word, mut have) = (0_u64, 0);
    for &number in numbers {
        let end = have + (number >> width).min(ESCAPE) as u32;
        if end >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            word = 1 << (end - 64);
            have = end - 63;
        } else {
            word |= 1 << end;
            have = end + 1;
        }
        if have == 64 {
            out.extend_from_slice(&word.to_le_bytes());
            (word, have) = (0, 0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..have.div_ceil(8) as usize]);
}

/// Reads as many unary codes as there are numbers; says the longest, or `None` where the plane has
/// more or fewer of them.
pub(super) fn get_unary(plane: &[u8], numbers: &mut [u64]) -> Option<u64> {
    let (words, rest) = plane.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let words = words.chain([load(rest, 0) as u64]);
    let (mut next, mut begin, mut longest) = (0_u64, 0_u64, 0);
    let mut places = numbers;
    for mut word in words {
        // Places in memory are below 2^64, so nothing wraps; the loop need not ask.
        for place in places.split_off_mut(..word.count_ones() as usize)? {
            let one = u64::from(word.trailing_zeros()).wrapping_add(begin);
            *place = one.wrapping_sub(next);
            longest = longest.max(*place);
            next = one.wrapping_add(1);
            word &= word.wrapping_sub(1);
        }
        begin = begin.wrapping_add(64);
    }
    places.is_empty().then_some(longest)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_of_any_width_come_back(
            numbers in proptest::collection::vec(any::<u64>(), 0..100),
            width in 0_u32..=64,
            behind in 0_usize..20,
        ) {
            let mut plane = Vec::new();
            pack(&numbers, width, &mut plane);
            prop_assert_eq!(plane.len(), packed_len(numbers.len(), width));
            plane.resize(plane.len() + behind, 0xA5);
            let mut back = alloc::vec![0; numbers.len()];
            unpack(&plane, width, &mut back);
            let mask = u64::MAX.checked_shr(64 - width).unwrap_or(0);
            prop_assert!(back.iter().zip(&numbers).all(|(back, number)| *back == number & mask));
        }

        #[test]
        fn unary_codes_come_back(numbers in proptest::collection::vec(0_u64..30, 0..300)) {
            let mut plane = Vec::new();
            put_unary(&numbers, 0, &mut plane);
            let mut back = alloc::vec![0; numbers.len()];
            let longest = get_unary(&plane, &mut back).unwrap();
            let expected: Vec<_> = numbers.iter().map(|&number| number.min(ESCAPE)).collect();
            prop_assert_eq!(&back, &expected);
            prop_assert_eq!(longest, expected.into_iter().max().unwrap_or(0));
            back.push(0);
            prop_assert_eq!(get_unary(&plane, &mut back), None);
        }
    }
}
