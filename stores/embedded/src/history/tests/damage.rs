//! Damage of any file: rows of chunks that are whole are still read, those that are not are told, and no start or
//! upkeep removes what it does not know to be of no use.

use super::*;
use weir_disk::{Disk, aside};

const MESSAGES: u64 = 30;
const DATA: &str = "00000001.dat";
const FILES: [&str; 2] = ["manifest", "manifest.copy"];

/// A store with chunks that were merged and some that were not, its rows, and nothing to feed it again.
fn filled() -> (SimDisk, Vec<Row>) {
    let dir = Scratch::new();
    let store = dir.open();
    let mut rows = Vec::new();
    for message in 1..=MESSAGES {
        let new: Vec<Row> = (0..4)
            .map(|topic| (topic, message as i64, message * 4 + topic as u64))
            .collect();
        let cursor = Cursor::new(1, message);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&new))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
        rows.extend(new);
    }
    (dir.0, rows)
}

fn open(disk: &SimDisk) -> EmbeddedHistory {
    Scratch(disk.clone()).open()
}

fn length(disk: &SimDisk, name: &str) -> u64 {
    disk.open(name).unwrap().len().unwrap()
}

fn flip(disk: &SimDisk, name: &str, bit: u64) {
    disk.spoil(name, |bytes| bytes[(bit / 8) as usize] ^= 1 << (bit % 8));
}

/// A bit of each byte, each time another.
fn bits(disk: &SimDisk, name: &str) -> impl Iterator<Item = u64> {
    (0..length(disk, name)).map(|byte| byte * 8 + byte % 8)
}

/// How many rows are read of each topic, and how many are told not to be.
fn read(store: &EmbeddedHistory) -> (usize, u64) {
    let each = TOPICS.map(|topic| {
        let page = store
            .read(&range(&[topic], i64::MIN, i64::MAX, 10_000))
            .unwrap();
        (page.batch.len(), page.lost)
    });
    each.into_iter()
        .fold((0, 0), |all, it| (all.0 + it.0, all.1 + it.1))
}

#[test]
fn one_bit_of_the_manifest_takes_nothing_and_is_told() {
    let (whole, rows) = filled();
    for name in FILES {
        for bit in bits(&whole, name) {
            let disk = whole.copied();
            flip(&disk, name, bit);
            let store = open(&disk);
            assert_eq!(
                store.applied(),
                Cursor::new(1, MESSAGES),
                "{name}, bit {bit}"
            );
            assert_eq!(read(&store), (rows.len(), 0), "{name}, bit {bit}");
            let kept = aside::counted(&disk).unwrap().0;
            assert_eq!(
                (store.damage(), kept),
                (1, 1),
                "{name}, bit {bit}: nothing is said"
            );
            if bit % 11 > 0 {
                continue;
            }
            check(&store, &rows);
            store.maintain(Time::from_nanos(0)).unwrap();
            drop(store);
            let store = open(&disk);
            assert_eq!((read(&store), store.damage()), ((rows.len(), 0), 0));
        }
    }
}

#[test]
fn a_damaged_manifest_takes_nothing_and_is_told() {
    type Spoil = fn(&mut Vec<u8>);
    let ways: [Spoil; 5] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(3),
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.fill(0),
        |bytes| bytes[64..192].fill(0),
    ];
    let (whole, rows) = filled();
    for name in FILES {
        for (number, how) in ways.iter().enumerate() {
            let disk = whole.copied();
            disk.spoil(name, how);
            let store = open(&disk);
            assert_eq!(read(&store), (rows.len(), 0), "{name}, way {number}");
            assert_eq!(store.damage(), 1, "{name}, way {number}");
        }
        let disk = whole.copied();
        disk.remove(name).unwrap();
        assert_eq!(read(&open(&disk)), (rows.len(), 0), "without {name}");
    }
}

#[test]
fn two_damages_at_different_commits_take_nothing() {
    let (whole, rows) = filled();
    let bits = length(&whole, "manifest") * 8;
    for bit in (0..bits).step_by(211) {
        let disk = whole.copied();
        flip(&disk, "manifest", bit);
        flip(&disk, "manifest.copy", (bit + bits / 2) % bits);
        let store = open(&disk);
        assert_eq!(
            (read(&store), store.damage()),
            ((rows.len(), 0), 2),
            "bit {bit}"
        );
    }
}

#[test]
fn where_a_commit_is_damaged_twice_no_chunk_is_removed() {
    let (whole, rows) = filled();
    let before = length(&whole, DATA);
    let bits = length(&whole, "manifest") * 8;
    for bit in (64..bits).step_by(509) {
        let disk = whole.copied();
        FILES.iter().for_each(|name| flip(&disk, name, bit));
        let store = open(&disk);
        let (seen, _) = read(&store);
        assert!(
            seen <= rows.len() && store.damage() > 0,
            "bit {bit}: nothing is said"
        );
        let cursor = Cursor::new(2, 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&[(0, 99, 1)]))
            .unwrap();
        for _ in 0..3 {
            store.maintain(Time::from_nanos(0)).unwrap();
        }
        drop(store);
        for _ in 0..2 {
            let store = open(&disk);
            assert_eq!(read(&store).0, seen + 1, "bit {bit}");
            assert!(length(&disk, DATA) >= before, "bit {bit}: chunks are gone");
            assert!(aside::counted(&disk).unwrap().0 >= 2, "bit {bit}");
        }
    }
}

