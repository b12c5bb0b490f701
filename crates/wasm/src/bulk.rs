//! The direct way of `block`: from chunks to columns, with nothing a row in between.
//!
//! What it deliberately does not do: it judges nothing. A message that is not numbers alone, or not
//! right, is left to the general way, which also says what is wrong.

use crate::columns::Columns;
use crate::names::Names;
use weir_codec::block::{self, Chunk};
use weir_model::Limits;

/// The name of the format in the list.
pub(crate) const FORMAT: &str = "block";

/// A chunk's columns, used again from message to message.
#[derive(Default)]
pub(crate) struct Bulk {
    rows: block::Columns,
}

impl Bulk {
    /// Reads a message into `out`; false where the general way must, and what is in `out` is none.
    pub(crate) fn read(
        &mut self,
        message: &[u8],
        sent_to: &str,
        names: &mut Names,
        out: &mut Columns,
    ) -> bool {
        out.clear();
        self.chunks(message, sent_to, names, out).is_some()
    }

    fn chunks(
        &mut self,
        message: &[u8],
        sent_to: &str,
        names: &mut Names,
        out: &mut Columns,
    ) -> Option<()> {
        let mut limits = Limits::default();
        let generation = names.generation();
        let mut rest = Some(message).filter(|all| all.len() <= limits.message_bytes)?;
        while let Some(chunk) = Chunk::take(&mut rest, 0, &limits).ok()? {
            self.rows.read(&chunk, &limits).ok()?;
            let rows = &self.rows;
            if !rows.has_only_numbers() || !rows.numbers().iter().all(|n| n.is_finite()) {
                return None;
            }
            let series = |index| rows.series(index);
            out.extend(rows, names.intern(rows.series_count(), series, sent_to));
            // Indices of the chunks before stand for nothing any more.
            if names.generation() != generation {
                return None;
            }
            limits.observations -= chunk.rows();
        }
        Some(())
    }
}

impl std::fmt::Debug for Bulk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bulk")
    }
}
