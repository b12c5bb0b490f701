//! Section `[http]` of the configuration.

use crate::wire::target::is_authority;
use std::net::IpAddr;
use weir_binding::{ConfigFault, Network, Section};

/// What can be set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where to listen; empty for off.
    pub(super) listen: String,
    /// Where to listen for TLS, where a certificate is set; empty for off.
    pub(super) listen_tls: String,
    /// Which origins may read answers in a browser.
    pub(super) cors: Cors,
    /// Names by which it is reached beside addresses and names of this machine or its network.
    pub(super) hosts: Vec<String>,
    /// Proxies that say truly by which name and scheme they were asked.
    pub(super) trusted_proxies: Vec<Network>,
    /// Whether answers are compressed for who accepts it.
    pub(super) compress: bool,
    /// Largest body of a request, bytes; `None` for the limit on messages.
    pub(super) body_bytes_max: Option<usize>,
}

/// Which origins may read answers in a browser (WHATWG Fetch section 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cors {
    /// None but the gateway's own pages.
    Off,
    /// Every one, without credentials.
    Any,
    /// These.
    Origins(Vec<String>),
}

const KEYS: &[&str] = &[
    "listen",
    "listen_tls",
    "cors",
    "hosts",
    "trusted_proxies",
    "compress",
    "max_body_bytes",
];

impl Settings {
    /// Takes the section's keys.
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let listen = section.text("listen", "127.0.0.1:8080");
        let listen_tls = section.text("listen_tls", "127.0.0.1:8443");
        let cors = section.text("cors", "");
        let cors = Cors::read(&cors).map_err(|problem| section.fault("cors", problem))?;
        let hosts = section.text("hosts", "");
        let hosts = hosts.split([',', ' ']).filter(|host| !host.is_empty());
        let hosts = hosts.map(str::to_ascii_lowercase).collect();
        let proxies = section.text("trusted_proxies", "");
        let trusted_proxies = Network::list(&proxies).map_err(|_| {
            let expected = "expected addresses or networks such as 10.0.0.0/8";
            section.fault("trusted_proxies", format!("{expected}, found `{proxies}`"))
        })?;
        let compress = section.parsed("compress", true, "true or false")?;
        let bytes = section.parsed("max_body_bytes", 0usize, "a number of bytes")?;
        section.finish(KEYS)?;
        let body_bytes_max = (bytes > 0).then_some(bytes);
        Ok(Self {
            listen,
            listen_tls,
            cors,
            hosts,
            trusted_proxies,
            compress,
            body_bytes_max,
        })
    }
}

impl Settings {
    /// Says whether what is at this address is a proxy whose word counts.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|proxy| proxy.holds(peer))
    }
}

/// Whether a text is a scheme and an authority, and nothing behind them.
fn is_origin(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, authority)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && is_authority(authority)
    })
}

impl Cors {
    fn read(text: &str) -> Result<Self, String> {
        let origins: Vec<String> = text
            .split([',', ' '])
            .filter(|origin| !origin.is_empty())
            .map(|origin| origin.trim_end_matches('/').to_owned())
            .collect();
        if let Some(bad) = origins
            .iter()
            .find(|origin| *origin != "*" && !is_origin(origin))
        {
            return Err(format!(
                "`{bad}` is no origin: expected `*`, nothing, or such as `https://example.org`"
            ));
        }
        Ok(match origins.iter().any(|origin| origin == "*") {
            true => Cors::Any,
            false if origins.is_empty() => Cors::Off,
            false => Cors::Origins(origins),
        })
    }

    /// `Access-Control-Allow-Origin` for a page of this origin.
    pub(super) fn allow(&self, origin: &str) -> Option<String> {
        match self {
            Cors::Off => None,
            Cors::Any => Some("*".into()),
            Cors::Origins(origins) => origins
                .iter()
                .find(|known| *known == origin)
                .map(|_| origin.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn origins_are_listed_or_all() {
        assert_eq!(Cors::read("*"), Ok(Cors::Any));
        assert_eq!(Cors::read(""), Ok(Cors::Off));
        let listed = Cors::read("https://a.example, http://b.example:81/").unwrap();
        assert_eq!(
            listed.allow("http://b.example:81").as_deref(),
            Some("http://b.example:81")
        );
        assert_eq!(listed.allow("http://c.example"), None);
        assert!(Cors::read("example.org").is_err());
    }

    #[test]
    fn proxies_are_listed_and_nobody_is_one_otherwise() {
        let read = |listed: Option<&str>| {
            let mut section = Section::new("http");
            if let Some(listed) = listed {
                section.set("trusted_proxies", listed);
            }
            Settings::read(section)
        };
        let is_proxy = |listed, peer: &str| {
            let settings = read(listed).unwrap();
            settings.is_proxy(peer.parse().unwrap())
        };
        assert!(!is_proxy(None, "127.0.0.1") && !is_proxy(Some(""), "::1"));
        let listed = Some("127.0.0.1, 10.0.0.0/8 fd00::/8");
        for proxy in ["127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "fd00::1"] {
            assert!(is_proxy(listed, proxy), "{proxy}");
        }
        for other in ["127.0.0.2", "11.0.0.1", "::1"] {
            assert!(!is_proxy(listed, other), "{other}");
        }
        let fault = read(Some("proxy.example")).unwrap_err();
        assert_eq!(fault.key, "http.trusted_proxies");
        assert!(fault.problem.contains("`proxy.example`"));
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let mut section = Section::new("http");
        section.set("port", "80");
        let fault = Settings::read(section).unwrap_err();
        assert_eq!(fault.key, "http.port");
    }
}
