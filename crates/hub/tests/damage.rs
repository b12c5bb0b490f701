//! Single bits that flip, anywhere in the files of log and history, after clean stops and after kills, where the log
//! begins later than the history: what is whole is read or told in live order, what is not is told, nothing in silence.
//!
//! Of small files a bit of every byte is tried, of large ones what the seed draws. `WEIR_DAMAGES` says how many (600
//! without), `WEIR_SEED` the first seed. Also files that are gone, cut or zeros, and two damages at once.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test, whose length the environment may say"
)]

mod house;

use bytes::Bytes;
use house::{acknowledged, at, drain, everyone, publication, subscribe, wait, wish};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;
use weir_embedded::EmbeddedHistory;
use weir_hub::{Hub, InUnit, Log, Past, Since};
use weir_log::{Disk, DiskLog, Options, SimDisk};
use weir_model::{Cursor, Filter, Limits, Time};

const TOPICS: u64 = 3;
/// Files of which every byte is tried.
const SMALL_BYTES: u64 = 4096;
/// Rows that a chunk of these stores may have at most.
const CHUNK_ROWS: usize = 40;

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// Two disks, and what was acknowledged on them.
struct Machine {
    log: SimDisk,
    history: SimDisk,
    numbers: u64,
    entities: usize,
    /// Where a client stood, and the number that it had last.
    stood: (Cursor, u64),
}

struct Running {
    log: Arc<DiskLog>,
    hub: Arc<Hub>,
}

impl Machine {
    /// Numbers in turn at a few topics, entities, and a log that dropped the oldest.
    fn filled(is_clean: bool) -> Self {
        let mut machine = Self {
            log: SimDisk::new(),
            history: SimDisk::new(),
            numbers: 0,
            entities: 0,
            stood: (Cursor::START, 0),
        };
        let running = machine.start().unwrap();
        for round in 0..12 {
            for _ in 0..8 {
                machine.publish(&running);
            }
            machine.put(&running);
            running.hub.maintain(at(round)).unwrap();
        }
        machine.stood = (running.log.head(), machine.numbers);
        for _ in 0..20 {
            machine.publish(&running);
        }
        if is_clean {
            running.hub.maintain(at(99)).unwrap();
            running.log.close().unwrap();
        }
        assert!(running.log.tail().sequence() > 20, "the log holds all");
        machine.log.kill();
        machine.history.kill();
        machine
    }

    fn publish(&mut self, running: &Running) {
        let number = self.numbers;
        let mut body = format!("{{\"value\":{number}}}");
        body.extend(std::iter::repeat_n(' ', 90));
        let topic = format!("kept/{}", number % TOPICS);
        let publish = publication(&topic, &body);
        acknowledged(&running.hub, &everyone(), publish).unwrap();
        self.numbers += 1;
    }

    fn put(&mut self, running: &Running) {
        let key = format!("v1.1/Things/{}", self.entities);
        let put = vec![(key, Some(Bytes::from_static(b"{}")))];
        let ticket = running.hub.internal().at(at(0)).put(put).unwrap();
        wait(|cx| ticket.poll(cx)).unwrap();
        self.entities += 1;
    }

    fn start(&self) -> Result<Running, String> {
        let options = Options {
            segment_bytes: 4096,
            retention_bytes: 8192,
            retention_age: Duration::from_secs(1 << 40),
            pending_bytes_max: 1 << 20,
        };
        let log = DiskLog::open(Arc::new(self.log.clone()), options);
        let log = Arc::new(log.map_err(|fault| fault.to_string())?);
        let kept = EmbeddedHistory::on(Arc::new(self.history.clone()), Default::default());
        let kept = Arc::new(kept.map_err(|fault| fault.to_string())?);
        let hub = Hub::start(log.clone(), kept, Limits::default(), at(200));
        let hub = hub.map_err(|fault| fault.to_string())?;
        Ok(Running { log, hub })
    }

    fn copied(&self) -> Self {
        Self {
            log: self.log.copied(),
            history: self.history.copied(),
            ..*self
        }
    }

