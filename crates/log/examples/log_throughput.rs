//! Prints what the log does on this disk: fdatasyncs, appends with 1 and 64 waiters, replay.
//!
//! `cargo run -p weir-log --example log_throughput [DIRECTORY]`
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a measurement"
)]

use std::sync::Arc;
use std::time::Instant;
use weir_log::{Disk, DiskLog, Options, RealDisk};
use weir_model::{Cursor, Time};
use weir_storage::{Kind, Log, LogReader, Record};

const RECORDS: usize = 4_000_000;
const SYNCS: usize = 5000;

fn record(body: &[u8]) -> Record<'_> {
    let (topic, media) = ("heating/substation-3/supply/temperature", "json");
    let arrival = Time::from_nanos(1);
    Record {
        kind: Kind::Observations,
        arrival,
        topic,
        media,
        key: b"",
        origin: "",
        attributes: &[],
        body,
    }
}

fn main() {
    let dir = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "target/log-throughput".into());
    let _none_before = std::fs::remove_dir_all(&dir);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new(&dir).unwrap());
    syncs(&*disk);
    let log = Arc::new(DiskLog::open(Arc::clone(&disk), Options::default()).unwrap());
    for (waiters, each) in [(1, 5000), (64, 2000)] {
        waiting(&log, waiters, each);
    }
    stream(&log);
    replay(&*log, "replay");
    log.close().unwrap();
    drop(log);
    let begun = Instant::now();
    let log = DiskLog::open(disk, Options::default()).unwrap();
    println!(
        "open after a clean stop: {:.1} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let begun = Instant::now();
    log.snapshot(&mut |_record| {}).unwrap();
    println!("snapshot: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    replay(&log, "replay after a start");
    drop(log);
    std::fs::remove_dir_all(&dir).unwrap();
}

fn syncs(disk: &dyn Disk) {
    let file = disk.create("probe").unwrap();
    file.preallocate(64 << 20).unwrap();
    file.sync_data().unwrap();
    let begun = Instant::now();
    for index in 0..SYNCS {
        file.write_all_at(&[1; 200], index as u64 * 200).unwrap();
        file.sync_data().unwrap();
    }
    let rate = SYNCS as f64 / begun.elapsed().as_secs_f64();
    println!("the disk: {rate:.0} fdatasyncs/s of 200 bytes each");
    disk.remove("probe").unwrap();
}

fn waiting(log: &Arc<DiskLog>, waiters: usize, each: usize) {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..waiters {
            scope.spawn(|| {
                for _ in 0..each {
                    let cursor = log.append(&record(&[b'x'; 100])).unwrap();
                    log.wait_committed(cursor).unwrap();
                }
            });
        }
    });
    let rate = (waiters * each) as f64 / begun.elapsed().as_secs_f64();
    println!("{waiters} waiting appenders: {rate:.0} committed records/s");
}

fn stream(log: &DiskLog) {
    let begun = Instant::now();
    let mut last = Cursor::START;
    for _ in 0..RECORDS {
        last = loop {
            match log.append(&record(&[b'x'; 100])) {
                Ok(cursor) => break cursor,
                Err(weir_storage::LogFault::Busy) => log.wait_committed(last).unwrap(),
                Err(fault) => panic!("{fault}"),
            }
        };
    }
    log.wait_committed(last).unwrap();
    let rate = RECORDS as f64 / begun.elapsed().as_secs_f64();
    println!("one appender that does not wait: {rate:.0} committed records/s");
}

fn replay(log: &dyn Log, name: &str) {
    let begun = Instant::now();
    let mut reader: Box<dyn LogReader> = log.read(Cursor::START);
    let mut count = 0;
    while let Some((_cursor, record)) = reader.next().unwrap() {
        count += usize::from(record.body.len() == 100);
    }
    println!(
        "{name}: {:.0} records/s",
        count as f64 / begun.elapsed().as_secs_f64()
    );
}
