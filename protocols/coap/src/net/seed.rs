//! What machines draw their numbers from.

use std::io;

/// A number that nobody can guess.
pub(super) fn seed() -> io::Result<u64> {
    weir_random::bytes().map(u64::from_ne_bytes)
}
