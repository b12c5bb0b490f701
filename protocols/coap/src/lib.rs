//! CoAP: messages, exchanges, block-wise transfer and observation, over datagrams and byte streams.
//!
//! What it deliberately does not do: no resource of its own; what is answered is the services'. The
//! decision worth arguing: one machine serves every peer of a socket ([`session::Endpoint`]), since a
//! datagram has no connection that could own a state, and a peer that is only answered costs nothing.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "secure"), no_std)]

extern crate alloc;

pub mod limits;
pub mod session;
pub mod wire;

#[cfg(feature = "secure")]
pub mod secure;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::Coap;
