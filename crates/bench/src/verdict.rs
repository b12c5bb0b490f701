//! What results mean: near the ceiling or not, ours against theirs, goals reached or not.

use crate::cell::{Bound, Cell, Figure, Goal};
use crate::environment::Environment;
use crate::limits::{CEILING_SHARE, LAG_SHARE};
use crate::results::{
    CEILING, CellResult, Figures, GoalResult, Metric, RATES, Ratio, is_ours, single,
};
use crate::statistics::Estimate;

impl Figure {
    /// Its name behind a metric's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// It, of a metric.
    pub(crate) fn of(self, metric: &Metric) -> f64 {
        match (self, &metric.percentiles) {
            (Self::P50, Some(percentiles)) => percentiles.p50,
            (Self::P99, Some(percentiles)) => percentiles.p99,
            _ => metric.estimate.mean,
        }
    }

    fn of_round(self, figures: &Figures) -> f64 {
        match self {
            Self::Mean => figures.mean,
            Self::P50 => figures.p50,
            Self::P99 => figures.p99,
        }
    }
}

/// Marks where the load is the limit, in the results of one cell: what comes too near to the null
/// server's rate, and what was offered too late.
pub(crate) fn mark_ceiling(cell: &Cell, results: &mut [CellResult]) {
    for result in results.iter_mut() {
        mark_late(result);
    }
    if cell.work.has_fixed_rate() {
        return;
    }
    for rate in RATES {
        let ceiling = results.iter().find(|r| r.target == CEILING && !r.missed);
        let Some(ceiling) = ceiling
            .and_then(|r| r.metric(rate))
            .map(|m| m.estimate.mean)
        else {
            continue;
        };
        for result in results.iter_mut().filter(|r| !r.target.starts_with("null")) {
            mark_near(result, rate, ceiling);
        }
    }
}

fn mark_near(result: &mut CellResult, rate: &str, ceiling: f64) {
    let reached = result.metric(rate).map(|metric| metric.estimate.mean);
    if let Some(reached) = reached {
        mark_share(result, rate, reached / ceiling);
    }
}

/// Adds the share that a figure has of what load and machine can do, and marks the result from
/// [`CEILING_SHARE`] on.
pub(crate) fn mark_share(result: &mut CellResult, metric: &str, share: f64) {
    if result.status == "ok" && share >= CEILING_SHARE {
        result.status = "ceiling".into();
    }
    let name = format!("{metric}_of_ceiling");
    result.metrics.push(single(&name, "%", 100.0 * share));
}

/// A load that offers its messages late by much of what it measures, measures itself.
fn mark_late(result: &mut CellResult) {
    let timed = ["publish_to_receive", "acknowledgement"];
    let timed = timed.iter().find_map(|name| result.metric(name));
    let measured = timed.and_then(|metric| metric.percentiles);
    let lag = result.metric("schedule_lag").and_then(|m| m.percentiles);
    let Some((lag, measured)) = lag.zip(measured) else {
        return;
    };
    if lag.p99 <= LAG_SHARE * measured.p50 {
        return;
    }
    result.remarks.push(format!(
        "the load was late: p99 {:.0} us, over {:.0} % of the median {:.0} us",
        lag.p99,
        LAG_SHARE * 100.0,
        measured.p50
    ));
    if result.status == "ok" {
        result.status = "ceiling".into();
    }
}

/// Ours against every other contender of one cell.
///
/// Rates are compared where targets find their own, latencies where all have the same rate.
pub(crate) fn ratios(cell: &Cell, results: &[CellResult]) -> Vec<Ratio> {
    let Some(ours) = results.iter().find(|r| is_ours(&r.target)) else {
        return Vec::new();
    };
    let compared: &[(&str, Figure)] = if cell.work.has_fixed_rate() {
        &[
            ("publish_to_receive", Figure::P50),
            ("publish_to_receive", Figure::P99),
        ]
    } else {
        &[
            ("deliveries", Figure::Mean),
            ("observations", Figure::Mean),
            ("server_memory_per_connection", Figure::Mean),
        ]
    };
    let mut ratios = Vec::new();
    let comparable = |r: &&CellResult| !is_ours(&r.target) && !r.missed && !ours.missed;
    for theirs in results.iter().filter(comparable) {
        for &(name, figure) in compared {
            let pair = ours.metric(name).zip(theirs.metric(name));
            let Some(estimate) = pair.and_then(|(a, b)| ratio(a, b, figure)) else {
                continue;
            };
            ratios.push(Ratio {
                cell: ours.cell.clone(),
                target: theirs.target.clone(),
                metric: format!("{name}_{}", figure.name()),
                estimate,
            });
        }
    }
    ratios
}

fn ratio(ours: &Metric, theirs: &Metric, figure: Figure) -> Option<Estimate> {
    let same_round = |a: &Figures| theirs.rounds.iter().find(|b| b.round == a.round).copied();
    let pairs: Vec<(f64, f64)> = ours
        .rounds
        .iter()
        .filter_map(|a| Some((figure.of_round(a), figure.of_round(&same_round(a)?))))
        .collect();
    Estimate::of_ratios(&pairs)
}

