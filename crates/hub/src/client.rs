//! Who is connected, as far as that tells one from another.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// A connection or session of this run, of any protocol. Its messages carry it while they are in memory,
/// so that a subscriber can leave out its own (MQTT 5.0 section 3.8.3.1, No Local); no record keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId(NonZeroU64);

impl ClientId {
    /// One that no other has.
    #[allow(
        clippy::new_without_default,
        reason = "each is another: none is the default"
    )]
    pub fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Self(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_another() {
        assert_ne!(ClientId::new(), ClientId::new());
        assert_eq!(size_of::<Option<ClientId>>(), 8);
    }
}
