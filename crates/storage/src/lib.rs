//! What the hub asks of where messages and observations are kept: a log of records, and a history of observations.
//!
//! `crates/log` and `stores/jetstream` are logs, `stores/embedded` and `stores/postgres` are histories. What it
//! deliberately does not do: no file, no socket, no message. The decision worth arguing: pages, windows and units are
//! reckoned here, so that every history answers alike.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_model::Time;
//! use weir_storage::{Kind, Record, units::Conversion};
//!
//! let record = Record {
//!     kind: Kind::Observations,
//!     arrival: Time::from_nanos(0),
//!     topic: "river/level",
//!     media: "json",
//!     key: &[],
//!     origin: "",
//!     attributes: &[],
//!     body: br#"{"value":1.42}"#,
//! };
//! let mut bytes = Vec::new();
//! record.write(&mut bytes);
//! assert_eq!(Record::read(&bytes), Ok(record));
//!
//! let conversion = Conversion::between("m", "cm").unwrap();
//! assert_eq!(conversion.apply(1.42), 142.0);
//! assert_eq!(Conversion::between("m", "Cel"), None);
//! ```
#![forbid(unsafe_code)]

pub mod aggregate;
mod history;
mod log;
mod paging;
mod record;
mod shared;
mod steady;
mod token;
pub mod units;
mod windows;

pub use aggregate::{Aggregate, parse_duration};
pub use history::{Extent, Hidden, History, HistoryFault, Page, Range};
pub use log::{Gap, GapReason, Log, LogFault, LogReader, Resume};
pub use paging::RowPage;
pub use record::{Kind, NotARecord, Record};
pub use shared::{Follower, Receipt, Shared};
pub use steady::{AGE_STEP_NANOS_MAX, Steady, takes_over};
pub use token::Token;
pub use units::{InUnit, Incomparable, Uncompared, Units};
pub use windows::WindowPage;
