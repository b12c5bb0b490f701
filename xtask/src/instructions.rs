//! `cargo xtask instructions`: counts the instructions of fixed pieces of work by callgrind, and compares
//! them with those of the table, so that a hot path which becomes slower is noticed on any machine.
//!
//! What it deliberately does not do: it says nothing of time. Caches, the kernel and waiting are not
//! counted; the bench measures those. Counts belong to a compiler and to a way of building, so the
//! first line of the table names the one and the other is fixed here.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The compiler in the first line; then package, work, functions that count, instructions, a line each.
const TABLE: &str = "xtask/instructions.tsv";
/// How far a count may be off, either way: a table that says too much guards nothing.
const TOLERANCE_PERCENT: f64 = 2.0;
/// The same where another compiler made the table.
const FOREIGN_TOLERANCE_PERCENT: f64 = 25.0;

pub(crate) const USAGE: &str = "cargo xtask instructions [--write]";

/// Counts all work of the table; gives what to print, and whether all is within the tolerance.
pub(crate) fn run(root: &Path, write: bool) -> Result<(String, bool), String> {
    let text = std::fs::read_to_string(root.join(TABLE)).map_err(|e| format!("{TABLE}: {e}"))?;
    let (compiler, lines) = text.split_once('\n').ok_or(format!("{TABLE}: is empty"))?;
    let (host, here) = toolchain()?;
    let tolerance = match here == compiler {
        true => TOLERANCE_PERCENT,
        false => FOREIGN_TOLERANCE_PERCENT,
    };
    let (mut said, mut wrong) = (format!("{here}, within {tolerance} %\n"), 0);
    let (mut table, mut all) = (format!("{here}\n"), 0);
    for line in lines.lines() {
        let line = Line::parse(line).ok_or_else(|| format!("{TABLE}: {line}"))?;
        let now = count(root, &line, &host)?;
        let percent = (now as f64 / line.instructions as f64 - 1.0) * 100.0;
        let is_off = percent.abs() > tolerance;
        (all, wrong) = (all + 1, wrong + u32::from(is_off));
        let verdict = if is_off { "  FAILED" } else { "" };
        let _ = writeln!(
            said,
            "{:20} {now:>12} {percent:>+8.2} %{verdict}",
            line.work
        );
        let _ = writeln!(
            table,
            "{}\t{}\t{}\t{now}",
            line.package, line.work, line.counted
        );
    }
    if write {
        std::fs::write(root.join(TABLE), table).map_err(|e| format!("{TABLE}: {e}"))?;
        return Ok((said, true));
    }
    let _ = writeln!(said, "{} passed, {wrong} failed", all - wrong);
    Ok((said, wrong == 0))
}

struct Line<'a> {
    package: &'a str,
    work: &'a str,
    /// The functions that are counted with all that they call, as callgrind is told them.
    counted: &'a str,
    instructions: u64,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split('\t');
        Some(Self {
            package: fields.next()?,
            work: fields.next()?,
            counted: fields.next()?,
            instructions: fields.next()?.parse().ok()?,
        })
    }
}

/// The machine that is built for, and the compiler's version.
fn toolchain() -> Result<(String, String), String> {
    let said = Command::new("rustc").arg("-vV").output();
    let said = said.map_err(|e| format!("rustc: {e}"))?.stdout;
    let said = String::from_utf8_lossy(&said);
    let of = |name| said.lines().find_map(|line| line.strip_prefix(name));
    let (host, release) = (of("host: "), of("release: "));
    let (host, release) = host.zip(release).ok_or("rustc does not say what it is")?;
    Ok((host.to_owned(), format!("rustc {release} {host}")))
}

fn count(root: &Path, line: &Line<'_>, host: &str) -> Result<u64, String> {
    // A list, because what is counted has spaces in its name.
    let runner = format!(
        "target.{host}.runner = [\"valgrind\", \"--tool=callgrind\", \
         \"--callgrind-out-file=/dev/null\", \"--toggle-collect={}\"]",
        line.counted
    );
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let example = format!("{}_instructions", line.package.trim_start_matches("weir-"));
    command.args(["--config", &runner]);
    command.args(["run", "-q", "-p", line.package, "--example", &example]);
    // What is built bit by bit is cut into other pieces, and those count otherwise.
    if std::env::var("CARGO_INCREMENTAL").as_deref() != Ok("0") {
        command.args(["--target-dir", "target/instructions"]);
    }
    let output = command
        .args(["--", line.work])
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(collected);
    let count = count.filter(|count| output.status.success() && *count > 0);
    count.ok_or_else(|| {
        format!(
            "{} {}: nothing was counted:\n{said}",
            line.package, line.work
        )
    })
}

/// The count in callgrind's last words: `==1== Collected : 123`.
fn collected(line: &str) -> Option<u64> {
    let (_, count) = line.split_once("Collected :")?;
    count.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Line, collected};

    #[test]
    fn a_count_is_read_from_callgrinds_last_words() {
        assert_eq!(collected("==7== Collected : 3456"), Some(3456));
        assert_eq!(collected("==7== Events    : Ir"), None);
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let mut table = include_str!("../instructions.tsv").lines();
        assert!(
            table
                .next()
                .is_some_and(|compiler| compiler.starts_with("rustc "))
        );
        assert!(table.all(|line| Line::parse(line).is_some()));
    }
}
