//! `summary.csv`, with the columns of the bench.

use crate::grid::{Cell, Metric};
use std::fmt::Write;

const HEAD: &str = concat!(
    "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,",
    "ci_low,ci_high,lost,status,rounds\n"
);

/// A row a cell and metric; `n` counts the runs that are left.
pub fn csv(cells: &[Cell]) -> String {
    let mut text = String::from(HEAD);
    for cell in cells {
        for metric in &cell.outcome.metrics {
            row(&mut text, cell, metric);
        }
    }
    text
}

fn row(text: &mut String, cell: &Cell, metric: &Metric) {
    let Metric {
        name,
        unit,
        mean,
        spread,
    } = metric;
    let (setting, runs) = (&cell.setting, cell.outcome.runs);
    let status = if mean.is_finite() {
        "ok"
    } else {
        "nothing was heard"
    };
    let (low, high) = match spread.is_finite() {
        true => (
            format!("{:.3}", mean - spread),
            format!("{:.3}", mean + spread),
        ),
        false => Default::default(),
    };
    // A string takes all that is written.
    let _written = writeln!(
        text,
        "notification,simulation,{setting},{name},{unit},{runs},{mean:.3},,,,,,{low},{high},0,{status},{runs}"
    );
}
