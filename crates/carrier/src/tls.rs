//! TLS over TCP through rustls, with ring as the only cryptography.
//!
//! What it deliberately does not do: say who a client's certificate stands for, look at files by itself,
//! ask whether certificates were revoked. Every fault names the file and what in it is wrong, since a
//! certificate is what an operator gets wrong first.

use crate::limits::CERTIFICATES_MAX;
use crate::link::{Link, Stream};
use crate::own::Own;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{AlertDescription, CertificateError};
pub use rustls::{ClientConfig, ServerConfig};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// Why TLS cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// The file cannot be read.
    Unreadable {
        /// Its path.
        file: String,
        /// Why, as the system says.
        cause: String,
    },
    /// The file holds no section of this kind, or a damaged one.
    Pem {
        /// Its path, or `certificate` or `key` of text that has none.
        file: String,
        /// The line where the damaged section begins; 0 where there is none at all.
        line: usize,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The certificates and the key do not go together, or are of a kind that is not taken.
    Refused(String),
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsFault::Unreadable { file, cause } => write!(f, "cannot read {file}: {cause}"),
            TlsFault::Pem {
                file,
                line: 0,
                problem,
            } => write!(f, "{file}: {problem}"),
            TlsFault::Pem {
                file,
                line,
                problem,
            } => write!(f, "{file}, line {line}: {problem}"),
            TlsFault::Refused(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for TlsFault {}

impl From<TlsFault> for io::Error {
    fn from(fault: TlsFault) -> Self {
        io::Error::new(io::ErrorKind::InvalidInput, fault)
    }
}

/// Text in PEM with the name to use in faults.
#[derive(Clone, Copy)]
struct Pem<'a> {
    file: &'a str,
    text: &'a [u8],
}

impl Pem<'_> {
    fn fault(&self, label: &str, problem: String) -> TlsFault {
        let text = String::from_utf8_lossy(self.text);
        let begins = |line: &str| line.starts_with("-----BEGIN ") && line.contains(label);
        let line = text.lines().position(begins).map_or(0, |at| at + 1);
        let file = self.file.into();
        TlsFault::Pem {
            file,
            line,
            problem,
        }
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsFault> {
        let found = CertificateDer::pem_slice_iter(self.text).take(CERTIFICATES_MAX);
        let certificates = found
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| self.fault("CERTIFICATE", said(&error)))?;
        match certificates.is_empty() {
            false => Ok(certificates),
            true => {
                let expected = "no certificate: expected `-----BEGIN CERTIFICATE-----`";
                Err(self.fault("CERTIFICATE", expected.into()))
            }
        }
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsFault> {
        PrivateKeyDer::from_pem_slice(self.text).map_err(|error| match error {
            PemError::NoItemsFound => {
                let expected = "no private key: expected `-----BEGIN PRIVATE KEY-----`, \
                     `RSA PRIVATE KEY` or `EC PRIVATE KEY`";
                self.fault("PRIVATE KEY", expected.into())
            }
            error => self.fault("PRIVATE KEY", said(&error)),
        })
    }
}

fn said(error: &PemError) -> String {
    match error {
        PemError::MissingSectionEnd { .. } => "the section has no end line".into(),
        PemError::Base64Decode(problem) => format!("not base64: {problem}"),
        other => other.to_string(),
    }
}

/// Server settings from a chain, the server's own certificate first, and its key, both in PEM; `alpn`
/// is what is offered, best first (RFC 7301).
pub fn server_config(
    certificate: &[u8],
    key: &[u8],
    alpn: &[&str],
) -> Result<Arc<ServerConfig>, TlsFault> {
    let certificate = Pem {
        file: "certificate",
        text: certificate,
    };
    let key = Pem {
        file: "key",
        text: key,
    };
    server(certificate, key, None, alpn)
}

fn server(
    certificate: Pem<'_>,
    key: Pem<'_>,
    clients: Option<Pem<'_>>,
    alpn: &[&str],
) -> Result<Arc<ServerConfig>, TlsFault> {
    let refused = |error: rustls::Error| {
        let (certificate, key) = (certificate.file, key.file);
        TlsFault::Refused(format!("{certificate} with {key}: {error}"))
    };
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => builder.with_client_cert_verifier(verifier(clients)?),
    };
    let mut config = builder
        .with_single_cert(certificate.certificates()?, key.key()?)
        .map_err(refused)?;
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(Arc::new(config))
}

/// Who checks the certificates of clients; those without one are let in too, and are nobody by it.
fn verifier(authorities: Pem<'_>) -> Result<Arc<dyn ClientCertVerifier>, TlsFault> {
    let mut roots = RootCertStore::empty();
    for certificate in authorities.certificates()? {
        let refused = |error: rustls::Error| authorities.fault("CERTIFICATE", error.to_string());
        roots.add(certificate).map_err(refused)?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
        .allow_unauthenticated()
        .build()
        .map_err(|error| authorities.fault("CERTIFICATE", error.to_string()))
}

/// Client settings: the Web's roots and those of `extra_roots` (PEM), where there are any; one of these
/// may be the server's own.
pub fn client_config(extra_roots: Option<&[u8]>) -> Result<Arc<ClientConfig>, TlsFault> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let mut certificates = Vec::new();
    if let Some(text) = extra_roots {
        let pem = Pem {
            file: "roots",
            text,
        };
        certificates = pem.certificates()?;
        for certificate in certificates.iter().cloned() {
            let refused = |error: rustls::Error| pem.fault("CERTIFICATE", error.to_string());
            roots.add(certificate).map_err(refused)?;
        }
    }
    let provider = provider();
    let roots = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| TlsFault::Refused(error.to_string()))?;
    verified_by(Own {
        certificates,
        roots: Some(roots),
        provider,
    })
}

