//! The history in PostgreSQL: several gateways that have one log feed one database, and anybody asks it by SQL.
//!
//! What it deliberately does not do: no row is kept here, and PostgreSQL is not administered. The decision
//! worth arguing: what was fed is a cursor in the database, moved by the transaction that writes the rows
//! before it, so that each row is there once, however many gateways write and whenever one of them or the
//! server is killed.
//!
//! A connection that writes and a few that read are driven by a thread of their own; they are made when they are
//! needed, and again when they end. `schema-1.sql` and what follows it
//! make what the database holds.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "connections have a thread with tasks, and are made again after a while"
)]

mod buffer;
mod copy;
mod driver;
mod history;
mod latest;
pub mod limits;
mod line;
mod origin;
mod reach;
mod read;
mod row;
mod schema;
mod spans;
mod take_over;
mod target;
mod tls;
mod upkeep;
mod windows;
mod write;

pub use history::{Options, PostgresHistory};
pub use origin::Origin;
pub use reach::reach;
pub use target::{BadUrl, Target};
