//! The load: clients that measure, and the server that does nothing.
//!
//! One generator, a process of its own ([`load`]), drives every system in open loops. Where rates are measured it
//! deliberately uses no client library, not even ours: what it measures with must cost next to nothing and must be
//! the same for every system. The decision worth arguing: it speaks HTTP, SSE, WebSocket and MQTT by canned bytes and
//! a search for one marker. What waits for one answer is a client of `weir-bench-peers`; the ceiling of all is
//! [`null`].

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

pub mod datagrams;
pub mod load;
pub mod null;
pub mod tls;
