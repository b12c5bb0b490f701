//! AMQP 0.9.1: the frames and methods that a client needs.
//!
//! What it deliberately does not do: no server's half, no transactions (class 90), no `basic.get`. A protocol
//! of its own that shares with AMQP 1.0 its name, its port and the eight bytes that tell the two apart.

pub mod wire;
