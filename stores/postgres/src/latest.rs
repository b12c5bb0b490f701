//! What is known of datastreams without reading their rows: the last ones, and from when to when there are some.

use crate::limits::LATEST_ROWS;
use crate::line::Session;
use crate::row::{Kept, columns};
use tokio_postgres::{Error, Row};
use weir_model::{Cursor, Observation, Time};
use weir_storage::Extent;

const LATEST: &str = concat!(
    "SELECT d.topic, o.datastream, ",
    columns!(),
    " FROM weir.latest o JOIN weir.datastream d ON d.id = o.datastream
      WHERE o.datastream > $1 ORDER BY o.datastream LIMIT $2"
);
/// Where the columns of the observation begin.
const FIRST: usize = 2;
const EXTENT: &str = "SELECT
         (SELECT min(o.time) FROM weir.observation o WHERE o.datastream = d.id),
         (SELECT max(o.time) FROM weir.observation o WHERE o.datastream = d.id),
         d.end_last, d.result_first, d.result_last
     FROM weir.datastream d WHERE d.topic = $1";
/// Of each description, from its bounds on by the index.
const EXTENTS: &str = include_str!("extents.sql");
/// The same of a datastream that was not counted yet; all of its rows are looked through.
const EXTENTS_UNCOUNTED: &str =
    "SELECT min(o.time), max(o.time), max(o.time_end), min(o.result_time), max(o.result_time),
         coalesce(o.description, 0::smallint)
     FROM weir.observation o JOIN weir.datastream d ON d.id = o.datastream
     WHERE d.topic = $1 AND d.counted IS NOT TRUE GROUP BY 6 ORDER BY 6";
const NEWEST: &str = "SELECT (SELECT max(o.time) FROM weir.observation o WHERE o.datastream = d.id)
     FROM unnest($1::text[]) WITH ORDINALITY AS t (topic, place)
     LEFT JOIN weir.datastream d ON d.topic = t.topic ORDER BY t.place";

/// The next last observations, behind those of a datastream's number.
pub(crate) async fn rows(session: &mut Session, behind: i32) -> Result<Vec<Row>, Error> {
    session.query(LATEST, &[&behind, &LATEST_ROWS]).await
}

/// Visits a row; says the number of its datastream.
pub(crate) fn visit(
    row: &Row,
    visit: &mut dyn FnMut(Cursor, &Observation<'_>),
) -> Result<i32, Error> {
    let kept = Kept::of(row, FIRST)?;
    let topic: &str = row.try_get(0)?;
    visit(Cursor::from_bits(kept.cursor()?), &kept.observation(topic)?);
    row.try_get(1)
}

/// The newest time of each of these datastreams, in their order.
pub(crate) async fn newest(
    session: &mut Session,
    topics: &[String],
) -> Result<Vec<Option<Time>>, Error> {
    let rows = session.query(NEWEST, &[&topics]).await?;
    let time = |row: &Row| row.try_get::<_, Option<i64>>(0);
    rows.iter()
        .map(|row| Ok(time(row)?.map(Time::from_nanos)))
        .collect()
}

/// From when to when a datastream has rows.
pub(crate) async fn extent(session: &mut Session, topic: &str) -> Result<Option<Extent>, Error> {
    let rows = session.query(EXTENT, &[&topic]).await?;
    rows.first().map_or(Ok(None), extent_of)
}

/// The same of what was made under each of its descriptions. Ends of intervals and result times are those of all that
/// was written, as above.
pub(crate) async fn extents(
    session: &mut Session,
    topic: &str,
) -> Result<Vec<(u8, Extent)>, Error> {
    let mut rows = session.query(EXTENTS, &[&topic]).await?;
    if rows.is_empty() {
        rows = session.query(EXTENTS_UNCOUNTED, &[&topic]).await?;
    }
    let mut extents = Vec::with_capacity(rows.len());
    for row in &rows {
        let number: i16 = row.try_get(5)?;
        let known = u8::try_from(number).ok().zip(extent_of(row)?);
        extents.extend(known);
    }
    Ok(extents)
}

fn extent_of(row: &Row) -> Result<Option<Extent>, Error> {
    let time = |column: usize| -> Result<_, Error> {
        Ok(row.try_get::<_, Option<i64>>(column)?.map(Time::from_nanos))
    };
    let (end, result) = (time(2)?, time(3)?.zip(time(4)?));
    Ok(time(0)?.zip(time(1)?).map(|(first, last)| Extent {
        first,
        last,
        end,
        result,
    }))
}
