//! The survey: every crate of the workspace and the programs of Python, read once.

use crate::house::circles;
use crate::house::figures::{self, Figure, Source};
use crate::lexer::{blank, blank_comments, split_tests};
use crate::shown::is_test;
use crate::{orphans, tidy};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Programs and tools, as `CONTRIBUTING.md` has them; all others are libraries.
const PROGRAMS: &[&str] = &[
    "bench/cli",
    "bench/lab",
    "bench/load",
    "bench/model",
    "bench/peers",
    "bench/report",
    "bench/studies",
    "crates/demo",
    "crates/gateway",
    "crates/testkit",
    "crates/weir",
    "exi/conformance",
    "xtask",
];

/// Folders of Python that are ours.
const PYTHON: &[&str] = &["clients/python", "conformance"];

/// Lines of a folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lines {
    code: usize,
    /// Of tests and examples, without comments.
    tests: usize,
    comments: usize,
}

/// What is counted in a crate, or in a folder of Python.
#[derive(Debug)]
pub(super) struct Part {
    /// Relative to the root of the repository.
    pub(super) folder: String,
    pub(super) lines: Lines,
    /// Where each figure was found: file and line.
    pub(super) found: Vec<(Figure, PathBuf, usize)>,
}

impl Part {
    pub(super) fn count(&self, figure: Figure) -> usize {
        self.found.iter().filter(|found| found.0 == figure).count()
    }

    pub(super) fn is_program(&self) -> bool {
        PROGRAMS.contains(&&*self.folder)
    }
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) parts: Vec<Part>,
    /// Where types of each name are defined.
    pub(super) names: BTreeMap<String, Vec<(PathBuf, usize)>>,
    /// The files of each crate's largest circle, and what each imports of the others.
    pub(super) turns: Vec<circles::Turn>,
    /// Code of each file outside tests, without comments.
    pub(super) texts: Vec<(PathBuf, String)>,
}

impl Survey {
    pub(super) fn take(root: &Path) -> io::Result<Self> {
        let mut survey = Self::default();
        let packages = tidy::packages(root)?;
        let mut folders: Vec<&str> = packages.iter().map(|package| &*package.folder).collect();
        folders.sort_unstable();
        for package in &packages {
            let mut part = survey.crate_at(root, &package.folder, &folders)?;
            let sources = package.roots.iter().filter(|file| {
                let inside = file.strip_prefix(root.join(&package.folder));
                inside.is_ok_and(|file| file.starts_with("src"))
            });
            let circles = sources.map(|file| circles::largest(file));
            let largest = circles.max_by_key(Vec::len).unwrap_or_default();
            let relative = |file: &Path| file.strip_prefix(root).unwrap_or(file).to_owned();
            for (file, others) in &largest {
                let file = relative(file);
                part.found.push((Figure::Circle, file.clone(), 1));
                let others = others.iter().map(|other| relative(other));
                survey.turns.push((file, others.collect()));
            }
            survey.parts.push(part);
        }
        for folder in PYTHON {
            survey.parts.push(python_at(root, folder)?);
        }
        survey.parts.sort_by(|a, b| a.folder.cmp(&b.folder));
        Ok(survey)
    }

    /// Reads the files of a crate, but not those of a crate in one of its folders.
    fn crate_at(&mut self, root: &Path, folder: &str, crates: &[&str]) -> io::Result<Part> {
        let mut files = Vec::new();
        orphans::rust_files(&root.join(folder), &mut files);
        let mut part = Part {
            folder: folder.to_owned(),
            lines: Lines::default(),
            found: Vec::new(),
        };
        for file in files {
            let shown = file.strip_prefix(root).unwrap_or(&file).to_owned();
            let inner = crates
                .iter()
                .any(|other| other.len() > folder.len() && shown.starts_with(other));
            if !inner {
                self.file(&mut part, shown, &fs::read_to_string(&file)?);
            }
        }
        Ok(part)
    }

