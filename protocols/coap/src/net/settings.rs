//! Section `[coap]` of the configuration.

use std::net::IpAddr;
use weir_binding::{ConfigFault, Section};

/// What can be set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where datagrams are received; empty for off.
    pub(super) listen: String,
    /// Where connections are accepted; empty for off.
    pub(super) listen_tcp: String,
    /// Where connections with TLS are accepted; empty for off.
    pub(super) listen_tls: String,
    /// Whether the resources of the ETSI plugtests are there.
    pub(super) plugtest: bool,
    /// Whether groups are joined, to be found by multicast.
    pub(super) multicast: bool,
    /// Who must prove an address before a large answer.
    pub(super) echo: Prove,
    /// Largest body of a request, bytes; `None` for the limit on messages.
    pub(super) body_bytes_max: Option<usize>,
}

/// Who must prove that an address is its own before a large answer (RFC 9175 section 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prove {
    /// Nobody.
    Never,
    /// Who is not on a private network.
    Public,
    /// Everybody.
    Always,
}

const KEYS: &[&str] = &[
    "listen",
    "listen_tcp",
    "listen_tls",
    "plugtest",
    "multicast",
    "echo",
    "max_body_bytes",
];

impl Settings {
    /// Takes the section's keys.
    // [RFC7252-7.1-1]
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let listen = section.text("listen", "127.0.0.1:5683");
        let listen_tcp = section.text("listen_tcp", &listen);
        let listen_tls = section.text("listen_tls", &secured(&listen));
        let plugtest = section.parsed("plugtest", false, "true or false")?;
        if plugtest && cfg!(not(feature = "plugtest")) {
            let problem = "this weir is built without the resources of the plugtests";
            return Err(section.fault("plugtest", problem));
        }
        let multicast = section.parsed("multicast", false, "true or false")?;
        let echo = section.text("echo", "public");
        let echo = match echo.as_str() {
            "never" => Prove::Never,
            "public" => Prove::Public,
            "always" => Prove::Always,
            other => {
                let problem = format!("expected never, public or always, found `{other}`");
                return Err(section.fault("echo", problem));
            }
        };
        let bytes = section.parsed("max_body_bytes", 0usize, "a number of bytes")?;
        section.finish(KEYS)?;
        Ok(Self {
            listen,
            listen_tcp,
            listen_tls,
            plugtest,
            multicast,
            echo,
            body_bytes_max: (bytes > 0).then_some(bytes),
        })
    }

    /// Says whether a datagram's address may be forged by somebody far away.
    pub(super) fn is_untrusted(&self, peer: IpAddr) -> bool {
        match self.echo {
            Prove::Never => false,
            Prove::Always => true,
            Prove::Public => !is_private(peer),
        }
    }
}

/// The address for TLS beside one without: port 5684 (RFC 8323 section 8.2), or a free one beside a free
/// one.
fn secured(listen: &str) -> String {
    match listen.rsplit_once(':') {
        Some((_, "0")) | None => listen.to_owned(),
        Some((host, _)) => format!("{host}:5684"),
    }
}

/// Loopback, link-local and private networks (RFC 1918, RFC 4193).
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// [RFC7252-7.1-1]
    #[test]
    fn tcp_listens_where_datagrams_do_unless_it_is_said() {
        let mut section = Section::new("coap");
        section.set("listen", "0.0.0.0:5690");
        let settings = Settings::read(section).unwrap();
        assert_eq!(settings.listen_tcp, "0.0.0.0:5690");
        assert_eq!(settings.listen_tls, "0.0.0.0:5684");
        assert_eq!(secured("[::1]:0"), "[::1]:0");
        assert_eq!(secured(""), "");
        let mut section = Section::new("coap");
        section.set("echo", "sometimes");
        assert!(Settings::read(section).is_err());
    }

    #[test]
    fn who_is_far_away_proves_its_address() {
        let mut settings = Settings::read(Section::new("coap")).unwrap();
        let near = [
            "127.0.0.1",
            "192.168.1.9",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
        ];
        let far = ["198.51.100.7", "2001:db8::1", "::ffff:198.51.100.7"];
        let address = |text: &str| text.parse().unwrap();
        assert!(
            near.iter()
                .all(|text| !settings.is_untrusted(address(text)))
        );
        assert!(far.iter().all(|text| settings.is_untrusted(address(text))));
        settings.echo = Prove::Always;
        assert!(settings.is_untrusted(address("127.0.0.1")));
    }
}
