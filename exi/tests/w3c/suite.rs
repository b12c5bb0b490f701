//! Where the suite is.

use super::loose::LOOSE;
use super::name::Name;
use super::zip;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite, unpacked.
pub(crate) struct Suite {
    root: PathBuf,
}

/// One stream.
pub(crate) struct Stream {
    /// Where it is, within the suite.
    pub(crate) path: String,
    /// Its folder, and the name that tells its options.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Stream {
    fn of(path: String, bytes: Vec<u8>) -> Self {
        Self {
            name: path.clone(),
            path,
            bytes,
        }
    }
}

/// What is in the name of a stream.
const MARK: &str = ".exi%";

/// What the name of a source has after that of its streams: most are XML files, some streams are named
/// after the whole file.
const ENDINGS: [&str; 2] = [".xml", ""];

/// Unpacks the archive once, beside its place: who sees the folder sees all of it.
fn unpack(archive: &Path, folder: &Path) {
    if folder.is_dir() {
        return;
    }
    let parts = folder.with_extension(format!("part-{}", std::process::id()));
    std::fs::create_dir_all(&parts).unwrap();
    let tar = Command::new("tar")
        .arg("xf")
        .arg(archive)
        .arg("-C")
        .arg(&parts)
        .status();
    assert!(
        tar.is_ok_and(|status| status.success()),
        "{} is not unpacked",
        archive.display()
    );
    if std::fs::rename(&parts, folder).is_err() {
        std::fs::remove_dir_all(&parts).unwrap();
    }
}

impl Suite {
    /// Finds the suite: as the environment says, or beside the project.
    pub(crate) fn find() -> Option<Self> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let named = std::env::var_os("WEIR_EXI_TESTSUITE").map(PathBuf::from);
        let beside = project.join("../shared/data/w3c-exi-testsuite.tar.xz");
        let at = named
            .into_iter()
            .chain([beside])
            .find(|path| path.exists())?;
        if at.is_dir() {
            return Self::within(&at);
        }
        let folder = project.join("build/w3c");
        static UNPACKED: std::sync::Once = std::sync::Once::new();
        UNPACKED.call_once(|| unpack(&at, &folder));
        Self::within(&folder)
    }

    fn within(folder: &Path) -> Option<Self> {
        let candidates = [folder.to_owned(), folder.join("w3c-exi-testsuite")];
        let root = candidates
            .into_iter()
            .find(|root| root.join("encodings").is_dir())?;
        Some(Self { root })
    }

    /// The streams, by their paths in the suite, through its archives too.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        let mut found = Vec::new();
        self.walk(&self.root.join("encodings"), &mut found);
        for (file, name) in LOOSE {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            found.extend(std::fs::read(self.root.join(file)).map(|bytes| Stream {
                path: (*file).to_owned(),
                name: format!("{folder}/{name}"),
                bytes,
            }));
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    fn walk(&self, folder: &Path, found: &mut Vec<Stream>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.walk(&path, found);
                continue;
            }
            let within = path.strip_prefix(&self.root).unwrap_or(&path);
            let within = within.to_string_lossy().into_owned();
            let Ok(bytes) = std::fs::read(&path) else {
                continue;
            };
            if within.contains(MARK) {
                found.push(Stream::of(within, bytes));
            } else if within.ends_with(".zip") {
                let files = zip::files(&bytes).into_iter();
                let streams = files.filter(|(file, _)| file.contains(MARK));
                found.extend(
                    streams.map(|(file, bytes)| Stream::of(format!("{within}/{file}"), bytes)),
                );
            }
        }
    }

    /// The source of a stream.
    pub(crate) fn source(&self, name: &Name) -> Option<Vec<u8>> {
        let path = ENDINGS
            .iter()
            .find_map(|ending| self.path(&format!("{}{ending}", name.source)))?;
        std::fs::read(path).ok()
    }

    /// A file of the suite; folders were renamed, but for the case of letters, after streams were made.
    pub(crate) fn path(&self, path: &str) -> Option<PathBuf> {
        let mut at = self.root.clone();
        for part in path.split('/') {
            let exact = at.join(part);
            if exact.exists() {
                at = exact;
                continue;
            }
            let entries = std::fs::read_dir(&at).ok()?;
            let mut names = entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned());
            at = at.join(names.find(|name| name.eq_ignore_ascii_case(part))?);
        }
        Some(at)
    }
}
