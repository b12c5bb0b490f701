//! Damage of any file of a log, after clean stops and others: what is whole is still read, what is not is told, nothing
//! that anybody may want to look at is gone, and no position is given twice.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use support::{append, open, options, record};
use weir_log::{Disk, DiskLog, Options, SimDisk};
use weir_model::Cursor;
use weir_storage::{Gap, GapReason, Kind, Log, LogFault, Resume};

/// Sequences that a reader gives, and how often it told damage.
fn read(log: &DiskLog) -> (BTreeSet<u64>, usize) {
    let mut reader = log.read(Cursor::START);
    let (mut seen, mut told) = (BTreeSet::new(), 0);
    loop {
        match reader.next() {
            Ok(Some((cursor, _record))) => assert!(seen.insert(cursor.sequence())),
            Ok(None) => return (seen, told),
            Err(LogFault::Damaged(_)) => told += 1,
            Err(fault) => panic!("{fault}"),
        }
    }
}

fn segments(disk: &SimDisk) -> Vec<String> {
    let mut names = disk.list().unwrap();
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    names
}

fn aside(disk: &SimDisk) -> usize {
    weir_disk::aside::counted(disk).unwrap().0
}

fn length(disk: &SimDisk, name: &str) -> u64 {
    disk.open(name).unwrap().len().unwrap()
}

/// A log of so many records, each in a batch of its own, that was closed or killed.
fn stopped(records: u64, is_clean: bool) -> SimDisk {
    let disk = SimDisk::new();
    let log = open(&disk).unwrap();
    for number in 1..=records {
        log.wait_committed(append(&log, number).unwrap()).unwrap();
    }
    match is_clean {
        true => log.close().unwrap(),
        false => disk.kill(),
    }
    drop(log);
    disk
}

fn flip(disk: &SimDisk, name: &str, bit: u64) {
    disk.spoil(name, |bytes| bytes[(bit / 8) as usize] ^= 1 << (bit % 8));
}

/// Opens a damaged log: all but some of so many records are read, those that are not are told, and it goes on.
fn check(disk: &SimDisk, records: u64, lost_max: usize, what: &str) -> DiskLog {
    let log = open(disk).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let (seen, told) = read(&log);
    let lost: Vec<_> = (1..=records).filter(|it| !seen.contains(it)).collect();
    assert!(lost.len() <= lost_max, "{what}: {lost:?} are lost");
    let is_told = log.damage() > 0 || log.recovery().cut_bytes > 0;
    assert!(
        lost.is_empty() || is_told,
        "{what}: {lost:?} are lost in silence"
    );
    assert!(told == 0 || log.damage() > 0, "{what}: not counted");
    let next = append(&log, records + 1).unwrap();
    log.wait_committed(next).unwrap();
    assert!(
        !seen.contains(&next.sequence()),
        "{what}: {next} is given twice"
    );
    log
}

#[test]
fn after_a_clean_stop_one_bit_takes_one_record_as_damage() {
    const RECORDS: u64 = 7;
    let whole = stopped(RECORDS, true);
    let names = segments(&whole);
    assert_eq!(names.len(), 1);
    for bit in 0..length(&whole, &names[0]) * 8 {
        let disk = whole.copied();
        flip(&disk, &names[0], bit);
        let what = format!("bit {bit}");
        let before = length(&disk, &names[0]);
        let log = check(&disk, RECORDS, 1, &what);
        assert_eq!((log.recovery().cut_bytes, aside(&disk)), (0, 0), "{what}");
        assert_eq!(
            length(&disk, &names[0]),
            before,
            "{what}: it was written to"
        );
        assert_eq!(
            log.resume(Cursor::new(1, RECORDS)),
            Resume::From(Cursor::new(1, RECORDS))
        );
        assert_eq!(log.head().sequence(), RECORDS + 1, "{what}");
        drop(log);
        // Nor is anything lost by the start after this one, which no clean stop precedes.
        let log = open(&disk).unwrap();
        assert_eq!(log.head().sequence(), RECORDS + 1, "{what}");
        assert!(read(&log).0.len() as u64 >= RECORDS, "{what}");
    }
}

