//! What the log's tests share: a small log on a simulated disk, and reading it back.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;
use weir_log::{DiskLog, OpenFault, Options, SimDisk};
use weir_model::{Cursor, Time};
use weir_storage::{Kind, Log, LogFault, Record};

pub fn options() -> Options {
    Options {
        segment_bytes: 4096,
        retention_bytes: u64::MAX,
        retention_age: Duration::from_secs(1 << 40),
        pending_bytes_max: 1 << 20,
    }
}

pub fn open(disk: &SimDisk) -> Result<DiskLog, OpenFault> {
    DiskLog::open(Arc::new(disk.clone()), options())
}

pub fn record<'a>(kind: Kind, topic: &'a str, body: &'a [u8]) -> Record<'a> {
    let arrival = Time::from_nanos(0);
    Record {
        kind,
        arrival,
        topic,
        media: "json",
        key: b"",
        origin: "",
        attributes: &[],
        body,
    }
}

/// An observation that says its number, with a body that is longer for some numbers.
pub fn append(log: &DiskLog, number: u64) -> Result<Cursor, LogFault> {
    let body = body(number);
    log.append(&record(Kind::Observations, "a/b", &body))
}

pub fn body(number: u64) -> Vec<u8> {
    let mut body = number.to_le_bytes().to_vec();
    body.resize(8 + (number as usize * 37) % 400, number as u8);
    body
}

/// Cursors and numbers of the observations after `from`.
pub fn read(log: &DiskLog, from: Cursor) -> Vec<(Cursor, u64)> {
    let mut reader = log.read(from);
    let mut seen = Vec::new();
    while let Some((cursor, record)) = reader.next().unwrap() {
        let number = u64::from_le_bytes(*record.body.first_chunk().unwrap());
        assert_eq!(record.body, body(number));
        seen.push((cursor, number));
    }
    seen
}

pub fn numbers(log: &DiskLog) -> Vec<u64> {
    read(log, Cursor::START)
        .into_iter()
        .map(|(_cursor, number)| number)
        .collect()
}
