//! What `weir` and `weir-bench` have in common as programs: how a command fails, what it prints, which
//! signals end it, and where the other program stands.
//!
//! It knows nothing of observations. Exit codes: 0 done, 1 the answer is no, 2 usage. What a person reads
//! goes to stderr, what a program reads to stdout.
#![forbid(unsafe_code)]
// `println!` panics where its reader is gone: see `output`.
#![deny(clippy::print_stdout)]
#![allow(
    clippy::disallowed_methods,
    reason = "the PATH and the program's own place are asked here"
)]

mod beside;
mod failure;
mod output;
mod signals;

pub use beside::beside;
pub use failure::Failure;
pub use output::{Standard, print};
pub use signals::StopSignals;
