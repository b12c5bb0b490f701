//! A body that comes in pieces, as it goes out: compressed where that was agreed.
//!
//! Unlike a stream, which is compressed message by message for all its receivers, it is one gzip member,
//! closed at the end: so a body that breaks off is known by its checksum too.

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::{self, Write};
use std::task::{Context, Poll, ready};
use weir_binding::Pieces;

/// The rest of a body.
pub(super) struct Body {
    pieces: Box<dyn Pieces>,
    /// What came with the head, until it is taken.
    first: Bytes,
    gzip: Option<GzEncoder<Vec<u8>>>,
    /// The pieces are at their end.
    over: bool,
}

impl Body {
    pub(super) fn new(pieces: Box<dyn Pieces>, first: Bytes, gzip: bool) -> Self {
        Self {
            pieces,
            first,
            gzip: gzip.then(|| GzEncoder::new(Vec::new(), Compression::fast())),
            over: false,
        }
    }

    /// What goes out next, never empty; none at the end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        while !self.over {
            let piece = if self.first.is_empty() {
                ready!(self.pieces.poll_piece(cx)).map_err(io::Error::other)?
            } else {
                Some(std::mem::take(&mut self.first))
            };
            self.over = piece.is_none();
            let coded = self.coded(piece)?;
            if !coded.is_empty() {
                return Poll::Ready(Ok(Some(coded)));
            }
        }
        Poll::Ready(Ok(None))
    }

    fn coded(&mut self, piece: Option<Bytes>) -> io::Result<Bytes> {
        match (&mut self.gzip, piece) {
            (None, piece) => Ok(piece.unwrap_or_default()),
            (Some(encoder), Some(piece)) => {
                encoder.write_all(&piece)?;
                Ok(std::mem::take(encoder.get_mut()).into())
            }
            (Some(encoder), None) => {
                encoder.try_finish()?;
                Ok(std::mem::take(encoder.get_mut()).into())
            }
        }
    }
}
