//! Certificates of an authority that gives them to whoever holds the names: ACME (RFC 8555).
//!
//! The proof is `http-01`: the authority reads a token by HTTP at the names themselves. What it
//! deliberately does not do: put a certificate into a listener. It writes the file, and the keeper takes
//! it as it takes any other that changes, so that nobody's connection drops (docs/decisions/0053).

mod challenges;
mod client;
mod order;
mod renew;
mod settings;
mod storage;

pub(crate) use challenges::Challenges;
pub(crate) use settings::{DOMAINS, Settings, TLS_KEYS};

use std::path::{Path, PathBuf};

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
