//! A real file system that is full: the error a person sees, and that nothing acknowledged is lost.
//!
//! Mounts a small tmpfs, which needs the right to mount; without it the test is skipped, aloud.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use support::{append, numbers};
use weir_log::{DiskLog, Options, RealDisk};
use weir_storage::{Log, LogFault};

/// A file system of one megabyte, until dropped.
struct Small(PathBuf);

impl Small {
    fn mount() -> Option<Self> {
        let path = std::env::temp_dir().join(format!("weir-log-full-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&path);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Self(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _best_effort = Command::new("umount").arg(&self.0).status();
        let _best_effort = std::fs::remove_dir(&self.0);
    }
}

fn open(dir: &Path) -> DiskLog {
    let options = Options {
        segment_bytes: 64 << 10,
        ..support::options()
    };
    DiskLog::open(Arc::new(RealDisk::new(dir).unwrap()), options).unwrap()
}

#[test]
fn a_full_file_system_is_told_and_the_log_goes_on_later() {
    let Some(small) = Small::mount() else {
        eprintln!("SKIPPED a_full_file_system_is_told: no right to mount a tmpfs");
        return;
    };
    let ballast = small.0.join("ballast");
    std::fs::write(&ballast, vec![0; 300 << 10]).unwrap();
    let log = open(&small.0.join("log"));
    let mut acknowledged = 0;
    let fault = (1..).find_map(|number| {
        let waited = append(&log, number).and_then(|cursor| log.wait_committed(cursor));
        acknowledged += u64::from(waited.is_ok());
        waited.err()
    });
    let Some(LogFault::Full(cause)) = fault else {
        panic!("{fault:?}")
    };
    assert!(cause.contains("No space left on device"), "{cause}");
    assert!(acknowledged > 1000);
    std::fs::remove_file(&ballast).unwrap();
    let next = log.head().sequence() + 1;
    let cursor = loop {
        match append(&log, next) {
            Ok(cursor) => break cursor,
            Err(LogFault::Full(_)) => std::thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    };
    log.wait_committed(cursor).unwrap();
    drop(log);
    let log = open(&small.0.join("log"));
    assert!(numbers(&log).into_iter().eq(1..=next));
}
