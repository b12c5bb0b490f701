//! The device: a simulated sensor, its Web server (`weir-comet`) and a serial line, for boards of some
//! kilobytes.
//!
//! [`Device`] is sans-IO: bytes of the line and the time go in, bytes come out; it is tested on any
//! machine. [`board`] is what touches hardware, and the only place with `unsafe`. What it deliberately does
//! not have: an allocator, a task, a driver beyond a serial port and a clock, a second buffer for anything.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]

#[cfg(target_arch = "arm")]
pub mod board;
#[cfg(feature = "client")]
pub mod client;
mod device;
mod report;
mod sensor;
mod site;
mod text;

pub use device::{Device, Memory};
pub use site::{RESOURCES, SITE, SYSTEM, TEMPERATURE};

/// The smallest build: the sensor alone.
const SMALLEST: bool = cfg!(feature = "smallest");

/// Connections of this build: `WEIR_CONNECTIONS` when it is compiled, otherwise 256, or 1 in the smallest.
pub const CONNECTIONS: usize = match option_env!("WEIR_CONNECTIONS") {
    Some(text) => text::number(text) as usize,
    None if SMALLEST => 1,
    None => 256,
};

/// Milliseconds between two notifications: `WEIR_INTERVAL_MS` when it is compiled, otherwise a second.
pub const INTERVAL_MS: u32 = match option_env!("WEIR_INTERVAL_MS") {
    Some(text) => text::number(text),
    None => 1_000,
};

// Paper 002 (5.2) has 10 kB in all for as many; these are 7 with 1,024 bytes of stack.
const _: () = assert!(CONNECTIONS > 256 || size_of::<Device>() <= 7 * 1024 - 1024 - 192);
