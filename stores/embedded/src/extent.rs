//! From when to when there are observations of a datastream.
//!
//! Phenomenon times follow from the chunks that are there; the ends of intervals and the result times are
//! counted as they come and kept in the manifest, so they do not shrink when old chunks are dropped.

use crate::block::Rows;
use crate::state::Stream;
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
