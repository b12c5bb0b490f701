//! Section `[mqtt]` of the configuration.

use super::bridge::settings::{self as bridge, Plan};
use crate::limits::{PACKET_BYTES_MAX, SUBSCRIPTIONS_MAX};
use std::sync::Arc;
use weir_binding::{ConfigFault, Section};

/// What can be set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where to listen; empty for off.
    pub(super) listen: String,
    /// Where to listen for TLS, where a certificate is set; empty for off.
    pub(super) listen_tls: String,
    /// Largest packet, bytes.
    pub(super) packet_bytes_max: usize,
    /// Subscriptions of one session.
    pub(super) subscriptions_max: usize,
    /// Longest that a session lives on without its client, seconds.
    pub(super) session_expiry_secs_max: u32,
    /// After how long without a sign of life another gateway of the same log is gone, seconds.
    pub(super) gone_secs: u32,
    /// How often `$SYS` is published, seconds; 0 for never.
    pub(super) sys_secs: u32,
    /// Other brokers that messages come from and go to.
    pub(super) bridges: Vec<Arc<Plan>>,
}

const KEYS: &[&str] = &[
    "listen",
    "listen_tls",
    "max_packet_bytes",
    "max_session_seconds",
    "max_subscriptions",
    "gone_seconds",
    "sys_seconds",
    "bridge.NAME",
];

impl Settings {
    /// Takes the section's keys.
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let settings = Self {
            listen: section.text("listen", "127.0.0.1:1883"),
            listen_tls: section.text("listen_tls", "127.0.0.1:8883"),
            packet_bytes_max: section.parsed(
                "max_packet_bytes",
                PACKET_BYTES_MAX,
                "a number of bytes",
            )?,
            session_expiry_secs_max: section.parsed(
                "max_session_seconds",
                u32::MAX,
                "a number of seconds",
            )?,
            subscriptions_max: section.parsed(
                "max_subscriptions",
                SUBSCRIPTIONS_MAX,
                "a number of subscriptions",
            )?,
            gone_secs: section.parsed("gone_seconds", 60, "a number of seconds")?,
            sys_secs: section.parsed("sys_seconds", 10, "a number of seconds")?,
            bridges: bridge::read(&mut section)?
                .into_iter()
                .map(Arc::new)
                .collect(),
        };
        let bytes = settings.packet_bytes_max;
        if !(1024..=256 << 20).contains(&bytes) {
            let problem = format!("{bytes} bytes: expected 1024 to 268435456");
            return Err(section.fault("max_packet_bytes", problem));
        }
        if settings.gone_secs < 3 {
            let problem = format!("{} s: expected 3 at least", settings.gone_secs);
            return Err(section.fault("gone_seconds", problem));
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
    fn a_packet_size_out_of_bounds_is_refused_by_its_key() {
        let mut section = Section::new("mqtt");
        section.set("max_packet_bytes", "100");
        let fault = Settings::read(section).unwrap_err();
        assert_eq!(fault.key, "mqtt.max_packet_bytes");
    }
}
