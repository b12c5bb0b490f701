//! The client's keys: a file of what is shared with the gateway, and beside it one of the sequence numbers
//! that were used.
//!
//! Two programs that used the same numbers would give the keys away (RFC 8613 section 7.2.1), so the second
//! file is locked as long as one talks, and numbers are reserved in it before they are used.
#![allow(
    clippy::disallowed_methods,
    reason = "the file of the numbers, and the clock that they begin at"
)]

use crate::secure::{Context, ContextId, Contexts, Guard, Material, Numbers};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use weir_binding::nearest;

/// Numbers reserved at once.
const RESERVED: u64 = 1024;
/// Milliseconds of the epoch at the beginning of 2025, before which no number is.
const START_MS: u128 = 1_735_689_600_000;
/// Largest file of keys, bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;

const KEYS: [&str; 5] = [
    "master_secret",
    "master_salt",
    "sender_id",
    "recipient_id",
    "id_context",
];

/// What secures the messages of a client.
pub(super) struct Secured {
    pub(super) guard: Guard<SocketAddr>,
    numbers: Arc<Numbers>,
    used: File,
}

impl Secured {
    /// The only context of a client.
    pub(super) const CONTEXT: ContextId = ContextId(0);

    /// Reads the keys and begins behind the numbers that were used.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let material = material(path)?;
        let derived = Context::derive(&material);
        let context = derived.map_err(|fault| refused(path, &fault.to_string()))?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(".used");
        let (used, begin) = locked(Path::new(&beside))?;
        let numbers = Arc::new(Numbers::from(begin.max(clock())));
        // Nobody asks the client anything: what a peer must send back is never sent.
        let contexts = Contexts::new(vec![(context, [0; 8])], numbers.clone());
        let mut secured = Self {
            guard: Guard::new(Arc::new(contexts)),
            numbers,
            used,
        };
        secured.look()?;
        Ok(secured)
    }

    /// Reserves more numbers where they run low.
    pub(super) fn look(&mut self) -> io::Result<()> {
        if self.numbers.left() >= RESERVED / 2 {
            return Ok(());
        }
        let below = self.numbers.reserved() + RESERVED;
        self.used.rewind()?;
        self.used.write_all(format!("{below:020}\n").as_bytes())?;
        self.used.sync_data()?;
        self.numbers.reserve(below);
        Ok(())
    }
}

fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis().saturating_sub(START_MS);
    u64::try_from(now).unwrap_or(0)
}

/// The file of used numbers, ours alone, and where to begin.
fn locked(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(|error| at(path, &error))?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => {
            let sentence = "another program talks with these keys: give this one its own";
            io::Error::new(ErrorKind::ResourceBusy, sentence)
        }
        TryLockError::Error(error) => at(path, &error),
    })?;
    let mut text = String::new();
    Read::by_ref(&mut file).take(64).read_to_string(&mut text)?;
    let text = text.trim();
    let used = if text.is_empty() { Ok(0) } else { text.parse() };
    let used = used.map_err(|_| refused(path, "is not a number: it must not be changed"))?;
    Ok((file, used))
}

/// `name = "hexadecimal digits"` a line.
fn material(path: &Path) -> io::Result<Material> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| at(path, &error))?;
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let sentence = error.message().to_owned();
        refused(path, &sentence)
    })?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let near = nearest(unknown, &KEYS);
        return Err(refused(path, &format!("unknown key `{unknown}`; {near}")));
    }
    let bytes = |key: &str| -> io::Result<Option<Vec<u8>>> {
        let Some(value) = table.get(key) else {
            return Ok(None);
        };
        let bytes = value.as_str().and_then(bytes_of);
        let problem = || refused(path, &format!("`{key}` must be hexadecimal digits"));
        bytes.map(Some).ok_or_else(problem)
    };
    let needed = |key: &str| bytes(key)?.ok_or_else(|| refused(path, &format!("needs `{key}`")));
    Ok(Material {
        secret: needed("master_secret")?,
        salt: bytes("master_salt")?.unwrap_or_default(),
        own: needed("sender_id")?,
        peer: needed("recipient_id")?,
        id_context: bytes("id_context")?,
    })
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8);
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn refused(path: &Path, problem: &str) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidInput,
        format!("{}: {problem}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::PathBuf;

    /// A file of keys that is gone with its test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, keys: &str) -> Self {
            let name = format!("weir-coap-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("keys"), keys).unwrap();
            Self(folder)
        }

        fn open(&self) -> io::Result<Secured> {
            Secured::open(&self.0.join("keys"))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    const SECRET: &str = "master_secret = \"00112233445566778899aabbccddeeff\"\n";

    /// [RFC8613-7.2.1-1]
    #[test]
    fn keys_are_for_one_program_at_a_time_and_its_numbers_go_on() {
        let ids = "sender_id = \"01\"\nrecipient_id = \"\"\n";
        let folder = Folder::new("numbers", &format!("{SECRET}{ids}"));
        let mut first = folder.open().unwrap();
        let busy = folder.open().err().unwrap();
        assert_eq!(busy.kind(), ErrorKind::ResourceBusy);
        let mut last = 0;
        for _ in 0..3 * RESERVED {
            last = first.numbers.draw().unwrap();
            first.look().unwrap();
        }
        drop(first);
        let second = folder.open().unwrap();
        assert!(second.numbers.draw().unwrap() > last);
    }

    #[test]
    fn a_file_that_holds_no_keys_is_named_with_what_is_wrong() {
        for (keys, said) in [
            ("sender_id = \"01\"", "needs `master_secret`"),
            ("secret = \"01\"", "unknown key `secret`"),
            (
                "master_secret = \"0\"",
                "`master_secret` must be hexadecimal",
            ),
            (SECRET, "needs `sender_id`"),
        ] {
            let folder = Folder::new("mistakes", keys);
            let fault = folder.open().err().unwrap().to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }
}
