//! The end of a connection: what is left goes out, then the peer has a moment to read it.
//!
//! Closing at once would answer bytes still on their way with a reset, which takes the last words with
//! their reason from the peer's hands.

use crate::Stream;
use crate::clock::{Timer, now};
use crate::outbox::{Outbox, poll_read};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_sansio::{Duration, Instant};

/// How long the peer has.
const TIME_MAX: Duration = Duration::from_secs(2);

/// An end on its way.
pub struct Linger {
    until: Instant,
    shut: bool,
}

impl Linger {
    /// One that begins now.
    pub fn begin() -> Self {
        Self {
            until: now() + TIME_MAX,
            shut: false,
        }
    }

    /// Ready once the connection may be dropped.
    pub fn poll(
        &mut self,
        stream: &mut Stream,
        outbox: &mut Outbox,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if timer.poll_due(cx, self.until) {
            return Poll::Ready(Ok(()));
        }
        if !self.shut {
            ready!(outbox.poll_flush(stream, cx))?;
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
            self.shut = true;
        }
        loop {
            if ready!(poll_read(stream, cx, <[u8]>::is_empty))? {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
