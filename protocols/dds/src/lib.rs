//! DDS: what an observation is on the wire (XCDR), and a participant of a domain over the hub.
//!
//! What it deliberately does not do: RTPS itself, which is RustDDS's (`docs/decisions` says why and what it
//! costs), the past, which DDS has no question for, or any topic but one. The decision worth arguing: the
//! stack is handed samples as bytes, and is given none of our types: so a sample that cannot be read costs
//! its writer an entry in a list and nobody else anything, and is read without an allocation a field.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "net"), no_std)]

extern crate alloc;

pub mod limits;
pub mod wire;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::{Dds, Exchange};
