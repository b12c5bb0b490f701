//! The journal of what lies where.
//!
//! Layout: `weirma01`, then frames: length u32, CRC-32C u32, entries. An entry is a byte and varints;
//! a frame is a commit, whole or not there. The journal is rewritten as one frame when it has grown. It is
//! there twice ([`crate::pair`]).

use crate::extent::Reach;
use crate::file::{Dir, Stored};
use crate::pair::{HEAD_BYTES, Pair, split_frame};
use std::collections::BTreeMap;
use std::io;
use weir_model::Cursor;

pub(crate) const NAME: &str = "manifest";
pub(crate) const COPY: &str = "manifest.copy";
pub(crate) const ASIDE: &str = "manifest.new";
pub(crate) const MAGIC: &[u8; 8] = b"weirma01";

const TOPIC: u8 = 1;
const CHUNK: u8 = 2;
const DROP: u8 = 3;
const FORGET: u8 = 4;
const LATEST: u8 = 5;
const APPLIED: u8 = 6;
const REACH: u8 = 7;

/// Where a chunk lies and what it spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkMeta {
    pub(crate) order: u64,
    pub(crate) rows: u32,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// Entries of a commit to be.
#[derive(Clone, Default)]
pub(crate) struct Entries {
    bytes: Vec<u8>,
}

impl Entries {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn append(&mut self, other: &Entries) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    pub(crate) fn topic(&mut self, stream: u32, topic: &str) {
        self.put(TOPIC, &[u64::from(stream), topic.len() as u64]);
        self.bytes.extend_from_slice(topic.as_bytes());
    }

    pub(crate) fn chunk(&mut self, stream: u32, chunk: &ChunkMeta) {
        let span = chunk.last.wrapping_sub(chunk.first) as u64;
        let first = (chunk.first as u64).rotate_left(1);
        let (file, rows) = (u64::from(chunk.file), u64::from(chunk.rows));
        let len = u64::from(chunk.len);
        let stream = u64::from(stream);
        self.put(
            CHUNK,
            &[
                stream,
                chunk.order,
                rows,
                first,
                span,
                file,
                chunk.offset,
                len,
            ],
        );
    }

    pub(crate) fn drop_chunk(&mut self, stream: u32, order: u64) {
        self.put(DROP, &[u64::from(stream), order]);
    }

    pub(crate) fn forget(&mut self, stream: u32) {
        self.put(FORGET, &[u64::from(stream)]);
    }

    /// The last observation: by what it is last, and its block.
    pub(crate) fn latest(&mut self, stream: u32, key: (i64, Cursor), block: &[u8]) {
        let (time, cursor) = key;
        let time = (time as u64).rotate_left(1);
        self.put(
            LATEST,
            &[u64::from(stream), time, cursor.bits(), block.len() as u64],
        );
        self.bytes.extend_from_slice(block);
    }

    /// What chunks do not say: a bit for each that is there, and the times.
    pub(crate) fn reach(&mut self, stream: u32, reach: &Reach) {
        let result = reach.result;
        let times = [reach.end, result.map(|it| it.0), result.map(|it| it.1)];
        let number = |time: Option<i64>| (time.unwrap_or_default() as u64).rotate_left(1);
        let there = u64::from(reach.end.is_some()) | u64::from(result.is_some()) << 1;
        let [end, from, to] = times.map(number);
        self.put(REACH, &[u64::from(stream), there, end, from, to]);
    }

    pub(crate) fn applied(&mut self, cursor: Cursor) {
        self.put(APPLIED, &[cursor.bits()]);
    }

