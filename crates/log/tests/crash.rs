//! The machine goes down at every operation of the disk in turn: nothing committed is lost, nothing
//! is there twice, and cursors say the truth about what was undone.
#![allow(clippy::unwrap_used)]

mod support;

use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{append, numbers, open, read, record};
use weir_log::{DiskLog, SimDisk};
use weir_model::Cursor;
use weir_storage::{GapReason, Kind, Log, Resume};

/// Appends until the disk dies or enough is there; says what was committed and what was seen live.
fn run_until_down(log: &DiskLog, from: u64, to: u64) -> (u64, Vec<(Cursor, u64)>) {
    let (mut committed, mut live) = (from - 1, Vec::new());
    for number in from..=to {
        let Ok(cursor) = append(log, number) else {
            break;
        };
        live.push((cursor, number));
        if number % 3 == 0 {
            match log.wait_committed(cursor) {
                Ok(()) => committed = number,
                Err(_down) => break,
            }
        }
    }
    (committed, live)
}

#[test]
fn nothing_committed_is_lost_whenever_the_machine_goes_down() {
    for seed in 0..120 {
        let disk = SimDisk::new();
        disk.die_at(seed);
        let (mut next, mut known) = (1, BTreeMap::new());
        for life in 0..4 {
            let (mut committed, mut live) = (0, Vec::new());
            if let Ok(log) = open(&disk) {
                let found = numbers(&log);
                next = found.last().map_or(1, |last| last + 1);
                assert!(found.iter().copied().eq(1..next), "seed {seed}: {found:?}");
                (committed, live) = run_until_down(&log, next, next + 60);
                if live.is_empty() {
                    committed = next - 1;
                }
            }
            disk.crash(seed * 31 + life);
            let log = open(&disk).unwrap();
            assert_eq!(log.damage(), 0, "seed {seed}: {:?}", log.recovery());
            let found = read(&log, Cursor::START);
            assert!(
                found.len() as u64 >= committed,
                "seed {seed}, life {life}: {} of {committed}, {:?} {:?}",
                found.len(),
                log.recovery(),
                weir_log::Disk::list(&disk)
            );
            for (cursor, number) in &live {
                let kept = found.iter().any(|(_cursor, kept)| kept == number);
                assert_eq!(says_kept(&log, *cursor), kept, "seed {seed}: {cursor}");
            }
            for (cursor, number) in found {
                assert_eq!(
                    *known.entry(number).or_insert(cursor),
                    cursor,
                    "seed {seed}"
                );
            }
            let end = log.head().sequence();
            known.retain(|&number, _cursor| number <= end);
            next = end + 1;
            drop(log);
            disk.crash(seed);
            disk.die_at(disk.operations() + seed * 7 % 90);
        }
        assert!(next > 1 || seed < 40, "seed {seed}: never came far enough");
    }
}

/// What a client that saw this record live is told.
fn says_kept(log: &DiskLog, cursor: Cursor) -> bool {
    match log.resume(cursor) {
        Resume::From(from) => {
            assert_eq!(from.sequence(), cursor.sequence());
            true
        }
        Resume::Gap(gap, _on) => {
            assert_eq!(gap.reason, GapReason::Rollback);
            false
        }
    }
}

#[test]
fn keyed_records_outlive_crashes_in_the_middle_of_folding() {
    for seed in 0..60 {
        let disk = SimDisk::new();
        let options = weir_log::Options {
            retention_bytes: 0,
            ..support::options()
        };
        let open = || DiskLog::open(std::sync::Arc::new(disk.clone()), options.clone());
        let log = open().unwrap();
        let keyed = log.append(&record(Kind::Change, "kept", b"{}")).unwrap();
        log.wait_committed(keyed).unwrap();
        disk.die_at(disk.operations() + 20 + seed);
        for number in 1.. {
            let Ok(cursor) = append(&log, number) else {
                break;
            };
            if log.wait_committed(cursor).is_err() {
                break;
            }
            log.release(cursor);
        }
        drop(log);
        disk.crash(seed);
        let log = open().unwrap();
        let mut topics = Vec::new();
        log.snapshot(&mut |record| topics.push(record.topic.to_owned()))
            .unwrap();
        assert_eq!(topics, ["kept"], "seed {seed}");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Append(u8),
    Commit,
    Restart,
    Crash(u64),
    Read(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1_u8..30).prop_map(Step::Append),
        3 => Just(Step::Commit),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::Crash),
        3 => (0_u64..300).prop_map(Step::Read),
    ];
    proptest::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_is_a_list_that_a_crash_may_shorten(steps in steps()) {
        let disk = SimDisk::new();
        let mut log = open(&disk).unwrap();
        let (mut count, mut committed) = (0_u64, 0_u64);
        for step in steps {
            match step {
                Step::Append(more) => for _ in 0..more {
                    count += 1;
                    let cursor = append(&log, count).unwrap();
                    prop_assert_eq!(cursor.sequence(), count);
                },
                Step::Commit => {
                    log.wait_committed(log.head()).unwrap();
                    committed = count;
                }
                Step::Restart => {
                    log.close().unwrap();
                    drop(log);
                    let epoch = open(&disk).unwrap().head().epoch();
                    log = open(&disk).unwrap();
                    prop_assert_eq!(log.head(), Cursor::new(epoch + 1, count));
                    committed = count;
                }
                Step::Crash(seed) => {
                    disk.die_at(0);
                    drop(log);
                    disk.crash(seed);
                    log = open(&disk).unwrap();
                    let left = log.head().sequence();
                    prop_assert!((committed..=count).contains(&left));
                    (count, committed) = (left, left);
                }
                Step::Read(from) => {
                    let seen = read(&log, Cursor::new(1, from));
                    prop_assert!(seen.iter().map(|(_cursor, number)| *number).eq(from + 1..=count));
                    prop_assert!(seen.iter().map(|(cursor, _number)| *cursor).is_sorted());
                }
            }
        }
    }
}

#[test]
fn what_a_killed_process_left_is_synced_before_it_counts() {
    let large = vec![7; 10_000];
    for (within, seed) in (0..10).flat_map(|within| (0..8).map(move |seed| (within, seed))) {
        let disk = SimDisk::new();
        let log = open(&disk).unwrap();
        disk.die_at(disk.operations() + within);
        if let Ok(cursor) = log.append(&record(Kind::Opaque, "x", &large)) {
            let _down = log.wait_committed(cursor);
        }
        disk.kill();
        drop(log);
        let log = open(&disk).unwrap();
        let committed = log.committed().sequence();
        disk.crash(seed);
        drop(log);
        let kept = open(&disk).unwrap().head().sequence();
        assert!(kept >= committed, "{within}, {seed}: {kept} of {committed}");
    }
}

#[test]
fn what_a_failed_sync_left_is_on_disk_before_it_counts() {
    for seed in 0..8 {
        let disk = SimDisk::new();
        let log = open(&disk).unwrap();
        let first = append(&log, 1).unwrap();
        log.wait_committed(first).unwrap();
        disk.fail_next_sync();
        let cursor = append(&log, 2).unwrap();
        assert!(log.wait_committed(cursor).is_err());
        disk.kill();
        drop(log);
        let log = open(&disk).unwrap();
        let committed = log.committed().sequence();
        assert_eq!(committed, 2, "the system still shows what it did not write");
        disk.crash(seed);
        drop(log);
        assert_eq!(open(&disk).unwrap().head().sequence(), committed, "{seed}");
    }
}
