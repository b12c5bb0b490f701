//! Schemas from files.

use std::sync::Arc;
use weir_exi::Schema;
use weir_exi::xsd::{Document, Loader, XsdError, parts};
use weir_program::Failure;

/// The files of a schema.
struct Files;

impl Loader for Files {
    fn load(&mut self, location: &str) -> Option<Vec<u8>> {
        std::fs::read(location).ok()
    }

    fn missed(&mut self, import: XsdError) -> Result<(), XsdError> {
        eprintln!("weir: warning: {import}; the grammars are without what it declares");
        Ok(())
    }
}

/// Compiles a schema and what it refers to, under the name that streams have for it.
pub(super) fn load(location: &str, id: &str) -> Result<Arc<Schema>, Failure> {
    let bytes =
        std::fs::read(location).map_err(|error| Failure::no(format!("{location}: {error}")))?;
    let document = Document {
        location,
        bytes: &bytes,
    };
    let mut parts = parts(&[document], &mut Files).map_err(Failure::no)?;
    parts.id = Some(id.to_owned());
    let schema = Schema::new(parts);
    schema
        .map(Arc::new)
        .map_err(|error| Failure::no(format!("{location}: {error}")))
}
