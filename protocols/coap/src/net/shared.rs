//! What a socket's requests have in common.

use super::extra::Extra;
use super::keys::Keys;
use super::settings::Settings;
use crate::limits::Limits;
use std::sync::Arc;
use weir_binding::Gateway;

/// What a socket's requests have in common.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) settings: Arc<Settings>,
    pub(super) plugtest: Option<Arc<dyn Extra>>,
    pub(super) keys: Arc<Keys>,
    pub(super) context: Arc<dyn Gateway>,
}

impl Shared {
    pub(super) fn limits(&self) -> Limits {
        let hub = self.context.hub();
        let messages = hub.limits().message_bytes;
        let usual = Limits::default();
        Limits {
            body_bytes: self.settings.body_bytes_max.unwrap_or(messages),
            // What they forget when it is more is bounded with all else that is under way.
            assembly_bytes: usual.assembly_bytes.min(hub.arrivals().most() / 4),
            bodies_bytes: usual.bodies_bytes.min(hub.answers().most() / 4),
            seen_bytes: usual.seen_bytes.min(hub.answers().most() / 8),
            ..usual
        }
    }
}
