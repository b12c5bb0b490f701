//! What tells this gateway from others that share its log.
//!
//! The decision worth arguing: it is drawn once and kept beside the data, so that a gateway that is started
//! again finds what is its own; an owner whose data directories come and go gives the name (`bus.gateway`).
//! With it stands a checksum, so that a bit that flipped gives no other name in silence: which bit it was can be
//! found again. Where it was more, another name is drawn, and the file put aside.

use crate::config::Config;
use crate::fault::Problem;
use ring::digest::{SHA256, digest};
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
    let bytes = match fs::read(data.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return draw(data),
        read => read?,
    };
    if let Some(name) = name_in(&bytes) {
        return Ok(name);
    }
    // Earlier versions wrote the name alone.
    let alone = str::from_utf8(&bytes).ok().map(str::trim);
    if let Some(name) = alone.filter(|name| is_name(name)) {
        put(data, name)?;
        return Ok(name.to_owned());
    }
    let aside = put_aside(data, &bytes)?;
    let place = data.display();
    if let Some(name) = mended(&bytes) {
        tracing::error!(
            "{place}/{FILE} is DAMAGED, kept as {aside}: one bit had flipped, the name is {name} as before"
        );
        put(data, &name)?;
        return Ok(name);
    }
    let name = draw(data)?;
    tracing::error!(
        "{place}/{FILE} is DAMAGED, kept as {aside}: this gateway is called {name} from now on; where a bus is \
         shared, set bus.gateway to the name of before"
    );
    Ok(name)
}

fn draw(data: &Path) -> io::Result<String> {
    let name = format!("{:016x}", u64::from_be_bytes(weir_random::bytes()?));
    put(data, &name)?;
    Ok(name)
}

fn put(data: &Path, name: &str) -> io::Result<()> {
    let mut file = fs::File::create(data.join(NEW))?;
    file.write_all(line_of(name).as_bytes())?;
    file.sync_all()?;
    fs::rename(data.join(NEW), data.join(FILE))?;
    fs::File::open(data)?.sync_all()
}

fn put_aside(data: &Path, bytes: &[u8]) -> io::Result<String> {
    let names = (1_u32..).map(|number| format!("{FILE}.{number:06}-checksum.damaged"));
    let mut free = names.filter(|name| !data.join(name).exists());
    let aside = free.next().unwrap_or_default();
    let mut file = fs::File::create_new(data.join(&aside))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(aside)
}

/// A name as it is kept: no bit that flips makes of its middle what a name may hold.
fn line_of(name: &str) -> String {
    let sum = digest(&SHA256, name.as_bytes());
    let sum = sum.as_ref().first_chunk().copied().unwrap_or_default();
    format!("{name} sha256:{:08x}\n", u32::from_be_bytes(sum))
}

/// The name in a file that is as it was written.
fn name_in(bytes: &[u8]) -> Option<String> {
    let name = str::from_utf8(bytes).ok()?.split(' ').next()?;
    (is_name(name) && line_of(name).as_bytes() == bytes).then(|| name.to_owned())
}

/// The name in a file of which one bit flipped.
fn mended(bytes: &[u8]) -> Option<String> {
    let bits = 0..bytes.len().min(2 * NAME_BYTES_MAX) * 8;
    bits.into_iter().find_map(|bit| {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        name_in(&other)
    })
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
    fn a_bit_of_the_name_that_flips_is_found() {
        let folder = Folder::new("name-damaged");
        let data = folder.path();
        fs::create_dir_all(data).unwrap();
        let name = kept(data).unwrap();
        let whole = fs::read(data.join(FILE)).unwrap();
        let asides = || fs::read_dir(data).unwrap().count() - 1;
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(data.join(FILE), &bytes).unwrap();
            assert_eq!(kept(data).unwrap(), name, "bit {bit}");
            assert_eq!(fs::read(data.join(FILE)).unwrap(), whole, "bit {bit}");
            assert_eq!(asides(), bit + 1);
        }
        let before = asides();
        for bytes in [&b""[..], &[0; 40], &whole[..20], b"two words\n"] {
            fs::write(data.join(FILE), bytes).unwrap();
            let other = kept(data).unwrap();
            assert!(is_name(&other) && other != name);
            assert_eq!(kept(data).unwrap(), other);
        }
        assert_eq!(asides(), before + 4);
    }

    #[test]
    fn a_name_that_an_earlier_version_kept_stays() {
        let folder = Folder::new("name-old");
        fs::create_dir_all(folder.path()).unwrap();
        fs::write(folder.path().join(FILE), "0123456789abcdef\n").unwrap();
        assert_eq!(kept(folder.path()).unwrap(), "0123456789abcdef");
        let bytes = fs::read(folder.path().join(FILE)).unwrap();
        assert_eq!(name_in(&bytes).as_deref(), Some("0123456789abcdef"));
    }

    #[test]
    fn a_name_goes_into_keys_of_the_log() {
        assert!(is_name("gateway-1.site_a"));
        for bad in ["", "a/b", "a b", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
