//! What delivers: the gateway whose page measures, CometD beside it, and the sensors that feed each.
//!
//! The gateway listens in the clear and by TLS with a certificate made for the run, which the bench's
//! Chromium is told to trust by its key alone. CometD is started when the first cell wants it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use weir_codec::block::carried::to_base64;

use super::cells::{COMETD, Setting, Via};
use super::publisher::Publisher;
use weir_bench_lab::started::start_fresh;
use weir_bench_lab::targets::{Running, Settings, list, weir};
use weir_bench_model::results::OURS;

/// All that delivers at the end of one link.
pub(super) struct Servers {
    settings: Settings,
    folder: PathBuf,
    gateway: Running,
    sensors: Publisher,
    cometd: Option<Result<Cometd, String>>,
}

struct Cometd {
    running: Running,
    sensors: Publisher,
    is_warm: bool,
}

/// What delivers a cell.
pub(super) struct Server<'a> {
    /// What feeds it.
    pub(super) sensors: &'a mut Publisher,
    /// Its process, if it is ours.
    pub(super) pid: Option<u32>,
    /// Where a page finds it; the gateway is where the page is from.
    pub(super) address: Option<SocketAddr>,
}

impl Servers {
    /// Starts the gateway, or reaches the one that is given.
    pub(super) fn start(settings: &Settings, folder: &Path) -> Result<Self, String> {
        let gateway = start_fresh(folder, "gateway", |folder| match settings.address {
            Some(_) => {
                let target = list::named(OURS).ok_or("no gateway")?;
                (target.start)(settings, folder)
            }
            None => weir::launch_certified_with(settings, folder, "http", &[as_it_is()]),
        })?;
        Self::around(gateway, settings, folder)
    }

    /// The same for a browser anywhere: it listens at every address of this machine, to everybody, while
    /// the run lasts.
    pub(super) fn start_open(settings: &Settings, folder: &Path) -> Result<Self, String> {
        let everywhere = ["http.listen", "http.listen_tls"].map(|key| format!("{key}=0.0.0.0:0"));
        let sets: Vec<String> = everywhere.into_iter().chain([as_it_is()]).collect();
        let mut gateway = start_fresh(folder, "gateway", |folder| {
            weir::launch_certified_with(settings, folder, "http", &sets)
        })?;
        gateway.address.set_ip(Ipv4Addr::LOCALHOST.into());
        Self::around(gateway, settings, folder)
    }

    fn around(gateway: Running, settings: &Settings, folder: &Path) -> Result<Self, String> {
        Ok(Self {
            sensors: Publisher::to(gateway.address, &settings.end),
            settings: settings.clone(),
            folder: folder.into(),
            gateway,
            cometd: None,
        })
    }

    /// What the gateway says it is.
    pub(super) fn version(&self) -> &str {
        &self.gateway.version
    }

    /// What CometD says it is, once it runs.
    pub(super) fn version_of_cometd(&self) -> Option<&str> {
        let cometd = self.cometd.as_ref()?.as_ref().ok()?;
        Some(&cometd.running.version)
    }

    /// Where the gateway is, in the clear.
    pub(super) fn address(&self) -> SocketAddr {
        self.gateway.address
    }

    /// The port of the gateway by TLS.
    pub(super) fn port_by_tls(&self) -> Result<u16, String> {
        let address = self.gateway.listener("https");
        let absent = "absent: a gateway given by --url is measured in the clear";
        address.map(|it| it.port()).ok_or(absent.into())
    }

    /// Where pages of the gateway are from.
    pub(super) fn origin(&self, is_secure: bool) -> Result<String, String> {
        let address = self.address();
        match is_secure {
            false => Ok(format!("http://{address}")),
            true => Ok(format!("https://{}:{}", address.ip(), self.port_by_tls()?)),
        }
    }

    /// What a Chromium must be told, so that pages of the gateway are isolated: without TLS an origin
    /// counts as secure on loopback alone, and by TLS with a certificate that it can believe.
    pub(super) fn trust(&self) -> Result<Vec<String>, String> {
        let clear = format!(
            "--unsafely-treat-insecure-origin-as-secure={}",
            self.origin(false)?
        );
        let key = self.gateway.certificate.as_deref().map(pin).transpose()?;
        let key = key.map(|key| format!("--ignore-certificate-errors-spki-list={key}"));
        Ok([clear].into_iter().chain(key).collect())
    }

    /// What delivers a cell, into a person's browser or ours.
    pub(super) fn of(&mut self, setting: &Setting, is_opened: bool) -> Result<Server<'_>, String> {
        match setting.via {
            Via::Clear | Via::Tls => Ok(Server {
                sensors: &mut self.sensors,
                pid: self.gateway.pid(),
                address: None,
            }),
            Via::Bayeux(_) if is_opened => {
                Err("absent: CometD is set beside the gateway in the bench's own browser".into())
            }
            Via::Bayeux(_) => {
                let cometd = self.cometd()?;
                Ok(Server {
                    pid: cometd.running.pid(),
                    address: Some(cometd.running.address),
                    sensors: &mut cometd.sensors,
                })
            }
        }
    }

    /// Whether CometD is to be warmed up first; it is so once.
    pub(super) fn takes_warmth(&mut self) -> bool {
        let cometd = self.cometd();
        cometd.is_ok_and(|cometd| !std::mem::replace(&mut cometd.is_warm, true))
    }

    fn cometd(&mut self) -> Result<&mut Cometd, String> {
        let Self {
            settings, folder, ..
        } = self;
        let cometd = self
            .cometd
            .get_or_insert_with(|| Cometd::start(settings, folder));
        cometd.as_mut().map_err(|reason| reason.clone())
    }
}

impl Cometd {
    fn start(settings: &Settings, folder: &Path) -> Result<Self, String> {
        let target = list::named(COMETD).ok_or("no target cometd")?;
        let start = |folder: &Path| (target.start)(settings, folder);
        let running = start_fresh(folder, COMETD, start)?;
        Ok(Self {
            sensors: Publisher::to(running.address, &settings.end),
            running,
            is_warm: false,
        })
    }
}

/// Nothing is compressed on the way: formats are measured, and CometD's long polling has no gzip.
fn as_it_is() -> String {
    "http.compress=false".into()
}

/// A certificate's key as Chromium names it: SHA-256 of its SubjectPublicKeyInfo, in base64.
fn pin(certificate: &[u8]) -> Result<String, String> {
    let certificate = CertificateDer::from(certificate);
    let parsed = ParsedCertificate::try_from(&certificate).map_err(|e| e.to_string())?;
    let key = parsed.subject_public_key_info();
    let mut text = Vec::new();
    to_base64(digest(&SHA256, &key).as_ref(), &mut text);
    String::from_utf8(text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_key_is_named_by_the_digest_of_its_public_key_info_whatever_certificate_holds_it() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let again = rcgen::CertificateParams::new(["other".to_owned()]).unwrap();
        let again = again.self_signed(&made.signing_key).unwrap();
        let named = pin(made.cert.der()).unwrap();
        assert_eq!(named.len(), 44);
        assert_eq!(named, pin(again.der()).unwrap());
        assert!(pin(b"no certificate").is_err());
    }
}
