//! What is told: observations of one message.

use weir_model::{Batch, Time};

/// What an address gets.
pub(crate) struct Letter<'a> {
    /// Name of the alert.
    pub(crate) alert: &'a str,
    pub(crate) batch: &'a Batch,
    /// The message's cursor, by which an address knows what it had before a crash.
    pub(crate) key: &'a str,
    pub(crate) now: Time,
}
