//! What waits for the socket, and reading without a buffer of one's own.

use bytes::{Buf, Bytes};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use weir_carrier::Stream;

/// Bytes asked of a socket at once.
const READ_BYTES_MAX: usize = 32 << 10;
/// From this size on a payload is not copied.
const SHARED_BYTES_MIN: usize = 2048;
/// Pieces of one `writev`.
const SLICES_MAX: usize = 32;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES_MAX]);
}

/// Reads once into the thread's buffer and hands over what came; nothing at the end of the stream.
pub(super) fn poll_read<T>(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    SCRATCH.with_borrow_mut(|scratch| {
        let mut buffer = ReadBuf::new(scratch);
        ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(take(buffer.filled())))
    })
}

/// Packets on their way out: small ones joined, large payloads as they are.
#[derive(Default)]
pub(super) struct Outbox {
    parts: VecDeque<Bytes>,
    tail: Vec<u8>,
    bytes: usize,
}

impl Outbox {
    /// Bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.bytes + self.tail.len()
    }

    /// Where heads of packets are appended.
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Appends bytes that others may share.
    pub(super) fn push(&mut self, bytes: Bytes) {
        if bytes.len() < SHARED_BYTES_MIN {
            return self.tail.extend_from_slice(&bytes);
        }
        self.seal();
        self.bytes += bytes.len();
        self.parts.push_back(bytes);
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.bytes += tail.len();
            self.parts.push_back(tail.into());
        }
    }

    /// Sends; ready once nothing waits, and then holds no memory.
    pub(super) fn poll_flush(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if self.parts.is_empty() {
            ready!(self.poll_flush_tail(stream, cx))?;
            return Pin::new(stream).poll_flush(cx);
        }
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

    /// Sends what was joined, where nothing else waits: most often one write of one packet.
    fn poll_flush_tail(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.tail.is_empty() {
            let written = ready!(Pin::new(&mut *stream).poll_write(cx, &self.tail))?;
            match written {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                all if all == self.tail.len() => self.tail = Vec::new(),
                some => drop(self.tail.drain(..some)),
            }
        }
        Poll::Ready(Ok(()))
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
