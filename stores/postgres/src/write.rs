//! Chunks into the database, each row once.
//!
//! The row of `weir.progress` is locked first: of the gateways that write the same records the first one writes
//! them, and the others find that it has.

use crate::buffer::Chunk;
use crate::copy::{self, COPY, stored};
use crate::limits::COPY_BYTES;
use crate::line::{Session, Value};
use crate::spans::{self, Span, Spans};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use tokio_postgres::Error;
use weir_model::{Cursor, Time};
use weir_storage::takes_over;

const PROGRESS: &str = "SELECT cursor FROM weir.progress FOR UPDATE";
const MOVE: &str = "UPDATE weir.progress SET cursor = $1";
const FORGET: &str = "WITH gone AS (DELETE FROM weir.datastream WHERE topic = $1 RETURNING id),
     dropped AS (DELETE FROM weir.latest l USING gone WHERE l.datastream = gone.id),
     unsaid AS (DELETE FROM weir.description s USING gone WHERE s.datastream = gone.id),
     uncounted AS (DELETE FROM weir.extent e USING gone WHERE e.datastream = gone.id)
     INSERT INTO weir.forgotten SELECT id FROM gone";
const NUMBERS: &str = "WITH made AS (
         INSERT INTO weir.datastream (topic) SELECT unnest($1::text[])
         ON CONFLICT (topic) DO NOTHING RETURNING topic, id)
     SELECT topic, id FROM made UNION ALL
     SELECT topic, id FROM weir.datastream WHERE topic = ANY($1::text[])";
