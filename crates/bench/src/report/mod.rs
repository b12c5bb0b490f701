//! A run as a folder: `run.json` (all of it), `summary.csv`, `report.txt`, `report.html`.

#[cfg(test)]
mod all_pages;
mod html;
mod latex;
mod markdown;
pub(crate) mod page;
mod pictures;
mod sections;
mod summary;
mod table;

use std::path::{Path, PathBuf};

use crate::results::Run;

pub(crate) use html::{Chapter, changes, front};
pub(crate) use latex::latex;
pub(crate) use markdown::{markdown, titled};
pub(crate) use pictures::write_pictures;
pub(crate) use sections::that_say_something;
pub(crate) use table::table;

/// All of a run, in its folder.
pub(crate) const RUN: &str = "run.json";

/// Writes all files of a run.
pub(crate) fn write(run: &Run, folder: &Path) -> Result<(), String> {
    let json = serde_json::to_string_pretty(run).map_err(|e| e.to_string())?;
    write_file(folder, RUN, &json)?;
    write_file(folder, "summary.csv", &summary::csv(run))?;
    write_file(folder, "report.txt", &table(run))?;
    write_page(run, folder)
}

/// The page of a run in its folder.
pub(crate) const PAGE: &str = "report.html";

/// Writes the page alone.
pub(crate) fn write_page(run: &Run, folder: &Path) -> Result<(), String> {
    write_file(folder, PAGE, &html::page(run))
}

/// Reads a run back from its folder.
pub(crate) fn read(folder: &Path) -> Result<Run, String> {
    let path = folder.join(RUN);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The runs of a folder: itself, or those below it, in the order of their names.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
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

/// A number as a person reads it: thousands apart, three digits that matter.
pub(crate) fn number(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return thousands(value.round() as i64);
    }
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn thousands(value: i64) -> String {
    let digits = value.abs().to_string();
    let mut text = String::from(if value < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_show_three_digits_that_matter_and_thousands_apart() {
        let shown = [1_234_567.8, -1000.0, 347.2, 34.72, 3.472, 0.0347, 0.0].map(number);
        assert_eq!(
            shown,
            ["1,234,568", "-1,000", "347", "34.7", "3.47", "0.035", "0"]
        );
    }
}
