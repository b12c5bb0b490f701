//! Reading without a buffer of one's own, and answers that wait to be sent.

use crate::limits::READ_BYTES_MAX;
use bytes::{Buf, Bytes};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use weir_carrier::Stream;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES_MAX]);
}

/// Reads once into the thread's buffer and hands over what came; nothing at the end of the stream.
pub(super) fn poll_read<T>(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    bytes_max: usize,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    SCRATCH.with_borrow_mut(|scratch| {
        let length = bytes_max.min(scratch.len());
        let mut buffer = ReadBuf::new(&mut scratch[..length]);
        ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(take(buffer.filled())))
    })
}

/// Writes as much as the socket takes; ready once `bytes` is empty and TLS has passed it on.
pub(super) fn poll_write(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    bytes: &mut Bytes,
) -> Poll<io::Result<()>> {
    while !bytes.is_empty() {
        let written = ready!(Pin::new(&mut *stream).poll_write(cx, bytes))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        bytes.advance(written);
    }
    Pin::new(stream).poll_flush(cx)
}

/// Answers on their way out: small ones joined, large ones as they are.
#[derive(Default)]
pub(super) struct Outbox {
    parts: VecDeque<Bytes>,
    tail: Vec<u8>,
    bytes: usize,
}

/// From this size on a body is not copied.
const SHARED_BYTES_MIN: usize = 4096;
/// Pieces of one `writev`.
const SLICES_MAX: usize = 16;

impl Outbox {
    /// Bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.bytes + self.tail.len()
    }

    /// Where small pieces are appended.
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Appends a body.
    pub(super) fn push(&mut self, body: Bytes) {
        if body.len() < SHARED_BYTES_MIN {
            return self.tail.extend_from_slice(&body);
        }
        self.seal();
        self.bytes += body.len();
        self.parts.push_back(body);
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.bytes += tail.len();
            self.parts.push_back(tail.into());
        }
    }

    /// All that waits as one piece.
    pub(super) fn into_bytes(mut self) -> Bytes {
        self.seal();
        match self.parts.len() {
            0 | 1 => self.parts.pop_front().unwrap_or_default(),
            _ => self.parts.iter().flatten().copied().collect(),
        }
    }

    /// Sends; ready once nothing waits, and then holds no memory.
    pub(super) fn poll_flush(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.seal();
        while !self.parts.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let count = self.parts.len().min(SLICES_MAX);
            for (slice, part) in slices.iter_mut().zip(&self.parts) {
                *slice = IoSlice::new(part);
            }
            let slices = &slices[..count];
            let written = ready!(Pin::new(&mut *stream).poll_write_vectored(cx, slices))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        self.parts = VecDeque::new();
        Pin::new(stream).poll_flush(cx)
    }

    fn advance(&mut self, mut written: usize) {
        self.bytes -= written;
        while let Some(part) = self.parts.front_mut() {
            let taken = written.min(part.len());
            part.advance(taken);
            written -= taken;
            if !part.is_empty() {
                return;
            }
            self.parts.pop_front();
        }
    }
}