const LATEST: &str = concat!(
    "INSERT INTO weir.latest (datastream, ",
    stored!(""),
    ", seen, version)
     SELECT o.datastream, ",
    stored!("o."),
    ", k.seen, 3 FROM weir.observation o JOIN
         unnest($1::integer[], $2::bigint[], $3::bigint[], $4::integer[], $5::bigint[])
             AS k (datastream, time, cursor, item, seen)
         ON (o.datastream, o.time, o.cursor, o.item) = (k.datastream, k.time, k.cursor, k.item)
     ON CONFLICT (datastream) DO UPDATE SET
         (",
    stored!(""),
    ", seen, version)
         = (",
    stored!("excluded."),
    ", excluded.seen, excluded.version)
     WHERE (excluded.seen, excluded.cursor, excluded.item)
         >= (latest.seen, latest.cursor, latest.item)"
);
/// A rank after a later arrival is of a clock that was ahead ([`takes_over`]).
const BOUND: &str = "UPDATE weir.latest l SET seen = k.arrival, version = 3
     FROM unnest($1::integer[], $2::bigint[]) AS k (datastream, arrival)
     WHERE l.datastream = k.datastream AND l.seen > k.arrival";
const DESCRIBE: &str = "INSERT INTO weir.description
     SELECT * FROM unnest($1::integer[], $2::smallint[], $3::text[], $4::text[], $5::text[])
     ON CONFLICT (datastream, number) DO UPDATE SET
         (sensor, property, unit) = (excluded.sensor, excluded.property, excluded.unit)";
const REACH: &str = "UPDATE weir.datastream d SET
         end_last = greatest(d.end_last, k.end_last),
         result_first = least(d.result_first, k.result_first),
         result_last = greatest(d.result_last, k.result_last)
     FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[])
         AS k (id, end_last, result_first, result_last)
     WHERE d.id = k.id";

/// Numbers of datastreams, as of where the database was when they were looked up.
#[derive(Default)]
pub(crate) struct Numbers {
    of: HashMap<String, i32>,
    /// What was written of each description, as a hash.
    described: HashMap<(i32, u8), u64>,
    /// From when to when the database has rows of each description.
    spans: Spans,
    as_of: Cursor,
}

/// Writes what the database has not; says up to which record it has all now. Where that is less than what it
/// is known to have `had`, nothing is written.
pub(crate) async fn write(
    session: &mut Session,
    numbers: &mut Numbers,
    chunks: &[Arc<Chunk>],
    had: Cursor,
) -> Result<Cursor, Error> {
    session.client.batch_execute("BEGIN").await?;
    let before = progress(session, PROGRESS).await?;
    if before < had {
        session.client.batch_execute("ROLLBACK").await?;
        return Ok(before);
    }
    if numbers.as_of != before {
        // Another gateway wrote, and may have forgotten a topic.
        *numbers = Numbers::default();
    }
    // Until it is committed, nothing is known of it.
    let mut known = std::mem::take(numbers);
    for chunk in chunks {
        write_chunk(session, &mut known, chunk, before).await?;
    }
    let upto = chunks.last().map_or(before, |chunk| chunk.upto.max(before));
    finish(session, upto).await?;
    known.as_of = upto;
    *numbers = known;
    Ok(upto)
}

/// The last record that the database has.
pub(crate) async fn progress(session: &mut Session, sql: &'static str) -> Result<Cursor, Error> {
    let rows = session.query(sql, &[]).await?;
    let bits: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(Cursor::from_bits(bits as u64))
}

async fn write_chunk(
    session: &mut Session,
    numbers: &mut Numbers,
    chunk: &Chunk,
    before: Cursor,
) -> Result<(), Error> {
    if let Some((cursor, topic)) = &chunk.forgotten
        && *cursor > before
    {
        session.execute(FORGET, &[topic]).await?;
        numbers.of.remove(topic);
    }
    let first = chunk.behind(before);
    if first == chunk.marks.len() {
        return Ok(());
    }
    write_rows(session, numbers, chunk, first).await
}

/// Makes what was written count up to a record.
pub(crate) async fn finish(session: &mut Session, upto: Cursor) -> Result<(), Error> {
    session.execute(MOVE, &[&(upto.bits() as i64)]).await?;
    session.client.batch_execute("COMMIT").await
}

/// Writes the rows of a chunk from one on.
pub(crate) async fn write_rows(
    session: &mut Session,
    numbers: &mut Numbers,
    chunk: &Chunk,
    first: usize,
) -> Result<(), Error> {
    let (described, spans) = (&mut numbers.described, &mut numbers.spans);
    let numbers = numbers_of(session, &mut numbers.of, chunk).await?;
    describe(session, described, chunk, &numbers).await?;
    copy_rows(session, chunk, first, &numbers).await?;
    let (latest, reach, written) = sums(chunk, first, &numbers);
    spans::widen(session, spans, &written).await?;
    note_latest(session, chunk, &latest).await?;
    note_reach(session, &reach).await
}

/// The number of each datastream of a chunk, by its index there.
async fn numbers_of(
    session: &mut Session,
    known: &mut HashMap<String, i32>,
    chunk: &Chunk,
) -> Result<Vec<i32>, Error> {
    let batch = &chunk.batch;
    let topics = || (0..batch.stream_count()).map(|index| batch.stream(index).topic);
    let unknown: Vec<_> = topics()
        .filter(|topic| !known.contains_key(*topic))
        .collect();
    if !unknown.is_empty() {
        for row in session.query(NUMBERS, &[&unknown]).await? {
            known.insert(row.try_get(0)?, row.try_get(1)?);
        }
    }
    let number = |topic: &str| known.get(topic).copied().unwrap_or_default();
    Ok(topics().map(number).collect())
}

/// Writes what the descriptions say that the rows of a chunk were made under, where that is not what was written.
async fn describe(
    session: &mut Session,
    written: &mut HashMap<(i32, u8), u64>,
    chunk: &Chunk,
    numbers: &[i32],
) -> Result<(), Error> {
    let mut new = BTreeMap::new();
    for (index, &datastream) in numbers.iter().enumerate() {
        let view = chunk.batch.stream(index);
        let says = [view.sensor, view.property, view.unit];
        let key = (datastream, view.description);
        let is_silent = says == [None; 3] && !written.contains_key(&key);
        if !is_silent && written.insert(key, hash(&says)) != Some(hash(&says)) {
            new.insert(key, says);
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let (datastreams, of_each): (Vec<_>, Vec<_>) = new.keys().copied().unzip();
    let of_each: Vec<_> = of_each.into_iter().map(i16::from).collect();
    let [sensors, properties, units] = [0, 1, 2].map(|name| {
        new.values()
            .map(|says| text(says[name]))
            .collect::<Vec<_>>()
    });
    let values: [Value<'_>; 5] = [&datastreams, &of_each, &sensors, &properties, &units];
    session.execute(DESCRIBE, &values).await?;
    Ok(())
}

/// A text of PostgreSQL holds no zero byte: the sign of one stands in its place.
fn text(text: Option<&str>) -> Option<String> {
    text.map(|text| text.replace('\0', "\u{2400}"))
}

fn hash(says: &[Option<&str>; 3]) -> u64 {
    let mut hasher = DefaultHasher::new();
    says.hash(&mut hasher);
    hasher.finish()
}

async fn copy_rows(
    session: &mut Session,
    chunk: &Chunk,
    first: usize,
    numbers: &[i32],
) -> Result<(), Error> {
    let statement = session.statement(COPY).await?;
    let mut sink = pin!(session.client.copy_in::<_, Bytes>(&statement).await?);
    let mut out = BytesMut::from(copy::HEAD);
    for row in first..chunk.marks.len() {
        let number = numbers[chunk.batch.stream_of(row)];
        copy::put_row(&mut out, number, chunk, row);
        if out.len() >= COPY_BYTES {
            sink.send(out.split().freeze()).await?;
        }
    }
    out.extend_from_slice(copy::TAIL);
    sink.send(out.freeze()).await?;
    sink.finish().await?;
    Ok(())
}

/// The last row of each datastream.
type Latest = HashMap<i32, Last>;

/// A row, what it is ranked by, and the first arrival of any of the datastream.
struct Last {
    rank: Time,
    row: usize,
    arrival: i64,
}
/// What is counted of the datastreams' intervals and result times.
type Reach = HashMap<i32, Ends>;

/// The latest end of an interval, and the first and last result time.
#[derive(Clone, Copy, Default)]
struct Ends {
    end: Option<i64>,
    first: Option<i64>,
    last: Option<i64>,
}

fn sums(chunk: &Chunk, first: usize, numbers: &[i32]) -> (Latest, Reach, Spans) {
    let (mut latest, mut reach, mut spans) = (Latest::new(), Reach::new(), Spans::new());
    for row in first..chunk.marks.len() {
        let number = numbers[chunk.batch.stream_of(row)];
        let arrival = chunk.marks[row].arrival;
        let last = latest.entry(number).or_insert(Last {
            rank: Time::from_nanos(i64::MIN),
            row,
            arrival,
        });
        last.arrival = last.arrival.min(arrival);
        let time = Time::from_nanos(time_of(chunk, row));
        if takes_over(&mut last.rank, time, Time::from_nanos(arrival)) {
            last.row = row;
        }
        let extra = chunk.batch.extra(row);
        let (end, result) = (
            extra.end.map(Time::nanos),
            extra.result_time.map(Time::nanos),
        );
        let span = Span::of(time.nanos(), end, result);
        let of_description = spans.entry((number, chunk.batch.description(row)));
        of_description
            .and_modify(|known| *known = known.joined(span))
            .or_insert(span);
        if end.is_some() || result.is_some() {
            let known = reach.entry(number).or_default();
            known.end = known.end.max(end);
            known.first = known.first.into_iter().chain(result).min();
            known.last = known.last.max(result);
        }
    }
    (latest, reach, spans)
}

fn time_of(chunk: &Chunk, row: usize) -> i64 {
    let time = chunk.batch.time(row).map(Time::nanos);
    time.unwrap_or(chunk.marks[row].arrival)
}

async fn note_latest(session: &mut Session, chunk: &Chunk, latest: &Latest) -> Result<(), Error> {
    let mut keys = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut arrivals = Vec::new();
    for (&number, &Last { rank, row, arrival }) in latest {
        keys.0.push(number);
        keys.1.push(time_of(chunk, row));
        keys.2.push(chunk.marks[row].cursor.bits() as i64);
        keys.3.push(chunk.marks[row].item);
        keys.4.push(rank.nanos());
        arrivals.push(arrival);
    }
    session.execute(BOUND, &[&keys.0, &arrivals]).await?;
    let values: [Value<'_>; 5] = [&keys.0, &keys.1, &keys.2, &keys.3, &keys.4];
    session.execute(LATEST, &values).await?;
    Ok(())
}

async fn note_reach(session: &mut Session, reach: &Reach) -> Result<(), Error> {
    if reach.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = reach.keys().copied().collect();
    let of_each = |pick: fn(&Ends) -> Option<i64>| reach.values().map(pick).collect::<Vec<_>>();
    let end = of_each(|ends| ends.end);
    let (first, last) = (of_each(|ends| ends.first), of_each(|ends| ends.last));
    session.execute(REACH, &[&ids, &end, &first, &last]).await?;
    Ok(())
}
