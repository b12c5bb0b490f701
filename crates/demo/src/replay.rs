//! A recording played again as if it were live: its past first, then row after row.
//!
//! Times are moved, values never. The past is moved so that it ends now and sent in large messages;
//! then the recording starts over, each row stamped with the moment it is played.

use crate::csv::{Row, Table};
use crate::limits::{BACKFILL_OBSERVATIONS, PAUSE_MAX};
use crate::message::{Message, Observation, Stream, Value};
use core::iter;
use core::time::Duration;
use std::sync::Arc;
use weir_model::Time;

/// How fast the rows of a recording follow each other when played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One row after each such pause, whatever their times say.
    Fixed(Duration),
    /// As recorded, but no pause longer than [`PAUSE_MAX`].
    Recorded,
}

/// A recording and how it is played.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Topic every message is sent to.
    pub topic: String,
    /// One datastream per column of the table.
    pub streams: Vec<Arc<Stream>>,
    /// The rows.
    pub table: Table,
    /// Whether the past is sent first.
    pub backfill: bool,
    /// How fast it is played.
    pub pace: Pace,
}

impl Recording {
    /// A person's own table, below `replay/<name>`.
    pub fn own(name: &str, table: Table) -> Self {
        let topic = format!("replay/{}", level(name));
        let levels = levels(&table.columns);
        let stream = |(index, column): (usize, &String)| {
            Arc::new(Stream {
                topic: format!("{topic}/{}", levels[index]),
                name: column.clone(),
                sensor: format!("urn:x-weir:replay:{}:{}", level(name), index + 1),
                property: level(column),
                unit: String::new(),
                place: None,
                maximum: None,
            })
        };
        let streams = table.columns.iter().enumerate().map(stream).collect();
        Self {
            topic,
            streams,
            table,
            backfill: true,
            pace: Pace::Recorded,
        }
    }

    /// The past in messages of at most [`BACKFILL_OBSERVATIONS`], its times moved to end at `now`.
    pub fn past(&self, now: Time) -> impl Iterator<Item = Message> {
        let end = self.table.rows.last().map_or(now, |row| row.time);
        let shift = now.nanos().saturating_sub(end.nanos());
        let rows = (BACKFILL_OBSERVATIONS / self.streams.len().max(1)).max(1);
        self.table.rows.chunks(rows).map(move |rows| {
            let moved = |row: &Row| self.observe(row, Some(row.time.plus_nanos(shift)));
            self.message(rows.iter().flat_map(moved).collect())
        })
    }

    /// A row as it is played: its time is the moment of publishing.
    pub fn play(&self, row: &Row) -> Message {
        self.message(self.observe(row, None))
    }

    /// How long to wait before row `index`, counted round and round.
    pub fn pause_before(&self, index: usize) -> Duration {
        let rows = &self.table.rows;
        match self.pace {
            Pace::Fixed(pause) => pause,
            Pace::Recorded if index == 0 => PAUSE_MAX.min(Duration::from_secs(1)),
            Pace::Recorded => {
                let gap = rows[index]
                    .time
                    .nanos()
                    .saturating_sub(rows[index - 1].time.nanos());
                Duration::from_nanos(gap.max(0) as u64).min(PAUSE_MAX)
            }
        }
    }

    fn observe(&self, row: &Row, time: Option<Time>) -> Vec<Observation> {
        let cells = self.streams.iter().zip(&row.values);
        let present = cells.filter_map(|(stream, value)| value.map(|value| (stream, value)));
        present
            .map(|(stream, value)| Observation {
                stream: stream.clone(),
                value: Value::Number(value),
                place: row.place,
                time,
            })
            .collect()
    }

    fn message(&self, observations: Vec<Observation>) -> Message {
        Message {
            topic: self.topic.clone(),
            observations,
        }
    }
}

/// The levels of columns, each another: of those that are alike, the second is numbered 2.
fn levels(columns: &[String]) -> Vec<String> {
    let mut levels: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let own = level(column);
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let mut free = iter::once(own.clone())
            .chain(numbered)
            .filter(|it| !levels.contains(it));
        let free = free.next().unwrap_or(own);
        levels.push(free);
    }
    levels
}

/// A name as one level of a topic: letters, digits, `.`, `_`; everything else becomes one `-`.
fn level(name: &str) -> String {
    let mut level = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            letter if letter.is_alphanumeric() || letter == '.' || letter == '_' => {
                level.extend(letter.to_lowercase());
            }
            _ if !level.ends_with('-') && !level.is_empty() => level.push('-'),
            _ => {}
        }
    }
    let level = level.trim_end_matches('-');
    if level.is_empty() {
        "column".into()
    } else {
        level.into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn recording() -> Recording {
        let table = Table::parse("time,Temp (in),x\n10,1,\n12,2,7\n90,3,8\n").unwrap();
        Recording::own("My File", table)
    }

    #[test]
    fn the_past_ends_now_and_keeps_its_gaps() {
        let recording = recording();
        let past: Vec<Message> = recording.past(Time::from_millis(1_000_000)).collect();
        let times: Vec<i64> = past[0]
            .observations
            .iter()
            .map(|observation| observation.time.unwrap().nanos() / 1_000_000_000)
            .collect();
        assert_eq!(times, [920, 922, 922, 1000, 1000]);
    }

    #[test]
    fn columns_become_topics() {
        let recording = recording();
        let topics: Vec<&str> = recording
            .streams
            .iter()
            .map(|stream| &*stream.topic)
            .collect();
        assert_eq!(topics, ["replay/my-file/temp-in", "replay/my-file/x"]);
    }

    #[test]
    fn columns_whose_names_are_alike_are_kept_apart() {
        for (columns, expected) in [
            ("a/b,a+b,a#b", ["a-b", "a-b-2", "a-b-3"]),
            ("temp,temp,Temp", ["temp", "temp-2", "temp-3"]),
            ("x,x-2,X", ["x", "x-2", "x-3"]),
            ("?,!,a", ["column", "column-2", "a"]),
        ] {
            let text = format!("time,{columns}\n1,1,2,3\n");
            let own = Recording::own("f", Table::parse(&text).unwrap());
            let topics = own.streams.iter().map(|stream| &*stream.topic);
            let expected = expected.map(|level| format!("replay/f/{level}"));
            assert_eq!(topics.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_long_gap_is_cut() {
        let recording = recording();
        assert_eq!(recording.pause_before(1), Duration::from_secs(2));
        assert_eq!(recording.pause_before(2), PAUSE_MAX);
    }
}
