//! How a lab is made.

use std::path::PathBuf;

/// How near ends come to the far one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Each has a link of its own.
    #[default]
    Each,
    /// All are on one link, whose rate and queue they share.
    Shared,
}

/// How a lab is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of loss and jitter.
    pub seed: u64,
    /// Where every packet is written down, but those by which the link is measured.
    pub capture: Option<PathBuf>,
    /// Bytes of each packet that are written down; 0 are all.
    pub snap: u32,
    /// Near ends beside the first, [`STATIONS_MAX`] at most.
    ///
    /// [`STATIONS_MAX`]: crate::limits::STATIONS_MAX
    pub more: usize,
    /// How all of them come to the far end.
    pub sharing: Sharing,
}
