//! What the hub asks of where messages and observations are kept: a log of records, and a history of observations.
//!
//! `crates/log` and `stores/jetstream` are logs, `stores/embedded` and `stores/postgres` are histories. What it
//! deliberately does not do: no file, no socket, no message. The decision worth arguing: pages, windows and units are
//! reckoned here, so that every history answers alike.
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
