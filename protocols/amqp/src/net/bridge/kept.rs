//! What a bridge remembers over connections and over a crash: up to where the broker has confirmed, and what its
//! queue there is bound to.
//!
//! It is a record of the log. Layout: version u8, the cursor's bits (u64, little-endian), the filters with a NUL,
//! which no filter holds, behind each.

use bytes::Bytes;
use weir_model::Cursor;

const VERSION: u8 = 1;

/// A bridge's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// The broker has all messages up to here, or they were set aside.
    pub(super) confirmed: Cursor,
    /// Filters that the queue there is bound to.
    pub(super) bound: Vec<String>,
}

impl Kept {
    /// The record's bytes.
    pub(super) fn write(&self) -> Bytes {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.confirmed.bits().to_le_bytes());
        for filter in &self.bound {
            out.extend_from_slice(filter.as_bytes());
            out.push(0);
        }
        out.into()
    }

    /// Reads a record; `None` for one that is none of this version.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (cursor, rest) = rest.split_first_chunk()?;
        let text = std::str::from_utf8(rest).ok()?;
        (*version == VERSION && (text.is_empty() || text.ends_with('\0'))).then(|| Self {
            confirmed: Cursor::from_bits(u64::from_le_bytes(*cursor)),
            bound: text.split_terminator('\0').map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_comes_back_as_it_was_kept_or_not_at_all() {
        let kept = Kept {
            confirmed: Cursor::new(2, 70),
            bound: vec!["a/#".into(), "b".into()],
        };
        let bytes = kept.write();
        assert_eq!(Kept::read(&bytes), Some(kept));
        for length in (0..9).chain([10, 11, 12, 14]) {
            assert_eq!(Kept::read(&bytes[..length]), None, "{length}");
        }
    }
}
