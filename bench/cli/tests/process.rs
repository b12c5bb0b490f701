//! `weir-bench` as a process.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// `weir-bench` with these arguments.
pub(crate) fn weir_bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir-bench"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// A folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    for arguments in [&["list"][..], &["list", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = weir_bench(arguments);
        command.stdout(writer).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}
