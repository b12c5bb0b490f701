//! Small runs of every experiment, kept as they were measured: what is written of them stays equal to the byte,
//! and goals and claims are judged as they were.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "starts processes and reads their files"
)]

use crate::process::weir_bench;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of the runs, and their names.
fn kept() -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    let entries = std::fs::read_dir(&folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.collect();
    (folder, names)
}

/// What `report` prints of a run that is kept.
fn report(folder: &Path, name: &str, option: &str) -> String {
    let mut command = weir_bench(&["report", name, option]);
    let output = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {option}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_experiment_has_a_run_that_is_kept() {
    let listed = weir_bench(&["list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let experiments = listed["experiments"].as_array().unwrap().iter();
    let mut experiments: Vec<&str> = experiments
        .map(|experiment| experiment["name"].as_str().unwrap())
        .collect();
    let (_, mut names) = kept();
    experiments.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, experiments);
}

#[test]
fn pages_and_tables_of_kept_runs_are_equal_to_the_byte() {
    let (folder, names) = kept();
    for name in names {
        for (option, file) in [("--markdown", "page.md"), ("--latex", "table.tex")] {
            let written = report(&folder, &name, option);
            let expected = std::fs::read_to_string(folder.join(&name).join(file)).unwrap();
            for (line, (is, was)) in written.lines().zip(expected.lines()).enumerate() {
                assert_eq!(is, was, "{name}/{file}, line {}", line + 1);
            }
            assert_eq!(written.len(), expected.len(), "{name}/{file}");
        }
    }
}

#[test]
fn goals_and_claims_of_kept_runs_are_judged_as_they_were() {
    let (folder, names) = kept();
    let mut judged = 0;
    for name in names {
        let was = std::fs::read(folder.join(&name).join("run.json")).unwrap();
        let was: Value = serde_json::from_slice(&was).unwrap();
        let is: Value = serde_json::from_str(&report(&folder, &name, "--json")).unwrap();
        for verdicts in ["goals", "claims"] {
            let (is, was) = (is[verdicts].as_array(), was[verdicts].as_array());
            assert_eq!(is, was, "{name}: {verdicts}");
            judged += was.map_or(0, Vec::len);
        }
    }
    assert!(judged > 100, "{judged}");
}
