//! The conversation: who may send what when, and what a breach of the rules costs.
//!
//! What it deliberately does not do: no clock, no socket, no hub; it is told the time and gives bytes and
//! events (`weir_sansio::Session`).

mod link;
mod server;

pub use link::{LinkId, Sent, Sink, Token};
pub use server::{
    Accepted, Closed, Delivery, Login, Mechanisms, Received, Server, ServerEvent, ServerLimits,
};
