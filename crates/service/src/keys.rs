//! Secrets that devices share with the gateway, where a protocol needs them as they are.

use std::fmt;
use weir_hub::Principal;

/// What a device and the gateway share (RFC 8613 section 3.2), identifiers as the gateway sees them, and
/// what who has it may.
#[derive(Clone)]
pub struct SharedKey {
    /// Who has it.
    pub principal: Principal,
    /// Master Secret.
    pub secret: Vec<u8>,
    /// Master Salt; empty for none.
    pub salt: Vec<u8>,
    /// Sender ID: the gateway's.
    pub own: Vec<u8>,
    /// Recipient ID: the device's.
    pub peer: Vec<u8>,
    /// ID Context.
    pub id_context: Option<Vec<u8>>,
}

/// Secrets are shown nowhere.
impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SharedKey");
        shown.field("principal", &self.principal.name);
        shown.finish_non_exhaustive()
    }
}
