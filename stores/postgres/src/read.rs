//! Pages of rows, by time, then topic, then arrival.
//!
//! The decision worth arguing: of many datastreams each is looked up only as far as its share of a page goes,
//! and rows count up to where the first of them was cut. Where that is too few, the query is asked again for
//! more of each; where one datastream has nearly all rows of a page, that is a few times.

use crate::limits::SHARE_ROWS_MIN;
use crate::line::{Session, Value};
use crate::row::{Kept, columns};
use crate::target::Target;
use tokio_postgres::{Error, Row};
use weir_storage::{HistoryFault, Page, Range, RowPage, Token};

/// Rows of each datastream from a time on (`$2`), so many at most (`$3`), in the order of pages; up to where the
/// first was cut, unless `$6`. The horizon comes even where no row does.
const ROWS: &str = concat!(
    "WITH part AS MATERIALIZED (
         SELECT t.place, t.most, o.item, ",
    columns!(),
    "    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS t (topic, since, most, place)
         JOIN weir.datastream d ON d.topic = t.topic
         CROSS JOIN LATERAL (
             SELECT * FROM weir.observation o
             WHERE o.datastream = d.id AND o.time >= t.since AND o.time < $4
             ORDER BY o.time, o.cursor, o.item LIMIT t.most) o),
     horizon AS (
         SELECT min(cut.last) AS time FROM (
             SELECT max(part.time) AS last FROM part GROUP BY part.place, part.most
             HAVING count(*) >= part.most) cut)
     SELECT horizon.time AS horizon, part.place, part.most, part.item, part.time, part.cursor, part.number,
         part.truth, part.text, part.json, part.latitude, part.longitude, part.time_end, part.result_time,
         part.valid_from, part.valid_to, part.quality, part.feature, part.parameters, part.quoted,
         part.description
     FROM horizon LEFT JOIN part ON $6 OR horizon.time IS NULL OR part.time < horizon.time
     ORDER BY part.time, part.place, part.cursor, part.item LIMIT $5"
);
/// Where the columns of the observation begin.
const FIRST: usize = 4;

/// What is asked of the database for one page.
pub(crate) struct Asked {
    topics: Vec<String>,
    since: Vec<i64>,
    /// The most rows that the page may need of each.
    need: Vec<i64>,
    to: i64,
    /// The most rows that the page may need of all.
    limit: i64,
}

impl Asked {
    pub(crate) fn of(query: &Range<'_>, after: Option<&Token>) -> Self {
        let of_each = query
            .topics
            .iter()
            .map(|topic| RowPage::need(query, after, topic));
        let (since, need): (Vec<_>, Vec<_>) =
            of_each.map(|(since, most)| (since, as_i64(most))).unzip();
        let given = after.map_or(0, |token| token.ordinal as usize);
        Self {
            topics: query
                .topics
                .iter()
                .map(|topic| (*topic).to_owned())
                .collect(),
            since,
            need,
            to: query.to.nanos(),
            limit: as_i64(query.limit.saturating_add(1).saturating_add(given)),
        }
    }

    /// The first share of each datastream: twice its part of the page, and some.
    fn share(&self) -> i64 {
        let part = self.limit / (self.topics.len().max(1) as i64);
        part.saturating_mul(2).saturating_add(SHARE_ROWS_MIN as i64)
    }
}

fn as_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// All rows that the page may need, in order.
pub(crate) async fn rows(session: &mut Session, asked: &Asked) -> Result<Vec<Row>, Error> {
    let mut share = asked.share();
    loop {
        let is_whole = asked.need.iter().all(|need| *need <= share);
        let most: Vec<_> = asked.need.iter().map(|need| share.min(*need)).collect();
        let values: [Value<'_>; 6] = [
            &asked.topics,
            &asked.since,
            &most,
            &asked.to,
            &asked.limit,
            &is_whole,
        ];
        let rows = session.query(ROWS, &values).await?;
        let was_cut = rows
            .first()
            .map_or(Ok(None), |row| row.try_get::<_, Option<i64>>(0))?;
        if is_whole || was_cut.is_none() || rows.len() as i64 >= asked.limit {
            return Ok(rows);
        }
        share = share.saturating_mul(8);
    }
}

/// The page of these rows.
pub(crate) fn page(
    target: &Target,
    query: &Range<'_>,
    after: Option<&Token>,
    rows: &[Row],
) -> Result<Page, HistoryFault> {
    let mut page = RowPage::new(query, after);
    for row in rows {
        let topic = topic_of(query, row).map_err(|error| target.fault(&error))?;
        let Some(topic) = topic else {
            continue;
        };
        let kept = Kept::of(row, FIRST).map_err(|error| target.fault(&error))?;
        let observation = kept.observation(topic);
        if page.offer(&observation.map_err(|error| target.fault(&error))?)? {
            return Ok(page.cut());
        }
    }
    Ok(page.finish())
}

/// The topic of a row; `None` of the one that says the horizon alone.
fn topic_of<'a>(query: &Range<'a>, row: &Row) -> Result<Option<&'a str>, Error> {
    let place: Option<i64> = row.try_get(1)?;
    let index = place.and_then(|place| usize::try_from(place - 1).ok());
    Ok(index.and_then(|index| query.topics.get(index).copied()))
}
