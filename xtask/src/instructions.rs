//! `cargo xtask instructions`: counts the instructions of fixed pieces of work by callgrind, and compares
//! them with those of the table, so that a hot path which becomes slower is noticed on any machine.
//!
//! What it deliberately does not do: it says nothing of time. Caches, the kernel and waiting are not
//! counted; the bench measures those. Counts belong to a compiler and to a way of building, so the
//! first line of the table names the one and the other is fixed here.

use std::fmt::Write;
use std::path::{Path, PathBuf};
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
    let here = compiler_here()?;
    let examples = build(root)?;
    let tolerance = match here == compiler {
        true => TOLERANCE_PERCENT,
        false => FOREIGN_TOLERANCE_PERCENT,
    };
    let (mut said, mut wrong) = (format!("{here}, within {tolerance} %\n"), 0);
    let (mut table, mut all) = (format!("{here}\n"), 0);
    for line in lines.lines() {
        let line = Line::parse(line).ok_or_else(|| format!("{TABLE}: {line}"))?;
        let now = count(&examples, &line)?;
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

/// The compiler's version and the machine that it builds for.
fn compiler_here() -> Result<String, String> {
    let said = Command::new("rustc").arg("-vV").output();
    let said = said.map_err(|e| format!("rustc: {e}"))?.stdout;
    let said = String::from_utf8_lossy(&said);
    let of = |name| said.lines().find_map(|line| line.strip_prefix(name));
    let (host, release) = of("host: ")
        .zip(of("release: "))
        .ok_or("rustc does not say what it is")?;
    Ok(format!("rustc {release} {host}"))
}

/// Builds the examples that do the work; the folder they are in. All of them at once, because what a package
/// alone is built with differs from what the tests of all are built with, and counts otherwise.
fn build(root: &Path) -> Result<PathBuf, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "-q", "--workspace", "--examples"]);
    // What is built bit by bit is cut into other pieces, and those count otherwise.
    let target = match std::env::var("CARGO_INCREMENTAL").as_deref() {
        Ok("0") => "target",
        _ => "target/instructions",
    };
    command.args(["--target-dir", target]);
    unnamed(&mut command);
    let built = command.env("CARGO_INCREMENTAL", "0").current_dir(root);
    let status = built.status().map_err(|e| format!("cargo: {e}"))?;
    let folder = root.join(target).join("debug/examples");
    status
        .success()
        .then_some(folder)
        .ok_or("the examples cannot be built".into())
}

/// Takes away what `cargo run` says of this program: ring's build script looks at it, so ring and all that stands on it
/// would be built again.
fn unnamed(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let said = name.to_string_lossy();
        if said.starts_with("CARGO_PKG_") || said.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

/// Has the C library fill and copy memory by loops: whether it would have `rep stosb` do it, which counts once a byte,
/// depends on the processor.
const LOOPS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM");

fn count(examples: &Path, line: &Line<'_>) -> Result<u64, String> {
    let example = format!("{}_instructions", line.package.trim_start_matches("weir-"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={}", line.counted))
        .arg(examples.join(example))
        .arg(line.work)
        .env(LOOPS.0, LOOPS.1)
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
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
