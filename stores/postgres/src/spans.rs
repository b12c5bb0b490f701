//! From when to when each description of a datastream has observations, as the database keeps it.
//!
//! The decision worth arguing: the times are bounds with an hour to spare, from which the index finds the nearest
//! observation. So what comes live moves them once an hour, and not with every message.

use crate::limits::{COUNT_TIME, SPARE_NANOS};
use crate::line::{Session, Value};
use std::collections::HashMap;
use std::time::Instant;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

const WIDEN: &str = "INSERT INTO weir.extent AS e
     SELECT * FROM unnest($1::integer[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[],
         $6::bigint[], $7::bigint[])
     ON CONFLICT (datastream, number) DO UPDATE SET
         since = least(e.since, excluded.since), until = greatest(e.until, excluded.until),
         end_last = greatest(e.end_last, excluded.end_last),
         result_first = least(e.result_first, excluded.result_first),
         result_last = greatest(e.result_last, excluded.result_last)";
const UNCOUNTED: &str = "SELECT id FROM weir.datastream WHERE counted IS NULL ORDER BY id LIMIT 1";
/// Counts all observations of a datastream that a weir of before wrote. What is written meanwhile is widened by who
/// writes it.
const COUNT: &str = "INSERT INTO weir.extent AS e
     SELECT $1::integer, coalesce(o.description, 0), min(o.time), max(o.time), max(o.time_end),
         min(o.result_time), max(o.result_time)
     FROM weir.observation o WHERE o.datastream = $1 GROUP BY 2 ORDER BY 2
     ON CONFLICT (datastream, number) DO UPDATE SET
         since = least(e.since, excluded.since), until = greatest(e.until, excluded.until),
         end_last = greatest(e.end_last, excluded.end_last),
         result_first = least(e.result_first, excluded.result_first),
         result_last = greatest(e.result_last, excluded.result_last)";
const COUNTED: &str = "UPDATE weir.datastream SET counted = $2 WHERE id = $1";

/// The description of a datastream, by their numbers.
pub(crate) type Key = (i32, u8);
/// What is known to be in the database, or is to be.
pub(crate) type Spans = HashMap<Key, Span>;

/// From when to when there are observations.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    since: i64,
    until: i64,
    end: Option<i64>,
    first: Option<i64>,
    last: Option<i64>,
}

impl Span {
    /// That of one observation at a time.
    pub(crate) fn of(time: i64, end: Option<i64>, result: Option<i64>) -> Self {
        Self {
            since: time,
            until: time,
            end,
            first: result,
            last: result,
        }
    }

    /// The least that holds both.
    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            since: self.since.min(other.since),
            until: self.until.max(other.until),
            end: self.end.max(other.end),
            first: self.first.into_iter().chain(other.first).min(),
            last: self.last.max(other.last),
        }
    }

    fn holds(&self, other: &Self) -> bool {
        let both = self.joined(*other);
        (both.since, both.until) == (self.since, self.until)
            && (both.end, both.first, both.last) == (self.end, self.first, self.last)
    }

    /// The same with time to spare.
    fn spared(self) -> Self {
        Self {
            since: self.since.saturating_sub(SPARE_NANOS),
            until: self.until.saturating_add(SPARE_NANOS),
            ..self
        }
    }
}

/// Widens what the database has by what was written; `known` is what it is known to have.
pub(crate) async fn widen(
    session: &mut Session,
    known: &mut Spans,
    written: &Spans,
) -> Result<(), Error> {
    let is_new = |(key, span): &(&Key, &Span)| !known.get(key).is_some_and(|it| it.holds(span));
    let mut new: Vec<_> = written.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(());
    }
    // In one order, as whoever counts has it.
    new.sort_unstable_by_key(|(key, _)| **key);
    let new: Vec<(Key, Span)> = new.iter().map(|(key, it)| (**key, it.spared())).collect();
    let ids: Vec<_> = new.iter().map(|((id, _), _)| *id).collect();
    let numbers: Vec<_> = new
        .iter()
        .map(|((_, number), _)| i16::from(*number))
        .collect();
    let since: Vec<_> = new.iter().map(|(_, span)| span.since).collect();
    let until: Vec<_> = new.iter().map(|(_, span)| span.until).collect();
    let of_each = |pick: fn(&Span) -> Option<i64>| new.iter().map(|(_, it)| pick(it)).collect();
    let [end, first, last]: [Vec<_>; 3] = [
        of_each(|it| it.end),
        of_each(|it| it.first),
        of_each(|it| it.last),
    ];
    let values: [Value<'_>; 7] = [&ids, &numbers, &since, &until, &end, &first, &last];
    session.execute(WIDEN, &values).await?;
    for (key, span) in new {
        let joined = known.get(&key).map_or(span, |it| it.joined(span));
        known.insert(key, joined);
    }
    Ok(())
}

/// Counts observations that a weir of before wrote, for some time at most; of a datastream that takes longer than
/// the server lets a statement take all rows are read whenever it is asked about.
pub(crate) async fn count(session: &mut Session) -> Result<(), Error> {
    let until = Instant::now() + COUNT_TIME;
    while Instant::now() < until {
        let rows = session.query(UNCOUNTED, &[]).await?;
        let Some(row) = rows.first() else {
            break;
        };
        let id: i32 = row.try_get(0)?;
        let is_counted = match session.execute(COUNT, &[&id]).await {
            Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => false,
            counted => counted.map(|_| true)?,
        };
        session.execute(COUNTED, &[&id, &is_counted]).await?;
    }
    Ok(())
}
