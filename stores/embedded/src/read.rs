//! Reading: rows of many datastreams by time, then topic, then cursor, a page at a time.
//!
//! What may hold rows of the page is noted under the lock (shares of chunks, copies of open rows);
//! files are read and chunks unpacked outside of it, each only when its turn comes.

use crate::block::Rows;
use crate::state::{Body, State, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;
use weir_storage::{HistoryFault, Page, Range, RowPage, Token, WindowPage};

/// Open rows stand behind all chunks.
const OPEN: u64 = u64::MAX;

/// Something that holds rows of one datastream in order of time.
struct Source {
    topic: usize,
    order: u64,
    from: i64,
    first: i64,
    /// How many rows its body has.
    count: u32,
    body: Option<Body>,
    rows: Option<Arc<Rows>>,
}

/// Time, topic, order, row, source: rows come in the order of these.
type Next = (i64, usize, u64, usize, usize);

/// Rows of all sources in the order of pages.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// The next row of each source; one not yet read stands at the earliest time it may have.
    heap: BinaryHeap<Reverse<Next>>,
    to: i64,
    /// A source whose last row was given.
    spent: Option<usize>,
    /// Rows of chunks that cannot be read.
    lost: u64,
}

/// Where a row of a merge is, until the next one is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Merged {
    pub(crate) topic: usize,
    source: usize,
    pub(crate) row: usize,
}

impl Merge {
    /// Notes all that may hold rows of a page: of each datastream what `need` says by its topic, from
    /// which time on and how many rows.
    pub(crate) fn begin(
        state: &State,
        query: &Range<'_>,
        need: impl Fn(&str) -> (i64, usize),
    ) -> Self {
        let to = query.to.nanos();
        let mut merge = Self {
            sources: Vec::new(),
            heap: BinaryHeap::new(),
            to,
            spent: None,
            lost: 0,
        };
        for (topic, name) in query.topics.iter().enumerate() {
            if let Some(stream) = state.stream_of(name) {
                let (from, most) = need(name);
                merge.add_stream(topic, stream, from, most);
            }
        }
        let first = |(index, source): (usize, &Source)| {
            Reverse((
                source.first.max(source.from),
                source.topic,
                source.order,
                0,
                index,
            ))
        };
        merge.heap = merge.sources.iter().enumerate().map(first).collect();
        merge
    }

    fn add_stream(&mut self, topic: usize, stream: &Stream, from: i64, most: usize) {
        let to = self.to;
        let mut parts: Vec<_> = stream
            .parts
            .iter()
            .filter(|part| part.last >= from && part.first < to)
            .collect();
        parts.sort_by_key(|part| part.first);
        // Once parts that lie wholly behind `from` hold enough rows, later ones cannot matter.
        let (mut rows, mut last) = (0, i64::MIN);
        for part in parts {
            if rows >= most && part.first > last {
                break;
            }
            if part.first >= from && rows < most {
                rows += part.rows as usize;
                last = last.max(part.last);
            }
            self.sources.push(Source {
                topic,
                order: part.order,
                from,
                first: part.first,
                count: part.rows,
                body: Some(part.body.clone()),
                rows: None,
            });
        }
        let open = stream.pick_open(from, to, most);
        if let Some(&first) = open.times.first() {
            let rows = Some(Arc::new(open));
            self.sources.push(Source {
                topic,
                order: OPEN,
                from,
                first,
                count: 0,
                body: None,
                rows,
            });
        }
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Option<Merged> {
        if let Some(spent) = self.spent.take() {
            self.sources[spent].rows = None;
        }
        loop {
            let mut top = self.heap.peek_mut()?;
            let Reverse((_time, topic, order, row, index)) = *top;
            let source = &mut self.sources[index];
            let body = source.body.take();
            let was_unread = body.is_some();
            let next = match body {
                Some(body) => {
                    // A chunk that cannot be read takes its own rows and nobody else's.
                    let rows = body.load().unwrap_or_else(|_noted| {
                        self.lost += u64::from(source.count);
                        Arc::default()
                    });
                    let rows = source.rows.insert(rows);
                    rows.times.partition_point(|&time| time < source.from)
                }
                None => row + 1,
            };
            let time = source
                .rows
                .as_ref()
                .and_then(|rows| rows.times.get(next))
                .copied();
            match time.filter(|&time| time < self.to) {
                Some(time) => *top = Reverse((time, topic, order, next, index)),
                None => {
                    PeekMut::pop(top);
                    self.spent = Some(index);
                }
            }
            if !was_unread {
                return Some(Merged {
                    topic,
                    source: index,
                    row,
                });
            }
        }
    }

    /// The page with what could not be read for it.
    fn told(&self, page: Page) -> Page {
        Page {
            lost: self.lost,
            ..page
        }
    }

    /// The rows among which a row is.
    pub(crate) fn rows(&self, merged: Merged) -> Option<&Rows> {
        self.sources[merged.source].rows.as_deref()
    }
}

/// One page of rows.
pub(crate) fn page(
    query: &Range<'_>,
    after: Option<&Token>,
    mut merge: Merge,
) -> Result<Page, HistoryFault> {
    let mut page = RowPage::new(query, after);
    while let Some(merged) = merge.next() {
        let Some(rows) = merge.rows(merged) else {
            continue;
        };
        let name = query.topics[merged.topic];
        if page.offer(&rows.observation(merged.row, name))? {
            return Ok(merge.told(page.cut()));
        }
    }
    Ok(merge.told(page.finish()))
}

/// One page of windows.
pub(crate) fn windows(
    query: &Range<'_>,
    mut page: WindowPage<'_>,
    mut merge: Merge,
) -> Result<Page, HistoryFault> {
    while let Some(merged) = merge.next() {
        let Some(rows) = merge.rows(merged) else {
            continue;
        };
        let (time, value) = (rows.time(merged.row), rows.value(merged.row));
        let made = (value, rows.description(merged.row));
        let whole = || rows.observation(merged.row, query.topics[merged.topic]);
        if page.offer(merged.topic, time, made, whole)? {
            return Ok(merge.told(page.cut()));
        }
    }
    Ok(merge.told(page.finish()))
}
