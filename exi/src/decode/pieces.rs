//! Decoding while bytes arrive.

use alloc::vec::Vec;

use super::{Core, DecoderSettings};
use crate::error::{Error, ErrorKind};
use crate::event::Event;
use crate::fault::Fault;
use crate::limits::Limit;
use crate::options::Options;

/// A decoder that is fed pieces of a stream. What an event still lacks is known as a number of
/// bytes at least, so nothing is tried again for every small piece.
#[derive(Debug)]
pub struct PieceDecoder {
    core: Core,
    buffer: Vec<u8>,
    /// Bytes of the stream before the buffer.
    base: u64,
    /// Bytes the buffer must have before another attempt.
    wanted: usize,
    finished: bool,
}

/// Bytes consumed that are worth moving the rest for.
const DRAIN_BYTES: usize = 1 << 16;

impl PieceDecoder {
    /// Begins a stream.
    pub fn new(settings: DecoderSettings) -> Self {
        let core = Core::new(settings);
        Self {
            core,
            buffer: Vec::new(),
            base: 0,
            wanted: 1,
            finished: false,
        }
    }

    /// Begins another stream as [`Decoder::restart`](super::Decoder::restart) does: pieces not
    /// consumed are forgotten, memory is kept.
    pub fn restart(&mut self) {
        self.core.restart();
        self.buffer.clear();
        (self.base, self.wanted, self.finished) = (0, 1, false);
    }

    /// Adds a piece.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), Error> {
        let total = self.base + self.buffer.len() as u64 + piece.len() as u64;
        if total > self.core.settings.limits.input_bytes {
            return Err(self.core.fail(Fault::Limit(Limit::InputBytes), self.base));
        }
        if let Some(body) = &mut self.core.body
            && body.bit / 8 > DRAIN_BYTES
        {
            let consumed = body.bit / 8;
            self.buffer.drain(..consumed);
            body.drained(consumed);
            self.base += consumed as u64;
            self.wanted = self.wanted.saturating_sub(consumed);
        }
        self.buffer.extend_from_slice(piece);
        Ok(())
    }

    /// Says that there is no further piece.
    pub fn finish(&mut self) {
        self.finished = true;
        self.wanted = 0;
    }

    /// Whether [`Event::EndDocument`] was given.
    pub fn is_done(&self) -> bool {
        self.core.is_done()
    }

    /// The options in effect, once the header was read.
    pub fn options(&self) -> Option<&Options> {
        self.core.body.as_ref().map(|body| &body.options)
    }

    /// The next event; `None` if it wants further pieces, or if there is none (see
    /// [`PieceDecoder::is_done`]).
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if let Some(error) = &self.core.failed {
            return Err(error.clone());
        }
        if self.core.is_done() || self.buffer.len() < self.wanted {
            return Ok(None);
        }
        match self.core.quick(&self.buffer) {
            Some(quick) => self.core.show(quick),
            None => self.any_event(),
        }
    }

    fn any_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if self.core.body.is_none()
            && let Err(fault) = self.core.begin(&self.buffer)
        {
            return self.wait(fault).map(|()| None);
        }
        let Some(body) = &mut self.core.body else {
            return Ok(None);
        };
        let raw = match body.next(&self.buffer) {
            Ok(raw) => raw,
            Err(fault) => return self.wait(fault).map(|()| None),
        };
        Ok(self.core.body.as_ref().map(|body| body.show(raw)))
    }

    /// Waits for more, unless something else is wrong or there is no more.
    fn wait(&mut self, fault: Fault) -> Result<(), Error> {
        match fault {
            Fault::End(more) if !self.finished => {
                self.wanted = self.buffer.len() + more.max(1);
                Ok(())
            }
            fault => Err(self.core.fail(fault, self.base)),
        }
    }

    /// Fails unless the document has ended: for whoever has no further piece.
    pub fn close(mut self) -> Result<(), Error> {
        if self.core.is_done() {
            return Ok(());
        }
        let end = Fault::from(ErrorKind::UnexpectedEnd);
        Err(self
            .core
            .failed
            .take()
            .unwrap_or_else(|| self.core.fail(end, self.base)))
    }
}