    fn put(&mut self, tag: u8, numbers: &[u64]) {
        self.bytes.push(tag);
        for &number in numbers {
            let mut number = number;
            while number >= 0x80 {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
    }
}

/// A datastream as the manifest has it.
#[derive(Default)]
pub(crate) struct LoadedStream {
    pub(crate) topic: String,
    pub(crate) chunks: BTreeMap<u64, ChunkMeta>,
    pub(crate) latest: Option<((i64, Cursor), Vec<u8>)>,
    pub(crate) reach: Reach,
}

/// All that the manifest says.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) streams: BTreeMap<u32, LoadedStream>,
    /// One more than any number given so far, forgotten ones too.
    pub(crate) next_stream: u32,
    pub(crate) applied: Cursor,
    /// Commits are missing that neither file has.
    pub(crate) has_lost: bool,
    /// What is damaged, a sentence each.
    pub(crate) damage: Vec<String>,
}

/// Whether these bytes are entries from the first to the last.
pub(crate) fn is_commit(body: &[u8]) -> bool {
    !body.is_empty() && Loaded::default().take(body).is_some()
}

impl Loaded {
    /// About what a manifest that says only this is long.
    fn bytes(&self) -> u64 {
        const CHUNK_BYTES: usize = 24;
        const STREAM_BYTES: usize = 48;
        let of = |stream: &LoadedStream| {
            STREAM_BYTES + stream.topic.len() + stream.chunks.len() * CHUNK_BYTES
        };
        self.streams.values().map(of).sum::<usize>() as u64
    }

    fn take(&mut self, body: &[u8]) -> Option<()> {
        let mut entries = Fields { bytes: body };
        while let Some((&tag, rest)) = entries.bytes.split_first() {
            entries.bytes = rest;
            self.entry(tag, &mut entries)?;
        }
        Some(())
    }

