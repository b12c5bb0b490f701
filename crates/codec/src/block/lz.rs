//! Bytes in which repetitions are replaced by where they were before: the LZ4 block format.
//!
//! Any LZ4 library reads it. It needs neither memory of its own to read nor much to write, which is
//! why it is not deflate. Only text goes through it; numbers have columns.

use super::few::Few;
use alloc::vec::Vec;

const MATCH_MIN: usize = 4;
/// The format's rules for the end: the last five bytes are literals, no match begins in the last 12.
const LITERALS_MIN: usize = 5;
const TAIL: usize = 12;
const OFFSET_MAX: usize = 65_535;
const HASH_BITS: u32 = 12;

/// Appends the packed bytes.
pub(super) fn pack(bytes: &[u8], out: &mut Vec<u8>) {
    let mut seen = [0_u32; 1 << HASH_BITS];
    let (mut at, mut literals) = (0, 0);
    while at + TAIL < bytes.len() {
        let four = word(bytes, at);
        let slot = (four.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize;
        let before = seen[slot] as usize;
        seen[slot] = at as u32 + 1;
        let candidate = before.wrapping_sub(1);
        if before == 0 || at - candidate > OFFSET_MAX || word(bytes, candidate) != four {
            at += 1;
            continue;
        }
        let len = matching(bytes, candidate, at);
        put_sequence(&bytes[literals..at], Some((at - candidate, len)), out);
        at += len;
        literals = at;
    }
    put_sequence(&bytes[literals..], None, out);
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    u32::from_le_bytes(four.copied().unwrap_or_default())
}

fn matching(bytes: &[u8], before: usize, at: usize) -> usize {
    let now = &bytes[at..bytes.len() - LITERALS_MIN];
    let pairs = now.iter().zip(&bytes[before..]);
    pairs.take_while(|(a, b)| a == b).count()
}

fn put_sequence(literals: &[u8], matched: Option<(usize, usize)>, out: &mut Vec<u8>) {
    let extra = matched.map_or(0, |(_offset, len)| len - MATCH_MIN);
    out.push((literals.len().min(15) << 4 | extra.min(15)) as u8);
    put_length(literals.len(), out);
    out.extend_from_slice(literals);
    if let Some((offset, _len)) = matched {
        out.extend_from_slice(&(offset as u16).to_le_bytes());
        put_length(extra, out);
    }
}

/// What of a length does not fit into the token's four bits.
fn put_length(len: usize, out: &mut Vec<u8>) {
    if let Some(mut rest) = len.checked_sub(15) {
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
}

/// Unpacks to exactly `len` bytes behind those in `out`; `None` where the bytes are no such thing.
pub(super) fn unpack<const N: usize>(
    mut packed: &[u8],
    len: usize,
    out: &mut Few<u8, N>,
) -> Option<()> {
    let begin = out.len();
    loop {
        let token = usize::from(*packed.split_off_first()?);
        let literals = length(token >> 4, &mut packed)?;
        let literals = packed.split_off(..literals)?;
        if out.len() - begin + literals.len() > len {
            return None;
        }
        out.extend(literals);
        if packed.is_empty() {
            return (out.len() - begin == len).then_some(());
        }
        let offset = usize::from(u16::from_le_bytes(*packed.split_off(..2)?.first_chunk()?));
        let matched = length(token & 15, &mut packed)? + MATCH_MIN;
        let so_far = out.len() - begin;
        if offset == 0 || offset > so_far || matched > len - so_far {
            return None;
        }
        out.repeat(out.len() - offset, matched);
    }
}

fn length(mut len: usize, packed: &mut &[u8]) -> Option<usize> {
    if len == 15 {
        loop {
            let more = *packed.split_off_first()?;
            len += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Some(len)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn back(bytes: &[u8]) -> usize {
        let mut packed = Vec::new();
        pack(bytes, &mut packed);
        let mut out = Few::<u8, 16>::default();
        unpack(&packed, bytes.len(), &mut out).unwrap();
        assert_eq!(*out, *bytes);
        packed.len()
    }

    #[test]
    fn what_repeats_is_short() {
        assert!(back(&b"heating/substation-1/supply/".repeat(100)) < 80);
        assert_eq!(back(b""), 1);
        assert!(back(&[7; 1000]) < 20);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back_and_any_bytes_are_read_safely(
            bytes in proptest::collection::vec(0_u8..4, 0..300),
            noise in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            back(&bytes);
            let mut out = Few::<u8, 16>::default();
            let _either = unpack(&noise, 1000, &mut out);
            prop_assert!(out.len() <= 1000);
        }
    }
}
