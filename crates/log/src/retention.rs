//! Dropping old segments, and keeping of them what must outlive retention.
//!
//! Of keyed kinds only the last record of each topic counts. Before a segment is removed its keyed
//! records go into the file `snapshot`, which is replaced whole; a crash between the two steps leaves
//! the records in both places, and the snapshot says the same. Age is measured by arrivals, not by a
//! clock: a log that nobody writes to keeps what it has, and one that is written to after a silence, or by
//! a clock that was set ahead, ages no more than the time that has surely passed. A damaged segment gives
//! what can be read of it, and is moved aside instead of removed. The snapshot is there twice, since nothing
//! else holds what is in it: a damaged one is put aside and made anew of the other.

use crate::damage;
use crate::frame::Frames;
use crate::limits::RECORD_BYTES_MAX;
use crate::sealed::{self, Found};
use crate::segment::{self, HEADER_BYTES, Segment};
use crate::tail::{Shared, Tail};
use std::collections::BTreeMap;
use std::io;
use std::sync::PoisonError;
use weir_disk::{Disk, aside, is_full};
use weir_model::{Cursor, Time};
use weir_storage::{Kind, Record};

const NAME: &str = "snapshot";
const COPY: &str = "snapshot.copy";
const MAGIC: &[u8; 8] = b"weirsn01";

/// The last record of each kind and topic, tombstones left out.
#[derive(Default)]
pub(crate) struct Folded {
    records: BTreeMap<(u8, String), Vec<u8>>,
}

impl Folded {
    /// What a snapshot's body says, as far as it holds records; and whether that is all of it.
    fn read(body: &[u8]) -> (Self, bool) {
        let (mut folded, mut is_whole) = (Self::default(), true);
        let mut rest = body;
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes(*len) as usize;
            let Some(bytes) = behind.get(..len) else {
                return (folded, false);
            };
            match Record::read(bytes) {
                Ok(record) => folded.take(&record),
                Err(_) => is_whole = false,
            }
            rest = &behind[len..];
        }
        (folded, is_whole)
    }

    /// What a body says that is as it was written.
    fn read_all(body: &[u8]) -> io::Result<Self> {
        match Self::read(body) {
            (folded, true) => Ok(folded),
            (_, false) => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Takes a later record, if it is keyed; an empty body ends its topic.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        if !record.kind.is_keyed() {
            return;
        }
        let key = (kind_number(record.kind), record.topic.to_owned());
        if record.body.is_empty() {
            self.records.remove(&key);
            return;
        }
        let bytes = self.records.entry(key).or_default();
        bytes.clear();
        record.write(bytes);
    }

    /// Visits the records, by kind, then topic.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(Record<'_>)) {
        let records = self
            .records
            .values()
            .filter_map(|bytes| Record::read(bytes).ok());
        records.for_each(visit);
    }

    /// Both of it, one after the other: a crash in between leaves one that is whole, and the segments.
    fn store(&self, disk: &dyn Disk) -> io::Result<()> {
        let mut body = Vec::new();
        for bytes in self.records.values() {
            debug_assert!(bytes.len() <= RECORD_BYTES_MAX);
            body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            body.extend_from_slice(bytes);
        }
        sealed::write(disk, NAME, MAGIC, &body)?;
        sealed::write(disk, COPY, MAGIC, &body)
    }
}

/// Says whether a file is a snapshot.
pub(crate) fn is_snapshot(name: &str) -> bool {
    name == NAME || name == COPY
}

/// The directory's snapshot; where one of the two is damaged or gone, it is made anew of the other.
pub(crate) fn mended(shared: &Shared) -> io::Result<Folded> {
    let disk = &*shared.disk;
    let one = sealed::read(disk, NAME, MAGIC)?;
    let folded = match (one, sealed::read(disk, COPY, MAGIC)?) {
        (Found::Nothing, Found::Nothing) => return Ok(Folded::default()),
        (Found::Body(one), Found::Body(other)) if one == other => return Folded::read_all(&one),
        // The copy is written last, and was not by earlier versions.
        (Found::Body(one), Found::Body(_) | Found::Nothing) => Folded::read_all(&one)?,
        (Found::Body(one), Found::Damaged) => {
            put_aside(shared, COPY, "snapshot is whole")?;
            Folded::read_all(&one)?
        }
        (Found::Damaged, Found::Body(copy)) => {
            put_aside(shared, NAME, "taken from snapshot.copy")?;
            Folded::read_all(&copy)?
        }
        (Found::Nothing, Found::Body(copy)) => {
            shared.tell("snapshot is missing: taken from snapshot.copy");
            Folded::read_all(&copy)?
        }
        (one, _) => {
            let name = if matches!(one, Found::Damaged) {
                NAME
            } else {
                COPY
            };
            let bytes = sealed::read_bytes(disk, name)?.unwrap_or_default();
            put_aside(shared, name, "what can be read of it is taken")?;
            Folded::read(bytes.get(MAGIC.len()..).unwrap_or_default()).0
        }
    };
    if let Err(error) = folded.store(disk) {
        let place = disk.place();
        tracing::error!(%place, %error, "the snapshot cannot be made anew: tried again later");
    }
    Ok(folded)
}

