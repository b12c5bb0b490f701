//! A page of observations in the order of time: what is said beside them, and where it ended.

use crate::fault::{Fault, Result};
use crate::filter::Expression;
use crate::members;
use crate::observed::Observed;
use weir_model::Time;

/// What was found beside the rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) count: Option<usize>,
    /// The option that says where the next page begins.
    pub(crate) next: Option<String>,
}

pub(crate) type Show<'s> = &'s mut dyn FnMut(&Observed<'_>) -> Result<()>;

/// Whether an order is that of the phenomenon time alone, and downwards.
pub(crate) fn by_time(order: &[(Expression, bool)]) -> Option<bool> {
    match order {
        [] => Some(false),
        [(Expression::Path(path), down)] if *path == ["phenomenonTime"] => Some(*down),
        _ => None,
    }
}

/// Begins the option that says where to begin.
const TOKEN: &[u8] = b"$skiptoken=";

/// Where a page ended: a time, and how many rows of it were passed.
pub(crate) struct Place {
    pub(crate) time: Time,
    pub(crate) count: usize,
}

impl Place {
    pub(crate) fn pass(&mut self, time: Time) {
        self.count = if time == self.time { self.count + 1 } else { 1 };
        self.time = time;
    }

    /// As an option.
    pub(crate) fn print(&self) -> String {
        let mut option = Vec::with_capacity(40);
        option.extend_from_slice(TOKEN);
        members::number(&mut option, self.time.nanos());
        option.push(b'.');
        members::number(&mut option, self.count as i64);
        String::from_utf8(option).unwrap_or_default()
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let parts = text
            .split_once('.')
            .and_then(|(time, count)| Some((time.parse().ok()?, count.parse().ok()?)));
        let (nanos, count) = parts.ok_or_else(|| Fault::bad("$skiptoken is none of this query"))?;
        let time = Time::from_nanos(nanos);
        Ok(Self { time, count })
    }
}
