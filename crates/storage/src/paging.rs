//! One page of the past, made of rows that a store finds: what every store does alike.
//!
//! What it deliberately does not do: find rows. The decision worth arguing: a store offers rows in the order of
//! pages, those before the page's beginning too, so that what was given is counted in one place.

use crate::history::{HistoryFault, Page, Range};
use crate::token::Token;
use std::cmp::Ordering;
use weir_model::{BatchBuilder, Observation, Time};

/// The last row given: of which time and topic, and the how manieth of them.
struct Given {
    time: i64,
    topic: String,
    count: u64,
    /// Rows of that time and topic to leave out yet.
    skip: u64,
}

/// A page that is being filled.
pub struct RowPage<'a> {
    query: &'a Range<'a>,
    given: Given,
    builder: BatchBuilder,
    before: u32,
}

impl<'a> RowPage<'a> {
    /// An empty page of a query, after what its token names.
    pub fn new(query: &'a Range<'a>, after: Option<&Token>) -> Self {
        let given = match after {
            None => Given {
                time: i64::MIN,
                topic: String::new(),
                count: 0,
                skip: 0,
            },
            Some(token) => Given {
                time: token.time,
                topic: token.topic.clone(),
                count: token.ordinal,
                skip: token.ordinal,
            },
        };
        Self {
            query,
            given,
            builder: BatchBuilder::new(),
            before: 0,
        }
    }

    /// From which time on, and how many rows of a datastream a page may need after a token.
    pub fn need(query: &Range<'_>, after: Option<&Token>, topic: &str) -> (i64, usize) {
        let most = query.limit.saturating_add(1);
        match after {
            None => (query.from.nanos(), most),
            Some(token) if *topic < *token.topic => (token.time.saturating_add(1), most),
            Some(token) if *topic > *token.topic => (token.time, most),
            Some(token) => (token.time, most.saturating_add(token.ordinal as usize)),
        }
    }

    /// Takes the next row by time, topic and arrival, or passes over it where it was given before; says
    /// whether there was no room for it.
    pub fn offer(&mut self, row: &Observation<'_>) -> Result<bool, HistoryFault> {
        let time = row.time.map_or(i64::MIN, Time::nanos);
        let place = (time, row.topic).cmp(&(self.given.time, &self.given.topic));
        if place.is_lt() || (place.is_eq() && self.given.skip > 0) {
            self.given.skip -= u64::from(place.is_eq());
            return Ok(false);
        }
        if self.builder.len() == self.query.limit {
            return Ok(true);
        }
        self.note(time, row.topic, place);
        let pushed = self.builder.push(row);
        pushed.map_err(|error| HistoryFault::Failed(format!("{}: {error}", row.topic)))?;
        Ok(false)
    }

    fn note(&mut self, time: i64, topic: &str, place: Ordering) {
        let given = &mut self.given;
        given.count = if place.is_eq() { given.count + 1 } else { 1 };
        (given.time, given.skip) = (time, 0);
        if given.topic != topic {
            topic.clone_into(&mut given.topic);
        }
        if self.builder.is_empty() {
            self.before = (given.count - 1).min(u64::from(u32::MAX)) as u32;
        }
    }

    /// The page, behind which there are no more rows.
    pub fn finish(mut self) -> Page {
        Page {
            batch: self.builder.finish(),
            before: self.before,
            ..Page::default()
        }
    }

    /// The page, behind which there are more rows.
    pub fn cut(self) -> Page {
        let token = Token {
            time: self.given.time,
            topic: self.given.topic.clone(),
            ordinal: self.given.count,
        };
        let next = Some(token.print(self.query));
        Page {
            next,
            ..self.finish()
        }
    }
}
