//! Every bound of the advisor.

/// Half width of a confidence interval, as a share of the mean, from which a figure is wide; also what is
/// taken for the interval of a figure that has none.
pub(crate) const WIDE_SHARE: f64 = 0.5;

/// Samples that must lie beyond a percentile before it is called sure.
pub(crate) const BEYOND_MIN: f64 = 5.0;

/// Bytes of one table of results; a longer one is refused.
pub(crate) const TABLE_BYTES_MAX: usize = 64 << 20;

/// Needs of one question; more are refused.
pub(crate) const NEEDS_MAX: usize = 32;
