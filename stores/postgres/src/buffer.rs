//! Rows on their way to the database, in the order of the log.

use crate::limits::{CHUNK_BYTES, CHUNK_ROWS};
use std::collections::VecDeque;
use std::sync::Arc;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Cursor, Observation, Time};
use weir_storage::HistoryFault;

/// Where a row came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) cursor: Cursor,
    pub(crate) arrival: i64,
    /// Its place in its record.
    pub(crate) item: i32,
}

/// Rows that are written together, behind the topic that is forgotten before.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) forgotten: Option<(Cursor, String)>,
    pub(crate) batch: Batch,
    /// Of each row of the batch.
    pub(crate) marks: Vec<Mark>,
    /// All records up to here are in this chunk or in one before.
    pub(crate) upto: Cursor,
}

impl Chunk {
    /// The first row behind a cursor.
    pub(crate) fn behind(&self, cursor: Cursor) -> usize {
        self.marks.partition_point(|mark| mark.cursor <= cursor)
    }

    fn names(&self, topics: &[&str]) -> bool {
        names(&self.batch, topics)
            || self
                .forgotten
                .as_ref()
                .is_some_and(|(_, topic)| topics.binary_search(&&topic[..]).is_ok())
    }
}

fn names(batch: &Batch, topics: &[&str]) -> bool {
    let is_asked = |index| topics.binary_search(&batch.stream(index).topic).is_ok();
    (0..batch.stream_count()).any(is_asked)
}

/// What was offered and is not known to be in the database.
#[derive(Default)]
pub(crate) struct Buffer {
    closed: VecDeque<Arc<Chunk>>,
    closed_bytes: usize,
    forgotten: Option<(Cursor, String)>,
    open: BatchBuilder,
    marks: Vec<Mark>,
    /// The last record that was offered.
    seen: Cursor,
    /// The last record that the database is known to have.
    written: Cursor,
}

impl Buffer {
    /// Begins behind what the database has.
    pub(crate) fn behind(written: Cursor) -> Self {
        Self {
            seen: written,
            written,
            ..Self::default()
        }
    }

    pub(crate) fn seen(&self) -> Cursor {
        self.seen
    }

    pub(crate) fn written(&self) -> Cursor {
        self.written
    }

    /// Bytes of memory held, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.closed_bytes + self.open_bytes()
    }

    fn open_bytes(&self) -> usize {
        self.open.batch().memory_bytes() + self.marks.len() * size_of::<Mark>()
    }

    /// Says whether rows should be written now.
    pub(crate) fn is_due(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Takes the rows of a record.
    pub(crate) fn take(
        &mut self,
        cursor: Cursor,
        arrival: Time,
        batch: &Batch,
    ) -> Result<(), HistoryFault> {
        for row in 0..batch.len() {
            self.open
                .push(&row_of(batch, row, arrival))
                .map_err(|error| HistoryFault::Failed(format!("record {cursor}: {error}")))?;
            self.marks.push(Mark {
                cursor,
                arrival: arrival.nanos(),
                item: row as i32,
            });
        }
        self.seen = cursor;
        if self.marks.len() >= CHUNK_ROWS || self.open_bytes() >= CHUNK_BYTES {
            self.close();
        }
        Ok(())
    }

    /// Forgets a topic: all before is written first.
    pub(crate) fn forget(&mut self, cursor: Cursor, topic: &str) {
        self.close();
        self.forgotten = Some((cursor, topic.to_owned()));
        self.seen = cursor;
    }

    /// Notes that all up to here was offered.
    pub(crate) fn advance(&mut self, cursor: Cursor) {
        self.seen = self.seen.max(cursor);
    }

    /// Says whether anything waits that is of one of these topics, which are sorted.
    pub(crate) fn concerns(&self, topics: &[&str]) -> bool {
        let forgotten = self.forgotten.as_ref();
        self.closed.iter().any(|chunk| chunk.names(topics))
            || names(self.open.batch(), topics)
            || forgotten.is_some_and(|(_, topic)| topics.binary_search(&&topic[..]).is_ok())
    }

    /// The first chunks that wait, `most` of them; what is open is closed before.
    pub(crate) fn due(&mut self, most: usize) -> Vec<Arc<Chunk>> {
        let last = self.closed.back().map_or(self.written, |chunk| chunk.upto);
        if self.seen > last {
            self.close();
        }
        self.closed.iter().take(most).cloned().collect()
    }

    fn close(&mut self) {
        let bytes = self.open_bytes();
        let chunk = Chunk {
            forgotten: self.forgotten.take(),
            batch: self.open.finish(),
            marks: std::mem::take(&mut self.marks),
            upto: self.seen,
        };
        if chunk.forgotten.is_none() && chunk.marks.is_empty() && !self.is_behind(chunk.upto) {
            return;
        }
        self.closed_bytes += bytes;
        self.closed.push_back(Arc::new(chunk));
    }

    fn is_behind(&self, cursor: Cursor) -> bool {
        self.written < cursor
    }

    /// Lets go of what the database has, up to this cursor.
    pub(crate) fn wrote(&mut self, upto: Cursor) {
        self.written = self.written.max(upto);
        self.seen = self.seen.max(upto);
        while let Some(chunk) = self.closed.front().filter(|chunk| chunk.upto <= upto) {
            let held = chunk.batch.memory_bytes() + chunk.marks.len() * size_of::<Mark>();
            self.closed_bytes = self.closed_bytes.saturating_sub(held);
            self.closed.pop_front();
        }
        if self.closed.is_empty() {
            self.closed_bytes = 0;
        }
    }
}

