//! The device's cells, in virtual time: all runs of a group of settings on all processors.

use weir_sim::{Metric as Simulated, Setting, grid};

use super::cells::{of_device, runs};
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_model::clock::now_ns;
use weir_bench_model::journal::Versions;
use weir_bench_model::results::{CellResult, Metric, single};
use weir_bench_model::statistics::Estimate;

/// The name under which the device's server stands in results.
pub(super) const TARGET: &str = "comet";
/// The name under which the time stands that simulating took.
pub(super) const SIMULATION: &str = "simulation";
/// The metric of that time.
pub(super) const TOOK: &str = "simulated";

/// Runs the settings that are wanted.
pub(super) fn measure(order: &Order<'_>) -> Vec<CellResult> {
    let mut settings = of_device(order.effort);
    settings.retain(|setting| order.wants(&setting.to_string()));
    let together = |a: &Setting, b: &Setting| (a.line, a.clients) == (b.line, b.clients);
    let groups: Vec<_> = settings.chunk_by(together).collect();
    let progress = Progress::new(groups.len());
    let of_group = |group: &&[Setting]| of_group(order, group, &progress);
    let results = groups.iter().flat_map(of_group).collect();
    progress.finish();
    results
}

/// Settings with as many clients on the same line: what is kept, and gone on behind, together.
fn of_group(order: &Order<'_>, group: &[Setting], progress: &Progress) -> Vec<CellResult> {
    let key = group[0].to_string();
    if order.journal.has(&key) {
        progress.skip(1);
    }
    progress.begin_piece(&key);
    let measure = |_: &mut Versions| {
        let (began_ns, runs) = (now_ns(), runs(order.effort, group[0].clients));
        let cells = grid(group, order.seed, runs, workers(), &|_| {});
        let seconds = (now_ns() - began_ns) as f64 / 1e9;
        progress.end_piece(&format!(
            "{key}  and {} like it, {runs} runs each: {seconds:.1} s",
            group.len() - 1
        ));
        let took = took(&key, seconds);
        cells.iter().map(result).chain([took]).collect()
    };
    order.journal.cell(&key, &mut Versions::new(), measure)
}

fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What simulates, and on how many processors.
pub(super) fn simulation() -> String {
    let (version, workers) = (env!("CARGO_PKG_VERSION"), workers());
    format!("weir-sim {version} on {workers} processors")
}

/// How long a group of settings took, kept with the first of them.
fn took(key: &str, seconds: f64) -> CellResult {
    CellResult {
        cell: key.into(),
        target: SIMULATION.into(),
        status: "ok".into(),
        metrics: vec![single(TOOK, "s", seconds)],
        ..CellResult::default()
    }
}

/// A simulated cell's result.
pub(super) fn result(cell: &weir_sim::Cell) -> CellResult {
    let count = cell.outcome.runs as u64;
    let metrics = cell.outcome.metrics.iter();
    CellResult {
        cell: cell.setting.to_string(),
        target: TARGET.into(),
        status: "ok".into(),
        metrics: metrics
            .filter(|metric| metric.mean.is_finite())
            .map(|metric| kept(metric, count))
            .collect(),
        ..CellResult::default()
    }
}

fn kept(metric: &Simulated, count: u64) -> Metric {
    let (mean, spread) = (metric.mean, metric.spread);
    let spread = if spread.is_finite() { spread } else { 0.0 };
    Metric {
        metric: metric.name.to_lowercase(),
        unit: metric.unit.into(),
        estimate: Estimate {
            n: count,
            mean,
            low: mean - spread,
            high: mean + spread,
        },
        ..Metric::default()
    }
}
