//! `weir link` as a process that is killed. What a system does not allow is skipped, loudly.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

fn skip(reason: &str) {
    let line = format!("weir: link: kernel right: {}\n", reason.trim());
    eprint!("SKIPPED {line}");
    if let Ok(path) = std::env::var("WEIR_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn what_runs_behind_a_link_ends_when_weir_is_killed() {
    let mut weir = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["link", "none", "--no-check", "--far", "sleep 1000"])
        .args(["--", "sh", "-c", "sleep 1000 & echo up; sleep 1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(weir.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    if line.is_empty() {
        let mut reason = String::new();
        weir.stderr
            .take()
            .unwrap()
            .read_to_string(&mut reason)
            .unwrap();
        assert!(reason.contains("does not allow"), "{reason}");
        weir.wait().unwrap();
        return skip(&reason);
    }
    // SIGKILL, of which weir learns nothing.
    weir.kill().unwrap();
    weir.wait().unwrap();
    // The pipe is at its end when the last that holds it is gone.
    assert_eq!(out.read_line(&mut line).unwrap(), 0);
}
