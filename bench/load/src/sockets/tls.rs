//! A client's end of TLS.
//!
//! It trusts one certificate and nothing else, and deliberately resumes no session: what a server
//! holds for a connection must not depend on the one before.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// The name that the certificate of a target must bear.
pub const NAME: &str = "localhost";

/// An end that trusts one certificate; `alpn` is what it asks for.
pub fn client(certificate: &[u8], alpn: Option<&str>) -> Result<ClientConnection, String> {
    let config = config(certificate, alpn)?;
    let name = ServerName::try_from(NAME).map_err(|e| format!("{NAME}: {e}"))?;
    ClientConnection::new(Arc::new(config), name).map_err(|e| format!("TLS: {e}"))
}

/// What it trusts and asks for.
pub fn config(certificate: &[u8], alpn: Option<&str>) -> Result<ClientConfig, String> {
    let mut config = trusting(certificate).map_err(|e| format!("the certificate: {e}"))?;
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

fn trusting(certificate: &[u8]) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate.to_vec()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}
