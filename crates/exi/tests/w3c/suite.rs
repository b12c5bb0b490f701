//! Where the suite is.

use crate::name::Name;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite, unpacked.
pub(crate) struct Suite {
    root: PathBuf,
}

/// What the name of a source has after that of its streams: most are XML files, some streams are named
/// after the whole file.
const ENDINGS: [&str; 2] = [".xml", ""];

impl Suite {
    /// Finds the suite: as the environment says, or beside the project.
    pub(crate) fn find() -> Option<Self> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
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
        if let Some(unpacked) = Self::within(&folder) {
            return Some(unpacked);
        }
        std::fs::create_dir_all(&folder).ok()?;
        let done = Command::new("tar")
            .arg("xf")
            .arg(&at)
            .arg("-C")
            .arg(&folder)
            .status();
        assert!(
            done.is_ok_and(|status| status.success()),
            "{} is not unpacked",
            at.display()
        );
        Self::within(&folder)
    }

    fn within(folder: &Path) -> Option<Self> {
        let candidates = [folder.to_owned(), folder.join("w3c-exi-testsuite")];
        let root = candidates
            .into_iter()
            .find(|root| root.join("encodings").is_dir())?;
        Some(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The streams, by their paths in the suite.
    pub(crate) fn streams(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(&self.root.join("encodings"), &mut found);
        found.sort();
        found
    }

    fn walk(&self, folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.walk(&path, found);
            } else if path.to_string_lossy().contains(".exi%") {
                found.extend(
                    path.strip_prefix(&self.root)
                        .map(|path| path.to_string_lossy().into_owned()),
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
