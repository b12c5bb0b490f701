//! Runs as their folders hold them.
//!
//! The decision worth arguing: only `summary.csv` and the head of `run.json` are read, so that results of
//! another version, or of another bench that writes this table, advise as well.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::library::{Fault, Library, Origin, Source};
use crate::reference::reference;

/// The table of a run's folder.
const TABLE: &str = "summary.csv";

/// Why folders advise nothing.
#[derive(Debug)]
pub enum FolderFault {
    /// The reference that is shipped cannot be read.
    Reference(Fault),
    /// A folder or its table cannot be read.
    Unreadable(PathBuf, io::Error),
    /// It is no run, and holds none.
    Empty(PathBuf),
    /// A table is not one of ours.
    Table(PathBuf, Fault),
}

impl fmt::Display for FolderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(fault) => write!(f, "the reference: {fault}"),
            Self::Unreadable(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Empty(path) => {
                write!(f, "{}: no run is there, and none in it", path.display())
            }
            Self::Table(path, fault) => write!(f, "{}: {fault}", path.display()),
        }
    }
}

impl std::error::Error for FolderFault {}

/// What was measured: the shipped reference, unless it is left out, and behind it the runs of these
/// folders; a folder may hold runs instead.
pub fn library(results: &[PathBuf], with_reference: bool) -> Result<Library, FolderFault> {
    let mut library = if with_reference {
        reference().map_err(FolderFault::Reference)?
    } else {
        Library::default()
    };
    for folder in results {
        for run in runs(folder)? {
            let added = library.add(source(&run, Origin::Own), &table(&run)?);
            added.map_err(|fault| FolderFault::Table(run.join(TABLE), fault))?;
        }
    }
    Ok(library)
}

/// The folder itself where it is a run, else the runs in it, by name.
pub fn runs(folder: &Path) -> Result<Vec<PathBuf>, FolderFault> {
    if folder.join(TABLE).is_file() {
        return Ok(vec![folder.into()]);
    }
    let listed =
        std::fs::read_dir(folder).map_err(|error| FolderFault::Unreadable(folder.into(), error))?;
    let inner = listed.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<PathBuf> = inner.filter(|path| path.join(TABLE).is_file()).collect();
    runs.sort();
    if runs.is_empty() {
        Err(FolderFault::Empty(folder.into()))
    } else {
        Ok(runs)
    }
}

/// The table of a run.
pub fn table(run: &Path) -> Result<String, FolderFault> {
    let path = run.join(TABLE);
    std::fs::read_to_string(&path).map_err(|error| FolderFault::Unreadable(path, error))
}

/// What a run says of itself; a run without `run.json` says nothing.
pub fn source(run: &Path, origin: Origin) -> Source {
    let text = std::fs::read_to_string(run.join("run.json")).unwrap_or_default();
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let environment = &told["environment"];
    let machine = format!(
        "{} with {} processors, {}",
        word(&environment["cpu"]),
        environment["cpus"],
        word(&environment["kernel"])
    );
    Source {
        name: run.display().to_string(),
        command: word(&told["command"]),
        started: word(&told["started"]),
        machine,
        origin,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_without_runs_is_named() {
        let folder = std::env::temp_dir().join(format!("weir-advise-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let error = library(std::slice::from_ref(&folder), false).err().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let said = error.to_string();
        assert!(said.ends_with("no run is there, and none in it"), "{said}");
    }
}
