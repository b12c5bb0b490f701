//! Section `[xmpp]` of the configuration.
#![allow(
    clippy::disallowed_methods,
    reason = "a secret and certificates are in files that the operator names"
)]

use super::url::Url;
use bytes::Bytes;
use std::fs;
use std::sync::Arc;
use weir_binding::{ConfigFault, Section};
use weir_codec::{Format, by_name};
use weir_sansio::Duration;

const KEYS: &[&str] = &[
    "url",
    "component",
    "password",
    "password_file",
    "websocket",
    "format",
    "max_retry_seconds",
];

/// What can be set.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// The service that the gateway is behind a server.
    pub(super) component: Option<Arc<ComponentPlan>>,
}

/// A component, as it is wanted.
#[derive(Debug)]
pub(super) struct ComponentPlan {
    pub(super) host: String,
    pub(super) port: u16,
    /// The domain that it owns.
    pub(super) domain: String,
    pub(super) secret: String,
    /// Where pages reach the server (RFC 7395).
    pub(super) websocket: Option<String>,
    /// What messages are converted to where the node names no format.
    pub(super) format: &'static Format,
    pub(super) retry_max: Duration,
}

impl Settings {
    /// Takes the section's keys.
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let Some(url) = section.optional("url") else {
            section.finish(KEYS)?;
            return Ok(Self::default());
        };
        let url = Url::parse_with(&url, Some(COMPONENT_PORT));
        let url = url.map_err(|error| section.fault("url", error.to_string()))?;
        let Some(domain) = section.optional("component") else {
            let problem = "expected the domain that the XMPP server gives to this gateway, \
                           such as weir.example.org";
            return Err(section.fault("component", problem));
        };
        let secret = secret(&mut section)?;
        let websocket = websocket(&mut section)?;
        let name = section.text("format", "xml");
        let format = by_name(&name).ok_or_else(|| {
            section.fault(
                "format",
                format!("`{name}` is no format: see `weir serve`'s /formats"),
            )
        })?;
        let retry_secs: u64 = section.parsed("max_retry_seconds", 30, "a number of seconds")?;
        let plan = ComponentPlan {
            host: url.host,
            port: url.port,
            domain,
            secret,
            websocket,
            format,
            retry_max: Duration::from_secs(retry_secs.clamp(1, 86_400)),
        };
        section.finish(KEYS)?;
        Ok(Self {
            component: Some(Arc::new(plan)),
        })
    }
}

/// Where servers listen for components, by their custom.
const COMPONENT_PORT: u16 = 5347;

fn websocket(section: &mut Section) -> Result<Option<String>, ConfigFault> {
    let Some(url) = section.optional("websocket") else {
        return Ok(None);
    };
    match url.starts_with("wss://") || url.starts_with("ws://") {
        true => Ok(Some(url)),
        false => {
            let problem =
                format!("`{url}` is no WebSocket: expected wss://example.org:5281/xmpp-websocket");
            Err(section.fault("websocket", problem))
        }
    }
}

fn secret(section: &mut Section) -> Result<String, ConfigFault> {
    let password = section.optional("password");
    match (password, section.optional("password_file")) {
        (Some(password), None) => Ok(password),
        (None, Some(path)) => {
            let cannot =
                |error| section.fault("password_file", format!("`{path}` cannot be read: {error}"));
            let text = fs::read(&path).map(Bytes::from).map_err(cannot)?;
            let text = String::from_utf8_lossy(&text);
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        (Some(_), Some(_)) => {
            let problem = "`password` and `password_file` exclude each other";
            Err(section.fault("password_file", problem))
        }
        (None, None) => Err(section.fault("password", "expected the secret of the component")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(keys: &[(&str, &str)]) -> Result<Settings, ConfigFault> {
        let mut section = Section::new("xmpp");
        keys.iter().for_each(|(key, value)| section.set(key, value));
        Settings::read(section)
    }

    #[test]
    fn nothing_is_done_without_a_url_and_what_is_missing_is_named() {
        assert!(read(&[]).unwrap().component.is_none());
        let whole = [
            ("url", "xmpp://localhost"),
            ("component", "weir.localhost"),
            ("password", "s"),
        ];
        let plan = read(&whole).unwrap().component.unwrap();
        assert_eq!((plan.port, plan.format.name), (5347, "xml"));
        let mut said = whole;
        said[0].1 = "xmpp://localhost:5222";
        assert_eq!(read(&said).unwrap().component.unwrap().port, 5222);
        for (keys, at_fault) in [
            (&[("url", "localhost")][..], "xmpp.url"),
            (&whole[..1], "xmpp.component"),
            (&whole[..2], "xmpp.password"),
            (&[("urk", "")], "xmpp.urk"),
        ] {
            assert_eq!(read(keys).unwrap_err().key, at_fault);
        }
        let mut wrong = whole.to_vec();
        for (key, value) in [("format", "nothing"), ("websocket", "https://localhost")] {
            wrong.truncate(whole.len());
            wrong.push((key, value));
            assert_eq!(read(&wrong).unwrap_err().key, format!("xmpp.{key}"));
        }
    }
}
