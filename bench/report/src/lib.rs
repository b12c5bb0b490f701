//! A run as a folder: `run.json` (all of it), `summary.csv`, `report.txt`, `report.html`.

// The bench writes real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

mod html;
mod latex;
mod markdown;
pub mod page;
mod pictures;
mod sections;
mod subject;
mod summary;
mod table;

use std::path::{Path, PathBuf};

use weir_bench_model::results::{RUN, Run};

pub use html::{Chapter, changes, front};
pub use latex::latex;
pub use markdown::{markdown, titled};
pub use pictures::write_pictures;
pub use sections::that_say_something;
pub use subject::Subject;
pub use table::table;

/// Writes all files of a run.
pub fn write(subject: &Subject, folder: &Path) -> Result<(), String> {
    let run = &subject.run;
    let json = serde_json::to_string_pretty(run).map_err(|e| e.to_string())?;
    write_file(folder, RUN, &json)?;
    write_file(folder, "summary.csv", &summary::csv(run))?;
    write_file(folder, "report.txt", &table(run))?;
    write_page(subject, folder)
}

/// The page of a run in its folder.
pub const PAGE: &str = "report.html";

/// Writes the page alone.
pub fn write_page(subject: &Subject, folder: &Path) -> Result<(), String> {
    write_file(folder, PAGE, &html::page(subject))
}

/// Reads a run back from its folder.
pub fn read(folder: &Path) -> Result<Run, String> {
    let path = folder.join(RUN);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The runs of a folder: itself, or those below it, in the order of their names.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let is_run = |path: &PathBuf| path.join(RUN).exists();
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below: Vec<_> = below.map(|entry| entry.path()).filter(is_run).collect();
    below.sort();
    match is_run(&folder.to_path_buf()) || below.is_empty() {
        true => vec![folder.into()],
        false => below,
    }
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}
