//! The one door: everything published, read, subscribed or changed goes through [`Hub`].
//!
//! What it deliberately does not do: no protocol, no socket, no clock, no thread; the log and the
//! history are traits. The decision worth arguing: a queue belongs to the *group* of subscribers that
//! want the same bytes, and a subscriber is a position in it.
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod history;
pub mod log;
pub mod record;

pub use aggregate::Aggregate;
pub use history::{History, HistoryFault, Page, Range};
pub use log::{Gap, GapReason, Log, LogFault, LogReader, Resume};
pub use record::{Kind, Record};
