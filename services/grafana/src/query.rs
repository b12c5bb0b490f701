//! `POST /query`: panels.

use crate::ask::{Answered, Ask};
use crate::asked::{Query, Span, Target};
use crate::limits::{OBSERVATIONS_MAX, POINTS_DEFAULT, TARGETS_MAX};
use crate::target;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::time::Duration;
use weir_hub::aggregate::{Function, parse_duration};
use weir_hub::{Aggregate, InUnit, Past};
use weir_model::{Batch, Filter, Time, Value};
use weir_service::Response;

/// What every target of a question has in common.
struct Panel {
    span: Span,
    /// The time between two points.
    interval: Duration,
    /// Points of a series.
    points: usize,
}

/// How a target is shown.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Series,
    Table,
    Latest,
}

/// Rows of one answer and what is written of them.
type Rows = Vec<Batch>;

/// All targets' series and tables.
pub(crate) fn answer(ask: &Ask, query: &Query) -> Answered {
    target::check(&query.filters)?;
    if query.targets.len() > TARGETS_MAX {
        let sentence = format!("at most {TARGETS_MAX} targets are answered at once");
        return Err(Response::text(400, sentence));
    }
    let points = query.points.filter(|points| *points >= 1.0);
    let interval = query.interval_ms.filter(|millis| *millis >= 1.0);
    let panel = Panel {
        span: query.range,
        interval: Duration::from_secs_f64(interval.unwrap_or(1000.0).min(1e14) / 1000.0),
        points: points.map_or(POINTS_DEFAULT, |points| points as usize),
    };
    let (mut answers, mut room) = (Vec::new(), OBSERVATIONS_MAX);
    for asked in query.targets.iter().filter(|asked| !asked.hide) {
        let Some(text) = asked.target.as_deref().filter(|text| !text.is_empty()) else {
            continue;
        };
        let mut filters = target::filters(text)?;
        if !query.filters.is_empty() {
            let mut entries = ask.entries(filters)?;
            entries.retain(|entry| target::holds(entry, &query.filters));
            let topics = entries.iter().map(|entry| Filter::parse(&entry.topic));
            filters = topics.filter_map(Result::ok).collect();
        }
        if !filters.is_empty() {
            answers.extend(panel.target(ask, filters, asked, &mut room)?);
        }
    }
    Ok(Json::Array(answers))
}

impl Panel {
    fn target(
        &self,
        ask: &Ask,
        filters: Vec<Filter>,
        asked: &Target,
        room: &mut usize,
    ) -> Result<Vec<Json>, Response> {
        let shape = shape(asked)?;
        let rows = match shape {
            Shape::Latest => vec![ask.latest(filters)?],
            _ => self.rows(ask, filters, asked, *room)?,
        };
        *room = room.checked_sub(count(&rows)).ok_or_else(too_many)?;
        let id = asked.id.as_deref();
        Ok(match shape {
            Shape::Table => vec![table(&rows, id)],
            _ => series(&rows, id),
        })
    }

    /// What a panel shows: what is asked for; else all, or where that is too much, means.
    fn rows(
        &self,
        ask: &Ask,
        filters: Vec<Filter>,
        asked: &Target,
        room: usize,
    ) -> Result<Rows, Response> {
        let mut past = Past {
            filters,
            from: self.span.from,
            to: self.span.to,
            limit: OBSERVATIONS_MAX,
            page: None,
            aggregate: None,
            unit: InUnit::Own,
        };
        past.aggregate = self.aggregate(asked)?;
        if past.aggregate.is_none() {
            let most = self.points.saturating_mul(2);
            if let Some(all) = read(ask, past.clone(), |rows| is_within(rows, most, room))? {
                return Ok(all);
            }
            past.aggregate = Some(Aggregate {
                function: Function::Mean,
                window: self.interval,
            });
        }
        let whole = read(ask, past, |rows| count(rows) <= room)?;
        whole.ok_or_else(too_many)
    }

