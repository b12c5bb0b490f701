//! A client's end of TLS.
//!
//! It trusts one certificate and nothing else, and deliberately resumes no session: what a server
//! holds for a connection must not depend on the one before.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// The name that the certificate of a target must bear.
pub const NAME: &str = "localhost";

/// What an end trusts, which is one certificate, and asks for by ALPN.
pub fn config(certificate: &[u8], alpn: Option<&str>) -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate.to_vec()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}
