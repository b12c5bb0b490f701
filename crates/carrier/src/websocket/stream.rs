//! A byte stream, or whole messages, inside the binary messages of a WebSocket.
//!
//! What it deliberately does not do: no extension, no heartbeat; protocols that travel so have their own.
//! The decision worth arguing: one object serves both who wants bytes (MQTT 5.0 section 6: packets need
//! not be aligned with messages) and who wants messages (CoAP, RFC 8323 section 4), so that an upgrade
//! need not know which.

use crate::Stream;
use crate::limits::{FRAME_BYTES_MAX, READ_BYTES_MAX, UNSENT_BYTES_MAX};
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use weir_websocket::{Close, CloseCode};
use weir_websocket::{Failure, Message, Reader, Role};
use weir_websocket::{Header, Opcode, mask, write_close, write_frame, write_masked};

/// An open WebSocket.
#[derive(Debug)]
pub struct WebSocketStream {
    below: Stream,
    reader: Reader,
    /// What clients mask with; servers do not (RFC 6455 section 5.1).
    masks: Option<Masks>,
    /// Received and not taken yet.
    messages: VecDeque<Bytes>,
    /// Framed and not sent yet, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// A close frame was written; nothing goes behind it.
    closed: bool,
    /// The close that the peer's is answered with, once all is said (RFC 6455 section 5.5.1).
    farewell: CloseCode,
    /// The peer sends nothing more.
    ended: bool,
}

impl WebSocketStream {
    /// A WebSocket whose handshake is done; `read` was read already behind it, and no message may be
    /// longer than `message_bytes_max`.
    pub fn new(
        below: Stream,
        role: Role,
        read: &[u8],
        message_bytes_max: usize,
    ) -> io::Result<Self> {
        let mut socket = Self {
            below,
            reader: Reader::new(role, false, message_bytes_max),
            masks: (role == Role::Client).then(Masks::default),
            messages: VecDeque::new(),
            unsent: Vec::new(),
            sent: 0,
            closed: false,
            farewell: CloseCode::NORMAL,
            ended: false,
        };
        socket.take(read)?;
        Ok(socket)
    }

    /// The stream that it runs over.
    pub fn below(&self) -> &Stream {
        &self.below
    }

    /// Framed bytes that wait to be sent.
    pub fn unsent(&self) -> usize {
        self.unsent.len() - self.sent
    }

    /// Bytes of memory that they take.
    pub fn unsent_capacity(&self) -> usize {
        self.unsent.capacity()
    }

    /// Bytes of memory that is taken by what came and was not handed on.
    pub fn held(&self) -> usize {
        let messages = self.messages.iter().map(Bytes::len);
        self.reader.held() + messages.sum::<usize>()
    }

