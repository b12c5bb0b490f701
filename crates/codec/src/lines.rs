//! A reader for formats whose observations stand on lines: decodes each line as soon as it is whole.

use crate::error::DecodeError;
use crate::format::Reader;
use alloc::vec::Vec;
use weir_model::{BatchBuilder, Limits};

/// What a format of lines knows between one run of lines and the next.
pub(crate) trait Lines: Send {
    /// Whether a line feed between quotes does not end a line.
    const QUOTES: bool;
    /// Says whether this byte, which follows those asked about before, ends a line; `quoted` is kept.
    fn ends_line(&mut self, byte: u8, quoted: &mut bool) -> bool {
        *quoted ^= Self::QUOTES && byte == b'"';
        byte == b'\n' && !*quoted
    }
    /// Decodes whole lines; offsets of errors are counted from their beginning.
    fn decode(
        &mut self,
        lines: &[u8],
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError>;
    /// Says whether what was read is a message.
    fn finish(&self, at: usize) -> Result<(), DecodeError>;
}

/// Gathers pieces into lines.
pub(crate) struct LineReader<L> {
    format: L,
    limits: Limits,
    /// What follows the last whole line.
    rest: Vec<u8>,
    /// Bytes of `rest` already looked at, and whether they end between quotes.
    seen: usize,
    quoted: bool,
    /// Bytes decoded so far.
    before: usize,
}

impl<L: Lines> LineReader<L> {
    pub(crate) fn new(format: L, limits: &Limits) -> Self {
        let limits = *limits;
        let rest = Vec::new();
        Self {
            format,
            limits,
            rest,
            seen: 0,
            quoted: false,
            before: 0,
        }
    }

    /// The end of the last whole line.
    fn whole(&mut self) -> usize {
        let mut end = 0;
        for (index, &byte) in self.rest.iter().enumerate().skip(self.seen) {
            if self.format.ends_line(byte, &mut self.quoted) {
                end = index + 1;
            }
        }
        self.seen = self.rest.len();
        end
    }

    fn decode(&mut self, end: usize, out: &mut BatchBuilder) -> Result<(), DecodeError> {
        let count = out.len();
        let decoded = self.format.decode(&self.rest[..end], out, &self.limits);
        decoded.map_err(|error| DecodeError {
            at: error.at + self.before,
            ..error
        })?;
        self.limits.observations = self.limits.observations.saturating_sub(out.len() - count);
        self.rest.drain(..end);
        self.seen -= end;
        self.before += end;
        Ok(())
    }
}

impl<L: Lines> Reader for LineReader<L> {
    fn push(&mut self, piece: &[u8], out: &mut BatchBuilder) -> Result<(), DecodeError> {
        let limit = self.limits.message_bytes;
        if self.before + self.rest.len() + piece.len() > limit {
            return Err(DecodeError::over(limit, "bytes of a message", limit));
        }
        self.rest.extend_from_slice(piece);
        match self.whole() {
            0 => Ok(()),
            end => self.decode(end, out),
        }
    }

    fn finish(&mut self, out: &mut BatchBuilder) -> Result<(), DecodeError> {
        self.decode(self.rest.len(), out)?;
        self.format.finish(self.before)
    }
}
