//! What tells this gateway from others that share its log.
//!
//! The decision worth arguing: it is drawn once and kept beside the data, so that a gateway that is started
//! again finds what is its own; an owner whose data directories come and go gives the name (`bus.gateway`).

use crate::config::{Config, Problem};
use ring::rand::{SecureRandom, SystemRandom};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use weir_binding::ConfigFault;

/// Name of the file, and what it is called until it is whole.
const FILE: &str = "gateway";
const NEW: &str = "gateway.new";
/// Longest name, bytes.
const NAME_BYTES_MAX: usize = 64;

/// The gateway's name.
#[derive(Debug)]
pub(crate) enum NameFault {
    /// The one that is configured is none.
    Config(Problem),
    /// The file cannot be read or written.
    Io(io::Error),
}

/// The name that is configured, else the one kept in the data directory, else a new one.
pub(crate) fn name(config: &Config, data: &Path) -> Result<String, NameFault> {
    if let Some(name) = config
        .text("bus", "gateway")
        .filter(|name| !name.is_empty())
    {
        return match is_name(name) {
            true => Ok(name.to_owned()),
            false => Err(NameFault::Config(config.locate(&ConfigFault {
                key: "bus.gateway".into(),
                problem: "expected letters, digits, `-`, `_` and `.`, 64 at most".into(),
            }))),
        };
    }
    kept(data).map_err(NameFault::Io)
}

fn kept(data: &Path) -> io::Result<String> {
    match fs::read_to_string(data.join(FILE)) {
        Ok(text) if is_name(text.trim()) => Ok(text.trim().to_owned()),
        Ok(_) => Err(io::Error::other("it is not a gateway's name: remove it")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => draw(data),
        Err(error) => Err(error),
    }
}

fn draw(data: &Path) -> io::Result<String> {
    let mut drawn = [0; 8];
    let filled = SystemRandom::new().fill(&mut drawn);
    filled.map_err(|_| io::Error::other("the system gives no random bytes"))?;
    let name = format!("{:016x}", u64::from_be_bytes(drawn));
    let mut file = fs::File::create(data.join(NEW))?;
    file.write_all(format!("{name}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(data.join(NEW), data.join(FILE))?;
    fs::File::open(data)?.sync_all()?;
    Ok(name)
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn a_gateway_keeps_its_name_and_another_has_another() {
        let folders = [Folder::new("name-one"), Folder::new("name-other")];
        let dir = |at: usize| {
            let config = folders[at].config("");
            let dir = config.text("data", "dir").unwrap().to_owned();
            fs::create_dir_all(&dir).unwrap();
            dir
        };
        let (one, other) = (dir(0), dir(1));
        let name = kept(one.as_ref()).unwrap();
        assert!(is_name(&name));
        assert_eq!(kept(one.as_ref()).unwrap(), name);
        assert_ne!(kept(other.as_ref()).unwrap(), name);
    }

    #[test]
    fn a_name_goes_into_keys_of_the_log() {
        assert!(is_name("gateway-1.site_a"));
        for bad in ["", "a/b", "a b", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
