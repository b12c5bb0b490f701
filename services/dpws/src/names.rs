//! Names of the specifications, of both generations that are spoken.

use weir_codec::document::{addressing, soap};

/// Namespace of WS-Transfer.
pub(crate) const TRANSFER: &str = "http://schemas.xmlsoap.org/ws/2004/09/transfer";
/// Namespace of WS-MetadataExchange.
pub(crate) const EXCHANGE: &str = "http://schemas.xmlsoap.org/ws/2004/09/mex";
/// Namespace of WS-Eventing.
pub(crate) const EVENTING: &str = "http://schemas.xmlsoap.org/ws/2004/08/eventing";
/// Namespace of the device's own types.
pub(crate) const DEVICE: &str = "urn:weir:device";
/// Namespace of observations, which the plain web service has too.
pub(crate) const OBSERVATIONS: &str = "urn:weir:observations";

/// The specifications that go together: the profile, and what it builds upon.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    /// WS-Discovery.
    pub(crate) discovery: &'static str,
    /// To whom discovery's messages to everybody go.
    pub(crate) everybody: &'static str,
    /// WS-Addressing.
    pub(crate) addressing: &'static str,
    /// Whoever asked.
    pub(crate) anonymous: &'static str,
    /// The devices' profile.
    pub(crate) profile: &'static str,
    /// How scopes are matched where a probe does not say, below discovery's namespace.
    pub(crate) scope_rule: &'static str,
}

/// DPWS 1.1 (OASIS, January 2009) with WS-Discovery 1.1.
pub(crate) const OASIS: Generation = Generation {
    discovery: "http://docs.oasis-open.org/ws-dd/ns/discovery/2009/01",
    everybody: "urn:docs-oasis-open-org:ws-dd:ns:discovery:2009:01",
    addressing: soap::ADDRESSING,
    anonymous: "http://www.w3.org/2005/08/addressing/anonymous",
    profile: "http://docs.oasis-open.org/ws-dd/ns/dpws/2009/01",
    scope_rule: "rfc3986",
};

/// DPWS 1.0 (February 2006) with WS-Discovery of April 2005.
pub(crate) const XMLSOAP: Generation = Generation {
    discovery: "http://schemas.xmlsoap.org/ws/2005/04/discovery",
    everybody: "urn:schemas-xmlsoap-org:ws:2005:04:discovery",
    addressing: addressing::SUBMISSION,
    anonymous: "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
    profile: "http://schemas.xmlsoap.org/ws/2006/02/devprof",
    scope_rule: "rfc2396",
};

/// Both, the newer first.
pub(crate) const GENERATIONS: [&Generation; 2] = [&OASIS, &XMLSOAP];

impl Generation {
    /// The one whose discovery has this namespace.
    pub(crate) fn of_discovery(uri: &str) -> Option<&'static Self> {
        GENERATIONS.into_iter().find(|own| own.discovery == uri)
    }

    /// The one whose addressing has this namespace, else the newer.
    pub(crate) fn of_addressing(uri: &str) -> &'static Self {
        let found = GENERATIONS.into_iter().find(|own| own.addressing == uri);
        found.unwrap_or(&OASIS)
    }
}