#[test]
fn where_both_are_gone_the_chunks_stay_and_new_ones_go_on() {
    let (disk, _) = filled();
    let before = length(&disk, DATA);
    FILES.iter().for_each(|name| disk.remove(name).unwrap());
    let store = open(&disk);
    assert!(store.damage() > 0);
    store
        .apply(Cursor::new(1, 1), Time::from_nanos(0), &batch(&[(0, 1, 1)]))
        .unwrap();
    store.maintain(Time::from_nanos(0)).unwrap();
    drop(store);
    assert_eq!(read(&open(&disk)), (1, 0));
    assert_eq!(length(&disk, DATA), before);
}

#[test]
fn one_bit_of_a_chunk_takes_its_rows_and_is_told() {
    let (whole, rows) = filled();
    for bit in (0..length(&whole, DATA) * 8).step_by(23) {
        let disk = whole.copied();
        flip(&disk, DATA, bit);
        let store = open(&disk);
        let (seen, lost) = read(&store);
        assert_eq!(seen as u64 + lost, rows.len() as u64, "bit {bit}");
        assert!(lost <= 24, "bit {bit}: {lost} rows");
        assert_eq!(store.damage(), u64::from(lost > 0), "bit {bit}");
        for _ in 0..2 {
            store.maintain(Time::from_nanos(0)).unwrap();
        }
        assert_eq!(read(&store), (seen, lost), "bit {bit}");
        drop(store);
        assert_eq!(read(&open(&disk)), (seen, lost), "bit {bit}");
    }
}

#[test]
fn a_file_of_chunks_that_is_gone_is_told_and_all_goes_on() {
    let (whole, rows) = filled();
    let gone = whole.copied();
    gone.remove(DATA).unwrap();
    let cut = whole.copied();
    cut.spoil(DATA, |bytes| bytes.truncate(bytes.len() / 2));
    for disk in [gone, cut] {
        let store = open(&disk);
        assert!(store.damage() > 0);
        let (seen, lost) = read(&store);
        assert!(lost > 0 && seen as u64 + lost == rows.len() as u64);
        let cursor = Cursor::new(1, MESSAGES + 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&[(0, 99, 1)]))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
        drop(store);
        assert_eq!(read(&open(&disk)), (seen + 1, lost));
    }
}

#[test]
fn a_full_disk_keeps_no_damaged_store_from_opening() {
    let (whole, rows) = filled();
    let without = whole.copied();
    without.remove("manifest.copy").unwrap();
    let torn = whole.copied();
    for name in FILES {
        torn.spoil(name, |bytes| bytes.extend_from_slice(&[9, 9, 9]));
    }
    for disk in [without, torn] {
        disk.set_capacity(Some(0));
        let store = open(&disk);
        assert_eq!(read(&store), (rows.len(), 0));
        disk.set_capacity(None);
        let cursor = Cursor::new(1, MESSAGES + 1);
        store
            .apply(cursor, Time::from_nanos(0), &batch(&[(0, 99, 1)]))
            .unwrap();
        store.maintain(Time::from_nanos(0)).unwrap();
        drop(store);
        let [one, copy] = FILES.map(|name| length(&disk, name));
        assert_eq!(one, copy, "made anew where there is room");
        let store = open(&disk);
        assert_eq!((read(&store).0, store.damage()), (rows.len() + 1, 0));
    }
}

#[test]
fn a_commit_without_a_sector_is_torn_and_a_whole_one_damaged() {
    let (whole, rows) = filled();
    for (written, is_damage) in [(700, false), (2000, true)] {
        let disk = whole.copied();
        for name in FILES {
            disk.spoil(name, |bytes| {
                bytes.extend_from_slice(&2000_u32.to_le_bytes());
                bytes.extend_from_slice(&[9; 4]);
                bytes.extend((0..2000).map(|at| if at < written { 7 } else { 0 }));
            });
        }
        let store = open(&disk);
        let found = (read(&store), store.damage() > 0);
        assert_eq!(found, ((rows.len(), 0), is_damage), "{written} bytes");
        assert!(aside::counted(&disk).unwrap().0 >= 2, "{written} bytes");
    }
}

#[test]
fn files_that_are_not_of_the_store_are_left_alone() {
    let (disk, _) = filled();
    for name in ["old.dat", "1.dat", "00000001.dat.bak"] {
        disk.create(name).unwrap();
    }
    disk.create("00000099.dat").unwrap();
    drop(open(&disk));
    let names = disk.list().unwrap();
    for name in ["old.dat", "1.dat", "00000001.dat.bak"] {
        assert!(names.iter().any(|it| it == name), "{name}");
    }
    assert!(
        !names.iter().any(|it| it == "00000099.dat"),
        "a crash left it"
    );
}

#[test]
fn a_crash_in_the_midst_of_a_commit_is_no_damage() {
    for within in 0..40 {
        for seed in 0..6 {
            let (disk, rows) = filled();
            let store = open(&disk);
            let cursor = Cursor::new(1, MESSAGES + 1);
            let new = [(0, 99, 1), (1, 99, 2)];
            store
                .apply(cursor, Time::from_nanos(0), &batch(&new))
                .unwrap();
            disk.die_at(disk.operations() + within);
            let _down = store.maintain(Time::from_nanos(0));
            match seed {
                0 => disk.kill(),
                _ => disk.crash(seed),
            }
            drop(store);
            let store = open(&disk);
            let (seen, lost) = read(&store);
            assert!(
                seen == rows.len() || seen == rows.len() + 2,
                "{within}, {seed}: {seen}"
            );
            assert_eq!((lost, store.damage()), (0, 0), "{within}, {seed}");
            assert!(
                !disk
                    .list()
                    .unwrap()
                    .iter()
                    .any(|name| name.ends_with(".lost"))
            );
        }
    }
}
