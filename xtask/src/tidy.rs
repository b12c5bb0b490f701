//! `cargo xtask tidy`: the rules of the house that the compiler and clippy cannot see.

use crate::finding::Finding;
use crate::wording::Wording;
use crate::{arrows, orphans, pages, shape, shown};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A crate of the workspace, as `cargo metadata` tells it.
pub(crate) struct Package {
    name: String,
    /// Relative to the root of the repository.
    pub(crate) folder: String,
    /// Names of our crates it depends on; true for development dependencies.
    imports: Vec<(String, bool)>,
    /// Root files of its targets: library, binary, tests, examples, build script.
    pub(crate) roots: Vec<PathBuf>,
}

/// Runs every check on the repository at `root`; findings are in order of file and line.
pub(crate) fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let packages = packages(root)?;
    let (wording, mut findings) = Wording::read(root)?;
    for package in &packages {
        findings.extend(check_arrows(package, &packages));
        let folder = root.join(&package.folder);
        findings.extend(orphans::check(root, &folder, &package.roots));
        findings.extend(check_crate_docs(root, package)?);
    }
    let mut files = Vec::new();
    let mut tests = shown::foreign(root)?;
    orphans::rust_files(root, &mut files);
    for file in files {
        let shown = file.strip_prefix(root).unwrap_or(&file).to_owned();
        let source = fs::read_to_string(&file)?;
        findings.extend(shape::check(&shown, &source));
        findings.extend(wording.names(&shown, &source));
        tests.extend(shown::functions(&source));
    }
    for page in pages::read(root)? {
        let shown = page.strip_prefix(root).unwrap_or(&page);
        findings.extend(wording.prose(shown, &fs::read_to_string(&page)?));
    }
    findings.extend(shown::check(root, &tests)?);
    findings.extend(pages::check(root)?);
    findings.sort();
    Ok(findings)
}

fn check_arrows(package: &Package, packages: &[Package]) -> Vec<Finding> {
    let manifest = Path::new(&package.folder).join("Cargo.toml");
    let Some(_) = arrows::from(&package.folder) else {
        let rule = format!(
            "crate `{}` stands in no row of xtask/src/arrows.rs",
            package.name
        );
        return vec![Finding::new(manifest, 1, rule)];
    };
    let mut findings = Vec::new();
    for (import, for_tests) in &package.imports {
        let Some(other) = packages.iter().find(|other| other.name == *import) else {
            continue;
        };
        if !arrows::allowed(&package.folder, &other.folder, *for_tests) {
            let line = line_of(&manifest, import);
            let rule = format!("{} may not import {}", package.folder, other.folder);
            findings.push(Finding::new(&manifest, line, rule));
        }
    }
    findings
}

/// The line of a manifest that names a dependency; 1 where none does.
fn line_of(manifest: &Path, import: &str) -> usize {
    let text = fs::read_to_string(repository().join(manifest)).unwrap_or_default();
    text.lines()
        .position(|line| line.starts_with(import))
        .map_or(1, |index| index + 1)
}

fn check_crate_docs(root: &Path, package: &Package) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in &package.roots {
        if !file.ends_with("src/lib.rs") && !file.ends_with("src/main.rs") {
            continue;
        }
        let shown = file.strip_prefix(root).unwrap_or(file);
        findings.extend(shape::check_crate_doc(shown, &fs::read_to_string(file)?));
    }
    Ok(findings)
}

/// The crates of the workspace.
pub(crate) fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    Ok(list(&metadata["packages"])
        .iter()
        .map(|package| read_package(root, package))
        .collect())
}

fn read_package(root: &Path, package: &Value) -> Package {
    let manifest = Path::new(text(&package["manifest_path"]));
    let folder = manifest.parent().unwrap_or(root);
    let import = |dependency: &Value| {
        let ours = !dependency["path"].is_null();
        ours.then(|| {
            (
                text(&dependency["name"]).to_owned(),
                dependency["kind"] == "dev",
            )
        })
    };
    Package {
        name: text(&package["name"]).to_owned(),
        folder: folder
            .strip_prefix(root)
            .unwrap_or(folder)
            .to_string_lossy()
            .into_owned(),
        imports: list(&package["dependencies"])
            .iter()
            .filter_map(import)
            .collect(),
        roots: list(&package["targets"])
            .iter()
            .map(|target| PathBuf::from(text(&target["src_path"])))
            .collect(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The root of the repository: the folder above this crate's.
pub(crate) fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder).to_owned()
}