fn put_aside(shared: &Shared, name: &str, then: &str) -> io::Result<()> {
    let kept = match aside::copy_file(&*shared.disk, name, "checksum") {
        Err(error) if is_full(&error) => "nowhere, since the disk is full".into(),
        kept => kept?,
    };
    shared.tell(&format!(
        "{name} is not as it was written (kept as {kept}): {then}"
    ));
    Ok(())
}

fn kind_number(kind: Kind) -> u8 {
    kind as u8
}

/// Drops what may be dropped; a failure is noted and tried again at the next roll.
pub(crate) fn run(shared: &Shared) {
    let due = due(shared, &shared.tail());
    if due.is_empty() {
        return;
    }
    let _alone = shared
        .folding
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let done = fold(shared, &due).and_then(|damaged| remove(shared, &due, &damaged));
    shared.tail().retention_fault = done.err().map(|error| error.to_string());
}

/// The oldest segments that are released and past their keeping; never the last.
fn due(shared: &Shared, tail: &Tail) -> Vec<Segment> {
    let mut bytes: u64 = tail.segments.iter().map(|segment| segment.bytes).sum();
    let age = i64::try_from(shared.options.retention_age.as_nanos()).unwrap_or(i64::MAX);
    let now = tail.age.at().map_or(i64::MIN, Time::nanos);
    let oldest = now.saturating_sub(age);
    let mut due = Vec::new();
    let nexts = tail.segments.iter().zip(first_arrivals(tail, now)).skip(1);
    for (segment, (next, arrival)) in tail.segments.iter().zip(nexts) {
        let released = next.header.first.sequence() - 1 <= tail.released;
        let too_many = bytes > shared.options.retention_bytes;
        let too_old = arrival < oldest;
        if !released || !(too_many || too_old) {
            break;
        }
        bytes -= segment.bytes;
        due.push(segment.clone());
    }
    due
}

/// When each segment began, at the latest: none did after one behind it, whatever a clock that was ahead has said. One
/// that says to be older than what is before it, which is of a time that has been, is of a clock that was behind.
fn first_arrivals(tail: &Tail, now: i64) -> Vec<i64> {
    let firsts = tail.segments.iter().map(|it| it.header.first_arrival);
    let newest_before = firsts.clone().scan(i64::MIN, |newest, first| {
        let before = *newest;
        *newest = before.max(first);
        Some(before)
    });
    let mut arrivals: Vec<i64> = newest_before.collect();
    let mut least = i64::MAX;
    for (arrival, first) in arrivals.iter_mut().zip(firsts.collect::<Vec<_>>()).rev() {
        let is_behind = first < *arrival && *arrival <= now;
        if !is_behind {
            least = least.min(first);
        }
        *arrival = least.min(first.max(now));
    }
    arrivals
}

/// Takes what must outlive the segments; says the names of those that are damaged.
fn fold(shared: &Shared, due: &[Segment]) -> io::Result<Vec<String>> {
    let known = due.iter().filter(|segment| !segment.holes.is_empty());
    let mut damaged: Vec<_> = known.map(|segment| segment.name.clone()).collect();
    if !due.iter().any(|segment| segment.keyed) {
        return Ok(damaged);
    }
    let mut folded = mended(shared)?;
    let cursors = due.iter().map(|segment| segment.header.first);
    let nexts = cursors.skip(1).map(Some).chain([None]);
    for (segment, next) in due.iter().zip(nexts).filter(|(segment, _)| segment.keyed) {
        let whole = fold_segment(shared, segment, next, &mut folded)?;
        if !whole && !damaged.contains(&segment.name) {
            damaged.push(segment.name.clone());
        }
    }
    folded.store(&*shared.disk)?;
    Ok(damaged)
}

/// Takes the keyed records of a segment as far as they can be read; says whether that is all of it.
fn fold_segment(
    shared: &Shared,
    segment: &Segment,
    next: Option<Cursor>,
    folded: &mut Folded,
) -> io::Result<bool> {
    let file = shared.disk.open(&segment.name)?;
    let end = HEADER_BYTES + segment.bytes;
    let cursors = segment::cursors(segment.header.first, next);
    let (mut from, mut whole) = (HEADER_BYTES, true);
    while from < end {
        let mut frames = Frames::new(&*file, from);
        while let Some(frame) = frames.next() {
            if let Ok(record) = Record::read(frame.record) {
                folded.take(&record);
            }
        }
        from = frames.offset();
        if from < end {
            whole = false;
            from = damage::next_frame(&*file, from + 1, end, &cursors);
        }
    }
    Ok(whole)
}

fn remove(shared: &Shared, due: &[Segment], damaged: &[String]) -> io::Result<()> {
    let mut tail = shared.tail();
    tail.segments.drain(..due.len());
    let first = tail.segments.front().map_or(0, |segment| segment.base);
    while tail.marks.get(1).is_some_and(|mark| mark.at <= first) {
        tail.marks.pop_front();
    }
    drop(tail);
    for Segment { name, .. } in due {
        match damaged.contains(name) {
            false => shared.disk.remove(name)?,
            true => {
                let kept = aside::move_file(&*shared.disk, name, "damage")?;
                let place = shared.disk.place();
                tracing::error!(%place, "{name}, which was damaged, is past its keeping: {kept}");
            }
        }
    }
    shared.disk.sync_dir()
}
