//! The two halves of a conversation as machines: what is read, what must be answered, and when.
//!
//! What they deliberately do not do: no socket, no clock, no message kept. What is under way is a
//! packet identifier and a [`Token`] by which the driver finds the message again. The decision worth
//! arguing: acknowledgments leave in the order in which the messages came, whoever is ready first, so
//! that the standard's order holds by construction.

mod alias;
mod client;
mod inbound;
mod input;
mod message;
mod outbound;
mod server;

pub use client::{Client, ClientEvent, ConnectOptions, Connected};
pub use message::{ConnectRequest, Message, MessageProperties, SubscribeRequest, Will};
pub use outbound::{InFlight, Stage, Token};
pub use server::{Acceptance, Closed, Delivery, Sent, Server, ServerEvent, ServerLimits, State};
