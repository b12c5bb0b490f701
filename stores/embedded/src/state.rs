//! What is in memory: per datastream its chunks, the rows not yet in one, and its last observation.

use crate::block::{self, Rows};
use crate::damage::Damage;
use crate::extent::{Reach, Spans};
use crate::file::Stored;
use crate::limits::{CHUNK_ROWS, CHUNK_TEXT_BYTES};
use crate::manifest::ChunkMeta;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use weir_model::{Batch, Cursor, Time};
use weir_storage::takes_over;

const CHECKSUM_BYTES: usize = 4;

/// All datastreams.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) numbers: HashMap<Arc<str>, u32>,
    /// By number; `None` where forgotten.
    pub(crate) streams: Vec<Option<Box<Stream>>>,
    /// Last cursor applied.
    pub(crate) seen: Cursor,
    /// Last cursor that survives a crash.
    pub(crate) applied: Cursor,
    /// Streams with rows or a last observation that no commit has.
    pub(crate) dirty: Vec<u32>,
    pub(crate) forgotten: Vec<u32>,
    pub(crate) next_order: u64,
    /// Bytes of rows, and of blocks of full parts, that no file has.
    pub(crate) unwritten: usize,
    /// Numbers of the streams of the message at hand: kept for its memory.
    pub(crate) numbers_of_batch: Vec<u32>,
}

/// A datastream.
pub(crate) struct Stream {
    pub(crate) topic: Arc<str>,
    /// By order.
    pub(crate) parts: Vec<Part>,
    pub(crate) open: Rows,
    open_is_sorted: bool,
    pub(crate) latest: Option<Latest>,
    pub(crate) reach: Reach,
    is_dirty: bool,
}

/// The last observation by the lesser of its time and its arrival, then by cursor.
#[derive(Clone)]
pub(crate) struct Latest {
    pub(crate) key: (i64, Cursor),
    /// One row.
    pub(crate) row: Rows,
}

/// Rows that are closed, in order of time.
#[derive(Clone)]
pub(crate) struct Part {
    /// Parts of a stream follow each other in the order of their rows' cursors.
    pub(crate) order: u64,
    pub(crate) rows: u32,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) body: Body,
    /// Its texts are long: it is merged no further. Found out by trying; no file says so.
    pub(crate) is_long: bool,
    /// Of which descriptions its rows are, where somebody asked.
    pub(crate) spans: Option<Arc<Spans>>,
}

/// Where a part's rows are.
#[derive(Clone)]
pub(crate) enum Body {
    Rows(Arc<Rows>),
    Packed(Arc<Vec<u8>>),
    Stored {
        file: Arc<DataFile>,
        offset: u64,
        len: u32,
    },
}

/// A file of chunks.
pub(crate) struct DataFile {
    pub(crate) number: u32,
    pub(crate) stored: Stored,
    pub(crate) damage: Arc<Damage>,
}

impl DataFile {
    /// The name of the file with this number.
    pub(crate) fn name(number: u32) -> String {
        format!("{number:08}.dat")
    }
}

impl Part {
    fn new(order: u64, rows: Rows) -> Self {
        Self {
            order,
            rows: rows.len() as u32,
            first: rows.times.first().copied().unwrap_or_default(),
            last: rows.times.last().copied().unwrap_or_default(),
            body: Body::Rows(Arc::new(rows)),
            is_long: false,
            spans: None,
        }
    }

    pub(crate) fn stored(chunk: &ChunkMeta, file: Arc<DataFile>) -> Self {
        let body = Body::Stored {
            file,
            offset: chunk.offset,
            len: chunk.len,
        };
        Self {
            order: chunk.order,
            rows: chunk.rows,
            first: chunk.first,
            last: chunk.last,
            body,
            is_long: false,
            spans: None,
        }
    }

    /// The chunk's entry in the manifest, where it has one.
    pub(crate) fn meta(&self) -> Option<ChunkMeta> {
        let Body::Stored { file, offset, len } = &self.body else {
            return None;
        };
        Some(ChunkMeta {
            order: self.order,
            rows: self.rows,
            first: self.first,
            last: self.last,
            file: file.number,
            offset: *offset,
            len: *len,
        })
    }
}

