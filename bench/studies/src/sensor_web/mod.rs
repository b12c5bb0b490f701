//! The experiment `sensor-web`: what SensorThings and the Sensor Observation Service cost on a gateway that keeps
//! everything on disk.
//!
//! Inserts by data arrays and one by one, the latest of many datastreams in one request, 52North's case (2,700
//! observations in and out, their issue 825), and answers of up to a million observations, with the memory that they
//! take. What it deliberately does not do: start other people's servers of these services, which need a database and a
//! servlet container each; what 52North's users measured stands beside as they stated it. The decision worth arguing:
//! every goal is judged by the interval of its rounds, so that a figure beside its bound is undecided and not lucky.

mod cells;
mod documents;
mod figures;
mod goals;
mod page;
mod requests;
mod sample;
mod servers;
mod stage;
#[cfg(test)]
mod tests;

use self::cells::Scale;
use self::servers::SERVERS;
use self::stage::Cell;
use weir_bench_lab::alone;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_model::results::{CEILING, CellResult, OURS, Run};
use weir_bench_model::verdict::mark_share;

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "sensor-web",
    source: "ours",
    about: "SensorThings and SOS: inserts, the latest of many datastreams, long answers",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: figures::of,
    claims: |_| Vec::new(),
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let scale = Scale::of(order.effort);
    let cells: Vec<Cell> = Cell::all(cells::settings(order.effort), scale);
    let mut run = alone::run(order, &cells, &SERVERS);
    mark_ceiling(&mut run.results);
    run.goals = goals::of(&run);
    run
}

/// Says of each rate of ours how near it comes to that of a server that takes and gives as many bytes and does nothing.
fn mark_ceiling(results: &mut [CellResult]) {
    let rate = |it: &CellResult| Some(it.metric("observations")?.estimate.mean);
    let ceilings = results.iter().filter(|it| it.target == CEILING);
    let ceilings: Vec<(String, f64)> = ceilings
        .filter_map(|it| Some((it.cell.clone(), rate(it)?)))
        .collect();
    for ours in results.iter_mut().filter(|it| it.target == OURS) {
        let ceiling = ceilings.iter().find(|(cell, _)| *cell == ours.cell);
        if let Some(share) = ceiling.and_then(|(_, most)| Some(rate(ours)? / most)) {
            mark_share(ours, "observations", share);
        }
    }
}
