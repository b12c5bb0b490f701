//! The keys of a query: one that is not known here is refused.

use crate::fault::refuse;
use weir_service::{Call, Response, check_keys};

/// Of `GET /live` by any scheme.
pub(crate) const LIVE: &[&str] = &[
    "topic", "as", "since", "snapshot", "wait", "stream", "bare", "where", "every", "agg",
    "policy", "pace", "publish", "unit",
];
/// Of `GET /history`.
pub(crate) const HISTORY: &[&str] = &[
    "topic", "as", "from", "to", "limit", "page", "every", "agg", "unit",
];
/// Of `GET /catalog`.
pub(crate) const CATALOG: &[&str] = &["topic", "versions"];
/// Of `PUT /catalog/{topic}`.
pub(crate) const DECLARE: &[&str] = &["correct"];
/// Of what has none.
pub(crate) const NONE: &[&str] = &[];

/// Refuses a key that is none of these, or is there twice.
pub(crate) fn check(call: &Call, known: &[&str]) -> Result<(), Response> {
    check_keys(call, known, &["topic"]).map_err(|sentence| refuse(400, sentence))
}
