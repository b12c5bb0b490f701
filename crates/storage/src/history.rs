//! What the hub asks of a history store; `stores/embedded` is the default one.

use crate::aggregate::Aggregate;
use crate::units::{Incomparable, Units};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use weir_model::{Batch, Cursor, Observation, Time};

/// Observations of the past, kept column by column behind the log.
///
/// It is fed from the committed tail, in order, and says how far it has come, so that after a start the
/// rest is fed again: `apply` of a cursor at or before [`History::applied`] does nothing.
pub trait History: Send + Sync {
    /// Takes the observations of a committed message (topics complete, times set).
    fn apply(&self, cursor: Cursor, arrival: Time, batch: &Batch) -> Result<(), HistoryFault>;

    /// Forgets a datastream and all its observations.
    fn forget(&self, cursor: Cursor, topic: &str) -> Result<(), HistoryFault>;

    /// Notes that all records up to this cursor were offered.
    fn advance(&self, cursor: Cursor);

    /// All up to this cursor survives a crash here; the log may be released up to it.
    fn applied(&self) -> Cursor;

    /// Visits the last observation of every datastream with its record's cursor, as of the last start.
    fn latest(&self, visit: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault>;

    /// The newest time that it has observations of a datastream of, without reading them (`i64::MIN` where it
    /// has none); `None` where it cannot say.
    fn newest(&self, _topic: &str) -> Option<Time> {
        None
    }

    /// The same of many, in their order.
    fn newest_of(&self, topics: &[&str]) -> Vec<Option<Time>> {
        topics.iter().map(|topic| self.newest(topic)).collect()
    }

    /// One page of observations in time order.
    fn read(&self, query: &Range<'_>) -> Result<Page, HistoryFault>;

    /// From when to when it has observations of a datastream; `None` where it has none, or does not keep
    /// this.
    fn extent(&self, _topic: &str) -> Option<Extent> {
        None
    }

    /// The same of the observations that were made under each of its descriptions, by their numbers.
    fn extents(&self, _topic: &str) -> Result<Vec<(u8, Extent)>, HistoryFault> {
        Ok(Vec::new())
    }

    /// How many damages were found in it, at the start and since; each is told in the gateway's log.
    fn damage(&self) -> u64 {
        0
    }

    /// Makes what is in memory durable and drops what is past its keeping; called now and then, off
    /// the network threads, and before a clean stop.
    fn maintain(&self, now: Time) -> Result<(), HistoryFault>;
}

/// What is asked of the past.
#[derive(Clone, Debug)]
pub struct Range<'a> {
    /// Topics of the datastreams, sorted.
    pub topics: &'a [&'a str],
    /// From this time, it included.
    pub from: Time,
    /// Up to this time, it excluded.
    pub to: Time,
    /// At most this many observations.
    pub limit: usize,
    /// Where the page before ended.
    pub page: Option<&'a str>,
    /// One observation a window instead of all.
    pub aggregate: Option<Aggregate>,
    /// What the windows do not count; observations that are read one by one are left out by the hub.
    pub hidden: Option<&'a Hidden>,
    /// In which unit windows count numbers that were observed in another; no single observation is converted.
    pub units: Option<&'a Units>,
}

/// Observations that were withdrawn, by their datastream's index in [`Range::topics`]: their times, and how
/// many of the same time came before each.
pub type Hidden = BTreeMap<usize, BTreeSet<(i64, u32)>>;

/// From when to when there are observations of a datastream, as far as it is known without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The earliest phenomenon time.
    pub first: Time,
    /// The latest phenomenon time, of an interval its beginning.
    pub last: Time,
    /// The latest end of an interval, where any is one.
    pub end: Option<Time>,
    /// The earliest and latest result time, where any is said.
    pub result: Option<(Time, Time)>,
}

impl Extent {
    /// The least that holds both.
    pub fn joined(self, other: Self) -> Self {
        let span = |a: (Time, Time), b: (Time, Time)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            end: self.end.max(other.end),
            result: match (self.result, other.result) {
                (Some(a), Some(b)) => Some(span(a, b)),
                (a, b) => a.or(b),
            },
        }
    }
}

/// A page of the past: topic, time, value, place and extras of each observation, by time, then topic.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The observations.
    pub batch: Batch,
    /// Token of the next page; `None` at the end.
    pub next: Option<String>,
    /// How many observations of the first row's datastream and time stand on pages before.
    pub before: u32,
    /// Rows that are not the first of their datastream and time, and how many such came before each;
    /// the hub fills them in.
    pub ordinals: Vec<(u32, u32)>,
    /// How many observations, of the page's span and around it, the disk no longer gives back.
    pub lost: u64,
}

impl Page {
    /// How many observations of its datastream and time came before a row.
    pub fn ordinal(&self, row: usize) -> u32 {
        let found = self
            .ordinals
            .binary_search_by_key(&row, |&(of, _)| of as usize);
        found.map_or(0, |at| self.ordinals[at].1)
    }

    /// The rows that are wanted, with what tells them apart.
    pub fn select(&self, mut is_wanted: impl FnMut(usize) -> bool) -> Self {
        let mut told = self.ordinals.iter().peekable();
        let (mut ordinals, mut kept) = (Vec::new(), 0);
        let batch = self.batch.select(|row| {
            let own = told.next_if(|(of, _)| *of as usize == row);
            let keeps = is_wanted(row);
            if keeps {
                ordinals.extend(own.map(|(_, ordinal)| (kept, *ordinal)));
                kept += 1;
            }
            keeps
        });
        Self {
            batch,
            ordinals,
            next: self.next.clone(),
            before: self.before,
            lost: self.lost,
        }
    }
}

/// Why history cannot answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryFault {
    /// The page token was not given by this store for this query.
    BadPage,
    /// The store's files cannot be read or written.
    Failed(String),
    /// The numbers of a window are of units that cannot be compared.
    Incomparable(Incomparable),
}

impl fmt::Display for HistoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryFault::BadPage => f.write_str("not a page token of this query"),
            HistoryFault::Incomparable(refused) => refused.fmt(f),
            HistoryFault::Failed(cause) => write!(f, "history cannot be read or written: {cause}"),
        }
    }
}

impl std::error::Error for HistoryFault {}
