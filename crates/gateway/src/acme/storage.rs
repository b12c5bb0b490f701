//! The folder of account, certificate and key.
//!
//! Certificate and key are one file, so that a rename puts both into place at once. Its first line says
//! for which names it was asked for.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use weir_carrier::validity::{Validity, validity};

const CERTIFICATE: &str = "certificate.pem";
/// One of our own, until the authority has given one.
const PLACEHOLDER: &str = "placeholder.pem";
const ACCOUNT: &str = "account.json";

/// The file that TLS is spoken with.
pub(super) fn file(folder: &Path) -> PathBuf {
    let given = folder.join(CERTIFICATE);
    match given.exists() {
        true => given,
        false => folder.join(PLACEHOLDER),
    }
}

/// Makes the folder, and a certificate of our own where there is none.
pub(super) fn prepare(folder: &Path, names: &[String]) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let mut maker = DirBuilder::new();
    let made = maker.recursive(true).mode(0o700).create(folder);
    made.map_err(failed)?;
    if file(folder).exists() {
        return Ok(());
    }
    let made = rcgen::generate_simple_self_signed(names);
    let made = made.map_err(|error| format!("no certificate can be made: {error}"))?;
    let text = made.cert.pem() + &made.signing_key.serialize_pem();
    put(folder, PLACEHOLDER, &text).map_err(failed)
}

/// Puts what the authority gave into place.
pub(super) fn keep(folder: &Path, names: &[String], chain: &str, key: &str) -> io::Result<()> {
    let text = format!("{}\n{chain}{key}", first_line(names));
    put(folder, CERTIFICATE, &text)
}

/// From when to when the certificate holds that was given for these names, if one was.
pub(super) fn given(folder: &Path, names: &[String]) -> Option<Validity> {
    let text = fs::read_to_string(folder.join(CERTIFICATE)).ok()?;
    let is_theirs = text.lines().next() == Some(&first_line(names));
    is_theirs.then(|| validity(text.as_bytes()))?
}

fn first_line(names: &[String]) -> String {
    format!("names: {}", names.join(" "))
}

/// The account with the authority of this directory, as it was kept.
pub(super) fn account(folder: &Path, directory: &str) -> Option<serde_json::Value> {
    let text = fs::read(folder.join(ACCOUNT)).ok()?;
    let mut kept: serde_json::Value = serde_json::from_slice(&text).ok()?;
    (kept["asked"] == directory).then(|| kept["account"].take())
}

/// Keeps the account.
pub(super) fn keep_account(
    folder: &Path,
    directory: &str,
    account: &serde_json::Value,
) -> io::Result<()> {
    let text = serde_json::json!({"asked": directory, "account": account}).to_string();
    put(folder, ACCOUNT, &text)
}

/// Writes a file that only its owner may read, whole or not at all.
fn put(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let aside = folder.join(format!("{name}.new"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&aside, folder.join(name))?;
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Folder;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_certificate_counts_for_the_names_that_it_was_asked_for() {
        let folder = Folder::new("acme-storage");
        let storage = folder.path().join("acme");
        let names = ["a.example".to_owned(), "b.example".to_owned()];
        prepare(&storage, &names).unwrap();
        assert_eq!(file(&storage), storage.join(PLACEHOLDER));
        assert_eq!(given(&storage, &names), None, "one of our own is none");
        let made = rcgen::generate_simple_self_signed(names.clone()).unwrap();
        let key = made.signing_key.serialize_pem();
        keep(&storage, &names, &made.cert.pem(), &key).unwrap();
        assert_eq!(file(&storage), storage.join(CERTIFICATE));
        assert!(given(&storage, &names).is_some());
        assert_eq!(given(&storage, &names[..1]), None);
        for (path, mode) in [(file(&storage), 0o600), (storage.clone(), 0o700)] {
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn an_account_is_with_one_authority() {
        let folder = Folder::new("acme-account");
        let storage = folder.path();
        prepare(storage, &["a.example".to_owned()]).unwrap();
        keep_account(storage, "https://ca", &"secret".into()).unwrap();
        assert_eq!(account(storage, "https://ca").unwrap(), "secret");
        assert_eq!(account(storage, "https://other"), None);
    }
}
