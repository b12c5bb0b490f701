//! A reader for formats whose observations stand on lines: decodes each line as soon as it is whole.

use crate::error::DecodeError;
use crate::format::Reader;
use crate::rows::{BYTE_ORDER_MARK, read_text, utf8};
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
        lines: &str,
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError>;
    /// Says whether what was read is a message, as any lines are unless the format says otherwise.
    fn finish(&self, _at: usize) -> Result<(), DecodeError> {
        Ok(())
    }
}

/// Decodes a message that is there as a whole.
pub(crate) fn decode<L: Lines>(
    mut format: L,
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| format.decode(text, out, limits))?;
    format.finish(bytes.len())
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
    /// Bytes decoded so far, a byte order mark among them.
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

    /// Takes a byte order mark off where the message begins; `false` if more bytes must say whether there is one.
    fn begins(&mut self) -> bool {
        let mark = BYTE_ORDER_MARK.as_bytes();
        if self.before > 0 || self.seen > 0 {
            return true;
        }
        if self.rest.starts_with(mark) {
            self.before = self.rest.drain(..mark.len()).len();
        }
        self.before > 0 || !mark.starts_with(&self.rest)
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
        let lines = utf8(&self.rest[..end], &self.limits);
        let decoded = lines.and_then(|lines| self.format.decode(lines, out, &self.limits));
        decoded.map_err(|error| error.after(self.before))?;
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
        if !self.begins() {
            return Ok(());
        }
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
