//! Trust in certificates that the client was given, byte for byte, and in roots where there are any.
//!
//! Who has the very certificate that the server was given has no need of anyone who vouches for it: its
//! dates are not looked at, and that the server holds its key is checked as ever. Beside roots it is taken
//! where its names fit: `openssl req -x509` makes one that says that it may vouch for others, which a
//! verifier by the book refuses as a server's. Without roots it is taken under any name, and nothing else is.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::sync::Arc;

/// The certificates, and the roots beside them.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    pub(crate) roots: Option<Arc<WebPkiServerVerifier>>,
    pub(crate) provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Own {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_own = self.certificates.iter().any(|own| own == end_entity);
        match &self.roots {
            Some(_) if is_own => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)
                    .map(|()| ServerCertVerified::assertion())
            }
            Some(roots) => {
                roots.verify_server_cert(end_entity, intermediates, name, ocsp_response, now)
            }
            None if is_own => Ok(ServerCertVerified::assertion()),
            None => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