    fn entry(&mut self, tag: u8, fields: &mut Fields<'_>) -> Option<()> {
        if tag == APPLIED {
            self.applied = Cursor::from_bits(fields.number()?);
            return Some(());
        }
        let stream = u32::try_from(fields.number()?).ok()?;
        match tag {
            TOPIC => {
                let topic = fields.counted()?;
                // No number is left behind the last one.
                self.next_stream = self.next_stream.max(stream.checked_add(1)?);
                let known = self.streams.entry(stream).or_default();
                known.topic = String::from_utf8(topic.to_vec()).ok()?;
            }
            FORGET => {
                self.streams.remove(&stream);
            }
            CHUNK => {
                let chunk = fields.chunk()?;
                if let Some(known) = self.streams.get_mut(&stream) {
                    known.chunks.insert(chunk.order, chunk);
                }
            }
            DROP => {
                let order = fields.number()?;
                if let Some(known) = self.streams.get_mut(&stream) {
                    known.chunks.remove(&order);
                }
            }
            LATEST => {
                let time = fields.number()?.rotate_right(1) as i64;
                let cursor = Cursor::from_bits(fields.number()?);
                let block = fields.counted()?.to_vec();
                if let Some(known) = self.streams.get_mut(&stream) {
                    known.latest = Some(((time, cursor), block));
                }
            }
            REACH => {
                let reach = fields.reach()?;
                if let Some(known) = self.streams.get_mut(&stream) {
                    known.reach = reach;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (part, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(part)
    }

    fn reach(&mut self) -> Option<Reach> {
        let there = self.number()?;
        let mut time = || Some(self.number()?.rotate_right(1) as i64);
        let (end, from, to) = (time()?, time()?, time()?);
        Some(Reach {
            end: (there & 1 != 0).then_some(end),
            result: (there & 2 != 0).then_some((from, to)),
        })
    }

    fn chunk(&mut self) -> Option<ChunkMeta> {
        let order = self.number()?;
        let rows = u32::try_from(self.number()?).ok()?;
        let first = self.number()?.rotate_right(1) as i64;
        let last = first.wrapping_add(self.number()? as i64);
        let file = u32::try_from(self.number()?).ok()?;
        let offset = self.number()?;
        let len = u32::try_from(self.number()?).ok()?;
        Some(ChunkMeta {
            order,
            rows,
            first,
            last,
            file,
            offset,
            len,
        })
    }
}

/// The journal, open for more.
pub(crate) struct Manifest {
    /// One, and its copy.
    files: [Stored; 2],
    end: u64,
    /// Length when it was last rewritten.
    base: u64,
    /// The copy is of before the last rewriting.
    has_old_copy: bool,
}

impl Manifest {
    /// Reads the directory's journal without what a crash left behind its last whole commit; begins one where
    /// there is none.
    pub(crate) fn open(dir: &Dir) -> io::Result<(Self, Loaded)> {
        let pair = Pair::read(dir)?;
        let mut loaded = Loaded {
            has_lost: pair.hole > 0 || pair.is_new,
            damage: pair.damage,
            ..Loaded::default()
        };
        let mut rest = pair.bytes.get(MAGIC.len()..).unwrap_or_default();
        while let Some((frame, behind)) = split_frame(rest) {
            if loaded.take(&frame[HEAD_BYTES..]).is_none() {
                return Err(io::Error::other(
                    "the history's manifest has an unknown entry",
                ));
            }
            rest = behind;
        }
        if pair.hole > 0 {
            let byte = pair.hole;
            let lost =
                format!("commits of the manifest at byte {byte} are in neither of its files");
            loaded.damage.push(lost);
        }
        let files = [dir.file(NAME)?, dir.file(COPY)?];
        // A process that was killed may have left commits that no disk holds yet: what is told as kept
        // lets the log go.
        files.iter().try_for_each(Stored::sync)?;
        dir.sync()?;
        let (end, base) = (pair.bytes.len() as u64, loaded.bytes());
        let manifest = Self {
            files,
            end,
            base,
            has_old_copy: pair.has_old_copy,
        };
        Ok((manifest, loaded))
    }

    /// Makes a commit durable.
    pub(crate) fn commit(&mut self, entries: &Entries) -> io::Result<()> {
        let frame = frame(entries);
        let files = &self.files[..if self.has_old_copy { 1 } else { 2 }];
        files
            .iter()
            .try_for_each(|file| file.write(self.end, &frame))?;
        files.iter().try_for_each(Stored::sync)?;
        self.end += frame.len() as u64;
        Ok(())
    }

    /// Whether it has grown enough to be rewritten.
    pub(crate) fn is_long(&self, least: u64) -> bool {
        self.has_old_copy || (self.end > least && self.end > 4 * self.base)
    }

    /// Puts these entries in the place of all.
    pub(crate) fn rewrite(&mut self, dir: &Dir, entries: &Entries) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&frame(entries));
        let end = bytes.len() as u64;
        self.files[0] = written(dir, NAME, &bytes)?;
        (self.end, self.base, self.has_old_copy) = (end, end, true);
        self.files[1] = written(dir, COPY, &bytes)?;
        self.has_old_copy = false;
        Ok(())
    }
}

/// A file under this name, in the place of the one before.
pub(crate) fn written(dir: &Dir, name: &str, bytes: &[u8]) -> io::Result<Stored> {
    let file = dir.file(ASIDE)?;
    file.cut(0)?;
    file.write(0, bytes)?;
    file.sync()?;
    dir.rename(ASIDE, name)?;
    Ok(file)
}

fn frame(entries: &Entries) -> Vec<u8> {
    let body = &entries.bytes;
    let mut frame = Vec::with_capacity(HEAD_BYTES + body.len());
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32c::crc32c(body).to_le_bytes());
    frame.extend_from_slice(body);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datastream_with_the_last_number_is_refused() {
        let mut loaded = Loaded::default();
        let mut entries = Entries::default();
        entries.topic(u32::MAX - 1, "a");
        assert_eq!(loaded.take(&entries.bytes), Some(()));
        assert_eq!(loaded.next_stream, u32::MAX);
        entries.clear();
        entries.topic(u32::MAX, "b");
        assert_eq!(loaded.take(&entries.bytes), None);
    }
}
