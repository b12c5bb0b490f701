//! The service's limits.

/// Topics in a list to choose from.
pub(crate) const LISTED_MAX: usize = 10_000;
/// Observations in one answer, of all its targets together; a panel of more shows nothing that fewer do not.
pub(crate) const OBSERVATIONS_MAX: usize = 200_000;
/// Points of a series where the question does not say how many its panel has.
pub(crate) const POINTS_DEFAULT: usize = 1000;
/// Marks of an annotation.
pub(crate) const ANNOTATIONS_MAX: usize = 1000;
/// Targets of one question.
pub(crate) const TARGETS_MAX: usize = 64;
