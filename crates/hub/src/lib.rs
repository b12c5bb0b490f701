//! The one door: everything published, read, subscribed or changed goes through [`Hub::open`].
//!
//! What it deliberately does not do: no protocol, no socket, no clock, no thread; the log and the
//! history are traits. The decision worth arguing: a queue belongs to the *group* of subscribers that
//! want the same bytes, and a subscriber is a position in it.
#![forbid(unsafe_code)]

pub mod access;
pub mod aggregate;
mod attributes;
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
pub mod history;
mod hub;
mod incoming;
mod journal;
mod keys;
pub mod limits;
pub mod log;
mod memory;
mod message;
mod numbers;
mod pace;
mod paging;
mod problems;
mod publish;
mod queue;
mod recent;
pub mod record;
mod replay;
mod retained;
mod route;
mod shared;
mod snapshot;
mod standing;
mod start;
mod steady;
mod stood;
mod subscription;
mod token;
pub mod trace;
mod tree;
mod turns;
pub mod units;
mod weight;
mod windows;
mod withdrawn;

pub use access::{Grants, Principal, Verb};
pub use aggregate::{Aggregate, parse_duration};
pub use attributes::{Attributes, Given, Quality};
pub use catalog::{Entry, Last};
pub use client::ClientId;
pub use condition::Condition;
pub use consumers::Watch;
pub use counters::Counts;
pub use entities::Entity;
pub use exchange::{
    Exchange, Fault, Latest, Media, Past, Publish, Request, Since, Subscribe, Ticket,
};
pub use framing::{Frame, Framing, FramingKey};
pub use group::{Ending, Interest, Policy, Shape};
pub use history::{Extent, Hidden, History, HistoryFault, Page, Range};
pub use hub::{Hub, every};
pub use journal::Changed;
pub use log::{Gap, GapReason, Log, LogFault, LogReader, Resume};
pub use memory::{Memory, Partial, Room};
pub use message::{Content, Item, Message, Rows};
pub use paging::RowPage;
pub use problems::{EntryProblem, Outcome, Problem};
pub use queue::Unframed;
pub use record::{Kind, NotARecord, Record};
pub use shared::{Follower, Receipt, Shared};
pub use standing::Standing;
pub use steady::{Steady, takes_over};
pub use stood::{Newest, Stood};
pub use subscription::{Next, Subscription};
pub use token::Token;
pub use units::{InUnit, Incomparable, Units};
pub use windows::WindowPage;
pub use withdrawn::Place;
