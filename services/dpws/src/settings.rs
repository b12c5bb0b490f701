//! Section `[dpws]` of the configuration.

use crate::eventing::sink::Rule;
use crate::limits::{FIELD_CHARS_MAX, URI_BYTES_MAX};
use std::net::IpAddr;
use weir_binding::{ConfigFault, Section};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) discovery: Where,
    /// Scopes to be found by, as URIs.
    pub(crate) scopes: Vec<String>,
    /// `FriendlyName`.
    pub(crate) name: String,
    /// Where events may be pushed to.
    pub(crate) sinks: Rule,
}

/// Where the device says that it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Nowhere.
    Off,
    /// On every interface that can multicast.
    Everywhere,
    /// On the interface that has this address.
    On(IpAddr),
}

const KEYS: &[&str] = &["discovery", "scopes", "name", "sinks"];

impl Settings {
    /// Takes the section's keys.
    pub(crate) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let discovery = match section.text("discovery", "false").as_str() {
            "" | "false" | "off" => Where::Off,
            "true" | "on" => Where::Everywhere,
            address => Where::On(address.parse().map_err(|_| {
                let expected = "expected true, false or the address of an interface";
                section.fault("discovery", format!("{expected}, found `{address}`"))
            })?),
        };
        let text = section.text("scopes", "");
        let scopes: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let is_uri = |scope: &&String| scope.contains(':') && scope.len() <= URI_BYTES_MAX;
        if let Some(scope) = scopes.iter().find(|scope| !is_uri(scope)) {
            let problem = format!("expected URIs with spaces between them, found `{scope}`");
            return Err(section.fault("scopes", problem));
        }
        if text.len() > URI_BYTES_MAX {
            let problem =
                format!("more than {URI_BYTES_MAX} bytes, which no datagram has room for");
            return Err(section.fault("scopes", problem));
        }
        let name = section.text("name", "weir");
        if name.is_empty() || name.chars().count() > FIELD_CHARS_MAX {
            let problem = format!("expected 1 to {FIELD_CHARS_MAX} characters");
            return Err(section.fault("name", problem));
        }
        let expected = "own, any, or networks such as 10.0.0.0/8";
        let sinks = section.parsed("sinks", Rule::Own, expected)?;
        section.finish(KEYS)?;
        Ok(Self {
            sinks,
            discovery,
            scopes,
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, ConfigFault> {
        let mut section = Section::new("dpws");
        pairs
            .iter()
            .for_each(|(key, value)| section.set(key, value));
        Settings::read(section)
    }

    #[test]
    fn nothing_is_said_to_a_network_unless_it_is_asked_for() {
        assert_eq!(read(&[]).unwrap().discovery, Where::Off);
        let on = |text: &str| read(&[("discovery", text)]).unwrap().discovery;
        assert_eq!(on("true"), Where::Everywhere);
        assert_eq!(on("192.0.2.1"), Where::On("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let long = "x".repeat(FIELD_CHARS_MAX + 1);
        for (key, value) in [
            ("discovery", "eth0"),
            ("scopes", "urn:a plant"),
            ("scopes", &"urn:a ".repeat(URI_BYTES_MAX / 6 + 1)),
            ("name", &long),
            ("sinks", "everybody"),
            ("sink", "any"),
        ] {
            let fault = read(&[(key, value)]).unwrap_err();
            assert_eq!(fault.key, format!("dpws.{key}"));
        }
    }
}
