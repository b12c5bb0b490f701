//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

use crate::format::Format;

/// Every format, in the order of `SURFACE`; the first is the default.
pub const FORMATS: &[Format] = &[];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