#[test]
fn after_a_kill_one_bit_takes_one_record_and_is_told() {
    const RECORDS: u64 = 7;
    let whole = stopped(RECORDS, false);
    let name = &segments(&whole)[0];
    // What is behind the records was taken ahead: of its bits some are enough.
    let used = 32
        + (1..=RECORDS)
            .map(|number| support::body(number).len() as u64 + 50)
            .sum::<u64>();
    let rest = (used * 8..length(&whole, name) * 8).step_by(997);
    for bit in (0..used * 8).chain(rest) {
        let disk = whole.copied();
        flip(&disk, name, bit);
        let log = check(&disk, RECORDS, 1, &format!("bit {bit}"));
        let told = log.damage() > 0;
        assert!(
            told || log.recovery().cut_bytes > 0,
            "bit {bit}: nothing is said"
        );
        assert!(told || aside(&disk) == 1, "bit {bit}: cut and not kept");
    }
}

#[test]
fn one_bit_of_a_small_file_takes_nothing_and_is_told() {
    for (name, is_clean) in [("clean", true), ("epochs", true), ("epochs", false)] {
        let whole = stopped(30, is_clean);
        for bit in 0..length(&whole, name) * 8 {
            let disk = whole.copied();
            flip(&disk, name, bit);
            let what = format!("{name}, bit {bit}");
            let log = check(&disk, 30, 0, &what);
            assert_eq!(
                (log.damage(), aside(&disk)),
                (1, 1),
                "{what}: nothing is said"
            );
            let resumed = log.resume(Cursor::new(1, 12));
            assert!(
                matches!(resumed, Resume::From(from) if from.sequence() == 12),
                "{what}"
            );
            assert!(log.head().epoch() > 1, "{what}: the epoch stays");
        }
    }
}

#[test]
fn a_small_file_that_is_gone_cut_or_zeros_takes_nothing() {
    type Spoil = fn(&mut Vec<u8>);
    let ways: [Spoil; 3] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.fill(0),
    ];
    for is_clean in [true, false] {
        let whole = stopped(30, is_clean);
        let names = ["clean", "epochs"].map(str::to_owned);
        for name in names.iter().filter(|name| whole.open(name).is_ok()) {
            for how in ways {
                let disk = whole.copied();
                disk.spoil(name, how);
                let log = check(&disk, 30, 0, name);
                assert_eq!((log.damage(), aside(&disk)), (1, 1), "{name}");
            }
        }
        let disk = whole.copied();
        disk.remove("epochs").unwrap();
        assert_eq!(check(&disk, 30, 0, "no epochs").damage(), 1);
    }
}

#[test]
fn where_the_epochs_are_gone_no_cursor_means_another_record() {
    let disk = stopped(5, true);
    // Starts of which there are no records take epochs, too.
    for _ in 0..4 {
        drop(open(&disk).unwrap());
        disk.kill();
    }
    let log = open(&disk).unwrap();
    append(&log, 6).unwrap();
    let given = log.head();
    log.close().unwrap();
    drop(log);
    disk.remove("epochs").unwrap();
    let log = open(&disk).unwrap();
    append(&log, 7).unwrap();
    assert!(matches!(log.resume(given), Resume::From(from) if from.sequence() == 6));
    assert!(matches!(log.resume(Cursor::new(1, 3)), Resume::From(from) if from.sequence() == 3));
    let unknown = log.resume(Cursor::new(given.epoch() + 1, 7));
    assert!(matches!(unknown, Resume::Gap(gap, _) if gap.reason == GapReason::Foreign));
}

#[test]
fn any_block_of_the_newest_segment_may_be_lost() {
    for is_clean in [true, false] {
        let whole = stopped(60, is_clean);
        let name = segments(&whole).pop().unwrap();
        let end = match is_clean {
            true => length(&whole, &name),
            false => 32 + 600,
        };
        for block in 0..end / 64 {
            let disk = whole.copied();
            let range = (block * 64) as usize..(block * 64 + 64) as usize;
            disk.spoil(&name, |bytes| {
                let end = range.end.min(bytes.len());
                bytes[range.start..end].fill(0xa5);
            });
            check(&disk, 60, 5, &format!("block {block}, clean {is_clean}"));
        }
    }
}

#[test]
fn a_newest_segment_that_is_gone_is_told_and_keeps_its_places() {
    type Spoil = fn(&mut Vec<u8>);
    let ways: [Spoil; 4] = [
        |bytes| bytes.fill(0),
        |bytes| bytes.truncate(bytes.len() - 5),
        |bytes| bytes.truncate(20),
        |bytes| bytes.clear(),
    ];
    let whole = stopped(60, true);
    let name = segments(&whole).pop().unwrap();
    let disks = ways.map(|how| {
        let disk = whole.copied();
        disk.spoil(&name, how);
        disk
    });
    let gone = whole.copied();
    gone.remove(&name).unwrap();
    for (number, disk) in disks.iter().chain([&gone]).enumerate() {
        let log = check(disk, 60, 60, &format!("way {number}"));
        assert!(log.damage() > 0 && !log.recovery().clean, "way {number}");
        assert_eq!(log.head().sequence(), 61, "way {number}");
        let last = Cursor::new(1, 60);
        assert!(matches!(log.resume(last), Resume::From(from) if from.sequence() == 60));
    }
}

