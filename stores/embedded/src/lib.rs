//! The embedded history store: observations of the past in compressed columns, in one directory.
//!
//! What it deliberately does not do: it is no log (what was applied since the last `maintain` is fed
//! again after a crash), no catalog, and keeps no secondary index. The decision worth arguing: chunks
//! are written at each `maintain`, however small, and merged later by size, so that memory holds only
//! what came since, the log can be released soon, and a chunk that is read often is large.
//!
//! Files: `NNNNNNNN.dat` (chunks, each a checksum and a [`block`]), `manifest` and `manifest.copy` (a journal
//! of what lies where, one checksummed frame a commit, twice), `NAME.NUMBER-WHY.damaged` (what a start put
//! aside), `NNNNNNNN.lost` (there are chunks up to this file that the manifest no longer knows: none is
//! removed until a person removes this file), `lock`.
#![forbid(unsafe_code)]

pub mod block;
mod damage;
mod extent;
mod file;
mod files;
mod history;
pub mod limits;
mod maintain;
mod manifest;
mod merge;
mod pair;
mod read;
mod reclaim;
mod state;

pub use history::{EmbeddedHistory, Options};
