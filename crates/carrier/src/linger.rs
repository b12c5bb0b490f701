//! The end of a connection: what is left goes out, then the peer has a moment to read it.
//!
//! Closing at once would answer bytes still on their way with a reset, which takes the last words with
//! their reason from the peer's hands (RFC 9112 section 9.6). What is read here is thrown away, so each thread reads
//! only so much of it in a while: those who were refused do not hold up those who are served.

use crate::Stream;
use crate::clock::{Timer, now};
use crate::limits::{DRAIN_TIME, DRAINED_BYTES_MAX, FAREWELL_TIME_MAX, LINGER_TIME_MAX};
use crate::outbox::{Outbox, poll_read};
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_sansio::Instant;

thread_local! {
    /// What this thread threw away, and since when.
    static DRAINED: Cell<(Instant, usize)> = const { Cell::new((Instant::START, 0)) };
}

/// An end on its way.
pub struct Linger {
    rest: Outbox,
    until: Instant,
    shut: bool,
}

impl Linger {
    /// One that begins now, with what is still to be sent.
    pub fn begin(rest: Outbox) -> Self {
        Self {
            rest,
            until: now() + FAREWELL_TIME_MAX,
            shut: false,
        }
    }

    /// Ready once the connection may be dropped.
    pub fn poll(
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
        self.poll_drain(stream, timer, cx)
    }

    /// Throws away what the peer still sends; ready at its end.
    fn poll_drain(
        &self,
        stream: &mut Stream,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let (mut since, mut drained) = DRAINED.get();
            if now() >= since + DRAIN_TIME {
                (since, drained) = (now(), 0);
            }
            if drained >= DRAINED_BYTES_MAX {
                if timer.poll_due(cx, self.until.min(since + DRAIN_TIME)) {
                    cx.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            let bytes = ready!(poll_read(stream, cx, <[u8]>::len))?;
            if bytes == 0 {
                return Poll::Ready(Ok(()));
            }
            DRAINED.set((since, drained + bytes));
        }
    }

    fn poll_shut(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.rest.poll_flush(stream, cx))?;
        Pin::new(stream).poll_shutdown(cx)
    }
}
