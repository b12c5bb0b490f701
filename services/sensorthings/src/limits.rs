//! The service's limits; reaching one is an answer that names it.

/// Entities in an answer where `$top` does not say, and at most.
pub(crate) const TOP_DEFAULT: usize = 100;
/// Entities in one page at most, whatever `$top` says; the rest is behind `@iot.nextLink`.
pub(crate) const TOP_MAX: usize = 10_000;
/// Bytes of one query option.
pub(crate) const OPTION_BYTES_MAX: usize = 16 << 10;
/// How deep brackets and functions of a filter nest, and `$expand` in `$expand`.
pub(crate) const DEPTH_MAX: usize = 24;
/// Terms of one filter.
pub(crate) const TERMS_MAX: usize = 500;
/// Observations that one request looks at, where a filter or a count must look at all.
pub(crate) const SCANNED_MAX: usize = 2_000_000;
/// Entities that paths of the expressions of one request visit where they go on to many, with 32 bytes of what they
/// find counting as one, and how often something is done for one of many values; geometries count by their corners, and
/// by how many pieces of them are tried with each other.
pub(crate) const VISITED_MAX: usize = 4_000_000;
/// The same for one message that is told to a subscriber, who asks again with each.
pub(crate) const VISITED_LIVE_MAX: usize = 200_000;
/// Values that a path of an expression finds for one entity.
pub(crate) const FOUND_MAX: usize = 100_000;
/// Entities that one answer holds, those expanded included.
pub(crate) const RENDERED_MAX: usize = 100_000;
/// Bytes that one answer is written as, before it becomes another format.
pub(crate) const WRITTEN_BYTES_MAX: usize = 64 << 20;
/// Entities that one deep insert makes, observations left out.
pub(crate) const INSERTED_MAX: usize = 2_000;
/// Places that datastreams of a thing that nobody described tell beside the one told last: each caller sees the last
/// that a datastream tells which they may read.
pub(crate) const PLACES_BESIDE_MAX: usize = 64;
/// Components of a multi-datastream.
pub(crate) const COMPONENTS_MAX: usize = 256;
/// Components of the parameters of a task.
pub(crate) const PARAMETERS_MAX: usize = 256;
/// Bytes of the pattern of a parameter.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 10;
/// Levels of a path, in a URL or an expression.
pub(crate) const PATH_LEVELS_MAX: usize = 32;
/// Requests of one batch.
pub(crate) const BATCH_REQUESTS_MAX: usize = 1_000;
/// Header fields of one request of a batch.
pub(crate) const BATCH_HEADERS_MAX: usize = 32;
/// Bytes that the answers of a batch hold together.
pub(crate) const BATCH_BYTES_MAX: usize = 64 << 20;
