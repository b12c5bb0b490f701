//! What a log promises while its disk behaves, and when the disk is full, fails, rots or is slow.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use support::{append, numbers, open, options, read, record};
use weir_log::{Disk, DiskLog, OpenFault, Options, SimDisk, mark_restored};
use weir_model::{Cursor, Time};
use weir_storage::{Gap, GapReason, Kind, Log, LogFault, Record, Resume};

#[test]
fn what_was_appended_is_read_at_once_and_after_a_restart() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    assert_eq!(
        (log.head(), log.tail()),
        (Cursor::new(1, 0), Cursor::new(1, 0))
    );
    for number in 1..=500 {
        assert_eq!(append(&log, number), Ok(Cursor::new(1, number)));
    }
    assert_eq!(numbers(&log), (1..=500).collect::<Vec<_>>());
    log.close().unwrap();
    assert_eq!(append(&log, 501), Err(LogFault::Closed));
    drop(log);
    let log = open(&disk).unwrap();
    assert!(log.recovery().clean);
    assert_eq!(append(&log, 501), Ok(Cursor::new(1, 501)));
    for from in [0, 1, 250, 499, 500, 501] {
        let seen = read(&log, Cursor::new(1, from));
        assert!(
            seen.iter()
                .map(|(_cursor, number)| *number)
                .eq(from + 1..=501)
        );
    }
}

#[test]
fn a_reader_follows_records_from_memory_to_files_and_back() {
    let log = open(&SimDisk::new()).unwrap();
    let mut reader = log.read(Cursor::START);
    let mut expected = 1;
    for round in 1..=40_u64 {
        let mut last = Cursor::START;
        for number in (round - 1) * 10 + 1..=round * 10 {
            last = append(&log, number).unwrap();
        }
        if round % 3 == 0 {
            log.wait_committed(last).unwrap();
        }
        if round % 2 == 0 {
            while let Some((cursor, _record)) = reader.next().unwrap() {
                assert_eq!(cursor.sequence(), expected);
                expected += 1;
            }
            assert_eq!(expected, round * 10 + 1);
        }
    }
}

#[test]
fn many_waiters_share_a_sync() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    disk.hold_syncs(true);
    let cursors: Vec<_> = (1..=100)
        .map(|number| append(&log, number).unwrap())
        .collect();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(
        cursors
            .iter()
            .all(|&cursor| log.poll_committed(cursor, &mut cx).is_pending())
    );
    assert_eq!(log.committed(), Cursor::new(1, 0));
    let before = disk.syncs();
    disk.hold_syncs(false);
    log.wait_committed(cursors[99]).unwrap();
    assert!(
        cursors
            .iter()
            .all(|&cursor| log.poll_committed(cursor, &mut cx) == Poll::Ready(Ok(())))
    );
    assert!(
        disk.syncs() - before < 20,
        "{} syncs",
        disk.syncs() - before
    );
}

#[test]
fn a_slow_disk_pushes_back_before_memory_is_full() {
    let disk = SimDisk::new();
    let options = Options {
        pending_bytes_max: 1000,
        ..options()
    };
    let log = DiskLog::open(Arc::new(disk.clone()), options).unwrap();
    disk.hold_syncs(true);
    let refused = (1..1000).find_map(|number| append(&log, number).err());
    assert_eq!(refused, Some(LogFault::Busy));
    disk.hold_syncs(false);
    log.wait_committed(log.head()).unwrap();
    assert!(append(&log, 1).is_ok());
}

#[test]
fn a_full_disk_refuses_and_goes_on_once_there_is_room() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    disk.set_capacity(Some(10_000));
    let mut acknowledged = 0;
    let fault = (1..).find_map(|number| {
        let waited = append(&log, number).and_then(|cursor| log.wait_committed(cursor));
        acknowledged += u64::from(waited.is_ok());
        waited.err()
    });
    assert!(matches!(fault, Some(LogFault::Full(_))), "{fault:?}");
    assert!(log.trouble().is_some());
    assert!(matches!(append(&log, 0), Err(LogFault::Full(_))));
    let waiting = log.head();
    assert_eq!(waiting.sequence(), acknowledged + 1);
    disk.set_capacity(None);
    let next = loop {
        match append(&log, waiting.sequence() + 1) {
            Ok(cursor) => break cursor,
            Err(LogFault::Full(_)) => std::thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    };
    log.wait_committed(next).unwrap();
    assert_eq!(numbers(&log), (1..=next.sequence()).collect::<Vec<_>>());
    log.close().unwrap();
    drop(log);
    assert_eq!(numbers(&open(&disk).unwrap()).len() as u64, next.sequence());
}

