//! Limits.

/// Thing Descriptions in one answer where the query does not say.
pub(crate) const THINGS_DEFAULT: usize = 100;
/// Thing Descriptions in one answer at most.
pub(crate) const THINGS_MAX: usize = 1_000;
/// Datastreams in one AsyncAPI document.
pub(crate) const CHANNELS_MAX: usize = 1_000;
