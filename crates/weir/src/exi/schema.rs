//! Schemas from files.

use crate::Failure;
use std::sync::Arc;
use weir_exi::Schema;
use weir_exi::xsd::{Document, built_in_types, compile};

/// Compiles a schema and what it refers to; the built-in datatypes alone where there is no name.
pub(super) fn load(location: &str) -> Result<Arc<Schema>, Failure> {
    if location.is_empty() {
        return Ok(Arc::new(built_in_types()));
    }
    let bytes =
        std::fs::read(location).map_err(|error| Failure::no(format!("{location}: {error}")))?;
    let document = Document {
        location,
        bytes: &bytes,
    };
    let mut loader = |location: &str| std::fs::read(location).ok();
    compile(&[document], &mut loader)
        .map(Arc::new)
        .map_err(Failure::no)
}
