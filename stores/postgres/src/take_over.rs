//! What another store has of the past, into a database that has nothing yet: all of it or nothing.
//!
//! The decision worth arguing: one transaction, however long it takes. Rows have no place in the log any more,
//! so they stand at its beginning, in the order in which the other store gives them; what follows in the log
//! is fed from where that store ends.

use crate::buffer::{Chunk, Mark, row_of};
use crate::limits::{CHUNK_ROWS, TAKE_TOPICS};
use crate::line::Session;
use crate::write::{self, Numbers};
use std::collections::{BTreeMap, HashMap};
use tokio_postgres::Error;
use weir_model::{BatchBuilder, Cursor, Datastream, Observation, Time};
use weir_storage::{History, HistoryFault, Range};

const EMPTY: &str = "SELECT NOT EXISTS (SELECT FROM weir.observation)";
const ALONE: &str = "SELECT cursor FROM weir.progress FOR UPDATE";

/// Why nothing was taken over.
pub(crate) enum TakeFault {
    Database(Error),
    Store(HistoryFault),
    /// In a sentence.
    Refused(String),
}

impl From<Error> for TakeFault {
    fn from(error: Error) -> Self {
        TakeFault::Database(error)
    }
}

/// Before every cursor as the database sorts them, which is by their bits as a signed number.
const FIRST: Cursor = Cursor::new(1 << 15, 0);

/// The last observation of a datastream: its topic and its time.
type Last = (String, Option<Time>);

/// What datastreams were, by their topics: rows of another store say the numbers of their descriptions alone.
pub(crate) type Datastreams = BTreeMap<String, Datastream>;

/// Takes all that a store has; says how many observations that were.
pub(crate) async fn take_over(
    session: &mut Session,
    (from, known): (&dyn History, &Datastreams),
    told: &(dyn Fn(u64) + Send + Sync),
) -> Result<u64, TakeFault> {
    let mut last = Vec::new();
    from.latest(&mut |_, row| last.push((row.topic.to_owned(), row.time)))
        .map_err(TakeFault::Store)?;
    last.sort();
    session.client.batch_execute("BEGIN").await?;
    let before = write::progress(session, ALONE).await?;
    let is_empty: bool = session.client.query_one(EMPTY, &[]).await?.try_get(0)?;
    if before != Cursor::START || !is_empty {
        let had =
            format!("the database has a history already, up to {before}; give it an empty one");
        return Err(TakeFault::Refused(had));
    }
    let mut numbers = Numbers::default();
    let mut count = 0;
    for part in last.chunks(TAKE_TOPICS) {
        let mut items = Items::new(part, known);
        take_part(
            session,
            &mut numbers,
            (from, part, &mut items),
            &mut |rows| {
                count += rows;
                told(count);
            },
        )
        .await?;
    }
    write::finish(session, from.applied()).await?;
    Ok(count)
}

/// All observations of some datastreams, page by page.
async fn take_part(
    session: &mut Session,
    numbers: &mut Numbers,
    (from, part, items): (&dyn History, &[Last], &mut Items<'_>),
    told: &mut (dyn FnMut(u64) + Send),
) -> Result<(), TakeFault> {
    let topics: Vec<&str> = part.iter().map(|(topic, _)| topic.as_str()).collect();
    let mut token: Option<String> = None;
    loop {
        let asked = Range {
            topics: &topics,
            from: Time::from_nanos(i64::MIN),
            to: Time::from_nanos(i64::MAX),
            limit: CHUNK_ROWS,
            page: token.as_deref(),
            aggregate: None,
            hidden: None,
            units: None,
        };
        let page = from.read(&asked).map_err(TakeFault::Store)?;
        let chunk = items.chunk(&page.batch).map_err(TakeFault::Refused)?;
        write::write_rows(session, numbers, &chunk, 0).await?;
        told(chunk.marks.len() as u64);
        token = page.next;
        if token.is_none() {
            return Ok(());
        }
    }
}

/// How many rows of its newest time each datastream had so far, and when its last observation was.
struct Items<'a> {
    known: &'a Datastreams,
    of: HashMap<&'a str, (Option<Time>, i32, Option<Time>)>,
}

impl<'a> Items<'a> {
    fn new(part: &'a [Last], known: &'a Datastreams) -> Self {
        let of_each = part
            .iter()
            .map(|(topic, last)| (topic.as_str(), (None, 0, *last)));
        Self {
            known,
            of: of_each.collect(),
        }
    }

    fn chunk(&mut self, batch: &weir_model::Batch) -> Result<Chunk, String> {
        let (mut rows, mut marks) = (BatchBuilder::new(), Vec::with_capacity(batch.len()));
        for row in 0..batch.len() {
            let of = batch.row(row);
            let time = batch.time(row);
            marks.push(self.mark(of.topic, time));
            let whole = row_of(batch, row, Time::from_nanos(0));
            rows.push(&self.described(whole))
                .map_err(|error| format!("`{}`: {error}", of.topic))?;
        }
        Ok(Chunk {
            forgotten: None,
            batch: rows.finish(),
            marks,
            upto: Cursor::START,
        })
    }

    /// A row with what its description says.
    fn described<'r>(&'r self, row: Observation<'r>) -> Observation<'r> {
        let Some(known) = self.known.get(row.topic) else {
            return row;
        };
        let says = known.described(row.description);
        Observation {
            sensor: row.sensor.or(says.sensor),
            property: row.property.or(says.property),
            unit: row.unit.or(says.unit),
            ..row
        }
    }

    /// Of rows of one time the first is 0. When it arrived nobody knows any more: what is later than the last
    /// observation arrived before its time, or it would be the last.
    fn mark(&mut self, topic: &str, time: Option<Time>) -> Mark {
        let nanos = time.map_or(0, Time::nanos);
        let mut mark = Mark {
            cursor: FIRST,
            arrival: nanos,
            item: 0,
        };
        let Some((newest, next, last)) = self.of.get_mut(topic) else {
            return mark;
        };
        if *newest != time {
            (*newest, *next) = (time, 0);
        }
        mark.item = *next;
        *next += 1;
        if let Some(last) = last.map(Time::nanos).filter(|last| nanos > *last) {
            mark.arrival = last.saturating_sub(1);
        }
        mark
    }
}
