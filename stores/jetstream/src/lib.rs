//! The log on NATS JetStream: a stream that several gateways append to and all of them read live.
//!
//! What it deliberately does not do: no cluster of our own (NATS replicates), no other use of NATS, no
//! file here. The decision worth arguing: the client is a small machine of
//! our own, for the few operations of core NATS and of the JetStream API that a log needs.
//!
//! Subjects: `NAME.m` for messages, `NAME.k.KIND.TOPIC` for records of which only the last of a topic
//! counts (the topic in base64url), with `t` for a kind where it tells what messages taught of a datastream.
//! The stream `NAME_keyed` mirrors `NAME.k.>` and keeps the last record of each subject, so that they outlive
//! the retention of the stream `NAME`, the log itself.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "a connection has threads of its own and notices that nothing comes any more"
)]

mod api;
mod connection;
pub mod limits;
mod link;
mod log;
mod look;
mod mark;
mod name;
mod nkey;
mod pending;
mod pull;
mod reach;
mod reader;
mod state;
mod tls;
mod url;
mod wire;

pub use log::{JetStreamLog, Options};
pub use reach::reach;
pub use tls::Shown;
pub use url::{BadUrl, Servers};
