//! `[tls.acme]`: which authority, for which names, and where what it gives is kept.

use crate::fetch::{self, Roots};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use weir_binding::{ConfigFault, Section};

/// Keys of the section `tls`.
pub(crate) const TLS_KEYS: &[&str] = &[
    "certificate",
    "key",
    "clients",
    "acme.directory",
    DOMAINS,
    "acme.contact",
    "acme.storage",
    "acme.ca_file",
];
/// A list.
pub(crate) const DOMAINS: &str = "acme.domains";
/// Most names of a certificate, Let's Encrypt's limit.
const NAMES_MAX: usize = 100;

/// Which authority, for which names.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// URL of its directory.
    pub(crate) directory: String,
    /// Names and addresses, the first the certificate's own.
    pub(crate) names: Vec<String>,
    /// `mailto:` of whom it may tell something.
    pub(crate) contact: Option<String>,
    /// Folder of account, certificate and key.
    pub(crate) storage: PathBuf,
    /// Whom to trust as the authority's server, beside nobody.
    pub(crate) roots: Roots,
}

impl Settings {
    /// Reads the section `tls`; nothing where it names no authority.
    pub(crate) fn read(mut section: Section) -> Result<Option<Self>, ConfigFault> {
        let (certificate, key) = (section.optional("certificate"), section.optional("key"));
        let _whose_clients = section.optional("clients");
        let directory = section.optional("acme.directory");
        let mut names = Vec::new();
        for (place, name) in section.take_under("acme.domains.") {
            let known = check_name(&name);
            let key = format!("acme.domains.{place}");
            names.push(known.map_err(|problem| section.fault(&key, problem))?);
        }
        let contact = section.optional("acme.contact").map(with_scheme);
        let storage = section.text("acme.storage", "weir-acme");
        let ca = section.optional("acme.ca_file");
        let roots = fetch::roots(ca.as_deref().map(Path::new))
            .map_err(|problem| section.fault("acme.ca_file", problem))?;
        let Some(directory) = directory else {
            return match names.is_empty() {
                true => Ok(None),
                false => Err(section.fault(
                    "acme.directory",
                    "is missing: the URL of an authority's directory, such as \
                     https://acme-v02.api.letsencrypt.org/directory",
                )),
            };
        };
        if certificate.is_some() || key.is_some() {
            let problem =
                "`tls.certificate` and `tls.key` are files of your own: either these or `tls.acme`";
            return Err(section.fault("acme.directory", problem));
        }
        if !fetch::is_private(&directory) {
            let problem = format!("an authority is spoken to by https, found `{directory}`");
            return Err(section.fault("acme.directory", problem));
        }
        if names.is_empty() || names.len() > NAMES_MAX {
            let problem = format!("a list of 1 to {NAMES_MAX} names that the certificate is for");
            return Err(section.fault("acme.domains", problem));
        }
        Ok(Some(Self {
            directory,
            names,
            contact,
            storage: storage.into(),
            roots,
        }))
    }
}

fn with_scheme(contact: String) -> String {
    match contact.contains(':') {
        true => contact,
        false => format!("mailto:{contact}"),
    }
}

/// A name of DNS or an address.
fn check_name(name: &str) -> Result<String, String> {
    if name.parse::<IpAddr>().is_ok() {
        return Ok(name.to_owned());
    }
    if name.starts_with("*.") {
        return Err(format!(
            "`{name}`: for all names of a domain an authority wants a record of DNS, which is not made here"
        ));
    }
    let is_label = |label: &str| {
        let fits = (1..=63).contains(&label.len());
        let letters = label
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'-');
        fits && letters && !label.starts_with('-') && !label.ends_with('-')
    };
    match name.len() <= 253 && name.split('.').all(is_label) {
        true => Ok(name.to_ascii_lowercase()),
        false => Err(format!(
            "expected a name such as weir.example.org, found `{name}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Settings>, ConfigFault> {
        let mut section = Section::new("tls");
        pairs
            .iter()
            .for_each(|(key, value)| section.set(key, value));
        Settings::read(section)
    }

    const DIRECTORY: (&str, &str) = ("acme.directory", "https://ca.example/directory");
    const NAME: (&str, &str) = ("acme.domains.0", "Weir.example");

    #[test]
    fn an_authority_and_names_are_enough() {
        let contact = ("acme.contact", "ann@example.org");
        let settings = read(&[DIRECTORY, NAME, contact]).unwrap().unwrap();
        assert_eq!(settings.names, ["weir.example"]);
        assert_eq!(settings.contact.unwrap(), "mailto:ann@example.org");
        assert!(
            read(&[("certificate", "a"), ("key", "b")])
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_mistake_is_told_by_its_key() {
        let key = |pairs: &[(&str, &str)]| read(pairs).unwrap_err().key;
        assert_eq!(key(&[NAME]), "tls.acme.directory");
        assert_eq!(key(&[DIRECTORY]), "tls.acme.domains");
        assert_eq!(
            key(&[DIRECTORY, NAME, ("certificate", "a")]),
            "tls.acme.directory"
        );
        let open = ("acme.directory", "http://ca.example/directory");
        assert_eq!(key(&[open, NAME]), "tls.acme.directory");
        for name in ["*.example", "a..b", "-a", "a b", "http://a"] {
            assert_eq!(
                key(&[DIRECTORY, ("acme.domains.0", name)]),
                "tls.acme.domains.0",
                "{name}"
            );
        }
        assert_eq!(
            key(&[DIRECTORY, NAME, ("acme.ca_file", "/nowhere")]),
            "tls.acme.ca_file"
        );
    }
}
