//! Dropping old segments, and keeping of them what must outlive retention.
//!
//! Of keyed kinds only the last record of each topic counts. Before a segment is removed its keyed
//! records go into the file `snapshot`, which is replaced whole; a crash between the two steps leaves
//! the records in both places, and the snapshot says the same. Age is measured against the newest
//! arrival, not against a clock: a log that nobody writes to keeps what it has. A damaged segment gives
//! what can be read of it, and is moved aside instead of removed.

use crate::damage;
use crate::frame::Frames;
use crate::limits::RECORD_BYTES_MAX;
use crate::sealed;
use crate::segment::{self, HEADER_BYTES, Segment};
use crate::tail::{Shared, Tail};
use std::collections::BTreeMap;
use std::io;
use std::sync::PoisonError;
use weir_hub::{Kind, Record};
use weir_model::Cursor;

const NAME: &str = "snapshot";
const MAGIC: &[u8; 8] = b"weirsn01";

/// The last record of each kind and topic, tombstones left out.
#[derive(Default)]
pub(crate) struct Folded {
    records: BTreeMap<(u8, String), Vec<u8>>,
}

impl Folded {
    /// Reads the directory's snapshot.
    pub(crate) fn load(shared: &Shared) -> io::Result<Self> {
        let mut folded = Self::default();
        let body = sealed::read(&*shared.disk, NAME, MAGIC)?.unwrap_or_default();
        let mut rest = &body[..];
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = u32::from_le_bytes(*len) as usize;
            let bytes = behind.get(..len).ok_or(io::ErrorKind::InvalidData)?;
            let record = Record::read(bytes).map_err(io::Error::other)?;
            folded.take(&record);
            rest = &behind[len..];
        }
        Ok(folded)
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

    fn store(&self, shared: &Shared) -> io::Result<()> {
        let mut body = Vec::new();
        for bytes in self.records.values() {
            debug_assert!(bytes.len() <= RECORD_BYTES_MAX);
            body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            body.extend_from_slice(bytes);
        }
        sealed::write(&*shared.disk, NAME, MAGIC, &body)
    }
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
    let oldest = tail.newest_arrival.saturating_sub(age);
    let mut due = Vec::new();
    for (segment, next) in tail.segments.iter().zip(tail.segments.iter().skip(1)) {
        let released = next.header.first.sequence() - 1 <= tail.released;
        let too_many = bytes > shared.options.retention_bytes;
        let too_old = next.header.first_arrival < oldest;
        if !released || !(too_many || too_old) {
            break;
        }
        bytes -= segment.bytes;
        due.push(segment.clone());
    }
    due
}

/// Takes what must outlive the segments; says the names of those that are damaged.
fn fold(shared: &Shared, due: &[Segment]) -> io::Result<Vec<String>> {
    let known = due.iter().filter(|segment| !segment.holes.is_empty());
    let mut damaged: Vec<_> = known.map(|segment| segment.name.clone()).collect();
    if !due.iter().any(|segment| segment.keyed) {
        return Ok(damaged);
    }
    let mut folded = Folded::load(shared)?;
    let cursors = due.iter().map(|segment| segment.header.first);
    let nexts = cursors.skip(1).map(Some).chain([None]);
    for (segment, next) in due.iter().zip(nexts).filter(|(segment, _)| segment.keyed) {
        let whole = fold_segment(shared, segment, next, &mut folded)?;
        if !whole && !damaged.contains(&segment.name) {
            damaged.push(segment.name.clone());
        }
    }
    folded.store(shared)?;
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
        // What cannot be read here is damage like any other.
        while let Ok(Some(frame)) = frames.next() {
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
                shared.disk.rename(name, &format!("{name}.damaged"))?;
                let place = shared.disk.place();
                tracing::error!(%place, "{name} was damaged: kept aside as {name}.damaged");
            }
        }
    }
    shared.disk.sync_dir()
}
