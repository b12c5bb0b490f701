//! Reading one number a window and datastream instead of all rows.
//!
//! Numbers and truths (1 and 0) count; texts, null and JSON do not, for any function. Windows without
//! numbers are left out, and so are rows that were withdrawn. A window that reaches over `from` or `to` has
//! only the rows between.

use crate::read::{Merge, Merged};
use crate::token::Token;
use std::collections::BTreeMap;
use weir_hub::aggregate::Window;
use weir_hub::{Aggregate, Hidden, HistoryFault, Page, Range};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra, Observation, Time, Value};

/// Where reading begins in order to continue after a token: at the window that it names.
pub(crate) fn begin(query: &Range<'_>, after: Option<&Token>) -> i64 {
    let from = query.from.nanos();
    after.map_or(from, |token| token.time.max(from))
}

/// One page of windows.
pub(crate) fn page(
    query: &Range<'_>,
    aggregate: Aggregate,
    after: Option<&Token>,
    mut merge: Merge,
) -> Result<Page, HistoryFault> {
    let fail = |error: std::io::Error| HistoryFault::Failed(error.to_string());
    let mut page = Windows {
        query,
        aggregate,
        builder: BatchBuilder::new(),
        last: None,
    };
    let mut windows: BTreeMap<usize, Window> = BTreeMap::new();
    let mut begin = i64::MIN;
    let mut hidden = query.hidden.map(Places::new);
    while let Some(merged) = merge.next().map_err(fail)? {
        let Merged { topic, row, .. } = merged;
        let Some(rows) = merge.rows(merged) else {
            continue;
        };
        let time = rows.time(row);
        if hidden
            .as_mut()
            .is_some_and(|hidden| hidden.pass(topic, time))
        {
            continue;
        }
        let Some(number) = rows.value(row).number() else {
            continue;
        };
        let of_row = aggregate.begin(Time::from_nanos(time)).nanos();
        if of_row != begin {
            if page.is_full_with(begin, &windows) {
                return Ok(page.cut());
            }
            windows.clear();
            begin = of_row;
        }
        let given = |token: &Token| token.time == begin && query.topics[topic] <= &token.topic[..];
        if !after.is_some_and(given) {
            windows.entry(topic).or_default().add(number);
        }
    }
    if page.is_full_with(begin, &windows) {
        return Ok(page.cut());
    }
    Ok(Page {
        batch: page.builder.finish(),
        next: None,
        ..Page::default()
    })
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

struct Windows<'a> {
    query: &'a Range<'a>,
    aggregate: Aggregate,
    builder: BatchBuilder,
    last: Option<Token>,
}

impl Windows<'_> {
    /// Takes the windows that begin here, by topic; says whether one had no room.
    fn is_full_with(&mut self, begin: i64, windows: &BTreeMap<usize, Window>) -> bool {
        for (&topic, window) in windows {
            let Some(number) = window.value(self.aggregate.function) else {
                continue;
            };
            if self.builder.len() == self.query.limit {
                return true;
            }
            let topic = self.query.topics[topic];
            let observation = Observation {
                naming: Naming::Topic,
                topic,
                sensor: None,
                property: None,
                unit: None,
                value: Value::Number(number),
                time: Some(Time::from_nanos(begin)),
                place: None,
                extra: Extra::default(),
            };
            // A sum beyond the doubles is no number; it is left out.
            let _finite = self.builder.push(&observation);
            self.last = Some(Token {
                time: begin,
                topic: topic.to_owned(),
                ordinal: 1,
            });
        }
        false
    }

    fn cut(mut self) -> Page {
        let next = self.last.map(|token| token.print(self.query));
        Page {
            batch: self.builder.finish(),
            next,
            ..Page::default()
        }
    }
}
