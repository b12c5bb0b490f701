//! The one door: everything published, read, subscribed or changed goes through a [`Caller`].
//!
//! What it deliberately does not do: no protocol, no socket, no clock, no thread; the log and the
//! history are traits. The decision worth arguing: a queue belongs to the *group* of subscribers that
//! want the same bytes, and a subscriber is a position in it.
//!
//! What it touches, it is handed: a log, a history, and the time with each request.
//!
//! ```
//! use std::sync::Arc;
//! use weir_embedded::EmbeddedHistory;
//! use weir_hub::{Hub, Media, Principal, Publish};
//! use weir_log::{DiskLog, Options, SimDisk};
//! use weir_model::{Filter, Limits, Time, Value};
//!
//! let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap();
//! let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), Default::default()).unwrap();
//! let now = Time::parse_rfc3339(b"2026-01-01T00:00:00Z").unwrap();
//! let hub = Hub::start(Arc::new(log), Arc::new(history), Limits::default(), now).unwrap();
//!
//! let ada = Principal::unrestricted();
//! let json = Media::Format(weir_codec::by_name("json").unwrap());
//! let message = Publish::new("river/level", json, r#"{"value":1.42}"#);
//! // The ticket is ready once the message is on disk.
//! let _ticket = hub.caller(now, &ada).unwrap().publish(message).unwrap();
//!
//! let filter = Filter::parse("river/#").unwrap();
//! let latest = hub.caller(now, &ada).unwrap().latest(&[filter]).unwrap();
//! assert_eq!(latest.batch.row(0).value, Value::Number(1.42));
//! ```
#![forbid(unsafe_code)]

// Read from here down: each of these knows those above it.

// What is refused, who asks, and what everything costs.
pub mod access;
mod attributes;
mod client;
pub mod condition;
pub mod entry;
mod fault;
pub mod json;
pub mod limits;
mod memory;
mod standing;
mod turns;
mod weight;

// A message, from its bytes on, and what was not understood of it.
mod decoded;
mod message;
mod problem;
pub mod trace;

// What may be asked, and in which form it is answered.
mod counters;
mod framing;
mod interest;
mod pace;
mod requests;

// Subscribers that want the same bytes, and the queue that they share.
mod group;
mod queue;
mod selection;

// What is known, a leaf each: the catalog, keys, retained messages, entities, consumers.
mod state;

// What is asked before a message is taken, and what whoever sent it waits for.
mod checks;
mod descriptions;
mod incoming;
mod room;
mod ticket;

// All of it behind one lock, and the reader that a subscriber holds.
mod hub;
mod subscription;

// The door.
mod caller;

pub use access::{Grants, Principal, Verb};
pub use attributes::{Attributes, Given, Quality};
pub use caller::{Caller, Internal};
pub use client::ClientId;
pub use condition::Condition;
pub use counters::Counts;
pub use fault::Fault;
pub use framing::{Frame, Framing, FramingKey};
pub use hub::change::Change;
pub use hub::start::datastreams_of;
pub use hub::{Hub, every};
pub use interest::{Ending, Interest, Policy, Shape};
pub use memory::{Memory, Partial, Room};
pub use message::{Content, Item, Message, Rows};
pub use problem::{EntryProblem, Outcome, Problem};
pub use queue::Unframed;
pub use requests::{Latest, Made, Media, Past, Publish, Since, Subscribe};
pub use standing::Standing;
pub use state::catalog::{Entry, Last};
pub use state::consumers::Watch;
pub use state::entities::Entity;
pub use state::journal::Changed;
pub use state::stood::{Newest, Stood};
pub use state::withdrawn::Place;
pub use subscription::{Next, Subscription};
pub use ticket::Ticket;
pub use weir_storage::{
    Aggregate, Extent, Gap, GapReason, Hidden, History, HistoryFault, InUnit, Incomparable, Kind,
    Log, LogFault, LogReader, Page, Range, Record, Resume, Uncompared, parse_duration,
};
pub use weir_storage::{aggregate, units};