/// Client settings that trust the first of these certificates (PEM) and no other, whatever its names: for
/// a client that has the server's own file.
pub fn pinned_config(certificate: &[u8]) -> Result<Arc<ClientConfig>, TlsFault> {
    let pem = Pem {
        file: "certificate",
        text: certificate,
    };
    let mut certificates = pem.certificates()?;
    certificates.truncate(1);
    verified_by(Own {
        certificates,
        roots: None,
        provider: provider(),
    })
}

fn verified_by(own: Own) -> Result<Arc<ClientConfig>, TlsFault> {
    let config = ClientConfig::builder_with_provider(own.provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFault::Refused(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(own))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Makes links of accepted connections. Clones have the same settings, also when they change.
#[derive(Clone)]
pub struct Acceptor {
    config: Arc<RwLock<Arc<ServerConfig>>>,
}

/// Files in PEM that a server speaks TLS with.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The chain, the server's own certificate first.
    pub certificate: &'a Path,
    /// Its key.
    pub key: &'a Path,
    /// Authorities whose clients' certificates are taken, if any.
    pub clients: Option<&'a Path>,
}

impl Acceptor {
    /// An acceptor with these settings.
    pub fn new(config: Arc<ServerConfig>) -> Self {
        let config = Arc::new(RwLock::new(config));
        Self { config }
    }

    /// An acceptor with what files say.
    #[allow(
        clippy::disallowed_methods,
        reason = "certificates are files by everyone's custom"
    )]
    pub fn from_files(files: Files<'_>, alpn: &[&str]) -> Result<Self, TlsFault> {
        let read = |path: &Path| {
            let file = path.display().to_string();
            match std::fs::read(path) {
                Ok(text) => Ok((file, text)),
                Err(error) => Err(TlsFault::Unreadable {
                    file,
                    cause: error.to_string(),
                }),
            }
        };
        let (certificate, key) = (read(files.certificate)?, read(files.key)?);
        let clients = files.clients.map(read).transpose()?;
        let certificate = Pem {
            file: &certificate.0,
            text: &certificate.1,
        };
        let key = Pem {
            file: &key.0,
            text: &key.1,
        };
        let clients = clients.as_ref().map(|(file, text)| Pem { file, text });
        server(certificate, key, clients, alpn).map(Self::new)
    }

    /// Takes another's settings for the handshakes that come; what is open is not touched.
    pub fn take_over(&self, other: &Self) {
        let settings = other.settings();
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    fn settings(&self) -> Arc<ServerConfig> {
        let config = self.config.read();
        config.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Shakes hands as the server.
    pub async fn accept(&self, tcp: TcpStream, peer: SocketAddr) -> io::Result<Link> {
        let tls = TlsAcceptor::from(self.settings()).accept(tcp).await?;
        let session = tls.get_ref().1;
        let alpn = session.alpn_protocol().map(<[u8]>::to_vec);
        let certificate = session.peer_certificates().and_then(<[_]>::first);
        let certificate = certificate.map(|certificate| certificate.as_ref().into());
        Ok(Link {
            stream: Stream::Tls(Box::new(TlsStream::Server(tls))),
            peer,
            alpn,
            certificate,
            credential: None,
        })
    }
}

/// Shakes hands as a client that expects a server of this name.
pub async fn connect(
    config: &Arc<ClientConfig>,
    name: &str,
    tcp: TcpStream,
    peer: SocketAddr,
) -> io::Result<Link> {
    let name = ServerName::try_from(name.to_owned())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let tls = TlsConnector::from(config.clone())
        .connect(name, tcp)
        .await
        .map_err(explained)?;
    let alpn = tls.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    Ok(Link {
        stream: Stream::Tls(Box::new(TlsStream::Client(tls))),
        peer,
        alpn,
        certificate: None,
        credential: None,
    })
}

/// What is not as it should be, for who chooses whom to trust and what to connect to.
fn explained(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|it| it.downcast_ref());
    match cause.and_then(meaning) {
        Some(meaning) => io::Error::new(error.kind(), format!("{error}: {meaning}")),
        None => error,
    }
}

fn meaning(fault: &rustls::Error) -> Option<&'static str> {
    Some(match fault {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no authority that is trusted here has signed it"
        }
        // One that signed itself as an authority has no kind of its own.
        rustls::Error::InvalidCertificate(CertificateError::Other(_)) => {
            "it may be one that signed itself: name it as one to trust (`--cacert`, in a file `ca_file`)"
        }
        rustls::Error::InvalidMessage(_) => "no TLS is spoken there",
        rustls::Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            "the server may have no certificate for that name"
        }
        _ => return None,
    })
}