#[test]
fn a_kill_amid_a_batch_leaves_it_aside_and_is_no_damage() {
    let (mut torn, mut bytes) = (0, 0);
    for within in 0..8 {
        let disk = stopped(3, false);
        let log = open(&disk).unwrap();
        disk.die_at(disk.operations() + within);
        let mut last = log.head();
        for number in 4..=9 {
            last = append(&log, number).unwrap();
        }
        let _down = log.wait_committed(last);
        disk.kill();
        drop(log);
        let log = open(&disk).unwrap();
        assert_eq!(log.damage(), 0, "{:?}", log.recovery());
        let head = log.head().sequence();
        assert!(read(&log).0.into_iter().eq(1..=head));
        if log.recovery().cut_bytes > 0 {
            torn += 1;
            bytes += weir_disk::aside::counted(&disk).unwrap().1;
        }
    }
    assert!(
        torn > 0 && bytes > 0 && bytes < 2000 * torn,
        "{torn}: {bytes}"
    );
}

/// Six records in one batch behind three others, killed.
fn in_one_batch() -> SimDisk {
    let disk = stopped(3, false);
    let log = open(&disk).unwrap();
    disk.hold_syncs(true);
    append(&log, 4).unwrap();
    log.commit();
    for number in 5..=10 {
        append(&log, number).unwrap();
    }
    disk.hold_syncs(false);
    log.wait_committed(log.head()).unwrap();
    disk.kill();
    drop(log);
    disk
}

#[test]
fn a_sector_never_written_undoes_the_rest_of_the_last_batch() {
    let whole = in_one_batch();
    let name = segments(&whole).pop().unwrap();
    let end = 32
        + (1..=10)
            .map(|number| support::body(number).len() as u64 + 46)
            .sum::<u64>();
    for bit in (0..end * 8).step_by(3) {
        let disk = whole.copied();
        flip(&disk, &name, bit);
        check(&disk, 10, 1, &format!("bit {bit}"));
    }
    let sectors = 1..end / 512;
    let undone = sectors.filter(|sector| {
        let disk = whole.copied();
        let at = (sector * 512) as usize;
        disk.spoil(&name, |bytes| bytes[at..at + 512].fill(0));
        let log = open(&disk).unwrap();
        let (seen, _) = read(&log);
        // Records of one batch go together; the ones before had reached the disk.
        let whole = 3.min(log.head().sequence());
        assert!(
            seen.range(..=whole).count() >= 1,
            "sector {sector}: {seen:?}"
        );
        log.damage() == 0 && log.recovery().cut_bytes > 0 && aside(&disk) == 1
    });
    assert!(undone.count() > 0);
}

#[test]
fn what_the_history_has_of_a_lost_end_keeps_its_place() {
    let disk = stopped(60, false);
    let name = segments(&disk).pop().unwrap();
    disk.remove(&name).unwrap();
    let log = open(&disk).unwrap();
    let found = log.head().sequence();
    assert!(found < 60);
    let applied = Cursor::new(1, 58);
    assert!(
        matches!(log.resume(applied), Resume::Gap(gap, _) if gap.reason == GapReason::Rollback)
    );
    log.cover(applied).unwrap();
    assert_eq!((log.head().sequence(), log.damage()), (58, 1));
    assert_eq!(log.resume(applied), Resume::From(log.head()));
    let gap = Gap {
        reason: GapReason::Rollback,
        count: Some(2),
    };
    assert_eq!(log.resume(Cursor::new(1, 60)), Resume::Gap(gap, log.head()));
    let next = append(&log, 61).unwrap();
    log.wait_committed(next).unwrap();
    assert_eq!(next.sequence(), 59);
    assert!(
        log.cover(Cursor::new(1, 99)).is_err(),
        "something was appended"
    );
    drop(log);
    let log = open(&disk).unwrap();
    assert_eq!((log.head().sequence(), log.damage()), (59, 0));
    let (seen, told) = read(&log);
    assert!(seen.contains(&59) && told == 1);
}