    /// The next binary message; `None` at the end.
    pub fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return Poll::Ready(Ok(Some(message)));
            }
            self.messages = VecDeque::new();
            if self.ended {
                return Poll::Ready(Ok(None));
            }
            ready!(self.poll_fill(cx))?;
        }
    }

    /// Frames a binary message; [`AsyncWrite::poll_flush`] sends it.
    pub fn send_message(&mut self, message: &[u8]) {
        if !self.closed {
            self.frame(Opcode::BINARY, message);
        }
    }

    /// Reads once and takes what came.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.drain(cx)?.is_pending() && self.unsent() >= UNSENT_BYTES_MAX {
            return Poll::Pending;
        }
        let mut scratch = [MaybeUninit::uninit(); READ_BYTES_MAX];
        let mut buffer = ReadBuf::uninit(&mut scratch);
        ready!(Pin::new(&mut self.below).poll_read(cx, &mut buffer))?;
        if buffer.filled().is_empty() {
            self.ended = true;
            return Poll::Ready(Ok(()));
        }
        let taken = self.take(buffer.filled());
        // Pongs and closes go out as far as the socket takes them; the rest is sent before the next read.
        let _later = self.drain(cx)?;
        Poll::Ready(taken)
    }

    /// Takes bytes of the peer; what breaks the protocol is answered with a close and is an error.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut received = Vec::new();
        let outcome = self.reader.read(bytes, &mut received);
        for message in received {
            self.receive(message)?;
        }
        outcome.map_err(|failure| self.fail(failure))
    }

    fn receive(&mut self, message: Message) -> io::Result<()> {
        match message {
            // What comes behind a close is not read (RFC 6455 section 5.5.1).
            _ if self.ended => {}
            Message::Binary(payload) if payload.is_empty() => {}
            Message::Binary(payload) => self.messages.push_back(payload),
            Message::Text(_) => return Err(self.fail(TEXT)),
            Message::Ping(payload) if !self.closed => self.frame(Opcode::PONG, &payload),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(close) => {
                self.farewell = close.map_or(CloseCode::NORMAL, |close| close.code);
                self.ended = true;
            }
        }
        Ok(())
    }

    fn fail(&mut self, failure: Failure) -> io::Error {
        self.close(&Close::new(failure.code, failure.reason));
        self.ended = true;
        io::Error::new(io::ErrorKind::InvalidData, failure)
    }

    fn close(&mut self, close: &Close) {
        if !std::mem::replace(&mut self.closed, true) {
            let key = self.masks.as_mut().map(Masks::next);
            write_close(close, key, &mut self.unsent);
        }
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        match &mut self.masks {
            None => write_frame(opcode, payload, &mut self.unsent),
            Some(masks) => write_masked(opcode, payload, masks.next(), &mut self.unsent),
        }
    }

    /// Sends what waits; ready once nothing does, and then holds no memory.
    fn drain(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<()>> {
        while self.unsent() > 0 {
            let unsent = &self.unsent[self.sent..];
            match Pin::new(&mut self.below).poll_write(cx, unsent)? {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => self.sent += written,
            }
        }
        (self.unsent, self.sent) = (Vec::new(), 0);
        Ok(Poll::Ready(()))
    }

    /// Whether more may be framed; ready once it may.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if self.unsent() >= UNSENT_BYTES_MAX {
            ready!(self.drain(cx)?);
        }
        Poll::Ready(Ok(()))
    }

    /// One binary message of the first bytes of some slices; says how many.
    fn frame_slices(&mut self, slices: &[IoSlice<'_>]) -> usize {
        let total: usize = slices.iter().map(|slice| slice.len()).sum();
        let length = total.min(FRAME_BYTES_MAX);
        let key = self.masks.as_mut().map(Masks::next);
        let header = Header {
            fin: true,
            rsv1: false,
            opcode: Opcode::BINARY,
            mask: key,
            length: length as u64,
        };
        header.write(&mut self.unsent);
        let (start, mut left) = (self.unsent.len(), length);
        for slice in slices {
            let part = &slice[..slice.len().min(left)];
            self.unsent.extend_from_slice(part);
            left -= part.len();
        }
        if let Some(key) = key {
            mask(&mut self.unsent[start..], key);
        }
        length
    }
}

const TEXT: Failure = Failure {
    code: CloseCode::UNSUPPORTED,
    reason: "text where only bytes are taken",
};

impl AsyncRead for WebSocketStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(mut message) = ready!(this.poll_message(cx))? else {
            return Poll::Ready(Ok(()));
        };
        let length = message.len().min(buffer.remaining());
        buffer.put_slice(&message[..length]);
        message.advance(length);
        if !message.is_empty() {
            this.messages.push_front(message);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WebSocketStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_room(cx))?;
        if slices.iter().all(|slice| slice.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        let taken = this.frame_slices(slices);
        // What the socket does not take now goes with the flush.
        let _later = this.drain(cx)?;
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.drain(cx)?);
        Pin::new(&mut this.below).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.close(&Close::new(this.farewell, ""));
        ready!(this.drain(cx)?);
        Pin::new(&mut this.below).poll_shutdown(cx)
    }
}

/// Who is dropped without a word says farewell all the same, as far as the socket takes it at once.
impl Drop for WebSocketStream {
    fn drop(&mut self) {
        self.close(&Close::new(self.farewell, ""));
        let mut cx = Context::from_waker(Waker::noop());
        let _as_far_as_possible = self.drain(&mut cx);
    }
}

/// Masking keys, drawn at random some at a time (RFC 6455 section 5.3).
#[derive(Debug, Default)]
struct Masks {
    drawn: Vec<[u8; 4]>,
}

impl Masks {
    fn next(&mut self) -> [u8; 4] {
        if self.drawn.is_empty() {
            let mut bytes = [0; 256];
            // Without randomness the frames are whole all the same: only a proxy could be fooled.
            let _masked_with_zeros = weir_random::fill(&mut bytes);
            self.drawn = bytes.as_chunks::<4>().0.to_vec();
        }
        self.drawn.pop().unwrap_or_default()
    }
}