    /// The function that is asked for, over the window that is asked for or the panel's.
    fn aggregate(&self, asked: &Target) -> Result<Option<Aggregate>, Response> {
        let refuse = |problem: String| Response::text(400, problem);
        let window = match asked.payload.text("every") {
            Some(text) => Some(
                parse_duration(text).map_err(|error| refuse(format!("every `{text}`: {error}")))?,
            ),
            None => None,
        };
        let function = match asked.payload.text("agg") {
            None if window.is_none() => return Ok(None),
            None => Function::Mean,
            Some(name) => {
                let known = Function::ALL.iter().find(|(known, _)| *known == name);
                let names: Vec<_> = Function::ALL.iter().map(|(name, _)| *name).collect();
                let sentence = format!("no function `{name}`; there are {}", names.join(", "));
                known.ok_or_else(|| refuse(sentence))?.1
            }
        };
        Ok(Some(Aggregate {
            function,
            window: window.unwrap_or(self.interval),
        }))
    }
}

fn shape(asked: &Target) -> Result<Shape, Response> {
    match asked.payload.text("type").or(asked.kind.as_deref()) {
        Some("table") => Ok(Shape::Table),
        Some("latest") => Ok(Shape::Latest),
        None | Some("" | "series" | "timeserie" | "timeseries") => Ok(Shape::Series),
        Some(other) => {
            let sentence = format!("no shape `{other}`; there are series, table, latest");
            Err(Response::text(400, sentence))
        }
    }
}

/// Pages up to the last; `None` where it is more than suits.
fn read(
    ask: &Ask,
    mut past: Past,
    suits: impl Fn(&Rows) -> bool,
) -> Result<Option<Rows>, Response> {
    let mut rows = Vec::new();
    loop {
        let page = ask.page(past.clone())?;
        rows.push(page.batch);
        if !suits(&rows) {
            return Ok(None);
        }
        match page.next {
            Some(next) => past.page = Some(next),
            None => return Ok(Some(rows)),
        }
    }
}

fn count(rows: &Rows) -> usize {
    rows.iter().map(Batch::len).sum()
}

fn too_many() -> Response {
    let sentence = format!(
        "more than {OBSERVATIONS_MAX} points in one question: ask for a shorter time, fewer topics or a longer window"
    );
    Response::text(400, sentence)
}

/// Says whether no datastream has more than so many, and all together no more than there is room for.
fn is_within(rows: &Rows, most: usize, room: usize) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for batch in rows {
        for row in 0..batch.len() {
            let topic = batch.stream(batch.stream_of(row)).topic;
            *counts.entry(topic).or_default() += 1;
        }
    }
    count(rows) <= room && counts.values().all(|count| *count <= most)
}

fn millis(time: Option<Time>) -> Json {
    time.map_or(Json::Null, |time| json!(time.nanos().div_euclid(1_000_000)))
}

/// One series of each datastream: `[value, milliseconds]`, only what is a number.
fn series(rows: &Rows, id: Option<&str>) -> Vec<Json> {
    let mut all: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for batch in rows {
        for row in 0..batch.len() {
            if let Some(number) = batch.value(row).number() {
                let topic = batch.stream(batch.stream_of(row)).topic;
                let point = json!([number, millis(batch.time(row))]);
                all.entry(topic).or_default().push(point);
            }
        }
    }
    let mut series = Vec::with_capacity(all.len());
    for (topic, points) in all {
        series.push(json!({"target": topic, "refId": id, "datapoints": points}));
    }
    series
}

/// One table of all observations, whatever they are.
fn table(rows: &Rows, id: Option<&str>) -> Json {
    let is_text = |batch: &Batch| (0..batch.len()).any(|row| batch.value(row).number().is_none());
    let kind = if rows.iter().any(is_text) {
        "string"
    } else {
        "number"
    };
    let cell = |value: Value<'_>| match (kind, value.number()) {
        ("number", Some(number)) => json!(number),
        (_, None) if value == Value::Null => Json::Null,
        _ => json!(value.to_string()),
    };
    let mut lines = Vec::new();
    for batch in rows {
        for row in 0..batch.len() {
            let of = batch.stream(batch.stream_of(row));
            let line = json!([
                millis(batch.time(row)),
                of.topic,
                cell(batch.value(row)),
                of.unit
            ]);
            lines.push(line);
        }
    }
    json!({"type": "table", "refId": id, "rows": lines, "columns": [
        {"text": "Time", "type": "time"},
        {"text": "Topic", "type": "string"},
        {"text": "Value", "type": kind},
        {"text": "Unit", "type": "string"},
    ]})
}
