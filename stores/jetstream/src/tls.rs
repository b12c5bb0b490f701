//! TLS to the servers, by rustls and ring as everywhere.
//!
//! What it deliberately does not do: shake hands before the server's greeting (`handshake_first`).

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Which certificates of servers hold, and which one is shown to them.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
    /// The file of the authorities, where it is not the Web's.
    authorities: Option<String>,
}

/// A certificate to show and its key, PEM files.
pub type Shown<'a> = (&'a Path, &'a Path);

impl Tls {
    /// With the authorities of a PEM file, or else the Web's.
    pub(crate) fn of(authorities: Option<&Path>, shown: Option<Shown<'_>>) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots(authorities)?);
        let config = match shown {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => builder
                .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
                .map_err(|error| {
                    format!("{} and {}: {error}", certificate.display(), key.display())
                })?,
        };
        Ok(Self {
            config: Arc::new(config),
            authorities: authorities.map(|file| file.display().to_string()),
        })
    }

    /// A machine for a connection to a host.
    pub(crate) fn begin(&self, host: &str) -> io::Result<ClientConnection> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned()).map_err(io::Error::other)?;
        let machine = ClientConnection::new(self.config.clone(), name);
        let mut machine = machine.map_err(io::Error::other)?;
        machine.set_buffer_limit(None);
        Ok(machine)
    }

    /// Why shaking hands failed, with what the owner can do about it.
    pub(crate) fn told(&self, host: &str, error: &io::Error) -> io::Error {
        use rustls::{CertificateError, Error};
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        let (file, named) = match &self.authorities {
            Some(file) => (file.as_str(), "bus.ca_file"),
            None => ("the Web's authorities", "bus.ca_file is not set"),
        };
        let said = match cause {
            Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
                format!("its certificate leads to no authority in {file} ({named})")
            }
            Some(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => format!("its certificate is not for `{host}`, the host in bus.url"),
            Some(Error::AlertReceived(alert)) => format!(
                "it ended the TLS handshake ({alert:?}): it may want a certificate \
                 (bus.certificate, bus.key)"
            ),
            _ => format!("TLS: {error}"),
        };
        io::Error::new(error.kind(), said)
    }
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let told = |why: String| format!("{}: {why}", file.display());
    let pem = std::fs::read(file).map_err(|error| told(error.to_string()))?;
    let read = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let read = read.map_err(|error| told(error.to_string()))?;
    if read.is_empty() {
        Err(told("it holds no certificate".into()))
    } else {
        Ok(read)
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let told = |why: String| format!("{}: {why}", file.display());
    let pem = std::fs::read(file).map_err(|error| told(error.to_string()))?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| told(error.to_string()))
}
