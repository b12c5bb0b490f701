//! For tests only: two machines, a clock that is told the time, and a link that misbehaves.
//!
//! What it deliberately does not do: no sockets, no threads, no sleeping; a minute of protocol takes
//! microseconds. The decision worth arguing: everything random is drawn from a seed, so that a test
//! that fails once fails always.
#![forbid(unsafe_code)]

mod link;
mod pair;

pub use link::BadLink;
pub use pair::{Pair, Side};
