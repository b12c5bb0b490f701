//! How codes are laid down: by how many bits each of them needs.

/// Layout of a page's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// So many bits of each, and a list of those that need more.
    Packed(u32),
    /// So many bits of each, and the rest in unary.
    Rice(u32),
}

/// The smallest layout and its bits, computed from how many codes have which length.
pub(super) fn choose(codes: &[u64]) -> (Shape, u32) {
    let mut lengths = [[0_u32; 65]; 2];
    let mut pairs = codes.chunks_exact(2);
    for pair in &mut pairs {
        // Two tables, so that equal lengths in a row do not wait for each other.
        lengths[0][length(pair[0])] += 1;
        lengths[1][length(pair[1])] += 1;
    }
    let [mut lengths, others] = lengths;
    let all = lengths.iter_mut().zip(others);
    all.for_each(|(sum, other)| *sum += other);
    pairs
        .remainder()
        .iter()
        .for_each(|&code| lengths[length(code)] += 1);
    let count = codes.len() as u32;
    let (packed, width) = packed(&lengths, count);
    let (rice, low) = rice(&lengths, count);
    if rice < packed {
        (Shape::Rice(low), rice)
    } else {
        (Shape::Packed(width), packed)
    }
}

#[inline]
fn length(code: u64) -> usize {
    (64 - code.leading_zeros()) as usize
}

/// Bits and width of the best packing with a list of exceptions.
fn packed(lengths: &[u32; 65], count: u32) -> (u32, u32) {
    let (mut best, mut larger, mut over) = ((u32::MAX, 0), 0, 0);
    for width in (0..=64_u32).rev() {
        // An exception is a place of about a byte and its high bits as a varint.
        let exceptions = larger * 12 + over + over / 7;
        let cost = count * width + exceptions;
        if cost <= best.0 {
            best = (cost, width);
        }
        larger += lengths[width as usize];
        // One more bit of each that is longer now.
        over += larger;
    }
    best
}

/// Bits and low width of the best Rice code.
fn rice(lengths: &[u32; 65], count: u32) -> (u32, u32) {
    let mut best = (u32::MAX, 0);
    for low in 0..64 {
        let mut cost = count * (low as u32 + 1) + 8;
        for (above, &there) in lengths[low + 1..].iter().enumerate() {
            // The middle of the numbers of this length, shifted down; tenths of its unary code.
            let bits = match above {
                0 => 1,
                1 => 2,
                2 => 5,
                3 => 11,
                _ => 40 + above as u32,
            };
            cost += there * bits;
        }
        if cost < best.0 {
            best = (cost, low as u32);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_large_codes_do_not_widen_the_others() {
        let mut codes = [3; 500];
        codes[77] = 1 << 40;
        assert_eq!(choose(&codes).0, Shape::Packed(2));
        assert_eq!(choose(&[0; 100]).0, Shape::Packed(0));
        assert_eq!(choose(&[u64::MAX; 10]).0, Shape::Packed(64));
    }

    #[test]
    fn codes_that_thin_out_are_put_in_unary() {
        let codes: [u64; 512] = core::array::from_fn(|index| 1 << (index.trailing_zeros() % 9));
        assert!(matches!(choose(&codes).0, Shape::Rice(_)));
    }
}
