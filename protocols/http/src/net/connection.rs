//! One HTTP/1.1 connection: its phases, each with no more state than it needs.
//!
//! Written as one future by hand: what a phase held is freed when the next begins, which an `async fn`
//! would keep until the end.

use super::http2;
use super::over::{self, Handover};
use super::requests::Requests;
use super::route::Shared;
use super::socket::Sockets;
use super::streaming::Streaming;
use bytes::Bytes;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use weir_binding::LocalFuture;
use weir_carrier::Stream;
use weir_carrier::clock::Timer;
use weir_carrier::linger::Linger;

/// A connection on its way.
pub(super) struct Connection {
    /// Gone where HTTP/2 took it.
    stream: Option<Stream>,
    shared: Shared,
    phase: Phase,
    timer: Timer,
    /// Ready once the gateway stops; gone then.
    draining: Option<LocalFuture<'static, ()>>,
}

/// What a connection is doing.
pub(super) enum Phase {
    Requests(Box<Requests>),
    Streaming(Box<Streaming>),
    Socket(Box<Sockets>),
    Linger(Box<Linger>),
    /// It turned out to be HTTP/2, of which this was read already.
    Begin2(Bytes),
    /// Another binding takes it, once these bytes are sent.
    Over(Box<Handover>, Bytes),
    /// Served by another's engine: HTTP/2, or another binding.
    Elsewhere(LocalFuture<'static, io::Result<()>>),
    Done,
}

impl Connection {
    /// A connection on which HTTP/2 was agreed already, or HTTP/1.1, or nothing.
    pub(super) fn new(stream: Stream, shared: Shared, http2: bool) -> Self {
        let draining = shared.context.draining();
        let phase = if http2 {
            Phase::Begin2(Bytes::new())
        } else {
            Phase::Requests(Box::new(Requests::new(&shared)))
        };
        Self {
            stream: Some(stream),
            phase,
            shared,
            timer: Timer::default(),
            draining: Some(draining),
        }
    }

    fn poll_draining(&mut self, cx: &mut Context<'_>) -> bool {
        let ready = match &mut self.draining {
            None => return true,
            Some(draining) => draining.as_mut().poll(cx).is_ready(),
        };
        if ready {
            self.draining = None;
        }
        ready
    }
}

impl Future for Connection {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let draining = this.poll_draining(cx);
        loop {
            let next = match (&mut this.phase, &mut this.stream) {
                (Phase::Done, _) => return Poll::Ready(Ok(())),
                (Phase::Elsewhere(serving), _) => serving.as_mut().poll(cx)?.map(|()| Phase::Done),
                (Phase::Begin2(read), stream) => Poll::Ready(match stream.take() {
                    None => Phase::Done,
                    Some(stream) => {
                        let read = std::mem::take(read);
                        Phase::Elsewhere(Box::pin(http2::serve(stream, read, this.shared.clone())))
                    }
                }),
                (Phase::Over(..), stream) => {
                    let over = std::mem::replace(&mut this.phase, Phase::Done);
                    Poll::Ready(over.hand_over(stream.take(), &this.shared))
                }
                (_, None) => return Poll::Ready(Ok(())),
                (phase, Some(stream)) => {
                    let timer = &mut this.timer;
                    phase.poll(stream, &this.shared, draining, timer, cx)?
                }
            };
            match next {
                Poll::Ready(phase) => this.phase = phase,
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Phase {
    fn hand_over(self, stream: Option<Stream>, shared: &Shared) -> Phase {
        match (self, stream) {
            (Phase::Over(handover, last), Some(stream)) => {
                let served = over::serve(*handover, stream, last, shared.clone());
                Phase::Elsewhere(Box::pin(served))
            }
            _ => Phase::Done,
        }
    }

    fn poll(
        &mut self,
        stream: &mut Stream,
        shared: &Shared,
        draining: bool,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Phase>> {
        match self {
            Phase::Requests(phase) => phase.poll(stream, shared, draining, timer, cx),
            Phase::Streaming(phase) => phase.poll(stream, shared, draining, timer, cx),
            Phase::Socket(phase) => phase.poll(stream, shared, draining, timer, cx),
            Phase::Linger(phase) => phase.poll(stream, timer, cx).map_ok(|()| Phase::Done),
            Phase::Begin2(_) | Phase::Over(..) | Phase::Elsewhere(_) | Phase::Done => {
                Poll::Ready(Ok(Phase::Done))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_is_small() {
        assert!(
            size_of::<Connection>() <= 192,
            "{}",
            size_of::<Connection>()
        );
        assert!(size_of::<Streaming>() <= 256, "{}", size_of::<Streaming>());
        assert!(size_of::<Sockets>() <= 448, "{}", size_of::<Sockets>());
    }
}