/// A row with its topic and time.
pub(crate) fn row_of(batch: &Batch, row: usize, arrival: Time) -> Observation<'_> {
    Observation {
        naming: Naming::Topic,
        time: Some(batch.time(row).unwrap_or(arrival)),
        ..batch.row(row)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_model::Value;

    fn batch(topic: &str, rows: usize) -> Batch {
        let mut builder = BatchBuilder::new();
        for _ in 0..rows {
            builder.begin();
            builder.topic(Naming::Topic, topic);
            builder.value(Value::Null);
            builder.end().unwrap();
        }
        builder.finish()
    }

    #[test]
    fn what_was_not_written_stays_in_its_order_and_what_was_goes() {
        let at = |sequence| Cursor::new(1, sequence);
        let mut buffer = Buffer::behind(at(4));
        let arrival = Time::from_nanos(7);
        buffer.take(at(5), arrival, &batch("a", 2)).unwrap();
        buffer.forget(at(6), "a");
        buffer.take(at(7), arrival, &batch("b", 1)).unwrap();
        assert!(buffer.concerns(&["a"]) && buffer.concerns(&["b"]) && !buffer.concerns(&["c"]));
        let due = buffer.due(9);
        let upto: Vec<_> = due.iter().map(|chunk| chunk.upto).collect();
        assert_eq!(upto, [at(5), at(7)]);
        assert_eq!(due[1].forgotten, Some((at(6), "a".into())));
        assert_eq!((due[0].behind(at(4)), due[0].behind(at(5))), (0, 2));
        assert_eq!(due[0].batch.time(0), Some(arrival));
        buffer.take(at(8), arrival, &batch("c", 1)).unwrap();
        buffer.wrote(at(7));
        assert_eq!(buffer.due(9).len(), 1);
        buffer.wrote(at(8));
        assert!(buffer.due(9).is_empty());
        assert_eq!((buffer.closed_bytes, buffer.written()), (0, at(8)));
    }

    #[test]
    fn an_advance_alone_is_written_too_and_once() {
        let mut buffer = Buffer::behind(Cursor::START);
        buffer.advance(Cursor::new(1, 9));
        assert_eq!(buffer.due(9).len(), 1);
        assert_eq!(buffer.due(9).len(), 1);
        buffer.wrote(Cursor::new(1, 9));
        assert!(buffer.due(9).is_empty());
    }
}