    fn file(&mut self, part: &mut Part, shown: PathBuf, source: &str) {
        let all = blank(source);
        let (code, tests) = match is_test(&shown) {
            true => (
                all.chars()
                    .map(|c| if c == '\n' { c } else { ' ' })
                    .collect(),
                all,
            ),
            false => split_tests(&all),
        };
        let texts = blank_comments(source);
        let lines = source.lines().zip(texts.lines()).zip(tests.lines());
        for ((whole, text), test) in lines {
            match (
                whole.trim().is_empty(),
                text.trim().is_empty(),
                test.trim().is_empty(),
            ) {
                (true, ..) => {}
                (_, true, _) => part.lines.comments += 1,
                (.., true) => part.lines.code += 1,
                _ => part.lines.tests += 1,
            }
        }
        let read = Source {
            code: &code,
            tests: &tests,
            texts: &texts,
        };
        let found = figures::of_rust(&read).into_iter();
        part.found
            .extend(found.map(|(figure, line)| (figure, shown.clone(), line)));
        for (name, line) in figures::types(&code) {
            self.names
                .entry(name)
                .or_default()
                .push((shown.clone(), line));
        }
        if !code.trim().is_empty() {
            self.texts
                .push((shown, outside_tests(&texts, &code, &tests)));
        }
    }

    /// Names of types that are defined more than three times; `Error` is its module's by custom.
    pub(super) fn crowded(&self) -> impl Iterator<Item = (&str, &[(PathBuf, usize)])> {
        let names = self.names.iter();
        let crowded = names.filter(|(name, places)| places.len() > 3 && *name != "Error");
        crowded.map(|(name, places)| (&**name, &**places))
    }

    /// Lines and figures of each crate.
    pub(super) fn by_crate(&self) -> String {
        let mut said = format!("{:24}{:>8}{:>8}{:>9}", "", "code", "tests", "comments");
        for figure in Figure::ALL {
            said += &format!("{:>15}", figure.name());
        }
        said.push('\n');
        let mut all = Lines::default();
        for part in &self.parts {
            let Lines {
                code,
                tests,
                comments,
            } = part.lines;
            all = Lines {
                code: all.code + code,
                tests: all.tests + tests,
                comments: all.comments + comments,
            };
            said += &format!("{:24}{code:>8}{tests:>8}{comments:>9}", part.folder);
            for figure in Figure::ALL {
                said += &format!("{:>15}", part.count(figure));
            }
            said.push('\n');
        }
        said + &format!(
            "{:24}{:>8}{:>8}{:>9}\n",
            "all", all.code, all.tests, all.comments
        )
    }

    /// Where a figure was found, a line each.
    pub(super) fn places(&self, figure: Figure) -> String {
        let found = self.parts.iter().flat_map(|part| &part.found);
        let mut said = String::new();
        for (_, file, line) in found.filter(|found| found.0 == figure) {
            writeln!(said, "{}:{line}", file.display()).unwrap_or_default();
        }
        said
    }

    /// The files of every circle, each with what it imports of the others.
    pub(super) fn turns(&self) -> String {
        let mut said = String::new();
        for (file, others) in &self.turns {
            writeln!(said, "{}", file.display()).unwrap_or_default();
            for other in others {
                writeln!(said, "    {}", other.display()).unwrap_or_default();
            }
        }
        said
    }

    /// The types of each name that has too many.
    pub(super) fn names_by_place(&self) -> String {
        let mut said = String::new();
        for (name, places) in self.crowded() {
            for (file, line) in places {
                writeln!(said, "{}:{line}: {name}", file.display()).unwrap_or_default();
            }
        }
        said
    }
}

/// The lines of a source that are not for tests alone; one that is blank but for a text is of what is before it.
fn outside_tests(texts: &str, code: &str, tests: &str) -> String {
    let mut is_test = false;
    let mut kept = String::with_capacity(texts.len());
    for ((line, code), test) in texts.lines().zip(code.lines()).zip(tests.lines()) {
        if !(code.trim().is_empty() && test.trim().is_empty()) {
            is_test = code.trim().is_empty();
        }
        kept.push_str(if is_test { "" } else { line });
        kept.push('\n');
    }
    kept
}

fn python_at(root: &Path, folder: &str) -> io::Result<Part> {
    let mut part = Part {
        folder: format!("{folder} (Python)"),
        lines: Lines::default(),
        found: Vec::new(),
    };
    for file in python_files(&root.join(folder))? {
        let source = fs::read_to_string(&file)?;
        let shown = file.strip_prefix(root).unwrap_or(&file).to_owned();
        let found = figures::of_python(&source).into_iter();
        part.found
            .extend(found.map(|(figure, line)| (figure, shown.clone(), line)));
        for line in source
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            match line.starts_with('#') {
                true => part.lines.comments += 1,
                false => part.lines.tests += 1,
            }
        }
    }
    Ok(part)
}

fn python_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = crate::shown::files(folder, "py")?;
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    for inside in entries.filter(|path| path.is_dir()) {
        files.extend(python_files(&inside)?);
    }
    files.sort();
    Ok(files)
}
