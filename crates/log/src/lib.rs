//! The log on local disk: append-only segments, group commit, cursors that survive crashes.
//!
//! What it deliberately does not do: it knows records only as bytes with a kind and a topic, asks no
//! clock (age is measured between arrivals) and never rewrites a segment. The decision worth arguing:
//! frames of all segments form one stream of bytes with *logical* offsets, and what waits for the
//! disk in memory is the same bytes at the end of it. So a reader is a number, and it goes from file
//! to memory and back without knowing.
//!
//! Files of a log: `EPOCH-SEQUENCE.log` segments, `epochs` (where each old epoch ended), `snapshot` and
//! `snapshot.copy` (the last keyed records of dropped segments, twice, since nothing else has them), `clean`
//! (present after a clean stop only), `lock`, and `NAME.NUMBER-WHY.damaged`: what a start would have dropped,
//! and damaged segments that are past their keeping.
//!
//! It touches the directory that it is given, by a [`Disk`]; [`SimDisk`] is one in memory.
//!
//! ```
//! use std::sync::Arc;
//! use weir_log::{DiskLog, Options, SimDisk};
//! use weir_model::{Cursor, Time};
//! use weir_storage::{Kind, Log, Record};
//!
//! let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap();
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
//! let cursor = log.append(&record).unwrap();
//! // Now a crash cannot undo it.
//! log.wait_committed(cursor).unwrap();
//!
//! let mut reader = log.read(Cursor::START);
//! assert_eq!(reader.next().unwrap(), Some((cursor, record)));
//! assert_eq!(reader.next().unwrap(), None);
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "the log owns its files and the one thread that syncs them"
)]

mod active;
mod commit;
mod damage;
mod epochs;
mod frame;
mod last;
pub mod limits;
mod log;
mod options;
mod reader;
mod recovery;
mod retention;
mod sealed;
mod segment;
mod tail;

pub use epochs::mark_restored;
pub use log::{DiskLog, Status};
pub use options::Options;
pub use recovery::{OpenFault, Recovery};
pub use weir_disk::{Disk, DiskFile, RealDisk, SimDisk};
