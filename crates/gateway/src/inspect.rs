//! What a configuration means, for who looks at it before a start.

use crate::config::Config;
use crate::run::bindings;
use crate::{acme, settings};
use std::net::SocketAddr;
use std::path::PathBuf;
use weir_binding::Transport;
use weir_carrier::validity::{Validity, validity};

/// Something that would be listened at.
#[derive(Clone, Debug)]
pub struct Listens {
    /// `section.key` of its address.
    pub key: String,
    /// Where.
    pub address: SocketAddr,
    /// UDP, not TCP.
    pub is_datagram: bool,
}

/// What a gateway of this configuration would listen at; nothing of bindings that it is wrong for.
pub fn listens(config: &Config) -> Vec<Listens> {
    let secure = settings::tls(config).is_ok_and(|tls| tls.is_some());
    let mut all = Vec::new();
    for (section, binding) in bindings(config).unwrap_or_default() {
        for transport in binding.transports() {
            let found = transport.listens().and_then(|(key, listen)| {
                let address = settings::address(listen).ok()?;
                Some((format!("{section}.{key}"), address))
            });
            let is_off = matches!(transport, Transport::Stream { tls: true, .. }) && !secure;
            let is_datagram = matches!(transport, Transport::Datagram { .. });
            all.extend(found.filter(|_| !is_off).map(|(key, address)| Listens {
                key,
                address,
                is_datagram,
            }));
        }
    }
    all
}

/// The certificate that TLS would be spoken with.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Its file.
    pub file: PathBuf,
    /// From when to when it holds, where it can be read.
    pub validity: Option<Validity>,
    /// Whether an authority gives it (ACME).
    pub is_asked_for: bool,
}

/// The certificate of a configuration, if it has one.
pub fn certificate(config: &Config) -> Option<Certificate> {
    let file = settings::tls(config).ok()??.certificate;
    let acme = acme::Settings::read(config.section("tls")).ok()?;
    let text = std::fs::read(&file).ok();
    Some(Certificate {
        validity: text.and_then(|text| validity(&text)),
        is_asked_for: acme.is_some(),
        file,
    })
}