/// Whether each goal of a cell is reached.
pub(crate) fn goals(
    cell: &Cell,
    results: &[CellResult],
    environment: &Environment,
) -> Vec<GoalResult> {
    cell.goals
        .iter()
        .map(|goal| judge(cell, goal, results, environment))
        .collect()
}

fn judge(
    cell: &Cell,
    goal: &Goal,
    results: &[CellResult],
    environment: &Environment,
) -> GoalResult {
    let ours = results.iter().find(|r| is_ours(&r.target));
    let figure = |result: &CellResult| {
        let metric = result.metric(goal.metric);
        metric.map(|metric| goal.figure.of(metric))
    };
    let figure_of = |target: &str| {
        let result = results.iter().find(|r| r.target == target && !r.missed)?;
        figure(result)
    };
    let measured = ours.and_then(figure);
    let disk = 64.0 * environment.fdatasyncs_per_second();
    let (asked, bound, is_floor) = match goal.bound {
        Bound::Least(floor) => (format!("at least {floor}"), Some(floor), true),
        Bound::LeastOrDisk(floor, share) => {
            let asked = format!("at least {floor}, or {share} x 64 x fdatasyncs/s if less");
            (asked, Some(floor.min(share * disk)), true)
        }
        Bound::Most(most) => (format!("at most {most}"), Some(most), false),
        Bound::LeastTimes(share, other) => (
            format!("at least {share} x {other}"),
            figure_of(other).map(|v| v * share),
            true,
        ),
        Bound::MostTimes(times, other) => (
            format!("at most {times} x {other}"),
            figure_of(other).map(|v| v * times),
            false,
        ),
    };
    // A figure that was bought with losses, or beyond the limit of its search, reaches nothing.
    let is_sound = ours.is_some_and(|r| !r.missed && r.metrics.iter().all(|m| m.lost == 0));
    let holds = |(measured, bound)| {
        let reached = if is_floor {
            measured >= bound
        } else {
            measured <= bound
        };
        is_sound && reached
    };
    GoalResult {
        cell: cell.name(),
        metric: format!("{} {}", goal.metric, goal.figure.name()),
        asked,
        bound,
        measured,
        estimate: None,
        holds: measured.zip(bound).map(holds),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::experiments::Effort;
    use crate::experiments::gateway::cells;
    use crate::results::OURS;

    fn result(target: &str, deliveries: f64, missed: bool, lost: u64) -> CellResult {
        CellResult {
            cell: String::new(),
            target: target.into(),
            status: "ok".into(),
            missed,
            remarks: Vec::new(),
            metrics: vec![Metric {
                metric: "deliveries".into(),
                unit: "1/s".into(),
                estimate: Estimate::of(&[deliveries]).unwrap(),
                percentiles: None,
                quantiles: Default::default(),
                state: None,
                rounds: vec![Figures {
                    round: 0,
                    mean: deliveries,
                    p50: 0.0,
                    p99: 0.0,
                }],
                lost,
            }],
            trials: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// The cell of fan-out to 1,000 by SSE: at least a million, and half the ceiling.
    fn fan_out() -> Cell {
        let mut cells = cells(Effort::Quick);
        let position = cells
            .iter()
            .position(|c| c.name().contains("fan-out;delivery=sse"));
        cells.remove(position.unwrap())
    }

    fn holds(results: &[CellResult]) -> Vec<Option<bool>> {
        let environment = Environment::of(&std::env::temp_dir());
        goals(&fan_out(), results, &environment)
            .iter()
            .map(|goal| goal.holds)
            .collect()
    }

    #[test]
    fn a_rate_beyond_its_latency_limit_or_with_losses_reaches_no_goal() {
        let ceiling = result(CEILING, 3e6, false, 0);
        let sound = holds(&[result(OURS, 2e6, false, 0), ceiling.clone()]);
        assert_eq!(sound[..2], [Some(true), Some(true)]);
        for ours in [result(OURS, 2e6, true, 0), result(OURS, 2e6, false, 1)] {
            assert_eq!(
                holds(&[ours, ceiling.clone()])[..2],
                [Some(false), Some(false)]
            );
        }
    }

    #[test]
    fn a_ceiling_that_missed_its_own_limit_bounds_nothing() {
        let results = [result(OURS, 2e6, false, 0), result(CEILING, 3e6, true, 0)];
        assert_eq!(holds(&results)[..2], [Some(true), None]);
        assert!(ratios(&fan_out(), &results).is_empty());
    }

    #[test]
    fn what_comes_near_the_ceiling_is_marked() {
        let mut results = [
            result(OURS, 2.5e6, false, 0),
            result(CEILING, 3e6, false, 0),
        ];
        mark_ceiling(&fan_out(), &mut results);
        assert_eq!(results[0].status, "ceiling");
        assert_eq!(results[1].status, "ok");
    }
}
