//! For whom a description is made: what they may do, in which formats, and by which host they came.

use crate::fault::{from_hub, refuse};
use weir_codec::{FORMATS, Format};
use weir_hub::{Entry, Principal, Verb};
use weir_model::{Filter, Time};
use weir_service::{Call, Endpoint, Place, Premises, Response};

/// The caller of one request.
pub(crate) struct Caller<'a> {
    pub(crate) premises: &'a Premises,
    principal: &'a Principal,
    now: Time,
    /// Formats that were asked for; none: what is listed by default.
    formats: Vec<&'static Format>,
    host: Option<Host<'a>>,
    /// Whether the caller speaks TLS, to the gateway or to what stands before it.
    is_secured: bool,
}

/// The `Host` field (RFC 9110 section 7.2).
#[derive(Clone, Copy)]
struct Host<'a> {
    /// As it came.
    authority: &'a str,
    name: &'a str,
    port: Option<u16>,
}

impl<'a> Host<'a> {
    fn read(authority: &'a str) -> Self {
        let behind_address = authority.rfind(']').map_or(0, |at| at + 1);
        let (name, port) = match authority[behind_address..].rfind(':') {
            Some(at) => authority.split_at(behind_address + at),
            None => (authority, ""),
        };
        Self {
            authority,
            name,
            port: port.trim_start_matches(':').parse().ok(),
        }
    }
}

impl<'a> Caller<'a> {
    pub(crate) fn of(premises: &'a Premises, call: &'a Call) -> Result<Self, Response> {
        Ok(Self {
            premises,
            principal: &call.principal,
            now: call.now,
            formats: formats(call)?,
            host: call.authority().map(Host::read),
            is_secured: call.is_secured(),
        })
    }

    /// What is known of the datastreams that match and that the caller may read.
    pub(crate) fn entries(&self, filters: Vec<Filter>) -> Result<Vec<Entry>, Response> {
        let hub = &self.premises.hub;
        let caller = hub.caller(self.now, self.principal);
        let found = caller.and_then(|caller| caller.entries(&filters));
        let mut entries = found.map_err(|fault| from_hub(&fault))?;
        entries.retain(|entry| entry.last.is_some() || entry.opaque.is_none());
        Ok(entries)
    }

    /// Those of these filters that may match something the caller may read.
    pub(crate) fn readable(&self, filters: Vec<Filter>) -> Vec<Filter> {
        let grants = &self.principal.grants;
        let mut filters = filters;
        filters.retain(|filter| grants.may_overlap(Verb::Read, filter));
        filters
    }

    pub(crate) fn may_publish(&self, topic: &str) -> bool {
        !topic.starts_with('$') && self.principal.grants.allow(Verb::Publish, topic)
    }

    /// Whether the caller is known by no credential.
    pub(crate) fn is_anonymous(&self) -> bool {
        &*self.principal.name == "anonymous"
    }

    /// The formats of what comes in one only, or of what is listed for each.
    pub(crate) fn formats(&self, lists_formats: bool) -> &[&'static Format] {
        const ALL: [&Format; FORMATS.len()] = all();
        match (&self.formats[..], lists_formats) {
            ([], true) => &ALL,
            ([], false) => &ALL[..1],
            (asked, _) => asked,
        }
    }

    /// What stands in URLs between scheme and path where the caller reaches an endpoint, and whether TLS is put before
    /// it on the way.
    ///
    /// Where the caller named a port that nothing here listens at, something stands before the gateway: it
    /// carries HTTP, and is named as the caller named it.
    pub(crate) fn place(&self, endpoint: &Endpoint) -> (String, bool) {
        let address = match &endpoint.place {
            Place::Address(address) => address,
            Place::Name(name) => return (name.clone(), false),
        };
        match self.host {
            Some(host) if endpoint.is_web && self.is_before(host) => {
                (format!("//{}", host.authority), self.is_secured)
            }
            Some(host) if address.ip().is_unspecified() => {
                (format!("//{}:{}", host.name, address.port()), false)
            }
            _ => (format!("//{address}"), false),
        }
    }

    fn is_before(&self, host: Host<'_>) -> bool {
        let port = host.port.unwrap_or(if self.is_secured { 443 } else { 80 });
        let mut endpoints = self.premises.endpoints.iter();
        let listens = |place: &Place| matches!(place, Place::Address(it) if it.port() == port);
        !endpoints.any(|endpoint| listens(&endpoint.place))
    }
}

const fn all() -> [&'static Format; FORMATS.len()] {
    let mut all = [&FORMATS[0]; FORMATS.len()];
    let mut at = 0;
    while at < FORMATS.len() {
        all[at] = &FORMATS[at];
        at += 1;
    }
    all
}

/// The formats that `?as=` names.
fn formats(call: &Call) -> Result<Vec<&'static Format>, Response> {
    let named = call.queries("as").map(|name| {
        let known = FORMATS.iter().find(|format| format.name == name);
        known.ok_or_else(|| refuse(400, format!("no format `{name}`: GET /formats lists them")))
    });
    named.collect()
}
