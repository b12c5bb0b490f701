//! The thread that looks whether policy and certificates are others than they were, and the one that fetches keys.
//!
//! Files are looked at each second and read when they differ, or when a signal says so. What is wrong with
//! one is said, and all stays as it was; a file that is half written is read again once it is whole.

use crate::access::Access;
use crate::audit::Audit;
use crate::clock::now;
use crate::config::Config;
use crate::settings;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use weir_binding::Metric;
use weir_carrier::tls::Acceptor;
use weir_carrier::validity::validity;
use weir_hub::Hub;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What tells that a file is another.
type Look = Vec<Option<(PathBuf, SystemTime, u64)>>;

/// What is kept up to date.
pub(crate) struct Keeper {
    pub(crate) config: Config,
    pub(crate) access: Arc<Access>,
    pub(crate) audit: Arc<Audit>,
    pub(crate) hub: Arc<Hub>,
    /// What listens with TLS, and what each offers (ALPN).
    pub(crate) acceptors: Vec<(Acceptor, Vec<String>)>,
    /// Where it is shown when the certificate ends.
    pub(crate) certificate_ends: Arc<AtomicU64>,
}

/// A keeper at work.
pub(crate) struct Keeping {
    thread: JoinHandle<()>,
    asks: Sender<()>,
    /// Goes when the keys are not to be fetched any more; nobody waits for a provider that is silent.
    _fetching: Sender<()>,
}

impl Keeping {
    /// Has all read again at once.
    pub(crate) fn reload(&self) {
        // One that has ended has said why.
        let _ended = self.asks.send(());
    }

    /// Ends it.
    pub(crate) fn finish(self) {
        drop(self.asks);
        if self.thread.join().is_err() {
            tracing::error!("the keeper ended early");
        }
    }
}

impl Keeper {
    /// Starts its thread.
    pub(crate) fn start(self) -> std::io::Result<Keeping> {
        let (asks, asked) = channel();
        let builder = thread::Builder::new().name("keeper".into());
        let (fetching, ended) = channel();
        let access = self.access.clone();
        let keys = thread::Builder::new().name("keys".into());
        keys.spawn(move || fetch(&access, &ended))?;
        let thread = builder.spawn(move || self.run(&asked))?;
        Ok(Keeping {
            thread,
            asks,
            _fetching: fetching,
        })
    }

    fn run(&self, asked: &Receiver<()>) {
        let (mut policy, mut tls) = (look(&self.policy()), look(&self.tls()));
        self.note_end();
        loop {
            let all = match asked.recv_timeout(self.until_due()) {
                Ok(()) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if all {
                self.audit.reopen();
            }
            let seen = look(&self.policy());
            if all || seen != policy {
                policy = seen;
                self.read_policy();
            }
            let seen = look(&self.tls());
            if all || seen != tls {
                tls = seen;
                self.read_certificates();
            }
            if self.access.expire(now()) > 0 {
                self.hub.end_revoked();
            }
        }
    }

    /// How long until there is something to do: a look at the files, or a token that expires.
    fn until_due(&self) -> Duration {
        let Some(expiry) = self.access.next_expiry() else {
            return LOOK;
        };
        let left = expiry.nanos().saturating_sub(now().nanos());
        let left = Duration::from_nanos(u64::try_from(left).unwrap_or(0));
        left.clamp(Duration::from_millis(1), LOOK)
    }

    fn policy(&self) -> Vec<PathBuf> {
        let policy = self.config.text("access", "policy");
        policy.map(PathBuf::from).into_iter().collect()
    }

    /// The files of TLS; by ACME they may be others than at the start.
    fn tls(&self) -> Vec<PathBuf> {
        let tls = settings::tls(&self.config).ok().flatten();
        let files = tls.map(|tls| [Some(tls.certificate), Some(tls.key), tls.clients]);
        files.into_iter().flatten().flatten().collect()
    }

    /// Shows when the certificate ends.
    fn note_end(&self) {
        let files = self.tls();
        let text = files.first().and_then(|file| std::fs::read(file).ok());
        let until = text.and_then(|text| validity(&text)).map(|it| it.until);
        let until = until.map_or(0, |until| u64::try_from(until).unwrap_or(0));
        self.certificate_ends.store(until, Ordering::Relaxed);
    }

    fn read_policy(&self) {
        if self.config.text("access", "policy").is_none() {
            return;
        }
        match self.access.reload() {
            Ok(revoked) => {
                self.hub.end_revoked();
                tracing::info!(revoked, "the policy was read again");
                self.audit
                    .note("policy-read", "", &format!("{revoked} entries revoked"));
            }
            Err(problem) => {
                tracing::error!(%problem, "the policy is refused; the one before stays in force");
                self.audit.note("policy-refused", "", &problem.to_string());
            }
        }
    }

    /// All listeners get the new certificate, or none does.
    fn read_certificates(&self) {
        if self.acceptors.is_empty() {
            return;
        }
        let read = self.acceptors.iter().map(|(_, alpn)| {
            let alpn: Vec<&str> = alpn.iter().map(String::as_str).collect();
            settings::acceptor(&self.config, &alpn)
        });
        match read.collect::<Result<Option<Vec<_>>, _>>() {
            Ok(Some(fresh)) => {
                let pairs = self.acceptors.iter().zip(&fresh);
                pairs.for_each(|((acceptor, _), fresh)| acceptor.take_over(fresh));
                self.note_end();
                tracing::info!("the certificate was read again");
                self.audit.note("certificate-read", "", "");
            }
            Ok(None) => {}
            Err(problem) => {
                tracing::error!(%problem, "the certificate is refused; the one before stays");
                self.audit
                    .note("certificate-refused", "", &problem.to_string());
            }
        }
    }
}

/// Fetches the keys of issuers where they are due; a slow provider holds up nothing else.
fn fetch(access: &Access, ended: &Receiver<()>) {
    loop {
        access.issuers().iter().for_each(|it| it.refresh());
        if ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

fn look(files: &[PathBuf]) -> Look {
    let looked = files.iter().map(|file| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((file.clone(), metadata.modified().ok()?, metadata.len()))
    });
    looked.collect()
}

/// When the certificate ends that TLS is spoken with.
pub(crate) static CERTIFICATE_ENDS: Metric = Metric {
    name: "weir_certificate_not_after_seconds",
    counts: false,
    help: "When the certificate of TLS ends, in seconds since 1970; 0 without one.",
};
