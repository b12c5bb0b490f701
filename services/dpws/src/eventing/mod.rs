//! WS-Eventing: who wants to be told what, where, and until when (WS-Eventing, August 2004, and DPWS 1.1
//! section 6).
//!
//! What it deliberately does not do: connections, which [`crate::net::sinks`] has. The decision worth arguing: a
//! subscription is one of the hub's, asked for on behalf of who subscribes, so that access is asked for every
//! topic that is delivered and what waits for a slow sink is bounded there.

pub(crate) mod event;
pub(crate) mod expires;
mod filter;
pub(crate) mod requests;
pub(crate) mod sink;
mod subscriptions;

pub(crate) use subscriptions::{Agreement, Ending, Job, Subscriptions};

/// Where subscriptions are managed, each below.
pub(crate) const MANAGER: &str = "/dpws/subscriptions";