#[test]
fn a_failed_sync_ends_the_right_to_acknowledge() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    log.wait_committed(append(&log, 1).unwrap()).unwrap();
    disk.fail_next_sync();
    let lost = append(&log, 2).unwrap();
    assert!(matches!(log.wait_committed(lost), Err(LogFault::Failed(_))));
    assert!(matches!(append(&log, 3), Err(LogFault::Failed(_))));
    assert!(log.wait_committed(Cursor::new(1, 1)).is_ok());
    assert!(matches!(log.close(), Err(LogFault::Failed(_))));
    drop(log);
    disk.crash(1);
    let log = open(&disk).unwrap();
    assert_eq!(log.head(), Cursor::new(2, 1));
    let gap = Gap {
        reason: GapReason::Rollback,
        count: Some(1),
    };
    assert_eq!(log.resume(lost), Resume::Gap(gap, Cursor::new(2, 1)));
}

#[test]
fn a_second_gateway_is_told_that_the_first_runs() {
    let disk = SimDisk::new();
    let first = open(&disk).unwrap();
    let second = open(&disk).err().unwrap();
    assert!(matches!(second, OpenFault::Locked { .. }), "{second}");
    drop(first);
    assert!(open(&disk).is_ok());
}

#[test]
fn a_restored_copy_takes_no_later_cursor_for_its_own() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    append(&log, 1).unwrap();
    log.close().unwrap();
    drop(log);
    mark_restored(&disk).unwrap();
    let log = open(&disk).unwrap();
    assert!(log.head().epoch() > 200);
    assert_eq!(log.resume(Cursor::new(1, 1)), Resume::From(log.head()));
    let foreign = Gap {
        reason: GapReason::Foreign,
        count: None,
    };
    assert_eq!(
        log.resume(Cursor::new(2, 1)),
        Resume::Gap(foreign, log.head())
    );
}

#[test]
fn rot_in_an_old_segment_is_told_and_read_past() {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    for number in 1..=100 {
        log.wait_committed(append(&log, number).unwrap()).unwrap();
    }
    log.close().unwrap();
    drop(log);
    disk.rot("0001-000000000001.log", 1000);
    let log = open(&disk).unwrap();
    let mut reader = log.read(Cursor::START);
    let (mut seen, mut faults) = (Vec::new(), Vec::new());
    loop {
        match reader.next() {
            Ok(Some((cursor, _record))) => seen.push(cursor.sequence()),
            Ok(None) => break,
            Err(fault) => faults.push(fault.to_string()),
        }
    }
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0].contains("0001-000000000001.log is damaged at byte "),
        "{}",
        faults[0]
    );
    assert_eq!(seen.len(), 99, "one record was hit: {seen:?}");
    assert!(seen.is_sorted() && seen.last() == Some(&100));
    assert_eq!(log.status().holes, 1);
}

