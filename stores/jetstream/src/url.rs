//! `nats://user:password@host:port,host:port`: where the servers are, and how one comes in.

use crate::nkey::Nkey;
use crate::tls::{Shown, Tls};
use std::fmt;
use std::path::Path;
use weir_model::percent;
use weir_model::url::Authority;

/// Servers and what to say to them.
#[derive(Clone)]
pub struct Servers {
    /// `host:port` of each.
    pub(crate) addresses: Vec<String>,
    /// Name and password; a name alone is a token.
    pub(crate) login: Option<(String, Option<String>)>,
    /// What a server's nonce is signed with.
    pub(crate) nkey: Option<Nkey>,
    /// Where there must be TLS; a server that wants it otherwise is refused.
    pub(crate) tls: Option<Tls>,
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
        write!(
            f,
            "expected nats://host:4222,host:4222, or tls:// {}",
            self.0
        )
    }
}

impl std::error::Error for BadUrl {}

const PORT: u16 = 4222;

impl Servers {
    /// Reads a URL with one server or several, each with its own `nats://` or `tls://` or not.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let mut servers = Self {
            addresses: Vec::new(),
            login: None,
            nkey: None,
            tls: None,
        };
        for part in text.split(',').map(str::trim) {
            let rest = match part.split_once("://") {
                Some(("nats", rest)) => rest,
                Some(("tls", rest)) => {
                    let tls = || Tls::of(None, None).map_err(|why| BadUrl(format!("({why})")));
                    servers.tls = Some(servers.tls.take().map_or_else(tls, Ok)?);
                    rest
                }
                Some((scheme, _)) => return Err(BadUrl(format!("(`{scheme}` is not supported)"))),
                None if servers.addresses.is_empty() => return Err(BadUrl("".into())),
                None => part,
            };
            let rest = rest.trim_end_matches('/');
            let server = Authority::parse(rest).map_err(|error| BadUrl(format!("({error})")))?;
            if let Some(login) = server.userinfo {
                servers.login = Some(login_of(login)?);
            }
            servers.addresses.push(server.with_port(PORT));
        }
        Ok(servers)
    }

    /// With TLS: certificates lead to an authority of the PEM file, or else the Web's; this one is shown.
    pub fn with_tls(
        mut self,
        authorities: Option<&Path>,
        shown: Option<Shown<'_>>,
    ) -> Result<Self, String> {
        self.tls = Some(Tls::of(authorities, shown)?);
        Ok(self)
    }

    /// With the seed of an nkey, or a token and its key, of a file.
    pub fn with_credentials(mut self, file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        self.nkey = Some(Nkey::read(&text)?);
        Ok(self)
    }
}

/// A name and a password, or a token; `:`, `/`, `@`, `,` and `%` in them are percent-encoded.
fn login_of(text: &str) -> Result<(String, Option<String>), BadUrl> {
    let plain = |part: &str| {
        let decoded = percent::decode(part);
        decoded.map_err(|_| BadUrl("(the login is not percent-encoded as it should be)".into()))
    };
    match text.split_once(':') {
        None => Ok((plain(text)?, None)),
        Some((name, word)) => Ok((plain(name)?, Some(plain(word)?))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn several_servers_have_one_login_and_their_ports() {
        let servers = Servers::parse("nats://ann:s%3at@a:1,[::1],nats://c").unwrap();
        assert_eq!(servers.addresses, ["a:1", "[::1]:4222", "c:4222"]);
        assert_eq!(servers.login, Some(("ann".into(), Some("s:t".into()))));
        assert!(servers.tls.is_none() && Servers::parse("tls://a").unwrap().tls.is_some());
        for bad in ["", "a:1", "ws://a", "nats://", "nats://a:port"] {
            assert!(Servers::parse(bad).is_err(), "{bad}");
        }
    }
}
