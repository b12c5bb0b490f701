//! The nouns of weir: times, topics, filters, values, observations in batches, cursors.
//!
//! What it deliberately does not do: no bytes of any format (that is `codec`), no clock, no store,
//! no `std`. The decision worth arguing: a message is a *columnar* [`Batch`] whose rows are views,
//! so that one observation costs no allocation of its own, and names repeated in a message
//! (topic, sensor, property, unit) are kept once.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod batch;
pub mod builder;
pub mod cursor;
pub mod datastream;
mod described;
pub mod filter;
pub mod flaw;
pub mod limits;
pub mod percent;
pub mod time;
pub mod topic;
pub mod url;
pub mod value;

pub use batch::{Batch, Extra, Observation, Place};
pub use builder::{BatchBuilder, BatchError, KeptNames};
pub use cursor::Cursor;
pub use datastream::{Contradiction, Datastream, Described, Description};
pub use filter::Filter;
pub use flaw::{Flaw, FlawKind};
pub use limits::Limits;
pub use time::Time;
pub use topic::{Topic, TopicError};
pub use url::Url;
pub use value::Value;