/// Everything a reader gives: sequences, and how often it told damage.
fn read_past_damage(log: &DiskLog) -> (Vec<u64>, usize) {
    let mut reader = log.read(Cursor::START);
    let (mut seen, mut told) = (Vec::new(), 0);
    loop {
        match reader.next() {
            Ok(Some((cursor, _record))) => seen.push(cursor.sequence()),
            Ok(None) => return (seen, told),
            Err(LogFault::Damaged(_)) => told += 1,
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// A log of 100 records in several segments that was closed, its disk, and the segments' names.
fn closed() -> (SimDisk, Vec<String>) {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    for number in 1..=100 {
        log.wait_committed(append(&log, number).unwrap()).unwrap();
    }
    log.close().unwrap();
    let mut names = disk.list().unwrap();
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    assert!(names.len() > 3);
    (disk, names)
}

#[test]
fn an_old_segment_without_its_header_is_read_all_the_same() {
    let (disk, names) = closed();
    disk.rot(&names[1], 3);
    let log = open(&disk).unwrap();
    assert_eq!(read_past_damage(&log), ((1..=100).collect(), 0));
}

#[test]
fn an_old_segment_that_is_gone_is_a_hole_that_is_told() {
    let (disk, names) = closed();
    disk.remove(&names[1]).unwrap();
    let log = open(&disk).unwrap();
    let (seen, told) = read_past_damage(&log);
    assert!(
        seen.len() < 100 && seen.is_sorted() && told == 1,
        "{told}: {seen:?}"
    );
}

#[test]
fn an_old_segment_that_is_cut_is_a_hole_that_is_told() {
    let (disk, names) = closed();
    let file = disk.open(&names[1]).unwrap();
    file.set_len(file.len().unwrap() - 3).unwrap();
    let log = open(&disk).unwrap();
    let (seen, told) = read_past_damage(&log);
    assert_eq!((seen.len(), told), (99, 1));
}

#[test]
fn retention_keeps_what_can_be_read_of_a_damaged_segment() {
    let options = Options {
        retention_bytes: 8192,
        ..options()
    };
    let (disk, log) = aged(options.clone());
    log.close().unwrap();
    drop(log);
    let mut names = disk.list().unwrap();
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    disk.rot(&names[0], 40);
    let log = DiskLog::open(Arc::new(disk.clone()), options).unwrap();
    log.release(log.head());
    let more = record(Kind::Opaque, "x", b"more");
    for _ in 0..1000 {
        log.wait_committed(log.append(&more).unwrap()).unwrap();
    }
    assert_eq!(log.status().retention_fault, None);
    let aside = format!("{}.000001-damage.damaged", names[0]);
    let kept = disk.list().unwrap();
    assert!(
        kept.contains(&aside) && !kept.contains(&names[0]),
        "{kept:?}"
    );
}

/// Appends 400 records, an hour apart, of which the third is keyed, and releases the first 350.
fn aged(options: Options) -> (SimDisk, DiskLog) {
    let disk = SimDisk::new();
    let log = DiskLog::open(Arc::new(disk.clone()), options).unwrap();
    for number in 1..=400_i64 {
        let arrival = Time::from_millis(number * 3_600_000);
        let keyed = [
            (Kind::Change, "a"),
            (Kind::Retained, "b"),
            (Kind::Consumer, "c"),
        ];
        let (kind, topic) = keyed
            .get(number as usize)
            .copied()
            .unwrap_or((Kind::Opaque, "x"));
        let text = number.to_string();
        let body = if number == 2 { "" } else { text.as_str() };
        let made = Record {
            arrival,
            ..record(kind, topic, body.as_bytes())
        };
        log.wait_committed(log.append(&made).unwrap()).unwrap();
    }
    log.release(Cursor::new(1, 350));
    (disk, log)
}

fn snapshot(log: &DiskLog) -> (Vec<(Kind, String)>, Cursor) {
    let mut seen = Vec::new();
    let cursor = log.snapshot(&mut |record| seen.push((record.kind, record.topic.to_owned())));
    (seen, cursor.unwrap())
}

#[test]
fn retention_drops_only_what_is_released_and_not_keyed() {
    let (disk, log) = aged(Options {
        retention_bytes: 0,
        ..options()
    });
    log.close().unwrap();
    let tail = log.tail();
    assert!((200..=350).contains(&tail.sequence()), "{tail}");
    assert_eq!(
        log.read(Cursor::START).next().unwrap().unwrap().0,
        tail.next()
    );
    let gap = Gap {
        reason: GapReason::Retention,
        count: Some(tail.sequence() - 5),
    };
    assert_eq!(log.resume(Cursor::new(1, 5)), Resume::Gap(gap, tail));
    drop(log);
    let log = DiskLog::open(Arc::new(disk), options()).unwrap();
    assert_eq!(
        snapshot(&log),
        (vec![(Kind::Retained, "b".into())], Cursor::new(1, 400))
    );
}

#[test]
fn retention_by_age_keeps_what_is_young() {
    let (_disk, log) = aged(Options {
        retention_age: Duration::from_secs(200 * 3600),
        ..options()
    });
    log.close().unwrap();
    let oldest = log.tail().sequence();
    assert!((100..200).contains(&oldest), "{oldest}");
    let noon = Time::from_millis(300 * 3_600_000).nanos();
    let found = log.seek(noon).sequence();
    assert!((250..300).contains(&found), "{found}");
    assert_eq!(log.seek(0), log.tail());
}

#[test]
fn a_clock_that_ran_ahead_and_was_set_right_ages_nothing() {
    let age = Duration::from_secs(3600);
    let options = Options {
        retention_age: age,
        ..options()
    };
    let log = DiskLog::open(Arc::new(SimDisk::new()), options).unwrap();
    let body = [7; 900];
    let mut put = |seconds: i64| {
        let arrival = Time::from_millis(seconds * 1000);
        let record = Record {
            arrival,
            ..record(Kind::Opaque, "x", &body)
        };
        let cursor = log.append(&record).unwrap();
        log.wait_committed(cursor).unwrap();
        cursor
    };
    let seconds = (0..8).chain([1 << 30]).chain(8..20);
    let last = seconds.map(&mut put).last().unwrap();
    log.release(last);
    log.close().unwrap();
    assert_eq!(log.tail(), Cursor::new(1, 0));
}

const DAY: i64 = 86_400;

/// Runs of one log that keeps seven days: each gives the records by the clock that it is given, and says the tail.
fn aging() -> impl Fn(&mut dyn Iterator<Item = i64>) -> Cursor {
    let options = || Options {
        retention_age: Duration::from_secs(7 * 86_400),
        segment_bytes: 4096,
        ..options()
    };
    let disk = Arc::new(SimDisk::new());
    let body = [7; 900];
    move |seconds| {
        let log = DiskLog::open(disk.clone(), options()).unwrap();
        log.release(log.head());
        for second in seconds {
            let arrival = Time::from_millis(second * 1000);
            let record = Record {
                arrival,
                ..record(Kind::Opaque, "x", &body)
            };
            let cursor = log.append(&record).unwrap();
            log.wait_committed(cursor).unwrap();
            log.release(cursor);
        }
        log.close().unwrap();
        log.tail()
    }
}

#[test]
fn a_run_by_a_clock_that_is_ahead_drops_nothing() {
    let run = aging();
    assert_eq!(run(&mut (0..20)), Cursor::new(1, 0));
    // Wrong from its start, and set while it runs.
    let ahead = 400 * DAY;
    assert_eq!(run(&mut (ahead..ahead + 20)).sequence(), 0, "ahead");
    assert_eq!(run(&mut (DAY..DAY + 20)).sequence(), 0, "right again");
    let jumps = (DAY + 20..DAY + 30)
        .chain(ahead..ahead + 20)
        .chain(DAY + 30..DAY + 40);
    assert_eq!(run(&mut { jumps }).sequence(), 0, "there and back");
    let days = (0..30 * 24).map(|hour| 2 * DAY + hour * 3600);
    let kept = 7 * 24 + 24;
    let last = 20 * 3 + 40 + 30 * 24;
    let tail = run(&mut { days }).sequence();
    assert!(
        (last - kept..last).contains(&tail),
        "time that has passed ages: {tail}"
    );
}

#[test]
fn a_run_by_a_clock_that_is_behind_drops_nothing() {
    let run = aging();
    let begun = 30 * DAY;
    assert_eq!(run(&mut (begun..begun + 20)), Cursor::new(1, 0));
    assert_eq!(run(&mut (0..20)).sequence(), 0, "behind");
    let set_right = (20..30).chain(begun + 100..begun + 140);
    assert_eq!(run(&mut { set_right }).sequence(), 0, "right again");
    let after = begun + 200..begun + 240;
    assert_eq!(run(&mut { after }).sequence(), 0, "the next");
}

#[test]
fn many_appenders_and_readers_agree_on_one_order() {
    const EACH: u64 = 3000;
    let options = Options {
        retention_bytes: 16 << 10,
        ..options()
    };
    let log = DiskLog::open(Arc::new(SimDisk::new()), options).unwrap();
    let all = 4 * EACH;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..EACH {
                    let cursor = append(&log, number).unwrap();
                    if number % 100 == 0 {
                        log.wait_committed(cursor).unwrap();
                        log.release(Cursor::new(1, cursor.sequence() / 2));
                    }
                }
            });
            scope.spawn(|| {
                let (mut reader, mut last, mut seen) = (log.read(Cursor::START), 0, 0);
                while last < all {
                    match reader.next().unwrap() {
                        Some((cursor, _record)) => {
                            assert!(cursor.sequence() > last);
                            (last, seen) = (cursor.sequence(), seen + 1);
                        }
                        None => std::thread::yield_now(),
                    }
                }
                // What a reader did not see was dropped before it came there.
                assert!(seen == all || log.tail().sequence() > 0);
            });
        }
    });
    log.wait_committed(log.head()).unwrap();
    assert_eq!(log.head().sequence(), all);
    assert!(log.tail().sequence() > all / 4);
}

#[test]
fn a_cursor_of_another_log_hides_nothing() {
    let log = open(&SimDisk::new()).unwrap();
    let mut reader = log.read(Cursor::new(1, 1000));
    append(&log, 1).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().0, Cursor::new(1, 1));
}

#[test]
fn an_over_long_record_is_refused_and_leaves_nothing() {
    let log = open(&SimDisk::new()).unwrap();
    let body = vec![0; weir_log::limits::RECORD_BYTES_MAX + 1];
    let limit = weir_log::limits::RECORD_BYTES_MAX;
    let refused = log.append(&record(Kind::Opaque, "x", &body));
    assert_eq!(refused, Err(LogFault::OverLimit { limit }));
    assert_eq!(log.head(), Cursor::new(1, 0));
    assert_eq!(append(&log, 1), Ok(Cursor::new(1, 1)));
    assert_eq!(numbers(&log), [1]);
}
