//! Bodies of several parts (RFC 2046 section 5.1).

use weir_random::number;

/// A delimiter that nobody knew before, so that it stands in none of the parts.
pub fn boundary(name: &str) -> String {
    format!("{name}-{:016x}{:016x}", number(), number())
}
