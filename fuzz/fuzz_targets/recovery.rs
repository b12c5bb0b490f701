//! What log and history find on a disk: no file of theirs, whole or not, breaks a start; and a log that starts takes
//! a record, commits it, and has it after the next start. Checksums are set right, so that mutations reach what is
//! behind them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use weir_embedded::{EmbeddedHistory, block};
use weir_fuzz::pieces;
use weir_hub::{Hidden, History, Kind, Log, LogFault, Range, Record};
use weir_log::{Disk, DiskLog, OpenFault, Options, SimDisk, mark_restored};
use weir_model::{Cursor, Time};

const SEGMENT_BYTES: u64 = 4 << 10;
/// Records of a log that are read.
const RECORDS_MAX: usize = 500;
/// Small files of the log: name and magic.
const SEALED: [(&str, &[u8]); 3] = [
    ("epochs", b"weirep01"),
    ("clean", b"weircl01"),
    ("snapshot", b"weirsn01"),
];

// The first byte says of whom the files are.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    match choice & 3 {
        0 => history(choice, rest),
        1 => drop(block::decode(rest)),
        _ => log(choice, rest),
    }
});

fn write(disk: &SimDisk, name: &str, bytes: &[u8]) {
    let file = disk.create(name).expect("a disk without faults");
    file.write_all_at(bytes, 0).expect("a disk without faults");
}

/// Whether a datastream has a number over two million: memory is taken for all below it.
fn has_many(entries: &[u8]) -> bool {
    let begins = |four: &[u8]| four[0] == 1 && four[1..].iter().all(|byte| *byte >= 0x80);
    entries.windows(4).any(begins)
}

/// The manifest, a piece a commit; the last as it is where the choice says so, and a file of chunks.
fn history(choice: u8, rest: &[u8]) {
    let mut bytes = b"weirma01".to_vec();
    let all: Vec<&[u8]> = pieces(rest).collect();
    if all.iter().copied().any(has_many) {
        return;
    }
    for (number, entries) in all.iter().enumerate() {
        if choice & 4 != 0 && number + 1 == all.len() {
            bytes.extend_from_slice(entries);
            break;
        }
        bytes.extend_from_slice(&(entries.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(entries).to_le_bytes());
        bytes.extend_from_slice(entries);
    }
    let disk = Arc::new(SimDisk::new());
    write(&disk, "manifest", &bytes);
    write(&disk, "00000001.dat", rest);
    let Ok(history) = EmbeddedHistory::on(disk, Default::default()) else {
        return;
    };
    let mut topics = Vec::new();
    let _known = history.latest(&mut |_, observation| topics.push(observation.topic.to_owned()));
    topics.sort_unstable();
    topics.dedup();
    let topics: Vec<&str> = topics.iter().map(String::as_str).take(10).collect();
    let hidden = Hidden::default();
    let range = Range {
        topics: &topics,
        from: Time::from_nanos(i64::MIN),
        to: Time::from_nanos(i64::MAX),
        limit: 100,
        page: None,
        aggregate: None,
        hidden: Some(&hidden),
        units: None,
    };
    let _page = history.read(&range);
    for topic in topics {
        let _extent = history.extent(topic);
    }
    let _maintained = history.maintain(Time::from_nanos(0));
    let _stored = history.stored();
}

/// Segments, frames, and small files: the first byte of a piece says which.
fn log(choice: u8, rest: &[u8]) {
    let disk = Arc::new(SimDisk::new());
    let mut segment = Segment::default();
    for piece in pieces(rest) {
        let (&what, bytes) = piece.split_first().unwrap_or((&0, &[]));
        match (what & 7, bytes) {
            (0, [epoch, sequence, ..]) => {
                segment.keep(&disk);
                segment = Segment::begin(cursor(*epoch, *sequence));
            }
            (1, [epoch, sequence, record @ ..]) => segment.frame(cursor(*epoch, *sequence), record),
            (2, [epoch, sequence, kind, body @ ..]) => {
                segment.frame(cursor(*epoch, *sequence), &record(*kind, body));
            }
            (3, bytes) => segment.bytes.extend_from_slice(bytes),
            (4, _) => segment.bytes.extend_from_slice(&[0; 64]),
            (5 | 6, body) => sealed(&disk, SEALED[usize::from(what >> 3) % SEALED.len()], body),
            _ => {}
        }
    }
    segment.keep(&disk);
    if choice & 4 != 0 {
        mark_restored(&*disk).expect("a disk without faults");
    }
    start(&disk);
}

fn cursor(epoch: u8, sequence: u8) -> Cursor {
    Cursor::new(u16::from(epoch), u64::from(sequence))
}

fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let kinds = [
        Kind::Observations,
        Kind::Change,
        Kind::Consumer,
        Kind::Retained,
    ];
    let record = Record {
        kind: kinds[usize::from(kind & 3)],
        topic: ["a", "a/b", "c"][usize::from(kind >> 2) % 3],
        body,
        ..usual()
    };
    let mut bytes = Vec::new();
    record.write(&mut bytes);
    bytes
}

