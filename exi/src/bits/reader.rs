//! Reading.

use alloc::string::String;
use alloc::vec::Vec;

use super::{HIGH_BITS, Window, leading};
use crate::fault::{Fault, Result};
use crate::limits::Limit;

/// A cursor over bytes that are there. What fails has moved it no further than the failure; the
/// owner keeps the place from before an event to return to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'i> {
    data: &'i [u8],
    /// Bits consumed.
    pub(crate) bit: usize,
    /// Whether everything is aligned on bytes.
    pub(crate) aligned: bool,
}

/// Octets of the longest unsigned integer: 7,000 bits.
const BIG_OCTETS: usize = 1_000;

impl<'i> Reader<'i> {
    pub(crate) fn new(data: &'i [u8], bit: usize, aligned: bool) -> Self {
        Self { data, bit, aligned }
    }

    /// Bytes that are wholly unread.
    pub(crate) fn rest(&self) -> usize {
        self.data.len().saturating_sub(self.bit.div_ceil(8))
    }

    /// Moves to the next byte boundary.
    pub(crate) fn align(&mut self) {
        self.bit = self.bit.next_multiple_of(8);
    }

    /// What stands here, if it is not too near to the end of the data.
    #[inline(always)]
    pub(crate) fn window(&self) -> Option<Window> {
        let chunk = self.data.get(self.bit >> 3..)?.first_chunk::<8>()?;
        let word = u64::from_be_bytes(*chunk) << (self.bit & 7);
        Some(Window::new(word, self.aligned))
    }

    /// Reads `count` bits, at most 32, most significant first.
    #[inline(always)]
    pub(crate) fn bits(&mut self, count: u32) -> Result<u32> {
        // A whole word has 57 bits behind any bit of its first byte: enough, and all are there.
        let tail = self.data.get(self.bit >> 3..).unwrap_or(&[]);
        let Some(chunk) = tail.first_chunk::<8>() else {
            return self.last_bits(count);
        };
        let word = u64::from_be_bytes(*chunk) << (self.bit & 7);
        self.bit += count as usize;
        Ok(leading(word, count))
    }

    /// The same near the end of the data.
    #[cold]
    fn last_bits(&mut self, count: u32) -> Result<u32> {
        let end = self.bit + count as usize;
        if end > self.data.len() * 8 {
            return Err(Fault::End(end.div_ceil(8) - self.data.len()));
        }
        let tail = self.data.get(self.bit >> 3..).unwrap_or(&[]);
        let word = last_word(tail) << (self.bit & 7);
        self.bit = end;
        Ok(leading(word, count))
    }

    /// Reads an n-bit unsigned integer: in byte-aligned streams the fewest bytes that hold n bits,
    /// least significant first (section 7.1.9).
    #[inline(always)]
    pub(crate) fn n_bit(&mut self, count: u32) -> Result<u32> {
        if !self.aligned {
            return self.bits(count);
        }
        self.n_bit_in_bytes(count)
    }

    #[inline]
    fn n_bit_in_bytes(&mut self, count: u32) -> Result<u32> {
        let mut value = 0;
        for byte in 0..count.div_ceil(8) {
            value |= self.bits(8)? << (8 * byte);
        }
        if value.checked_shr(count).is_some_and(|rest| rest != 0) {
            return Err(Fault::Value(
                "a number that is larger than the bits it was given",
            ));
        }
        Ok(value)
    }

    /// Reads a Boolean (section 7.1.2).
    pub(crate) fn boolean(&mut self) -> Result<bool> {
        Ok(self.n_bit(1)? != 0)
    }

    /// Reads an unsigned integer that fits a word (section 7.1.6); leaves the cursor where it was
    /// if it does not fit.
    #[inline(always)]
    // [EXI-7.1.6-1]
    pub(crate) fn unsigned(&mut self) -> Result<u64> {
        let first = self.bits(8)?;
        if first < 128 {
            Ok(u64::from(first))
        } else {
            self.unsigned_rest(first)
        }
    }

    #[inline(never)]
    fn unsigned_rest(&mut self, first: u32) -> Result<u64> {
        let start = self.bit - 8;
        let mut value = u64::from(first & 127);
        for shift in (7..70).step_by(7) {
            let octet = u64::from(self.bits(8)?);
            if shift == 63 && octet > 1 {
                self.bit = start;
                return Err(Fault::TooBig);
            }
            value |= (octet & 127) << shift;
            if octet < 128 {
                return Ok(value);
            }
        }
        Err(Fault::TooBig)
    }

    /// Reads an unsigned integer of any size as decimal digits, appended to `digits`.
    pub(crate) fn unsigned_digits(&mut self, digits: &mut String) -> Result<()> {
        let mut octets = Vec::new();
        loop {
            let octet = self.bits(8)?;
            octets.push((octet & 127) as u8);
            if octet < 128 {
                push_digits(&octets, digits);
                return Ok(());
            }
            if octets.len() > BIG_OCTETS {
                return Err(Fault::Limit(Limit::ValueBytes));
            }
        }
    }

