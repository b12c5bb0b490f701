//! The store as the hub sees it.

use crate::block::Encoder;
use crate::damage::Damage;
use crate::extent::spans_of;
use crate::file::Dir;
use crate::maintain::Upkeep;
use crate::read::{self, Merge};
use crate::state::{Body, State, Stream};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weir_disk::{Disk, RealDisk};
use weir_model::{Batch, Cursor, Observation, Time};
use weir_storage::{Extent, History, HistoryFault, Page, Range, RowPage, Token, WindowPage};

/// What an owner decides about the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of chunks above which the oldest are dropped.
    pub retention_bytes: u64,
    /// Age, by the last row's own time, after which a chunk is dropped, however lately it came.
    pub retention_age: Duration,
    /// Bytes of rows that may wait in memory; beyond, whoever brings more writes them first.
    pub unwritten_bytes_max: usize,
}

impl Default for Options {
    /// Ten gigabytes of any age: what was acknowledged may have been observed long ago.
    fn default() -> Self {
        Self {
            retention_bytes: 10_000_000_000,
            retention_age: Duration::MAX,
            unwritten_bytes_max: 32 << 20,
        }
    }
}

/// Observations of the past in one directory.
pub struct EmbeddedHistory {
    state: Mutex<State>,
    upkeep: Mutex<Upkeep>,
    /// Packs chunks that fill up while they are applied.
    encoder: Mutex<Encoder>,
    unwritten_bytes_max: usize,
    damage: Arc<Damage>,
}

impl EmbeddedHistory {
    /// Opens the history in a directory, or begins one; reads the manifest and no chunk.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> io::Result<Self> {
        Self::on(Arc::new(RealDisk::new(dir.as_ref())?), options)
    }

    /// The same on any disk.
    pub fn on(disk: Arc<dyn Disk>, options: Options) -> io::Result<Self> {
        let unwritten_bytes_max = options.unwritten_bytes_max;
        let (upkeep, state) = Upkeep::open(Dir::open(disk)?, options)?;
        Ok(Self {
            damage: Arc::clone(&upkeep.damage),
            state: Mutex::new(state),
            upkeep: Mutex::new(upkeep),
            encoder: Mutex::default(),
            unwritten_bytes_max,
        })
    }

    /// Bytes of chunks in files and number of observations in them, for an operator.
    pub fn stored(&self) -> (u64, u64) {
        let state = self.state();
        let parts = state
            .streams
            .iter()
            .flatten()
            .flat_map(|stream| &stream.parts);
        let metas = parts.filter_map(|part| part.meta());
        metas.fold((0, 0), |(bytes, rows), meta| {
            (bytes + u64::from(meta.len), rows + u64::from(meta.rows))
        })
    }

    /// Writes what waits, where it is too much. Nothing is taken where that fails.
    fn make_room(&self) -> Result<(), HistoryFault> {
        if self.state().unwritten < self.unwritten_bytes_max {
            return Ok(());
        }
        lock(&self.upkeep).write_rows(&self.state).map_err(failed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn failed(error: io::Error) -> HistoryFault {
    HistoryFault::Failed(error.to_string())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl History for EmbeddedHistory {
    fn apply(&self, cursor: Cursor, arrival: Time, batch: &Batch) -> Result<(), HistoryFault> {
        self.make_room()?;
        let mut state = self.state();
        if cursor <= state.seen {
            return Ok(());
        }
        let full = state.apply(cursor, arrival, batch);
        drop(state);
        for (number, part) in full {
            let Body::Rows(rows) = &part.body else {
                continue;
            };
            let mut block = Vec::new();
            lock(&self.encoder).encode(rows, &mut block);
            self.state().pack(number, part.order, Arc::new(block));
        }
        Ok(())
    }

    fn forget(&self, cursor: Cursor, topic: &str) -> Result<(), HistoryFault> {
        let mut state = self.state();
        if cursor > state.seen {
            state.seen = cursor;
            state.forget(topic);
        }
        Ok(())
    }

    fn advance(&self, cursor: Cursor) {
        let mut state = self.state();
        state.seen = state.seen.max(cursor);
    }

    fn damage(&self) -> u64 {
        self.damage.count()
    }

    fn applied(&self) -> Cursor {
        self.state().applied
    }

    fn latest(&self, visit: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault> {
        let state = self.state();
        for stream in state.streams.iter().flatten() {
            if let Some(latest) = &stream.latest {
                visit(latest.key.1, &latest.row.observation(0, &stream.topic));
            }
        }
        Ok(())
    }

    fn newest(&self, topic: &str) -> Option<Time> {
        let state = self.state();
        let extent = state.stream_of(topic).and_then(Stream::extent);
        Some(extent.map_or(Time::from_nanos(i64::MIN), |extent| extent.last))
    }

    fn read(&self, query: &Range<'_>) -> Result<Page, HistoryFault> {
        let after = Token::of(query)?;
        let after = after.as_ref();
        if let Some(aggregate) = query.aggregate {
            let page = WindowPage::new(query, aggregate, after);
            let from = page.from();
            let merge = Merge::begin(&self.state(), query, |_topic| (from, usize::MAX));
            return read::windows(query, page, merge);
        }
        let merge = Merge::begin(&self.state(), query, |topic| {
            RowPage::need(query, after, topic)
        });
        read::page(query, after, merge)
    }

    fn extent(&self, topic: &str) -> Option<Extent> {
        self.state().stream_of(topic)?.extent()
    }

    fn extents(&self, topic: &str) -> Result<Vec<(u8, Extent)>, HistoryFault> {
        let mut known = self.state().known_spans(topic);
        for (order, body) in std::mem::take(&mut known.unread) {
            // What the disk does not give back is counted as it is read.
            let Ok(rows) = body.load() else {
                continue;
            };
            let spans = spans_of(&rows);
            known.take(&spans);
            self.state().keep_spans(topic, (order, &body), spans);
        }
        Ok(known.spans.into_iter().collect())
    }

    fn maintain(&self, now: Time) -> Result<(), HistoryFault> {
        let mut upkeep = lock(&self.upkeep);
        upkeep.run(&self.state, now).map_err(failed)
    }
}

#[cfg(test)]
mod tests;
