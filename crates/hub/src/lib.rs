//! The one door: everything published, read, subscribed or changed goes through a [`Caller`].
//!
//! What it deliberately does not do: no protocol, no socket, no clock, no thread; the log and the
//! history are traits. The decision worth arguing: a queue belongs to the *group* of subscribers that
//! want the same bytes, and a subscriber is a position in it.
#![forbid(unsafe_code)]

pub mod access;
mod attributes;
mod caller;
mod catalog;
mod change;
mod checks;
mod client;
pub mod condition;
mod consumers;
mod counters;
mod descriptions;
mod entities;
pub mod entry;
mod exchange;
mod extent;
mod feed;
mod framing;
mod group;
mod held;
mod hub;
mod incoming;
mod journal;
mod keys;
pub mod limits;
mod memory;
mod message;
mod numbers;
mod pace;
mod problems;
mod publish;
mod queue;
mod recent;
mod replay;
mod retained;
mod route;
mod shared;
mod snapshot;
mod standing;
mod start;
mod stood;
mod subscription;
pub mod trace;
mod tree;
mod turns;
mod weight;
mod withdrawn;

pub use access::{Grants, Principal, Verb};
pub use attributes::{Attributes, Given, Quality};
pub use caller::{Caller, Internal};
pub use catalog::{Entry, Last};
pub use change::Change;
pub use client::ClientId;
pub use condition::Condition;
pub use consumers::Watch;
pub use counters::Counts;
pub use entities::Entity;
pub use exchange::{Fault, Latest, Media, Past, Publish, Since, Subscribe, Ticket};
pub use framing::{Frame, Framing, FramingKey};
pub use group::{Ending, Interest, Policy, Shape};
pub use hub::{Hub, every};
pub use journal::Changed;
pub use memory::{Memory, Partial, Room};
pub use message::{Content, Item, Message, Rows};
pub use problems::{EntryProblem, Outcome, Problem};
pub use queue::Unframed;
pub use standing::Standing;
pub use stood::{Newest, Stood};
pub use subscription::{Next, Subscription};
pub use weir_storage::{
    Aggregate, Extent, Gap, GapReason, Hidden, History, HistoryFault, InUnit, Incomparable, Kind,
    Log, LogFault, LogReader, Page, Range, Record, Resume, parse_duration,
};
pub use weir_storage::{aggregate, units};
pub use withdrawn::Place;