    /// Names and lengths of all files but locks.
    fn files(&self) -> Vec<(&SimDisk, String, u64)> {
        let of = |disk: &'static str| match disk {
            "log" => &self.log,
            _ => &self.history,
        };
        let mut files = Vec::new();
        for disk in ["log", "history"].map(of) {
            for name in disk.list().unwrap() {
                let bytes = disk.open(&name).unwrap().len().unwrap();
                files.push((disk, name, bytes));
            }
        }
        files.retain(|file| file.2 > 0);
        files
    }

    /// Starts and holds what is there against what was acknowledged, less than so many; twice, with a kill between.
    fn check(&self, lost_max: usize, what: &str) {
        let running = self
            .start()
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let kept = self.past(&running, what);
        let lost = (0..self.numbers)
            .filter(|number| !kept.contains(number))
            .count();
        assert!(lost <= lost_max, "{what}: {lost} numbers are lost");
        let things = things(&running.hub);
        assert!(
            things + lost_max.min(1) >= self.entities,
            "{what}: {things} entities"
        );
        let recovery = running.log.recovery();
        let told: u64 = running.hub.damage().iter().sum::<u64>() + recovery.cut_bytes;
        let is_whole = lost == 0 && things == self.entities;
        assert!(is_whole || told > 0, "{what}: {lost} are lost in silence");
        self.resumes(&running, what, told);
        // Places that were given stay given.
        let before = running.log.head();
        let next = acknowledged(
            &running.hub,
            &everyone(),
            publication("next", "{\"value\":1}"),
        )
        .unwrap();
        assert!(
            next > before && next.sequence() > before.sequence(),
            "{what}"
        );
        self.log.kill();
        self.history.kill();
        drop(running);
        let again = self
            .start()
            .unwrap_or_else(|fault| panic!("{what}, again: {fault}"));
        assert_eq!(self.past(&again, what), kept, "{what}, again");
    }

    /// A client that comes back has all that it had not, in order, or is told of a gap, whose reason is no other.
    fn resumes(&self, running: &Running, what: &str, told: u64) {
        let (cursor, had) = self.stood;
        let mut client = subscribe(&running.hub, wish(&["kept/#"], Since::Cursor(cursor)));
        let mut due = had;
        let mut is_excused = false;
        for word in drain(&mut client) {
            if let Some(gap) = word.strip_prefix('[') {
                let is_of_damage = gap.starts_with("damage") || gap.starts_with("foreign");
                assert!(is_of_damage && told > 0, "{what}: told [{gap}");
                is_excused = true;
                continue;
            }
            for number in word.lines().map(|line| line.parse::<u64>().unwrap()) {
                assert!(number == due || is_excused, "{what}: {number} for {due}");
                (due, is_excused) = (number + 1, false);
            }
        }
        let is_cut = running.log.recovery().cut_bytes > 0 && due + 1 == self.numbers;
        assert!(
            due == self.numbers || is_excused || is_cut,
            "{what}: no more than {due}"
        );
    }

    fn past(&self, running: &Running, what: &str) -> BTreeSet<u64> {
        running.hub.feed().unwrap();
        let (mut kept, mut page) = (BTreeSet::new(), None);
        loop {
            let past = Past {
                filters: vec![Filter::parse("kept/#").unwrap()],
                from: Time::from_nanos(i64::MIN),
                to: Time::from_nanos(i64::MAX),
                limit: 50,
                page,
                aggregate: None,
                unit: InUnit::AsMade,
            };
            let asked = running
                .hub
                .caller(at(300), &everyone())
                .and_then(|caller| caller.history(&past));
            let answer = asked.unwrap();
            for row in answer.batch.rows() {
                let number = row.value.number().unwrap() as u64;
                assert!(kept.insert(number), "{what}: {number} is there twice");
            }
            page = answer.next;
            if page.is_none() {
                return kept;
            }
        }
    }
}

fn things(hub: &Arc<Hub>) -> usize {
    let all = [Filter::parse("v1.1/Things/+").unwrap()];
    hub.internal().entities(&all).len()
}

fn flip(disk: &SimDisk, name: &str, bit: u64) {
    disk.spoil(name, |bytes| bytes[(bit / 8) as usize] ^= 1 << (bit % 8));
}

/// What a bit of a file may take: a record, the rows of a chunk, or nothing.
fn lost_max(name: &str) -> usize {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "log" => 1,
        "dat" => CHUNK_ROWS,
        _ => 0,
    }
}