#[test]
fn one_bit_of_the_snapshot_takes_no_keyed_record_and_is_told() {
    let options = Options {
        retention_bytes: 0,
        ..options()
    };
    let open = |disk: &SimDisk| DiskLog::open(Arc::new(disk.clone()), options.clone()).unwrap();
    let whole = SimDisk::new();
    let log = open(&whole);
    for topic in ["a", "b"] {
        log.append(&record(Kind::Change, topic, b"{\"unit\":\"m\"}"))
            .unwrap();
    }
    for number in 1..100 {
        let cursor = append(&log, number).unwrap();
        log.wait_committed(cursor).unwrap();
        log.release(cursor);
    }
    log.close().unwrap();
    drop(log);
    let keyed = |log: &DiskLog| {
        let mut seen = Vec::new();
        log.snapshot(&mut |record| seen.push((record.topic.to_owned(), record.body.to_vec())))
            .unwrap();
        seen
    };
    let due = keyed(&open(&whole.copied()));
    assert_eq!(due.len(), 2);
    for name in ["snapshot", "snapshot.copy"] {
        for bit in 0..length(&whole, name) * 8 {
            let disk = whole.copied();
            flip(&disk, name, bit);
            let log = open(&disk);
            assert_eq!(keyed(&log), due, "{name}, bit {bit}");
            assert_eq!((log.damage(), aside(&disk)), (1, 1), "{name}, bit {bit}");
            drop(log);
            let log = open(&disk);
            assert_eq!(
                (keyed(&log), log.damage()),
                (due.clone(), 0),
                "{name}, bit {bit}"
            );
        }
        let disk = whole.copied();
        disk.remove(name).unwrap();
        assert_eq!(keyed(&open(&disk)), due);
        disk.remove(name).unwrap();
        assert_eq!(keyed(&open(&disk)), due, "it was made anew");
    }
    let disk = whole.copied();
    // Both, in different records.
    flip(&disk, "snapshot", 300);
    let last = length(&disk, "snapshot.copy") * 8 - 100;
    flip(&disk, "snapshot.copy", last);
    let log = open(&disk);
    assert!(!keyed(&log).is_empty() && log.damage() == 1);
}

/// Gives a frame of a file another cursor, made of where it begins, and the checksum that goes with it.
fn renumber(disk: &SimDisk, name: &str, nth: usize, cursor: impl Fn(u64) -> Cursor) {
    disk.spoil(name, |bytes| {
        let length = |at: usize| {
            let length = u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
            16 + (length & !(1 << 31)) as usize
        };
        let begin = (0..nth).fold(32, |at, _| at + length(at));
        let end = begin + length(begin);
        let frame = &mut bytes[begin..end];
        frame[8..16].copy_from_slice(&cursor(begin as u64).bits().to_le_bytes());
        let sum = crc32c::crc32c_append(crc32c::crc32c(&frame[..4]), &frame[8..]);
        frame[4..8].copy_from_slice(&sum.to_le_bytes());
    });
}

#[test]
fn as_many_sequences_as_may_be_missing_end_no_reader() {
    for is_clean in [true, false] {
        let disk = stopped(3, is_clean);
        let name = segments(&disk).remove(0);
        // So many records fit before it, none of which is there.
        renumber(&disk, &name, 2, |begin| Cursor::new(1, 3 + begin / 17 + 1));
        let log = open(&disk).unwrap();
        let (seen, told) = read(&log);
        assert!(seen.len() == 3 && told == 1, "{seen:?}, {told}");
        log.snapshot(&mut |_| ()).unwrap();
        let next = append(&log, 4).unwrap();
        assert!(seen.iter().all(|sequence| *sequence < next.sequence()));
    }
}

#[test]
fn a_record_that_cannot_have_come_there_hides_none_that_does() {
    for cursor in [
        Cursor::new(1, 97),
        Cursor::new(9, 1 << 40),
        Cursor::new(0, 1),
    ] {
        for (records, is_clean) in [(1, true), (1, false), (3, true), (3, false)] {
            let disk = stopped(records, is_clean);
            let name = segments(&disk).remove(0);
            renumber(&disk, &name, 0, |_| cursor);
            let what = format!("{cursor} of {records}, clean: {is_clean}");
            let log = check(&disk, records, 1, &what);
            let head = log.head().sequence();
            let (seen, _) = read(&log);
            assert!(
                seen.contains(&head) && !seen.contains(&97),
                "{what}: {seen:?}"
            );
            drop(log);
            let (again, _) = read(&open(&disk).unwrap());
            assert_eq!(again, seen, "{what}, after the next start");
        }
    }
}
