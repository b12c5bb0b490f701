//! The device's cells, in virtual time: all runs of a group of settings on all processors.

use weir_sim::{CLIENTS, Metric as Simulated, Setting, grid};

use super::cells::{of_device, runs};
use super::figures::{Grid, HALF_AND_FULL};
use crate::clock::now_ns;
use crate::experiments::Order;
use crate::journal::Versions;
use crate::results::{CellResult, GoalResult, Metric, Run};
use crate::statistics::Estimate;

/// The name under which the device's server stands in results.
pub(super) const TARGET: &str = "comet";

/// Segments that go twice on a saturated line that loses nothing, percent, at most.
const REPEATED_MAX: f64 = 5.0;

/// Runs the settings that are wanted.
pub(super) fn measure(order: &Order<'_>) -> Vec<CellResult> {
    let mut settings = of_device(order.effort);
    settings.retain(|setting| order.wants(&setting.to_string()));
    let together = |a: &Setting, b: &Setting| (a.line, a.clients) == (b.line, b.clients);
    let groups = settings.chunk_by(together);
    groups.flat_map(|group| of_group(order, group)).collect()
}

/// Settings with as many clients on the same line: what is kept, and gone on behind, together.
fn of_group(order: &Order<'_>, group: &[Setting]) -> Vec<CellResult> {
    let key = group[0].to_string();
    let measure = |_: &mut Versions| {
        let (began_ns, runs) = (now_ns(), runs(order.effort, group[0].clients));
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let cells = grid(group, order.seed, runs, workers, &|_| {});
        let seconds = (now_ns() - began_ns) as f64 / 1e9;
        eprintln!(
            "{key}  and {} like it, {runs} runs each: {seconds:.1} s",
            group.len() - 1
        );
        cells.iter().map(result).collect()
    };
    order.journal.cell(&key, &mut Versions::new(), measure)
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

/// What the device has to reach on a full-duplex line, and what may go twice on either.
pub(super) fn goals(run: &Run) -> Vec<GoalResult> {
    let [half, full] = HALF_AND_FULL.map(|duplex| Grid::of(run, duplex));
    let at = |metric: &str| full.mean(128, "1", "streaming", metric);
    let goal = |metric: &str, asked: &str, bound: f64, holds: fn(f64, f64) -> bool| {
        let measured = at(metric);
        GoalResult {
            cell: "clients=128;publish=1;scheme=streaming;duplex=full".into(),
            metric: metric.into(),
            asked: asked.into(),
            bound: Some(bound),
            measured,
            holds: measured.map(|value| holds(value, bound)),
        }
    };
    let mut goals = vec![
        goal("rupm", "at least, %", 99.9, |value, bound| value >= bound),
        goal("mpt", "at most, s", 0.27, |value, bound| value <= bound),
        goal("mct", "at least, % (paper: 50)", 70.0, |value, bound| {
            value >= bound
        }),
    ];
    goals.extend([half, full].iter().map(repeated));
    goals
}

/// The most that went twice in any setting.
fn repeated(grid: &Grid<'_>) -> GoalResult {
    let all = CLIENTS
        .iter()
        .flat_map(|&clients| grid.of_clients(clients, "repeated"));
    let most = all.fold(None, |most: Option<f64>, value| {
        Some(most.map_or(value, |it| it.max(value)))
    });
    GoalResult {
        cell: format!("every setting, {} duplex", grid.duplex),
        metric: "repeated".into(),
        asked: "at most, %".into(),
        bound: Some(REPEATED_MAX),
        measured: most,
        holds: most.map(|value| value <= REPEATED_MAX),
    }
}
