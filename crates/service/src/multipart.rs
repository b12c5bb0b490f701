//! Bodies of several parts (RFC 2046 section 5.1).

use std::hash::{BuildHasher, RandomState};

/// A delimiter that nobody knew before, so that it stands in none of the parts.
pub fn boundary(name: &str) -> String {
    let random = || RandomState::new().hash_one(name);
    format!("{name}-{:016x}{:016x}", random(), random())
}
