//! From when to when there are observations of a datastream.
//!
//! Phenomenon times follow from the chunks that are there; the ends of intervals and the result times are
//! counted as they come and kept in the manifest, so they do not shrink when old chunks are dropped. Those of what was
//! made under one description are read from the chunks, of each chunk once, when they are first asked for.

use crate::block::Rows;
use crate::state::{Body, State, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_model::Time;
use weir_storage::Extent;

/// What the chunks do not say of all rows that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The latest end of an interval.
    pub(crate) end: Option<i64>,
    /// The earliest and latest result time.
    pub(crate) result: Option<(i64, i64)>,
}

impl Reach {
    /// Counts the last row in.
    pub(crate) fn take(&mut self, rows: &Rows) {
        let last = rows.bags.last();
        let Some(bag) = last.filter(|bag| bag.row as usize + 1 == rows.len()) else {
            return;
        };
        self.end = self.end.max(bag.end);
        if let Some(time) = bag.result_time {
            let (from, to) = self.result.unwrap_or((time, time));
            self.result = Some((from.min(time), to.max(time)));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Stream {
    pub(crate) fn extent(&self) -> Option<Extent> {
        let parts = self.parts.iter().map(|part| (part.first, part.last));
        let open = self.open_span();
        let join = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
        let (first, last) = parts.chain(open).reduce(join)?;
        let time = Time::from_nanos;
        Some(Extent {
            first: time(first),
            last: time(last),
            end: self.reach.end.map(time),
            result: self.reach.result.map(|(from, to)| (time(from), time(to))),
        })
    }
}

/// From when to when there are rows of each description.
pub(crate) type Spans = BTreeMap<u8, Extent>;

/// Those of some rows.
pub(crate) fn spans_of(rows: &Rows) -> Spans {
    let mut spans = Spans::new();
    for row in 0..rows.len() {
        let time = Time::from_nanos(rows.time(row));
        let extra = rows.extra(row);
        let own = Extent {
            first: time,
            last: time,
            end: extra.end,
            result: extra.result_time.map(|time| (time, time)),
        };
        join(&mut spans, rows.description(row), own);
    }
    spans
}

fn join(spans: &mut Spans, number: u8, extent: Extent) {
    let known = spans.entry(number).or_insert(extent);
    *known = known.joined(extent);
}

/// What is known of a datastream's descriptions, and the parts that nobody looked through yet, by their orders.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) spans: Spans,
    pub(crate) unread: Vec<(u64, Body)>,
}

impl Known {
    /// Takes what there is of a part.
    pub(crate) fn take(&mut self, spans: &Spans) {
        for (number, extent) in spans {
            join(&mut self.spans, *number, *extent);
        }
    }
}

impl State {
    /// What is known of a topic.
    pub(crate) fn known_spans(&self, topic: &str) -> Known {
        let mut known = Known::default();
        let Some(stream) = self.stream_of(topic) else {
            return known;
        };
        known.take(&spans_of(&stream.open));
        for part in &stream.parts {
            match &part.spans {
                Some(spans) => known.take(spans),
                None => known.unread.push((part.order, part.body.clone())),
            }
        }
        known
    }

    /// Keeps what a part was found to have, unless it has other rows by now.
    pub(crate) fn keep_spans(&mut self, topic: &str, (order, body): (u64, &Body), spans: Spans) {
        let number = self.numbers.get(topic).copied();
        let stream = number.and_then(|number| self.stream_mut(number));
        let part = stream.and_then(|stream| stream.part_mut(order));
        if let Some(part) = part.filter(|part| part.body.is(body)) {
            part.spans = Some(Arc::new(spans));
        }
    }
}
