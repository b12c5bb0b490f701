//! What a protocol machine is: bytes and the time go in, bytes, events and a deadline come out.
//!
//! What it deliberately does not do: no clock, no socket, no task, no allocation. The decision worth
//! arguing: the driver pulls ([`Session::poll_output`]) instead of the machine calling back, so that
//! one machine runs in the gateway, the board and the simulator, and is tested without sleeping.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_sansio::{Duration, Instant, Output, Session};
//!
//! /// Sends back what comes, and ends after a second of silence.
//! struct Echo {
//!     bytes: Vec<u8>,
//!     ends: Instant,
//! }
//!
//! impl Session for Echo {
//!     type Transmit = Vec<u8>;
//!     type Event = ();
//!     type Error = ();
//!
//!     fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), ()> {
//!         self.bytes.extend_from_slice(bytes);
//!         self.ends = now + Duration::from_secs(1);
//!         Ok(())
//!     }
//!     fn handle_timeout(&mut self, _: Instant) {
//!         self.ends = Instant::NEVER;
//!     }
//!     fn poll_output(&mut self) -> Output<Vec<u8>, ()> {
//!         if self.bytes.is_empty() {
//!             Output::Timeout(self.ends)
//!         } else {
//!             Output::Transmit(std::mem::take(&mut self.bytes))
//!         }
//!     }
//! }
//!
//! let mut echo = Echo { bytes: Vec::new(), ends: Instant::NEVER };
//! echo.handle_input(Instant::START, b"hello").unwrap();
//! assert_eq!(echo.poll_output(), Output::Transmit(b"hello".to_vec()));
//! let ends = Instant::START + Duration::from_secs(1);
//! assert_eq!(echo.poll_output(), Output::Timeout(ends));
//! ```
#![no_std]
#![forbid(unsafe_code)]

use core::ops::{Add, Sub};
pub use core::time::Duration;

/// A moment of some monotonic clock, in nanoseconds since a start that the driver chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The driver's start.
    pub const START: Self = Self(0);
    /// A moment that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment this many nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Time since `earlier`, zero where that is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)),
        )
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

/// What a session wants its driver to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<T, E> {
    /// Send this to the peer.
    Transmit(T),
    /// Something happened that the layer above must know.
    Event(E),
    /// Nothing now: wait for input, or call [`Session::handle_timeout`] at this moment.
    Timeout(Instant),
}

/// A protocol machine: one peer's half of a conversation.
pub trait Session {
    /// What is sent: bytes, datagrams, or ranges of a buffer.
    type Transmit;
    /// What the layer above is told.
    type Event;
    /// Why the conversation cannot go on.
    type Error;

    /// Takes bytes from the peer, in pieces of any size.
    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Is told that the moment of the last [`Output::Timeout`] has come.
    fn handle_timeout(&mut self, now: Instant);

    /// The next thing to do; [`Output::Timeout`] ends the round.
    fn poll_output(&mut self) -> Output<Self::Transmit, Self::Event>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_later_is_later_and_never_overflows() {
        let second = Duration::from_secs(1);
        assert_eq!((Instant::START + second).since(Instant::START), second);
        assert_eq!(Instant::NEVER + second, Instant::NEVER);
        assert_eq!(Instant::START.since(Instant::NEVER), Duration::ZERO);
    }
}
