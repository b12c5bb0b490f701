//! Connections that end against the will of their client: counted by cause, and in the log once a client and cause.
//!
//! What it deliberately does not do: speak of those that went, with a DISCONNECT or without.

use crate::wire::ReasonCode;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use weir_binding::bridge::count;
use weir_binding::{Gateway, Metric};

/// Clients and causes that are remembered.
const KNOWN_MAX: usize = 4096;

static ENDED: Metric = Metric {
    name: "weir_mqtt_thrown_out_total",
    counts: true,
    help: "Connections of MQTT clients that the gateway refused or ended, by cause.",
};

/// Who was thrown out, and why.
#[derive(Default)]
pub(super) struct Thrown {
    said: Mutex<HashSet<(Box<str>, ReasonCode)>>,
}

impl Thrown {
    /// Notes that a client was thrown out; `why` is more than the code says.
    pub(super) fn note(&self, context: &dyn Gateway, client: &str, code: ReasonCode, why: &str) {
        let is_farewell = matches!(
            code,
            ReasonCode::SUCCESS
                | ReasonCode::DISCONNECT_WITH_WILL
                | ReasonCode::UNSPECIFIED_ERROR
                | ReasonCode::SERVER_SHUTTING_DOWN
        );
        if is_farewell {
            return;
        }
        let cause = code.words().to_lowercase().replace(' ', "-");
        count(&context.meter(&ENDED, &format!(r#"cause="{cause}""#)));
        if self.is_first(client, code) {
            tracing::warn!(client, cause, reason = why, "an MQTT client is thrown out");
        }
    }

    fn is_first(&self, client: &str, code: ReasonCode) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= KNOWN_MAX {
            said.clear();
        }
        said.insert((client.into(), code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_said_once_for_each_cause() {
        let thrown = Thrown::default();
        assert!(thrown.is_first("a", ReasonCode::MALFORMED_PACKET));
        assert!(!thrown.is_first("a", ReasonCode::MALFORMED_PACKET));
        assert!(thrown.is_first("a", ReasonCode::PROTOCOL_ERROR));
        for other in 0..KNOWN_MAX {
            thrown.is_first(&other.to_string(), ReasonCode::PROTOCOL_ERROR);
        }
        assert!(thrown.is_first("a", ReasonCode::MALFORMED_PACKET));
    }
}
