//! The stamp in a message: when it was due, in the observation's own `value`.
//!
//! A stamp is a number of exactly [`STAMP_DIGITS`] digits: nanoseconds since the load started,
//! plus [`weir_bench_model::own::STAMP_BASE`], so it has the same width in every message, is an integer that a 64-bit
//! float holds exactly, and survives a server that reads and rewrites the JSON. The reader finds it by the
//! member's name wherever it stands; chunk heads, SSE fields and frame heads are passed over.

use memchr::memmem::Finder;

use weir_bench_model::own::MARKER;

/// Digits of a stamp.
pub(super) const STAMP_DIGITS: usize = 13;
/// Bytes that may have to wait for the next read: a marker, a space and a stamp cut short.
pub(super) const CARRY_BYTES_MAX: usize = MARKER.len() + 1 + STAMP_DIGITS;

/// Finds stamps in a stream of bytes.
pub(super) struct Scanner {
    marker: Finder<'static>,
}

/// What a connection keeps of its last read, because a stamp may be cut by it.
#[derive(Clone, Copy, Default)]
pub(super) struct Carry {
    bytes: [u8; CARRY_BYTES_MAX],
    len: u8,
}

impl Scanner {
    /// A scanner for [`MARKER`].
    pub(super) fn new() -> Self {
        Self {
            marker: Finder::new(MARKER),
        }
    }

    /// Calls `each` with every stamp (0 for a value that is none) and returns where the rest
    /// that must be seen again begins, at most [`CARRY_BYTES_MAX`] before the end.
    pub(super) fn scan(&self, bytes: &[u8], mut each: impl FnMut(u64)) -> usize {
        let mut at = 0;
        while let Some(found) = self.marker.find(&bytes[at..]) {
            let value = at + found + MARKER.len();
            match read_stamp(&bytes[value..]) {
                Some(stamp) => each(stamp),
                None => return at + found,
            }
            at = value;
        }
        at.max(bytes.len().saturating_sub(MARKER.len() - 1))
    }
}

impl Carry {
    /// Copies what was kept to the front of `buffer` and returns its length.
    pub(super) fn restore(&self, buffer: &mut [u8]) -> usize {
        let len = usize::from(self.len);
        buffer[..len].copy_from_slice(&self.bytes[..len]);
        len
    }

    /// Keeps `rest` for the next read; of more than fits, the end.
    pub(super) fn keep(&mut self, rest: &[u8]) {
        let rest = &rest[rest.len().saturating_sub(CARRY_BYTES_MAX)..];
        self.bytes[..rest.len()].copy_from_slice(rest);
        self.len = rest.len() as u8;
    }
}

/// The stamp at the start of `bytes`, 0 if something else stands there, `None` if it is cut.
fn read_stamp(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.strip_prefix(b" ").unwrap_or(bytes);
    let mut stamp = 0u64;
    for index in 0..STAMP_DIGITS {
        let digit = digits.get(index)?.wrapping_sub(b'0');
        if digit > 9 {
            return Some(0);
        }
        stamp = stamp * 10 + u64::from(digit);
    }
    Some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_bench_model::own::STAMP_BASE;

    fn scan_in_pieces(text: &[u8], piece: usize) -> Vec<u64> {
        let scanner = Scanner::new();
        let mut carry = Carry::default();
        let mut stamps = Vec::new();
        for part in text.chunks(piece) {
            let mut buffer = vec![0; CARRY_BYTES_MAX + part.len()];
            let kept = carry.restore(&mut buffer);
            buffer[kept..kept + part.len()].copy_from_slice(part);
            let whole = &buffer[..kept + part.len()];
            let rest = scanner.scan(whole, |stamp| stamps.push(stamp));
            carry.keep(&whole[rest..]);
        }
        stamps
    }

    #[test]
    fn a_stamp_with_a_fraction_is_read_to_its_point() {
        let text = br#"data: {"value": 1000000000042.0}"#;
        assert_eq!(scan_in_pieces(text, text.len()), [STAMP_BASE + 42]);
    }

    #[test]
    fn a_value_that_is_no_stamp_counts_as_zero() {
        let text = br#"{"value":21.5,"unit":"Cel","time":"2026"}"#;
        assert_eq!(scan_in_pieces(text, text.len()), [0]);
    }

    proptest! {
        #[test]
        fn no_stamp_is_missed_or_doubled_wherever_reads_cut(
            times in proptest::collection::vec(0u64..8_000_000_000_000, 1..20), piece in 1usize..80,
        ) {
            let mut text = String::new();
            for time in &times {
                text += &format!("data: {{\"value\":{},\"unit\":\"Cel\"}}\n\n", STAMP_BASE + time);
            }
            let expected: Vec<u64> = times.iter().map(|time| STAMP_BASE + time).collect();
            prop_assert_eq!(scan_in_pieces(text.as_bytes(), piece), expected);
        }
    }
}
