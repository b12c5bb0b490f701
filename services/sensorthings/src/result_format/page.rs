//! A page of entities, as every format is made of it.

use serde_json::Value as Json;

/// A page of entities as JSON, how many there are in all, and the URL of the next page.
pub(crate) struct Page {
    pub(crate) values: Vec<Json>,
    pub(crate) count: Option<usize>,
    pub(crate) next: Option<String>,
}
