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
