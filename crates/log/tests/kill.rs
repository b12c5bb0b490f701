//! A process that appends to a real disk is killed at random moments: what it said was committed is there.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use support::{append, numbers, options};
use weir_log::{DiskLog, RealDisk};
use weir_storage::Log;

const ROUNDS: usize = 10;
const DIRECTORY: &str = "WEIR_TEST_LOG_DIRECTORY";

fn open(dir: &Path) -> DiskLog {
    DiskLog::open(Arc::new(RealDisk::new(dir).unwrap()), options()).unwrap()
}

/// The appending process: this test, run again with a directory. Alone, it has nothing to do.
#[test]
fn appends_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let log = open(Path::new(&dir));
    let mut out = std::io::stdout();
    for number in log.head().sequence() + 1.. {
        let cursor = append(&log, number).unwrap();
        if number % 4 == 0 {
            log.wait_committed(cursor).unwrap();
            writeln!(out, "committed {number}").unwrap();
            out.flush().unwrap();
        }
    }
}

#[test]
fn what_a_killed_process_acknowledged_is_there() {
    let dir = std::env::temp_dir().join(format!("weir-log-kill-{}", std::process::id()));
    let mut committed = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "appends_until_it_is_killed", "--nocapture"])
            .env(DIRECTORY, &dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let enough = committed + 40 + (round as u64 * 53) % 200;
        let mut said = |most: u64| {
            for line in lines.by_ref().map_while(Result::ok) {
                if let Some((_before, number)) = line.split_once("committed ") {
                    committed = number.parse().unwrap();
                }
                if committed >= most {
                    break;
                }
            }
        };
        said(enough);
        child.kill().unwrap();
        said(u64::MAX);
        child.wait().unwrap();
        let log = open(&dir);
        let found = numbers(&log);
        assert!(
            found.iter().copied().eq(1..=found.len() as u64),
            "round {round}"
        );
        assert!(
            found.len() as u64 >= committed,
            "round {round}: {} < {committed}",
            found.len()
        );
        assert_eq!(
            usize::from(log.head().epoch()),
            2 + 2 * round,
            "round {round}"
        );
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
