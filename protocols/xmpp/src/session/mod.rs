//! Machines that speak a stream: a client's and a component's.
//!
//! What they deliberately do not do: no clock, no socket, no address lookup. What a stanza means is for who
//! drives them; here it is opened, secured, counted, acknowledged and closed.

mod client;
mod component;
mod conversation;
mod management;
pub mod scram;

pub use client::{Client, ClientOptions};
pub use component::Component;
pub use conversation::{Failure, SessionEvent};
pub use management::Resumption;