    /// Reads an unsigned integer that counts things.
    #[inline(always)]
    pub(crate) fn count(&mut self) -> Result<u32> {
        u32::try_from(self.unsigned()?).map_err(|_| Fault::Limit(Limit::ValueBytes))
    }

    /// Appends `count` characters, each an unsigned integer (section 7.1.10).
    pub(crate) fn characters(&mut self, count: u32, out: &mut String) -> Result<()> {
        // Every character takes at least one octet, so a length beyond the data is told at once.
        if count as usize > self.rest() {
            return Err(Fault::End(count as usize - self.rest()));
        }
        let done = if self.bit & 7 == 0 {
            self.ascii_bytes(count as usize, out)
        } else {
            self.ascii_bits(count as usize, out)
        };
        for rest in (0..count as usize - done).rev() {
            let point = self.unsigned().map_err(|fault| fault.and_bytes(rest))?;
            out.push(character(point)?);
        }
        Ok(())
    }

    /// Appends the leading ASCII characters at a byte boundary.
    fn ascii_bytes(&mut self, count: usize, out: &mut String) -> usize {
        let at = self.bit >> 3;
        let window = self.data.get(at..at + count).unwrap_or(&[]);
        let ascii = match core::str::from_utf8(window) {
            Ok(text) if text.is_ascii() => text,
            _ => {
                let len = window
                    .iter()
                    .position(|byte| !byte.is_ascii())
                    .unwrap_or(count);
                core::str::from_utf8(&window[..len]).unwrap_or("")
            }
        };
        out.push_str(ascii);
        self.bit += 8 * ascii.len();
        ascii.len()
    }

    /// Appends the leading ASCII characters between byte boundaries, eight at a time.
    fn ascii_bits(&mut self, count: usize, out: &mut String) -> usize {
        let shift = self.bit & 7;
        let mut at = self.bit >> 3;
        let mut done = 0;
        let mut chunk = [0u8; 256];
        while done < count {
            let mut filled = 0;
            let mut good = true;
            while good && filled < chunk.len() && done + filled < count {
                let (word, wanted) = (self.shifted(at, shift), (count - done - filled).min(8));
                let foreign = (word & HIGH_BITS).leading_zeros() as usize / 8;
                chunk[filled..filled + 8].copy_from_slice(&word.to_be_bytes());
                good = foreign >= wanted;
                filled += wanted.min(foreign);
                at += wanted.min(foreign);
            }
            out.push_str(core::str::from_utf8(&chunk[..filled]).unwrap_or(""));
            done += filled;
            if !good {
                break;
            }
        }
        self.bit += 8 * done;
        done
    }

    /// Eight bytes that begin `shift` bits into the byte at `at`.
    #[inline]
    fn shifted(&self, at: usize, shift: usize) -> u64 {
        let tail = self.data.get(at..).unwrap_or(&[]);
        match tail.first_chunk::<9>() {
            Some(chunk) => {
                let [head @ .., last] = *chunk;
                u64::from_be_bytes(head) << shift | u64::from(last) >> (8 - shift)
            }
            None => last_word(tail) << shift,
        }
    }

    /// Appends `count` bytes.
    pub(crate) fn octets(&mut self, count: u32, out: &mut Vec<u8>) -> Result<()> {
        let count = count as usize;
        if count > self.rest() {
            return Err(Fault::End(count - self.rest()));
        }
        if self.bit & 7 == 0 {
            let at = self.bit >> 3;
            out.extend_from_slice(self.data.get(at..at + count).unwrap_or(&[]));
            self.bit += 8 * count;
            return Ok(());
        }
        for _ in 0..count {
            out.push(self.bits(8)? as u8);
        }
        Ok(())
    }
}

/// The bytes of a tail shorter than a word, followed by zeros.
#[cold]
fn last_word(tail: &[u8]) -> u64 {
    let mut word = [0u8; 8];
    let len = tail.len().min(8);
    word[..len].copy_from_slice(&tail[..len]);
    u64::from_be_bytes(word)
}

/// A code point that is a character (section 7.1.10).
pub(crate) fn character(point: u64) -> Result<char> {
    u32::try_from(point)
        .ok()
        .and_then(char::from_u32)
        .ok_or(Fault::Character(point))
}

/// Appends the decimal digits of a number in groups of seven bits, least significant first.
fn push_digits(octets: &[u8], digits: &mut String) {
    const BASE: u64 = 1_000_000_000_000_000_000;
    let mut limbs: Vec<u64> = Vec::new();
    for octet in octets.iter().rev() {
        let mut carry = u64::from(*octet);
        for limb in &mut limbs {
            let wide = u128::from(*limb) * 128 + u128::from(carry);
            *limb = (wide % u128::from(BASE)) as u64;
            carry = (wide / u128::from(BASE)) as u64;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    use core::fmt::Write;
    let mut limbs = limbs.into_iter().rev();
    let _ = write!(digits, "{}", limbs.next().unwrap_or(0));
    for limb in limbs {
        let _ = write!(digits, "{limb:018}");
    }
}
