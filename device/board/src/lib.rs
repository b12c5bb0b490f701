//! A board in an emulator, its serial line at the line's own pace, and a way to it for everybody's browser.
//!
//! The emulator (QEMU) runs the image of `device/firmware/`. Its serial port is a socket that this side reads and
//! writes no faster than the line would ([`Line`]). Behind it stands a TCP of this side ([`Host`]), so that who
//! connects to an address of this machine is connected to the board, and the board to servers of this machine,
//! without any right or device of the kernel. What it deliberately does not do: look into what is said, keep
//! more than TCP's windows, or count the emulator's time as the board's.
//!
//! The decision worth arguing: the line is paced in virtual time, as links are. Bytes to the board are written
//! when they would have arrived, and not a packet at a time, since an emulated serial port takes them one by one
//! and would be late by as long as that lasts; of what the board sends so many bytes are read as the line could have
//! carried, so that its serial port fills up as a real one does.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "an emulator and a line run by the machine's clock"
)]

mod bridge;
mod client;
mod datagram;
mod echo;
mod emulator;
mod host;
pub mod limits;
mod line;
mod modem;
mod outward;
mod port;
mod time;

pub use bridge::{Bridge, Machine, Orderer};
pub use echo::{Order, Outcome, Protocol};
pub use emulator::{BEHIND_MODEM, BOARDS, CLIENT, Emulated, Emulator, Fault, by_name};
pub use host::{BOARD, Host};
pub use line::{Counts, Duplex, Line, Way};
pub use modem::Modem;
pub use port::{Port, Side};
pub use time::Nanos;
