//! `nats://user:password@host:port,host:port`: where the servers are.

use std::fmt;

/// Servers and what to say to them.
#[derive(Clone, PartialEq, Eq)]
pub struct Servers {
    /// `host:port` of each.
    pub(crate) addresses: Vec<String>,
    /// Name and password; a name alone is a token.
    pub(crate) login: Option<(String, Option<String>)>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Servers").field(&self.addresses).finish()
    }
}

/// Why a text is no URL of NATS servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUrl(pub(crate) String);

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected nats://host:4222,host:4222 {}", self.0)
    }
}

impl std::error::Error for BadUrl {}

const PORT: u16 = 4222;

impl Servers {
    /// Reads a URL with one server or several, each with its own `nats://` or not.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let mut servers = Self {
            addresses: Vec::new(),
            login: None,
        };
        for part in text.split(',').map(str::trim) {
            let rest = match part.split_once("://") {
                Some(("nats", rest)) => rest,
                Some((scheme, _)) => return Err(BadUrl(format!("(`{scheme}` is not supported)"))),
                None if servers.addresses.is_empty() => return Err(BadUrl("".into())),
                None => part,
            };
            let host = match rest.rsplit_once('@') {
                None => rest,
                Some((login, host)) => {
                    let parts = login.split_once(':');
                    let named = |(name, word): (&str, &str)| (name.into(), Some(word.into()));
                    servers.login = Some(parts.map_or((login.into(), None), named));
                    host
                }
            };
            servers.addresses.push(address(host.trim_end_matches('/'))?);
        }
        Ok(servers)
    }
}

fn address(host: &str) -> Result<String, BadUrl> {
    let after_brackets = host.rsplit(']').next().unwrap_or(host);
    match after_brackets.rsplit_once(':') {
        _ if host.is_empty() => Err(BadUrl("(a host is missing)".into())),
        None => Ok(format!("{host}:{PORT}")),
        Some((_, port)) => match port.parse::<u16>() {
            Ok(_) => Ok(host.into()),
            Err(_) => Err(BadUrl(format!("(`{port}` is no port)"))),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn several_servers_have_one_login_and_their_ports() {
        let servers = Servers::parse("nats://ann:s:t@a:1,[::1],nats://c").unwrap();
        assert_eq!(servers.addresses, ["a:1", "[::1]:4222", "c:4222"]);
        assert_eq!(servers.login, Some(("ann".into(), Some("s:t".into()))));
        for bad in ["", "a:1", "tls://a", "nats://", "nats://a:port"] {
            assert!(Servers::parse(bad).is_err(), "{bad}");
        }
    }
}
