//! Options that would do nothing, and names that mean nothing: each is refused with a sentence, since who
//! gives them expects something of them.

use super::arguments::{Coding, Layout};
use weir_exi::Schema;
use weir_exi::options::{ExpandedName, Representation};
use weir_program::Failure;

impl Coding {
    /// Refuses options that have no effect beside the others, when encoding or decoding.
    pub(super) fn check(&self, encodes: bool) -> Result<(), Failure> {
        let schema = self.schema.is_some();
        let has_blocks = matches!(self.alignment, Layout::Precompress | Layout::Compress);
        let bounded = self.built_in_grammars.is_some() || self.built_in_productions.is_some();
        let without_effect = [
            (
                self.strict && !schema,
                "--strict needs --schema: without one there is nothing to be strict about",
            ),
            (
                !self.dtrm.is_empty() && !schema,
                "--dtrm needs --schema: without one all values are strings",
            ),
            (
                bounded && !schema,
                "--built-in-grammars and --built-in-productions need --schema: what takes the place of \
                 a grammar that may not learn is one of the schema's",
            ),
            (
                self.schema_id.is_some() && !schema,
                "--schema-id needs --schema: it is the name of that one",
            ),
            (
                encodes && self.schema_id.is_some() && !self.options_in_header(),
                "--schema-id needs --options-in-header: a stream names its schema there",
            ),
            (
                self.block_size.is_some() && !has_blocks,
                "--block-size needs --alignment precompress or compress: other layouts have none",
            ),
            (
                self.canonical && self.header().cookie,
                "--canonical excludes --cookie: a canonical stream has none",
            ),
        ];
        match without_effect.iter().find(|(given, _)| *given) {
            Some((_, sentence)) => Err(Failure::usage(sentence)),
            None => Ok(()),
        }
    }
}

/// Refuses a map of datatypes that the schema does not have, to representations that EXI does not have.
pub(super) fn check_map(map: &[Representation], schema: Option<&Schema>) -> Result<(), Failure> {
    for entry in map {
        if !entry.is_built_in() {
            return Err(Failure::usage(format!(
                "--dtrm: EXI has no representation {}; it has exi:{}",
                shown(&entry.representation),
                Representation::BUILT_IN.join(", exi:")
            )));
        }
        let ExpandedName { uri, local } = &entry.datatype;
        if schema.is_some_and(|schema| schema.find_type(uri, local).is_none()) {
            return Err(Failure::usage(format!(
                "--dtrm: the schema has no type {}",
                shown(&entry.datatype)
            )));
        }
    }
    Ok(())
}

/// A name as it may be typed.
pub(super) fn shown(name: &ExpandedName) -> String {
    match name.uri.as_str() {
        "" => name.local.clone(),
        uri => format!("{{{uri}}}{}", name.local),
    }
}
