//! Certificates of an authority that gives them to whoever holds the names: ACME (RFC 8555).
//!
//! The proof is `http-01`: the authority reads a token by HTTP at the names themselves. What it
//! deliberately does not do: put a certificate into a listener. It writes the file, and the keeper takes
//! it as it takes any other that changes, so that nobody's connection drops (docs/decisions/0053).

mod client;
mod order;
mod renew;
mod settings;
mod storage;

pub(crate) use settings::{DOMAINS, Settings, TLS_KEYS};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_binding::{Answer, Call, Response, Service};

/// The file that TLS is spoken with: what the authority gave, or until then one of our own.
pub(crate) fn file(storage: &Path) -> PathBuf {
    storage::file(storage)
}

/// Makes a certificate of our own where there is none, so that listeners open.
pub(crate) fn prepare(settings: &Settings) -> Result<(), String> {
    storage::prepare(&settings.storage, &settings.names)
}

/// Renews from a thread of its own, until what it gives back goes.
pub(crate) fn start(
    settings: Settings,
    challenges: Challenges,
) -> std::io::Result<std::sync::mpsc::Sender<()>> {
    let (goes_on, ended) = std::sync::mpsc::channel();
    let builder = std::thread::Builder::new().name("acme".into());
    builder.spawn(move || renew::run(&settings, &challenges, &ended))?;
    Ok(goes_on)
}

/// What the authority asks for at the moment: by token, what it is to be answered.
#[derive(Clone, Default)]
pub(crate) struct Challenges(Arc<Mutex<BTreeMap<String, String>>>);

impl Challenges {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, token: &str, answer: &str) {
        self.all().insert(token.into(), answer.into());
    }

    fn clear(&self) {
        self.all().clear();
    }
}

/// Where the authority looks (RFC 8555 section 8.3).
const MOUNT: &str = "/.well-known/acme-challenge";

impl Service for Challenges {
    fn name(&self) -> &'static str {
        "acme"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &[MOUNT]
    }

    /// Whoever asks is answered: a proof is public.
    fn call(&self, call: Call) -> Answer {
        let below = call.path.strip_prefix(MOUNT).unwrap_or_default();
        let token = below.trim_start_matches('/');
        Answer::Now(match self.all().get(token) {
            Some(answer) if call.method == "GET" => {
                let answer = answer.clone().into_bytes();
                Response::with_body(200, "application/octet-stream", answer)
            }
            _ => Response::text(404, format!("no resource `{}`", call.path)),
        })
    }
}
