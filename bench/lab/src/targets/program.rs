//! Programs of the system's packages, and what they say they are.

use std::path::{Path, PathBuf};

use weir_bench_model::environment::version_of;

/// Where `scripts/peers` puts what no package has in the version that is needed.
const BUILT: &str = "build/tools/bin";

/// A program and the package that brings it.
pub struct Program {
    /// Its file's name.
    pub name: &'static str,
    /// The Debian package.
    pub package: &'static str,
    /// The argument upon which it tells its version first.
    pub asked_by: &'static str,
}

impl Program {
    /// Where it is, and what it says it is; an error names the package.
    pub fn found(&self) -> Result<(PathBuf, String), String> {
        let program = find_program(self.name, self.package)?;
        let version = version_of(&program.to_string_lossy(), self.asked_by);
        Ok((program, version))
    }

    /// What it says it is.
    pub fn look(&self) -> Result<String, String> {
        self.found().map(|(_, version)| version)
    }
}

/// What `scripts/peers` or Maven left in the project: in this folder, or in one above the program itself, so that
/// a run may begin anywhere. The path as it is where it is nowhere.
pub fn of_the_project(path: &Path) -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    std::fs::canonicalize(path)
        .ok()
        .or_else(|| found_above(&program, path))
        .unwrap_or_else(|| path.into())
}

fn found_above(program: &Path, path: &Path) -> Option<PathBuf> {
    let above = program.ancestors().skip(1);
    above.map(|folder| folder.join(path)).find(|it| it.exists())
}

/// A program of the system, wherever its packages put it; an error that names the package.
pub fn find_program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([
        "/usr/sbin".into(),
        "/usr/local/sbin".into(),
        of_the_project(Path::new(BUILT)),
    ]);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    found.ok_or_else(|| format!("absent: no {name} here; `apt-get install {package}` brings it"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_lies_in_the_project_is_found_from_the_place_of_the_program() {
        let root = std::env::temp_dir().join(format!("weir-project-{}", std::process::id()));
        let program = root.join("target/debug/weir");
        std::fs::create_dir_all(root.join("build/peer")).unwrap();
        let peer = found_above(&program, Path::new("build/peer"));
        assert_eq!(peer, Some(root.join("build/peer")));
        assert_eq!(found_above(&program, Path::new("build/no-such-peer")), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
