//! The service's limits; reaching one is an exception that names it.

/// Observations of one answer that is not sent in pieces (EXI, JSON), or of all answers of a batch: beyond,
/// `ResponseExceedsSizeLimit`.
pub(crate) const WHOLE_OBSERVATIONS_MAX: usize = 200_000;
/// Observations that are looked at for such answers, wanted or not: beyond, the same.
pub(crate) const WHOLE_LOOKED_AT_MAX: usize = 1_000_000;
/// Bytes of all answers of a batch: beyond, the same.
pub(crate) const BATCH_BYTES_MAX: usize = 128 << 20;
/// Parts, at most a page each, that are read in one job before an answer is begun; what is read after them is a job
/// each.
pub(crate) const BEGUN_PARTS: usize = 16;
/// Bytes from which on an answer is sent in pieces.
pub(crate) const BEGUN_BYTES: usize = 64 << 10;
/// Observations of a piece in which each stands by itself.
pub(crate) const PIECE_OBSERVATIONS: usize = 500;
/// Identifiers that GetObservationById takes.
pub(crate) const IDENTIFIERS_MAX: usize = 1000;
/// Fields of a record in JSON.
pub(crate) const FIELDS_MAX: usize = 32;
/// Offerings that a description of a sensor may name.
pub(crate) const OFFERINGS_MAX: usize = 64;
/// Features that a sensor may be said to be related to.
pub(crate) const RELATED_FEATURES_MAX: usize = 64;
/// Observations that an answer sent in pieces may cost without giving them, beside [`UNWANTED_PER_WANTED`] for each
/// that it gives, and results that GetResult counts: beyond, `ResponseExceedsSizeLimit`, or where the answer was
/// begun, it breaks off.
pub(crate) const UNWANTED_MAX: usize = 10_000_000;
/// The same for each observation that an answer gives.
pub(crate) const UNWANTED_PER_WANTED: usize = 16;
/// Temporal filters of one request.
pub(crate) const TEMPORAL_FILTERS_MAX: usize = 16;
/// Spatial filters of one request.
pub(crate) const SPATIAL_FILTERS_MAX: usize = 16;
/// Corners of geometries that cost as much to look a place up in as reading an observation.
pub(crate) const SPATIAL_CORNERS: usize = 16;
/// Coordinates of a geometry in a filter.
pub(crate) const COORDINATES_MAX: usize = 10_000;
/// Bytes of a pattern that results are compared with.
pub(crate) const PATTERN_BYTES_MAX: usize = 256;
/// Requests of a batch in JSON.
pub(crate) const BATCH_MAX: usize = 256;
/// Values of one parameter.
pub(crate) const VALUES_MAX: usize = 1024;
/// Bytes of one parameter's value.
pub(crate) const VALUE_BYTES_MAX: usize = 4096;
/// Observations of a page of an answer: two chunks of the store's, since a page that ends within one has it read again.
pub(crate) const PAGE_OBSERVATIONS: usize = 8192;
/// The same where places are looked up in geometries of many corners.
pub(crate) const PAGE_MIN: usize = 100;
/// Datastreams that are asked for by name; where more are wanted, all are read and those kept.
pub(crate) const NAMED_MAX: usize = 512;