fn usual() -> Record<'static> {
    Record {
        kind: Kind::Observations,
        arrival: Time::from_nanos(7),
        topic: "a",
        media: "json",
        key: b"",
        origin: "",
        attributes: b"",
        body: b"",
    }
}

/// A segment that is being made.
#[derive(Default)]
struct Segment {
    name: String,
    bytes: Vec<u8>,
}

impl Segment {
    fn begin(first: Cursor) -> Self {
        let mut bytes = b"weirlg01".to_vec();
        bytes.extend_from_slice(&first.bits().to_le_bytes());
        bytes.extend_from_slice(&0_i64.to_le_bytes());
        let sum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        Self {
            name: format!("{:04x}-{:012x}.log", first.epoch(), first.sequence()),
            bytes,
        }
    }

    fn frame(&mut self, cursor: Cursor, record: &[u8]) {
        let length = (record.len() as u32).to_le_bytes();
        let rest = [&cursor.bits().to_le_bytes(), record].concat();
        let sum = crc32c::crc32c_append(crc32c::crc32c(&length), &rest);
        for part in [&length[..], &sum.to_le_bytes(), &rest] {
            self.bytes.extend_from_slice(part);
        }
    }

    fn keep(&self, disk: &SimDisk) {
        if !self.name.is_empty() {
            write(disk, &self.name, &self.bytes);
        }
    }
}

fn sealed(disk: &SimDisk, (name, magic): (&str, &[u8]), body: &[u8]) {
    let mut bytes = [magic, body].concat();
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    write(disk, name, &bytes);
}

fn open(disk: &Arc<SimDisk>) -> Result<DiskLog, OpenFault> {
    let options = Options {
        segment_bytes: SEGMENT_BYTES,
        ..Options::default()
    };
    DiskLog::open(disk.clone(), options)
}

fn start(disk: &Arc<SimDisk>) {
    let Ok(log) = open(disk) else {
        return;
    };
    // Whole segments that contradict each other are nothing that a disk makes of a log.
    let is_one = read(&log, |_| ()) && log.status().segments <= 1;
    let _snapshot = log.snapshot(&mut |_| ());
    let _seeked = log.seek(5);
    let _resumed = [Cursor::START, cursor(1, 3), log.head()].map(|from| log.resume(from));
    let kept = Record {
        body: b"kept",
        ..usual()
    };
    // No epoch or sequence may be left.
    let Ok(appended) = log.append(&kept) else {
        return;
    };
    log.wait_committed(appended).expect("a disk without faults");
    drop(log);
    let log = match open(disk) {
        Err(OpenFault::EpochsExhausted) => return,
        again => again.expect("a log that took a record starts again"),
    };
    let mut last = Vec::new();
    read(&log, |record| last = record.body.to_vec());
    assert!(last == b"kept" || !is_one, "what was acknowledged");
}

/// Says whether all could be read.
fn read(log: &DiskLog, mut each: impl FnMut(Record<'_>)) -> bool {
    let mut reader = log.read(Cursor::START);
    let mut is_whole = true;
    for _ in 0..RECORDS_MAX {
        match reader.next() {
            Ok(Some((_, record))) => each(record),
            Err(LogFault::Damaged(_)) => is_whole = false,
            Ok(None) => return is_whole,
            Err(_) => return false,
        }
    }
    false
}
