//! Reading without a buffer of one's own, and what waits for the socket.

use crate::Stream;
use crate::clock::now;
use crate::limits::{
    PROGRESS_BYTES_MIN, SCRATCH_BYTES, SHARED_BYTES_MIN, SLICES_MAX, TURN_BYTES, TURN_STEPS,
};
use bytes::{Buf, Bytes};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop;
use weir_sansio::{Duration, Instant};

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH_BYTES]);
}

/// Reads once into the thread's buffer and hands over what came; nothing at the end of the stream.
pub fn poll_read<T>(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    poll_read_at_most(stream, cx, SCRATCH_BYTES, take)
}

/// The same where there is room for so many bytes only.
pub fn poll_read_at_most<T>(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    bytes_max: usize,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    SCRATCH.with_borrow_mut(|scratch| {
        let length = bytes_max.min(scratch.len());
        let mut buffer = ReadBuf::new(&mut scratch[..length]);
        ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
        spend(buffer.filled().len(), cx);
        Poll::Ready(Ok(take(buffer.filled())))
    })
}

/// Takes what was read off what the task may do in this turn: who sends without a pause has others go between.
fn spend(bytes: usize, cx: &mut Context<'_>) {
    for _ in 0..bytes / (TURN_BYTES / TURN_STEPS) {
        if !coop::has_budget_remaining() {
            return;
        }
        if let Poll::Ready(step) = coop::poll_proceed(cx) {
            step.made_progress();
        }
    }
}

/// Writes as much as the socket takes; ready once `bytes` is empty and TLS has passed it on.
pub fn poll_write(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    bytes: &mut Bytes,
) -> Poll<io::Result<()>> {
    while !bytes.is_empty() {
        let written = some(ready!(Pin::new(&mut *stream).poll_write(cx, bytes))?)?;
        bytes.advance(written);
    }
    Pin::new(stream).poll_flush(cx)
}

/// A socket that takes nothing has ended.
fn some(written: usize) -> io::Result<usize> {
    match written {
        0 => Err(io::ErrorKind::WriteZero.into()),
        some => Ok(some),
    }
}

/// Bytes on their way out: small pieces joined, large ones as they are.
#[derive(Default)]
pub struct Outbox {
    parts: VecDeque<Bytes>,
    tail: Vec<u8>,
    /// Of the parts.
    bytes: usize,
    /// Of them, those that small pieces became.
    sealed: u32,
    /// Bytes that the socket has taken since it is stuck.
    taken: u32,
    /// Since when the socket has taken next to nothing of what waits for it.
    stuck: Option<Instant>,
}

impl From<Bytes> for Outbox {
    fn from(bytes: Bytes) -> Self {
        let mut outbox = Self::default();
        outbox.push(bytes);
        outbox
    }
}

impl Outbox {
    /// Bytes that wait.
    pub fn waiting(&self) -> usize {
        self.bytes + self.tail.len()
    }

    /// Bytes of memory that small pieces take, which nobody shares.
    #[inline]
    pub fn held(&self) -> usize {
        self.tail.capacity() + self.bytes.min(self.sealed as usize)
    }

    /// Whether something waits that the socket did not take, or TLS did not pass on.
    #[inline]
    pub fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    /// When a peer is to be given up that takes nothing for so long; never where it takes what there is.
    pub fn stalls_at(&self, patience: Duration) -> Instant {
        self.stuck.map_or(Instant::NEVER, |since| since + patience)
    }

    /// Where small pieces are appended.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Appends bytes that others may share.
    pub fn push(&mut self, bytes: Bytes) {
        if bytes.len() < SHARED_BYTES_MIN {
            return self.tail.extend_from_slice(&bytes);
        }
        self.seal();
        self.bytes += bytes.len();
        self.parts.push_back(bytes);
    }

    /// Keeps the first so many bytes.
    pub fn truncate(&mut self, bytes: usize) {
        while self.waiting() > bytes {
            let over = self.waiting() - bytes;
            if !self.tail.is_empty() {
                self.tail.truncate(self.tail.len().saturating_sub(over));
                continue;
            }
            let Some(mut last) = self.parts.pop_back() else {
                return;
            };
            self.bytes -= last.len();
            last.truncate(last.len().saturating_sub(over));
            self.bytes += last.len();
            if !last.is_empty() {
                self.parts.push_back(last);
            }
        }
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.bytes += tail.len();
            self.sealed = self.sealed.saturating_add(tail.len() as u32);
            self.parts.push_back(tail.into());
        }
    }

    /// All that waits as one piece.
    pub fn into_bytes(mut self) -> Bytes {
        self.seal();
        match self.parts.len() {
            0 | 1 => self.parts.pop_front().unwrap_or_default(),
            _ => self.parts.iter().flatten().copied().collect(),
        }
    }

    /// Sends; ready once nothing waits, and then holds no memory.
    pub fn poll_flush(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let before = self.waiting();
        if before == 0 && self.stuck.is_none() && matches!(stream, Stream::Tcp(_)) {
            return Poll::Ready(Ok(()));
        }
        let written = match self.parts.is_empty() {
            true => self.poll_flush_tail(stream, cx),
            false => self.poll_flush_parts(stream, cx),
        };
        self.taken = self.taken.saturating_add((before - self.waiting()) as u32);
        let flushed = match written {
            Poll::Ready(Ok(())) => Pin::new(stream).poll_flush(cx),
            other => other,
        };
        if flushed.is_ready() {
            self.stuck = None;
        } else if self.stuck.is_none() || self.taken >= PROGRESS_BYTES_MIN {
            (self.stuck, self.taken) = (Some(now()), 0);
        }
        flushed
    }

    /// Sends what was joined, where nothing else waits: most often one write of one message.
    fn poll_flush_tail(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.tail.is_empty() {
            let written = ready!(Pin::new(&mut *stream).poll_write(cx, &self.tail))?;
            match some(written)? {
                all if all == self.tail.len() => self.tail = Vec::new(),
                part => drop(self.tail.drain(..part)),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush_parts(
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
            self.advance(some(written)?);
        }
        self.parts = VecDeque::new();
        self.sealed = 0;
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
