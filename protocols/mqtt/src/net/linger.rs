//! The end of a connection: what is left goes out, then the peer has a moment to read it.
//!
//! Closing at once would answer bytes still on their way with a reset, which takes the DISCONNECT with
//! its reason code from the peer's hands.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::{Outbox, poll_read};
use weir_sansio::{Duration, Instant};

/// How long the peer has.
const TIME_MAX: Duration = Duration::from_secs(2);

/// An end on its way.
pub(super) struct Linger {
    until: Instant,
    shut: bool,
}

impl Linger {
    pub(super) fn new() -> Self {
        Self {
            until: now() + TIME_MAX,
            shut: false,
        }
    }

    /// Ready once the connection may be dropped.
    pub(super) fn poll(
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
