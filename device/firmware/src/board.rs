//! What touches hardware. `unsafe` is here and in the vector tables of the images, for five reasons, each
//! argued where it stands: registers ([`register`]), memory that exists once ([`place`]), the stack's paint
//! ([`stack`]), instructions that Rust has no word for ([`cpu`]), and the first instructions ([`start`]).

pub mod cpu;
pub mod lm3s811;
pub mod microbit;
pub mod mps2;
pub mod place;
mod queue;
mod register;
mod run;
#[cfg(feature = "client")]
mod run_client;
mod stack;
mod start;
#[cfg(feature = "client")]
mod stopwatch;
mod systick;

pub use run::run;
#[cfg(feature = "client")]
pub use run_client::{run_behind_modem, run_client};
pub use start::{Vector, reset};

use weir_comet::Milliseconds;

/// A serial port and a clock.
pub trait Board {
    /// Milliseconds since the start; asked at least once a second.
    fn now(&mut self) -> Milliseconds;
    /// A counter that runs as fast as there is one.
    fn noise(&mut self) -> u32;
    /// The next byte of the line.
    fn receive(&mut self) -> Option<u8>;
    /// Whether a byte can be sent now.
    fn can_send(&mut self) -> bool;
    /// Sends a byte.
    fn send(&mut self, byte: u8);
    /// Sleeps until a byte comes, a little time has passed, or, where that is waited for, one can be sent.
    fn sleep(&mut self, wants_to_send: bool);
}