fn said(name: &str, otherwise: u64) -> u64 {
    let said = std::env::var(name).ok();
    said.map_or(otherwise, |said| said.parse().unwrap())
}

#[test]
fn no_bit_that_flips_takes_anything_in_silence() {
    let (first, count) = (said("WEIR_SEED", 0), said("WEIR_DAMAGES", 600));
    let machines = [true, false].map(Machine::filled);
    let mut tried = 0;
    for machine in &machines {
        for (at, (_, name, bytes)) in machine.files().into_iter().enumerate() {
            for byte in (0..bytes).filter(|_| bytes <= SMALL_BYTES && lost_max(&name) == 0) {
                let spoilt = machine.copied();
                let bit = byte * 8 + byte % 8;
                flip(spoilt.files()[at].0, &name, bit);
                spoilt.check(0, &format!("{name}, bit {bit}"));
                tried += 1;
            }
        }
    }
    for seed in first..first + count {
        let mut chance = Chance(seed);
        let spoilt = machines[chance.below(2) as usize].copied();
        let files = spoilt.files();
        let (disk, name, bytes) = &files[chance.below(files.len() as u64) as usize];
        let bit = chance.below(bytes * 8);
        flip(disk, name, bit);
        spoilt.check(lost_max(name), &format!("seed {seed}: {name}, bit {bit}"));
        tried += 1;
    }
    let mut out = std::io::stderr();
    writeln!(
        out,
        "tried {tried} bits, {count} of them by seed from {first}"
    )
    .unwrap();
}

#[test]
fn two_bits_take_no_more_than_what_they_lie_in() {
    let machines = [true, false].map(Machine::filled);
    for seed in 0..said("WEIR_DAMAGES", 600) / 4 {
        let mut chance = Chance(seed);
        let spoilt = machines[chance.below(2) as usize].copied();
        let files = spoilt.files();
        let mut most = 0;
        let mut what = format!("seed {seed}");
        for _ in 0..2 {
            let (disk, name, bytes) = &files[chance.below(files.len() as u64) as usize];
            let bit = chance.below(bytes * 8);
            flip(disk, name, bit);
            // Both copies of one thing may be hit.
            most += lost_max(name).max(usize::from(!name.contains('.')));
            what += &format!(", {name} bit {bit}");
        }
        spoilt.check(most, &what);
    }
}

#[test]
fn the_manifest_is_no_reason_to_lose_what_the_log_no_longer_has() {
    type Spoil = fn(&SimDisk, &str);
    let ways: [Spoil; 4] = [
        |disk, name| disk.remove(name).unwrap(),
        |disk, name| disk.spoil(name, |bytes| bytes.fill(0)),
        |disk, name| disk.spoil(name, |bytes| bytes.truncate(bytes.len() / 3)),
        |disk, name| flip(disk, name, 70),
    ];
    for is_clean in [true, false] {
        let machine = Machine::filled(is_clean);
        for (number, how) in ways.iter().enumerate() {
            for name in ["manifest", "manifest.copy"] {
                let spoilt = machine.copied();
                how(&spoilt.history, name);
                spoilt.check(0, &format!("{name}, way {number}"));
            }
        }
    }
}

#[test]
fn damaged_files_of_the_log_take_only_what_they_held() {
    for is_clean in [true, false] {
        let machine = Machine::filled(is_clean);
        for (at, (_, name, _)) in machine.files().into_iter().enumerate() {
            if name.contains("manifest") {
                continue;
            }
            // What was published since the last maintenance is in the newest segments only; a chunk's file has all.
            let most = match lost_max(&name) {
                CHUNK_ROWS => usize::MAX,
                1 if is_clean => 0,
                1 => 20,
                none => none,
            };
            for zeros in [true, false] {
                let spoilt = machine.copied();
                let files = spoilt.files();
                let (disk, name, _) = &files[at];
                match zeros {
                    true => disk.spoil(name, |bytes| bytes.fill(0)),
                    false => disk.remove(name).unwrap(),
                }
                let running = spoilt
                    .start()
                    .unwrap_or_else(|fault| panic!("{name}: {fault}"));
                let kept = spoilt.past(&running, name).len() as u64;
                let lost = (spoilt.numbers - kept) as usize;
                assert!(lost <= most, "{name}: {lost} of {most}");
            }
        }
    }
}
