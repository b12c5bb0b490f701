//! Section `[amqp]` of the configuration.

use super::bridge::{self, Plan};
use crate::limits::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, MESSAGE_BYTES_MAX};
use std::sync::Arc;
use weir_binding::{ConfigFault, Section};

/// What can be set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where to listen; empty for off.
    pub(super) listen: String,
    /// Where to listen for TLS, where a certificate is set; empty for off.
    pub(super) listen_tls: String,
    /// Largest frame, bytes.
    pub(super) frame_bytes_max: usize,
    /// Largest message, bytes.
    pub(super) message_bytes_max: usize,
    /// Idle time-out that clients are told, seconds; 0 for none.
    pub(super) idle_secs: u32,
    /// Bridges to brokers.
    pub(super) bridges: Vec<Arc<Plan>>,
}

const KEYS: &[&str] = &[
    "listen",
    "listen_tls",
    "max_frame_bytes",
    "max_message_bytes",
    "idle_seconds",
    "bridge.NAME",
];

impl Settings {
    /// Takes the section's keys.
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let bytes = "a number of bytes";
        let settings = Self {
            listen: section.text("listen", "127.0.0.1:5672"),
            listen_tls: section.text("listen_tls", "127.0.0.1:5671"),
            frame_bytes_max: section.parsed("max_frame_bytes", FRAME_BYTES_MAX, bytes)?,
            message_bytes_max: section.parsed("max_message_bytes", MESSAGE_BYTES_MAX, bytes)?,
            idle_secs: section.parsed("idle_seconds", 60, "a number of seconds")?,
            bridges: bridge::read(&mut section)?
                .into_iter()
                .map(Arc::new)
                .collect(),
        };
        let checks = [
            ("max_frame_bytes", settings.frame_bytes_max, 16 << 20),
            ("max_message_bytes", settings.message_bytes_max, 256 << 20),
        ];
        for (key, value, most) in checks {
            if !(FRAME_BYTES_MIN..=most).contains(&value) {
                let problem = format!("{value} bytes: expected {FRAME_BYTES_MIN} to {most}");
                return Err(section.fault(key, problem));
            }
        }
        if settings.idle_secs > 86_400 {
            let problem = format!("{} seconds: expected 0 to 86400", settings.idle_secs);
            return Err(section.fault("idle_seconds", problem));
        }
        section.finish(KEYS)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_frame_size_out_of_bounds_is_refused_by_its_key() {
        let mut section = Section::new("amqp");
        section.set("max_frame_bytes", "100");
        let fault = Settings::read(section).unwrap_err();
        assert_eq!(fault.key, "amqp.max_frame_bytes");
    }
}
