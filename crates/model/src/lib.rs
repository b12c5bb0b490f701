//! The nouns of weir: times, topics, filters, values, observations in batches, cursors.
//!
//! What it deliberately does not do: no bytes of any format (that is `codec`), no clock, no store,
//! no `std`. The decision worth arguing: a message is a *columnar* [`Batch`] whose rows are views,
//! so that one observation costs no allocation of its own, and names repeated in a message
//! (topic, sensor, property, unit) are kept once.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_model::{BatchBuilder, Filter, Time, Value, batch::Naming};
//!
//! let mut builder = BatchBuilder::new();
//! builder.begin();
//! builder.topic(Naming::Topic, "river/level");
//! builder.unit("m");
//! builder.value(Value::Number(1.42));
//! builder.time(Time::parse_rfc3339(b"2026-01-01T00:00:00Z").unwrap());
//! builder.end().unwrap();
//! let batch = builder.finish();
//!
//! let observation = batch.row(0);
//! assert_eq!(observation.value, Value::Number(1.42));
//! assert!(Filter::parse("river/#").unwrap().matches(observation.topic));
//! ```
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
