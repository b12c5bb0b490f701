//! Pages of windows, which the database makes where no row is hidden.
//!
//! Spans of time are asked for one after the other, each longer than the one before, until a page is full: the
//! rows of a span are read once, and what follows a full page is not read.

use crate::line::{Session, Value};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};
use weir_model::Time;
use weir_storage::aggregate::Function;
use weir_storage::{Aggregate, Range};

/// The window's begin, the datastream's place and the number of each window, in the order of pages.
macro_rules! windows {
    ($number:literal) => {
        concat!(
            "SELECT o.time - ((o.time % $5) + $5) % $5 AS begin, t.place, ",
            $number,
            "::double precision FROM unnest($1::text[]) WITH ORDINALITY AS t (topic, place)
             JOIN weir.datastream d ON d.topic = t.topic
             JOIN weir.observation o ON o.datastream = d.id
             CROSS JOIN LATERAL (SELECT coalesce(o.number, o.truth::integer::double precision) AS number) v
             WHERE o.time >= $2 AND o.time < $3 AND v.number IS NOT NULL
             GROUP BY 1, 2 ORDER BY 1, 2 LIMIT $4"
        )
    };
}

/// What the database is asked for; none of the last observations, which are wanted whole.
fn statement(function: Function) -> Option<&'static str> {
    Some(match function {
        Function::Mean => windows!("avg(v.number)"),
        Function::Min => windows!("min(v.number)"),
        Function::Max => windows!("max(v.number)"),
        Function::Sum => windows!("sum(v.number)"),
        Function::Count => windows!("count(*)"),
        Function::First => {
            windows!("(array_agg(v.number ORDER BY o.time, o.cursor, o.item))[1]")
        }
        Function::Last => return None,
    })
}

/// What is asked of the database, span by span.
#[derive(Clone)]
pub(crate) struct Spans {
    topics: Vec<String>,
    aggregate: Aggregate,
    from: i64,
    to: i64,
    limit: i64,
    /// How many windows the next span has.
    windows: i64,
}

impl Spans {
    /// From a time on: that of a window's begin, or the query's.
    pub(crate) fn of(query: &Range<'_>, aggregate: Aggregate, from: i64) -> Self {
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let topics = query.topics.iter().map(|topic| (*topic).to_owned());
        Self {
            topics: topics.collect(),
            aggregate,
            from,
            to: query.to.nanos(),
            limit,
            windows: limit.saturating_add(1),
        }
    }

    /// Those of one instant may have been given before.
    fn rows_max(&self) -> i64 {
        self.limit
            .saturating_add(1)
            .saturating_add(self.topics.len() as i64)
    }

    fn window(&self) -> i64 {
        i64::try_from(self.aggregate.window.as_nanos()).unwrap_or(i64::MAX)
    }

    fn end(&self) -> i64 {
        let begin = self.aggregate.begin(Time::from_nanos(self.from)).nanos();
        let length = self.windows.saturating_mul(self.window());
        begin.saturating_add(length).min(self.to)
    }

    /// Goes on to the next span; `false` at the end.
    pub(crate) fn advance(&mut self) -> bool {
        self.from = self.end();
        self.windows = self.windows.saturating_mul(4);
        self.from < self.to
    }
}

/// The windows of a span; `None` where a sum or a time is beyond what the database can count, or it cannot be asked.
pub(crate) async fn rows(session: &mut Session, span: &Spans) -> Result<Option<Vec<Row>>, Error> {
    let Some(sql) = statement(span.aggregate.function) else {
        return Ok(None);
    };
    let values: [Value<'_>; 5] = [
        &span.topics,
        &span.from,
        &span.end(),
        &span.rows_max(),
        &span.window(),
    ];
    match session.query(sql, &values).await {
        Err(error) if error.code() == Some(&SqlState::NUMERIC_VALUE_OUT_OF_RANGE) => Ok(None),
        rows => rows.map(Some),
    }
}