impl Body {
    /// Whether these are the same rows at the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Body::Rows(own), Body::Rows(other)) => Arc::ptr_eq(own, other),
            (Body::Packed(own), Body::Packed(other)) => Arc::ptr_eq(own, other),
            (
                Body::Stored { file, offset, .. },
                Body::Stored {
                    file: other,
                    offset: at,
                    ..
                },
            ) => Arc::ptr_eq(file, other) && offset == at,
            _ => false,
        }
    }

    /// The rows, read and unpacked where need be.
    pub(crate) fn load(&self) -> io::Result<Arc<Rows>> {
        match self {
            Body::Rows(rows) => Ok(Arc::clone(rows)),
            Body::Packed(block) => Ok(Arc::new(block::decode(block).map_err(io::Error::other)?)),
            Body::Stored { file, offset, len } => {
                let decoded = file.block(*offset, *len).and_then(|block| {
                    block::decode(&block).map_err(|error| file.damaged(*offset, &error.to_string()))
                });
                Ok(Arc::new(decoded?))
            }
        }
    }
}

impl DataFile {
    /// The block of a chunk, whose checksum is right.
    pub(crate) fn block(&self, offset: u64, len: u32) -> io::Result<Vec<u8>> {
        let read = self.stored.read(offset, len as usize);
        let mut chunk = read.map_err(|error| self.damaged(offset, &error.to_string()))?;
        let block = chunk.split_off(CHECKSUM_BYTES.min(chunk.len()));
        if chunk == crc32c::crc32c(&block).to_le_bytes() {
            Ok(block)
        } else {
            Err(self.damaged(offset, "the checksum does not match"))
        }
    }

    fn damaged(&self, offset: u64, rule: &str) -> io::Error {
        let name = Self::name(self.number);
        let sentence = format!("{name}, chunk at byte {offset}: {rule}");
        self.damage.note_chunk(self.number, offset, &sentence);
        io::Error::other(sentence)
    }
}

/// Appends a block as a chunk with its checksum; says its length.
pub(crate) fn put_chunk(out: &mut Vec<u8>, block: &[u8]) -> u32 {
    out.extend_from_slice(&crc32c::crc32c(block).to_le_bytes());
    out.extend_from_slice(block);
    (CHECKSUM_BYTES + block.len()) as u32
}

impl Stream {
    pub(crate) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            parts: Vec::new(),
            open: Rows::default(),
            open_is_sorted: true,
            latest: None,
            reach: Reach::default(),
            is_dirty: false,
        }
    }

    fn take(&mut self, cursor: Cursor, arrival: i64, time: i64, batch: &Batch, row: usize) {
        self.open_is_sorted &= self.open.times.last().is_none_or(|&last| last <= time);
        self.open.push_batch_row(time, batch, row);
        self.reach.take(&self.open);
        let latest = self.latest.get_or_insert_with(|| Latest {
            key: (i64::MIN, cursor),
            row: Rows::default(),
        });
        let mut rank = Time::from_nanos(latest.key.0);
        let is_last = takes_over(&mut rank, Time::from_nanos(time), Time::from_nanos(arrival));
        latest.key.0 = rank.nanos();
        if is_last {
            latest.key.1 = cursor;
            latest.row.clear();
            latest.row.push_batch_row(time, batch, row);
        }
    }

    /// Closes the open rows; says which part they became.
    fn close(&mut self, next_order: &mut u64) -> Option<Part> {
        if self.open.is_empty() {
            return None;
        }
        self.open_is_sorted = true;
        let part = Part::new(*next_order, std::mem::take(&mut self.open).sorted());
        *next_order += 1;
        self.parts.push(part.clone());
        Some(part)
    }

    /// The part of this order.
    pub(crate) fn part_mut(&mut self, order: u64) -> Option<&mut Part> {
        let found = self.parts.binary_search_by_key(&order, |part| part.order);
        found.ok().map(|index| &mut self.parts[index])
    }

    /// The first and last time of the open rows.
    pub(crate) fn open_span(&self) -> Option<(i64, i64)> {
        let times = &self.open.times;
        if self.open_is_sorted {
            Some((*times.first()?, *times.last()?))
        } else {
            Some((*times.iter().min()?, *times.iter().max()?))
        }
    }

    /// The first `most` open rows by time from `from` on, before `to`.
    pub(crate) fn pick_open(&self, from: i64, to: i64, most: usize) -> Rows {
        let times = &self.open.times;
        let mut picked = Rows::default();
        if self.open_is_sorted {
            let begin = times.partition_point(|&time| time < from);
            let end = times.partition_point(|&time| time < to);
            (begin..end)
                .take(most)
                .for_each(|row| picked.push_row(&self.open, row));
        } else {
            let within = |&row: &usize| (from..to).contains(&times[row]);
            let mut order: Vec<_> = (0..times.len()).filter(within).collect();
            order.sort_by_key(|&row| times[row]);
            order
                .into_iter()
                .take(most)
                .for_each(|row| picked.push_row(&self.open, row));
        }
        picked
    }
}

