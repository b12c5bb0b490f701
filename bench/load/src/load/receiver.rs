//! One who receives: by a connection, or as an observer by datagrams.

use super::observer::Observer;
use super::reactor::Reactor;
use super::stamp::Scanner;
use super::subscriber::Subscriber;

/// Whoever is told.
pub(super) enum Receiver {
    /// On a connection.
    Connected(Subscriber),
    /// By CoAP.
    Observing(Observer),
}

impl Receiver {
    /// Whether the peer has closed it; datagrams have nothing to close.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Connected(subscriber) => subscriber.is_closed(),
            Self::Observing(_) => false,
        }
    }

    /// Asks, where it polls.
    pub(super) fn ask(&mut self, reactor: &Reactor) {
        if let Self::Connected(subscriber) = self {
            subscriber.ask(reactor);
        }
    }

    /// Reads once, calls `told` with every stamp and whether it was heard before, returns the bytes read.
    pub(super) fn read(
        &mut self,
        reactor: &Reactor,
        buffer: &mut [u8],
        scanner: &Scanner,
        told: impl FnMut(u64, bool),
    ) -> Result<usize, String> {
        match self {
            Self::Connected(subscriber) => subscriber.read(reactor, buffer, scanner, told),
            Self::Observing(observer) => observer.read(buffer, scanner, told),
        }
    }

    /// Sends what the kernel takes.
    pub(super) fn flush(&mut self, reactor: &Reactor) {
        if let Self::Connected(subscriber) = self {
            subscriber.flush(reactor);
        }
    }

    /// Whether it is an observer, and which.
    pub(super) fn observer(self) -> Option<Observer> {
        match self {
            Self::Connected(_) => None,
            Self::Observing(observer) => Some(observer),
        }
    }
}
