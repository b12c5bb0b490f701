//! A board in an emulator, its serial line at the line's own pace, and a way to it for everybody's browser.
//!
//! The emulator (QEMU) runs the image of `firmware/`. Its serial port is a socket that this side reads and
//! writes no faster than the line would ([`Line`]). Behind it stands a TCP of the clients' side ([`Host`]), so
//! that who connects to an address of this machine is connected to the board, without any right or device of
//! the kernel. What it deliberately does not do: look into what is said, keep more than TCP's windows, or
//! count the emulator's time as the board's.
//!
//! The decision worth arguing: the line is paced in virtual time, as links are. A packet to the board is
//! written when its last byte would have arrived, since the board acts on no earlier one; of what the board
//! sends so many bytes are read as the line could have carried, so that its serial port fills up as a real
//! one does.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "an emulator and a line run by the machine's clock"
)]

mod bridge;
mod client;
mod emulator;
mod host;
pub mod limits;
mod line;

pub use bridge::Bridge;
pub use emulator::{BOARDS, Emulated, Emulator, Fault, by_name};
pub use host::Host;
pub use line::{Counts, Duplex, Line, Way};

/// Nanoseconds since the bridge began.
pub type Nanos = u64;
