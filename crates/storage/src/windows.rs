//! One page of windows: one number a window and datastream instead of all rows.
//!
//! Numbers and truths (1 and 0) count; texts, null and JSON do not. Windows without numbers are left out, and so
//! are rows that were withdrawn. A window that reaches over `from` or `to` has only the rows between. The last of
//! a window is no number: it is the observation itself, whatever its result, as live subscribers are sent it.

use crate::aggregate::{Aggregate, Function, Window};
use crate::history::{Hidden, HistoryFault, Page, Range};
use crate::token::Token;
use std::collections::BTreeMap;
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Observation, Time, Value};

/// A page that is being filled.
pub struct WindowPage<'a> {
    query: &'a Range<'a>,
    aggregate: Aggregate,
    after: Option<Token>,
    hidden: Option<Places<'a>>,
    /// Begin of the windows that are open, which are those of one instant.
    begin: i64,
    /// By index of their topic.
    open: BTreeMap<usize, Window>,
    /// The same where the last observation is asked for: that alone.
    lasts: BTreeMap<usize, BatchBuilder>,
    /// Builders that hold nothing.
    spare: Vec<BatchBuilder>,
    builder: BatchBuilder,
    last: Option<Token>,
}

impl<'a> WindowPage<'a> {
    /// An empty page of a query, after the window that its token names.
    pub fn new(query: &'a Range<'a>, aggregate: Aggregate, after: Option<&Token>) -> Self {
        Self {
            query,
            aggregate,
            after: after.cloned(),
            hidden: query.hidden.map(Places::new),
            begin: i64::MIN,
            open: BTreeMap::new(),
            lasts: BTreeMap::new(),
            spare: Vec::new(),
            builder: BatchBuilder::new(),
            last: None,
        }
    }

    /// From which time on rows are needed: in order to continue, those of the last window given, too.
    pub fn from(&self) -> i64 {
        let from = self.query.from.nanos();
        self.after
            .as_ref()
            .map_or(from, |token| token.time.max(from))
    }

    /// Takes the next row by time and topic, whole where the last one is asked for; says whether a window that
    /// ended had no room. A number is counted in the unit that is asked for.
    pub fn offer<'o>(
        &mut self,
        topic: usize,
        time: i64,
        (value, description): (Value<'_>, u8),
        whole: impl FnOnce() -> Observation<'o>,
    ) -> Result<bool, HistoryFault> {
        let hidden = self.hidden.as_mut();
        if hidden.is_some_and(|hidden| hidden.pass(topic, time)) {
            return Ok(false);
        }
        let is_selected = self.aggregate.function == Function::Last;
        let number = self.number(topic, value, description)?;
        if number.is_none() && !is_selected {
            return Ok(false);
        }
        let begin = self.aggregate.begin(Time::from_nanos(time)).nanos();
        if begin != self.begin {
            if self.close() {
                return Ok(true);
            }
            self.begin = begin;
        }
        match number {
            _ if self.was_given(begin, topic) => {}
            _ if is_selected => self.select(topic, &whole()),
            Some(number) => self.open.entry(topic).or_default().add(number),
            None => {}
        }
        Ok(false)
    }

    /// What is counted of a result.
    fn number(
        &self,
        topic: usize,
        value: Value<'_>,
        description: u8,
    ) -> Result<Option<f64>, HistoryFault> {
        let is_of_a_unit = self.aggregate.function.is_of_a_unit();
        let units = self
            .query
            .units
            .filter(|_| is_of_a_unit && value.is_numeric());
        let convert = |number: f64| match units {
            Some(units) => units.convert(topic, description, number),
            None => Ok(number),
        };
        let number = value.number().map(convert).transpose();
        number.map_err(HistoryFault::Incomparable)
    }

    fn select(&mut self, topic: usize, row: &Observation<'_>) {
        let spare = &mut self.spare;
        let last = self.lasts.entry(topic);
        let last = last.or_insert_with(|| spare.pop().unwrap_or_default());
        last.clear();
        // It was checked when it was published.
        let _checked_before = last.push(row);
    }

    /// Takes the next window by begin and topic, made by the store itself; says whether it had no room.
    pub fn put(&mut self, begin: i64, topic: usize, number: f64) -> bool {
        let row = observation(self.query.topics[topic], begin, number);
        !self.was_given(begin, topic) && !self.give(begin, &row)
    }

    /// Adds what a window came to, where there is room.
    fn give(&mut self, begin: i64, row: &Observation<'_>) -> bool {
        if self.builder.len() == self.query.limit {
            return false;
        }
        // A sum beyond the doubles is no number; it is left out.
        let _finite = self.builder.push(row);
        self.last = Some(Token {
            time: begin,
            topic: row.topic.to_owned(),
            ordinal: 1,
        });
        true
    }

    fn was_given(&self, begin: i64, topic: usize) -> bool {
        let given =
            |token: &Token| token.time == begin && self.query.topics[topic] <= &token.topic[..];
        self.after.as_ref().is_some_and(given)
    }

    /// Gives out the windows that are open; says whether one had no room.
    fn close(&mut self) -> bool {
        while let Some((_, last)) = self.lasts.pop_first() {
            if !last.is_empty() && !self.give(self.begin, &last.batch().row(0)) {
                return true;
            }
            self.spare.push(last);
        }
        let open = std::mem::take(&mut self.open);
        open.into_iter().any(|(topic, window)| {
            let number = window.value(self.aggregate.function);
            number.is_some_and(|number| self.put(self.begin, topic, number))
        })
    }

    /// The page, once all rows were offered.
    pub fn finish(mut self) -> Page {
        if self.close() {
            return self.cut();
        }
        Page {
            batch: self.builder.finish(),
            ..Page::default()
        }
    }

    /// The page, behind which there are more windows.
    pub fn cut(mut self) -> Page {
        let next = self.last.map(|token| token.print(self.query));
        Page {
            batch: self.builder.finish(),
            next,
            ..Page::default()
        }
    }
}

fn observation(topic: &str, begin: i64, number: f64) -> Observation<'_> {
    Observation {
        naming: Naming::Topic,
        topic,
        sensor: None,
        property: None,
        unit: None,
        description: 0,
        value: Value::Number(number),
        time: Some(Time::from_nanos(begin)),
        place: None,
        extra: Extra::default(),
    }
}

/// Tells rows that were withdrawn from others, in the order of their times.
struct Places<'a> {
    hidden: &'a Hidden,
    /// Of each topic concerned the time at hand, and how many rows of it have passed.
    passed: BTreeMap<usize, (i64, u32)>,
}

impl<'a> Places<'a> {
    fn new(hidden: &'a Hidden) -> Self {
        let passed = BTreeMap::new();
        Self { hidden, passed }
    }

    /// Passes a row; says whether it is hidden.
    fn pass(&mut self, topic: usize, time: i64) -> bool {
        let Some(places) = self.hidden.get(&topic) else {
            return false;
        };
        let (at, count) = self.passed.entry(topic).or_insert((time, 0));
        if *at != time {
            (*at, *count) = (time, 0);
        }
        *count += 1;
        places.contains(&(time, *count - 1))
    }
}
