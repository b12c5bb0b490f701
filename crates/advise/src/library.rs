//! What was measured: cells of any experiment, each with its metrics and the run it is of.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::cell::Factors;
use crate::csv::{Row, rows};
use crate::limits::TABLE_BYTES_MAX;

/// Where a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Measured by who asks.
    Own,
    /// Shipped with the program: measured elsewhere.
    Reference,
}

/// A run that cells come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its folder or file.
    pub name: String,
    /// The command that made it.
    pub command: String,
    /// When it began, UTC.
    pub started: String,
    /// On which machine.
    pub machine: String,
    /// Whose.
    pub origin: Origin,
}

/// A metric of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub(crate) unit: String,
    pub(crate) n: u64,
    pub(crate) mean: f64,
    pub(crate) percentiles: Option<[f64; 5]>,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) lost: u64,
}

/// What one contender gave in one cell.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Index of its run.
    pub(crate) source: usize,
    pub(crate) experiment: String,
    pub(crate) target: String,
    pub(crate) cell: String,
    pub(crate) factors: Factors,
    pub(crate) status: String,
    pub(crate) metrics: BTreeMap<String, Metric>,
}

impl Measured {
    /// The link it was measured over; without one it was on one machine.
    pub(crate) fn link(&self) -> &str {
        self.factors.level("link").unwrap_or("local")
    }
}

/// All that an answer may rest on.
#[derive(Clone, Debug, Default)]
pub struct Library {
    pub(crate) sources: Vec<Source>,
    pub(crate) cells: Vec<Measured>,
}

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its line, from 1.
    pub line: usize,
    /// In words.
    pub problem: String,
}

impl Fault {
    pub(crate) fn at(line: usize, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { line, problem }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for Fault {}

impl Library {
    /// Adds a run's `summary.csv`. A cell that an earlier run holds too is taken from this one: own
    /// results go behind the reference, later ones behind earlier.
    pub fn add(&mut self, source: Source, table: &str) -> Result<(), Fault> {
        if table.len() > TABLE_BYTES_MAX {
            return Err(Fault::at(1, format!("more than {TABLE_BYTES_MAX} bytes")));
        }
        let mut cells = BTreeMap::<(String, String, String), Measured>::new();
        let number = self.sources.len();
        for row in rows(table)? {
            let key = (row.experiment.clone(), row.cell.clone(), row.target.clone());
            let cell = cells
                .entry(key)
                .or_insert_with(|| Measured::new(number, &row));
            cell.metrics.insert(row.metric.clone(), Metric::from(row));
        }
        self.cells.retain(|old| {
            let key = (old.experiment.clone(), old.cell.clone(), old.target.clone());
            !cells.contains_key(&key)
        });
        self.sources.push(source);
        self.cells.extend(cells.into_values());
        Ok(())
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

impl Measured {
    fn new(source: usize, row: &Row) -> Self {
        let mut factors = Factors::parse(&row.cell);
        // Set beside the others' delivery in their cells, it speaks its own protocol.
        if row.target == "mosquitto" {
            factors.replace("delivery", "sse", "mqtt");
        }
        Self {
            source,
            experiment: row.experiment.clone(),
            target: row.target.clone(),
            cell: row.cell.clone(),
            factors,
            status: row.status.clone(),
            metrics: BTreeMap::new(),
        }
    }

    /// The mean of a metric.
    pub(crate) fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|metric| metric.mean)
    }
}

impl From<Row> for Metric {
    fn from(row: Row) -> Self {
        Self {
            unit: row.unit,
            n: row.n,
            mean: row.mean,
            percentiles: row.percentiles,
            low: row.low,
            high: row.high,
            lost: row.lost,
        }
    }
}