impl State {
    /// The stream with this number.
    pub(crate) fn stream_mut(&mut self, number: u32) -> Option<&mut Stream> {
        self.streams.get_mut(number as usize)?.as_deref_mut()
    }

    /// The stream of this topic.
    pub(crate) fn stream_of(&self, topic: &str) -> Option<&Stream> {
        self.streams[*self.numbers.get(topic)? as usize].as_deref()
    }

    fn number_of(&mut self, topic: &str) -> u32 {
        if let Some(&number) = self.numbers.get(topic) {
            return number;
        }
        let number = self.streams.len() as u32;
        let topic: Arc<str> = topic.into();
        self.numbers.insert(Arc::clone(&topic), number);
        self.streams.push(Some(Box::new(Stream::new(topic))));
        number
    }

    /// Takes the rows of a message; says which parts are full and whose they are.
    pub(crate) fn apply(
        &mut self,
        cursor: Cursor,
        arrival: Time,
        batch: &Batch,
    ) -> Vec<(u32, Part)> {
        self.seen = cursor;
        let mut numbers = std::mem::take(&mut self.numbers_of_batch);
        numbers.clear();
        for index in 0..batch.stream_count() {
            let number = self.number_of(batch.stream(index).topic);
            numbers.push(number);
            let stream = self.streams[number as usize].as_deref_mut();
            if stream.is_some_and(|stream| !std::mem::replace(&mut stream.is_dirty, true)) {
                self.dirty.push(number);
            }
        }
        let mut full = Vec::new();
        for row in 0..batch.len() {
            let number = numbers[batch.stream_of(row)];
            let Some(stream) = self.streams[number as usize].as_deref_mut() else {
                continue;
            };
            let time = batch.time(row).unwrap_or(arrival).nanos();
            let before = stream.open.memory_bytes();
            stream.take(cursor, arrival.nanos(), time, batch, row);
            self.unwritten += stream.open.memory_bytes() - before;
            if stream.open.len() >= CHUNK_ROWS || stream.open.texts.len() >= CHUNK_TEXT_BYTES {
                full.extend(
                    stream
                        .close(&mut self.next_order)
                        .map(|part| (number, part)),
                );
            }
        }
        self.numbers_of_batch = numbers;
        full
    }

    /// Forgets a topic and its rows.
    pub(crate) fn forget(&mut self, topic: &str) {
        if let Some(number) = self.numbers.remove(topic) {
            self.streams[number as usize] = None;
            self.forgotten.push(number);
        }
    }

    /// Closes the open rows of the streams that no commit has whole; their numbers.
    pub(crate) fn close_dirty(&mut self) -> Vec<u32> {
        let dirty = std::mem::take(&mut self.dirty);
        for &number in &dirty {
            let Some(stream) = self.streams[number as usize].as_deref_mut() else {
                continue;
            };
            stream.is_dirty = false;
            stream.close(&mut self.next_order);
        }
        dirty
    }

    /// Puts a part's rows elsewhere, if it is still there.
    pub(crate) fn replace(&mut self, number: u32, order: u64, body: Body) {
        let part = self
            .stream_mut(number)
            .and_then(|stream| stream.part_mut(order));
        part.into_iter().for_each(|part| part.body = body.clone());
    }
}
