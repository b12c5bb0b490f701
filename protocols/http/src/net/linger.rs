//! The last phase: what is left is sent, our side is closed, and what still comes is dropped.
//!
//! Closing at once would reset the connection while the peer still sends, and the reset may overtake
//! the answer (RFC 9112 section 9.6).

use crate::limits::{FAREWELL_TIME_MAX, LINGER_TIME_MAX};
use bytes::Bytes;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{poll_read, poll_write};
use weir_sansio::Instant;

/// A connection that ends.
pub(super) struct Linger {
    rest: Bytes,
    shut: bool,
    until: Instant,
}

impl Linger {
    pub(super) fn new(rest: Bytes) -> Self {
        Self {
            rest,
            shut: false,
            until: now() + FAREWELL_TIME_MAX,
        }
    }

    pub(super) fn poll(
        &mut self,
        stream: &mut Stream,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.shut {
            match self.poll_shut(stream, cx)? {
                Poll::Ready(()) => {
                    self.shut = true;
                    self.until = now() + LINGER_TIME_MAX;
                }
                Poll::Pending if timer.poll_due(cx, self.until) => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
        }
        if timer.poll_due(cx, self.until) {
            return Poll::Ready(Ok(()));
        }
        while ready!(poll_read(stream, cx, <[u8]>::len))? > 0 {}
        Poll::Ready(Ok(()))
    }

    fn poll_shut(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(poll_write(stream, cx, &mut self.rest))?;
        Pin::new(stream).poll_shutdown(cx)
    }
}
