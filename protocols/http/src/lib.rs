//! HTTP: our own HTTP/1.1 server and client sessions, HTTP/2 through hyper, WebSockets, compression.
//!
//! What it deliberately does not do: no resource of its own; what is answered is the services'. The
//! decision worth arguing: HTTP/1.1 is not hyper's, because an idle event stream costs 12.5 kB there
//! and a socket with a position in a shared queue here.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "net"), no_std)]

extern crate alloc;

pub mod limits;
pub mod session;
pub mod wire;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::Http;
