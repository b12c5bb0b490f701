//! Orphans: Rust files that no `mod` reaches, which the compiler never sees and nobody misses.

use crate::finding::Finding;
use crate::lexer::{blank, words};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files below `folder` that none of the roots reaches.
pub(crate) fn check(root: &Path, folder: &Path, roots: &[PathBuf]) -> Vec<Finding> {
    let mut reached = BTreeSet::new();
    for file in roots {
        reach(file, true, &mut reached);
    }
    let mut files = Vec::new();
    rust_files(folder, &mut files);
    let orphans = files
        .into_iter()
        .filter(|file| !reached.contains(file) && !is_of_another(folder, file));
    let finding = |file: PathBuf| {
        let file = file.strip_prefix(root).map(Path::to_owned).unwrap_or(file);
        Finding::new(file, 1, "orphan: no `mod` reaches this file")
    };
    orphans.map(finding).collect()
}

/// Whether a crate that lies in one of the folder's own has this file.
fn is_of_another(folder: &Path, file: &Path) -> bool {
    let mut between = file
        .ancestors()
        .skip(1)
        .take_while(|above| *above != folder);
    between.any(|above| above.join("Cargo.toml").is_file())
}

/// Every Rust file below a folder, leaving out build output and fixtures.
pub(crate) fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && !matches!(&*name, "target" | "node_modules" | "fixtures" | "build") {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn reach(file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    let Ok(source) = fs::read_to_string(file) else {
        return;
    };
    if !reached.insert(file.to_owned()) {
        return;
    }
    let parent = file.parent().unwrap_or(Path::new(""));
    let stem = file.file_stem().unwrap_or_default();
    let below = if is_root || stem == "mod" {
        parent.to_owned()
    } else {
        parent.join(stem)
    };
    for (line, code) in source.lines().zip(blank(&source).lines()) {
        if let Some(path) = path_attribute(line, code) {
            reach(&parent.join(path), true, reached);
        }
        if let Some(name) = declared(code) {
            reach(&below.join(format!("{name}.rs")), false, reached);
            reach(&below.join(name).join("mod.rs"), false, reached);
        }
    }
    inline_modules(&blank(&source), &below, reached);
}

/// The file of `#[path = "..."]` or `include!("...")`.
fn path_attribute<'a>(line: &'a str, code: &str) -> Option<&'a str> {
    let names_a_file = code.trim_start().starts_with("#[path") || code.contains("include!(");
    names_a_file.then(|| line.split('"').nth(1)).flatten()
}

/// The name of `mod name;`.
fn declared(code: &str) -> Option<&str> {
    let name = words(code).skip_while(|word| *word != "mod").nth(1)?;
    code.contains(&format!("mod {name};")).then_some(name)
}

/// `mod a { mod b; }` keeps b in the folder a.
fn inline_modules(code: &str, below: &Path, reached: &mut BTreeSet<PathBuf>) {
    let mut inside: Vec<Option<String>> = Vec::new();
    let mut last_name = None;
    for line in code.lines() {
        let opened = words(line).skip_while(|word| *word != "mod").nth(1);
        last_name = opened.map(str::to_owned).or(last_name);
        let folder = inside
            .iter()
            .flatten()
            .fold(below.to_owned(), |path, name| path.join(name));
        if let (Some(name), true) = (declared(line), inside.iter().any(Option::is_some)) {
            reach(&folder.join(format!("{name}.rs")), false, reached);
        }
        for letter in line.chars() {
            match letter {
                '{' => inside.push(opened.and(last_name.take())),
                '}' => drop(inside.pop()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_module_is_told_from_an_inline_one() {
        assert_eq!(declared("pub(crate) mod a;"), Some("a"));
        assert_eq!(declared("mod tests {"), None);
        assert_eq!(declared("use a::b;"), None);
    }

    #[test]
    fn the_files_of_this_crate_are_all_reached() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            check(folder, &folder.join("src"), &[folder.join("src/main.rs")]),
            []
        );
        let orphans = check(
            folder,
            &folder.join("src"),
            &[folder.join("src/finding.rs")],
        );
        assert!(
            orphans
                .iter()
                .any(|finding| finding.file.ends_with("lexer.rs"))
        );
    }
}
