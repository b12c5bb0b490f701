//! Cells that may be compared: one experiment, one test of it, one chief time.

use std::collections::{BTreeMap, BTreeSet};

use crate::cell::{Factors, number};
use crate::figures::chief_time;
use crate::fit::{Point, lies};
use crate::library::{Library, Measured};
use crate::question::Payload;

/// Targets that are ceilings of the measuring itself and nobody's choice.
const CEILINGS: [&str; 3] = ["null", "null_coalescing", "bare"];

/// What makes two cells comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) experiment: String,
    pub(crate) test: Option<String>,
    pub(crate) time: String,
}

impl Key {
    /// The experiment, with the test where it has several.
    pub(crate) fn name(&self) -> String {
        match &self.test {
            Some(test) => format!("{} ({test})", self.experiment),
            None => self.experiment.clone(),
        }
    }
}

/// Comparable cells, by what is done and by whom.
pub(crate) type Ways<'a> = BTreeMap<(Factors, String), Vec<&'a Measured>>;

/// All comparable cells of a library.
pub(crate) fn sections(library: &Library) -> BTreeMap<Key, Ways<'_>> {
    let mut sections = BTreeMap::<Key, Ways>::new();
    for cell in &library.cells {
        let Some(time) = chief_time(cell) else {
            continue;
        };
        if CEILINGS.contains(&cell.target.as_str()) {
            continue;
        }
        let key = Key {
            experiment: cell.experiment.clone(),
            test: cell.factors.level("test").map(Into::into),
            time: time.into(),
        };
        let way = (cell.factors.way(), cell.target.clone());
        sections
            .entry(key)
            .or_default()
            .entry(way)
            .or_default()
            .push(cell);
    }
    sections
}

/// Settles what was not asked at the level that most ways have; says so in words.
pub(crate) fn settle(point: &Point, ways: &Ways<'_>) -> (Point, Vec<String>) {
    let (mut point, mut said) = (point.clone(), Vec::new());
    if point.rate.is_none()
        && let Some(level) = commonest(ways, &point, "rate")
    {
        said.push(format!("rate not asked: compared at {level}/s"));
        point.rate = number(&level);
    }
    if point.payload.is_none() {
        if let Some(level) = commonest(ways, &point, "nodes") {
            said.push(format!("payload not asked: compared at {level} nodes"));
            point.payload = number(&level).map(Payload::Nodes);
        } else if let Some(level) = commonest(ways, &point, "payload") {
            said.push(format!("payload not asked: compared at {level}"));
            point.payload = Some(number(&level).map_or(Payload::Kind(level), Payload::Bytes));
        }
    }
    (point, said)
}

/// The level of a factor that most ways have where the rest of the point is; the least of several.
fn commonest(ways: &Ways<'_>, point: &Point, factor: &str) -> Option<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for cells in ways.values() {
        let near = cells
            .iter()
            .filter(|cell| lies(cell, point).iter().all(|lie| lie.is_there()));
        let levels: BTreeSet<&str> = near.filter_map(|cell| cell.factors.level(factor)).collect();
        for level in levels {
            *counts.entry(level.to_owned()).or_default() += 1;
        }
    }
    let order = |level: &str| number(level).unwrap_or(f64::INFINITY);
    let best = counts.into_iter().max_by(|(a, m), (b, n)| {
        m.cmp(n)
            .then_with(|| order(b).total_cmp(&order(a)))
            .then_with(|| b.cmp(a))
    });
    best.map(|(level, _)| level)
}

/// What was measured of a section's point factors, in words.
pub(crate) fn measured_at(ways: &Ways<'_>) -> String {
    let mut levels = BTreeMap::<&str, BTreeSet<&str>>::new();
    for cell in ways.values().flatten() {
        for factor in crate::cell::POINT {
            let level = match factor {
                "link" => Some(cell.link()),
                "clients" => Some(cell.factors.level("clients").unwrap_or("1")),
                other => cell.factors.level(other),
            };
            levels.entry(factor).or_default().extend(level);
        }
    }
    let told = levels.iter().filter(|(_, levels)| !levels.is_empty());
    let told = told.map(|(factor, levels)| {
        let mut levels: Vec<&str> = levels.iter().copied().collect();
        levels.sort_by(|a, b| {
            let of = |text: &str| number(text).unwrap_or(f64::INFINITY);
            of(a).total_cmp(&of(b)).then_with(|| a.cmp(b))
        });
        let more = if levels.len() > 12 { ", ..." } else { "" };
        levels.truncate(12);
        format!("{factor} {}{more}", levels.join(", "))
    });
    told.collect::<Vec<_>>().join("; ")
}
