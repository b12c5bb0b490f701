//! Programs of the system's packages, and what they say they are.

use std::path::PathBuf;

use crate::environment::version_of;

/// A program and the package that brings it.
pub(crate) struct Program {
    /// Its file's name.
    pub(crate) name: &'static str,
    /// The Debian package.
    pub(crate) package: &'static str,
    /// The argument upon which it tells its version first.
    pub(crate) asked_by: &'static str,
}

impl Program {
    /// Where it is, and what it says it is; an error names the package.
    pub(crate) fn found(&self) -> Result<(PathBuf, String), String> {
        let program = find_program(self.name, self.package)?;
        let version = version_of(&program.to_string_lossy(), self.asked_by);
        Ok((program, version))
    }

    /// What it says it is.
    pub(crate) fn look(&self) -> Result<String, String> {
        self.found().map(|(_, version)| version)
    }
}

/// A program of the system, wherever its packages put it; an error that names the package.
pub(crate) fn find_program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    found.ok_or_else(|| format!("absent: no {name} here; `apt-get install {package}` brings it"))
}
