//! What results mean: near the ceiling or not, ours against theirs, goals reached or not.
//!
//! A goal is reached where all of an interval is, falls short where none of it is, and is undecided between; one round
//! decides nothing. Of a goal beside another target that interval is of the ratio of both, round by round, and so is
//! what is shown.

use crate::cell::{Bound, Cell, Figure, Goal};
use crate::environment::Environment;
use crate::limits::{CEILING_SHARE, LAG_SHARE};
use crate::results::{
    CEILING, CellResult, Figures, GoalResult, Metric, RATES, Ratio, is_ours, single,
};
use crate::statistics::Estimate;

impl Figure {
    /// Its name behind a metric's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// It, of a metric.
    pub fn of(self, metric: &Metric) -> f64 {
        match (self, &metric.percentiles) {
            (Self::P50, Some(percentiles)) => percentiles.p50,
            (Self::P99, Some(percentiles)) => percentiles.p99,
            _ => metric.estimate.mean,
        }
    }

    /// It, over rounds.
    fn over_rounds(self, metric: &Metric) -> Option<Estimate> {
        let rounds: Vec<f64> = metric.rounds.iter().map(|it| self.of_round(it)).collect();
        Estimate::of(&rounds)
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
pub fn mark_ceiling(cell: &Cell, results: &mut [CellResult]) {
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
pub fn mark_share(result: &mut CellResult, metric: &str, share: f64) {
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
pub fn ratios(cell: &Cell, results: &[CellResult]) -> Vec<Ratio> {
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
pub fn goals(cell: &Cell, results: &[CellResult], environment: &Environment) -> Vec<GoalResult> {
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
    let own = ours.and_then(|result| result.metric(goal.metric));
    let theirs = goal.bound.other().and_then(|other| {
        let other = results.iter().find(|r| r.target == other && !r.missed);
        other?.metric(goal.metric)
    });
    let estimate = own.and_then(|own| match goal.bound.other() {
        None => goal.figure.over_rounds(own),
        Some(_) => ratio(own, theirs?, goal.figure),
    });
    let disk = 64.0 * environment.fdatasyncs_per_second();
    let bound = goal.bound.number(disk, theirs.is_some());
    // A figure that was bought with losses, or beyond the limit of its search, reaches nothing.
    let is_sound = ours.is_some_and(|r| !r.missed && r.metrics.iter().all(|m| m.lost == 0));
    let both = estimate.zip(bound);
    GoalResult {
        cell: cell.name(),
        metric: goal.name(),
        asked: goal.bound.words(),
        bound,
        measured: match estimate {
            Some(estimate) => Some(estimate.mean),
            None if goal.bound.other().is_some() => None,
            None => own.map(|metric| goal.figure.of(metric)),
        },
        // Without a bound it is not undecided, but not measured.
        estimate: both.map(|(estimate, _)| estimate),
        holds: both.and_then(
            |(estimate, bound)| match (is_sound, goal.bound.is_floor()) {
                (false, _) => Some(false),
                (true, true) => estimate.is_at_least(bound),
                (true, false) => estimate.is_at_most(bound),
            },
        ),
    }
}

impl Goal {
    /// What is judged: a figure, or by how much it is another's.
    fn name(&self) -> String {
        let own = format!("{} {}", self.metric, self.figure.name());
        match self.bound.other() {
            Some(other) => format!("{own} / {other}"),
            None => own,
        }
    }
}

impl Bound {
    /// Whose figure it is a multiple of.
    fn other(self) -> Option<&'static str> {
        match self {
            Self::LeastTimes(_, other) | Self::MostTimes(_, other) => Some(other),
            _ => None,
        }
    }

    fn is_floor(self) -> bool {
        !matches!(self, Self::Most(_) | Self::MostTimes(..))
    }

    /// In the unit of the metric, given what the disk can do, or by how much it may be the other's, if that was
    /// measured.
    fn number(self, disk: f64, other_is_there: bool) -> Option<f64> {
        match self {
            Self::Least(bound) | Self::Most(bound) => Some(bound),
            Self::LeastOrDisk(floor, share) => Some(floor.min(share * disk)),
            Self::LeastTimes(times, _) | Self::MostTimes(times, _) => {
                other_is_there.then_some(times)
            }
        }
    }

    fn words(self) -> String {
        match self {
            Self::Least(floor) => format!("at least {floor}"),
            Self::LeastOrDisk(floor, share) => {
                format!("at least {floor}, or {share} x 64 x fdatasyncs/s if less")
            }
            Self::Most(most) => format!("at most {most}"),
            Self::LeastTimes(share, other) => format!("at least {share} x {other}"),
            Self::MostTimes(times, other) => format!("at most {times} x {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cell::{Scheme, Work};
    use crate::pace::Pace;
    use crate::results::OURS;

    fn result(target: &str, deliveries: f64, missed: bool, lost: u64) -> CellResult {
        CellResult {
            missed,
            ..of_rounds(target, &[deliveries, deliveries], lost)
        }
    }

    fn of_rounds(target: &str, deliveries: &[f64], lost: u64) -> CellResult {
        let round = |(round, &mean): (usize, &f64)| Figures {
            round,
            mean,
            p50: 0.0,
            p99: 0.0,
        };
        CellResult {
            target: target.into(),
            status: "ok".into(),
            metrics: vec![Metric {
                metric: "deliveries".into(),
                unit: "1/s".into(),
                estimate: Estimate::of(deliveries).unwrap(),
                rounds: deliveries.iter().enumerate().map(round).collect(),
                lost,
                ..Metric::default()
            }],
            ..CellResult::default()
        }
    }

    /// A cell of fan-out: at least a million, and half the ceiling.
    fn fan_out() -> Cell {
        let goal = |bound| Goal {
            metric: "deliveries",
            figure: Figure::Mean,
            bound,
        };
        let pace = Pace::Window {
            outstanding: 1,
            warm_up_ms: 0,
            measure_ms: 1,
        };
        Cell {
            factors: vec![("delivery", Scheme::Sse.name().into())],
            work: Work::FanOut {
                publishers: 1,
                subscribers: 1,
                pace,
            },
            contenders: Vec::new(),
            rounds: 1,
            goals: vec![
                goal(Bound::Least(1e6)),
                goal(Bound::LeastTimes(0.5, CEILING)),
            ],
        }
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
    fn a_goal_beside_another_is_judged_by_the_ratio_of_rounds_and_undecided_within_its_interval() {
        let beside = |ours: &[f64], theirs: &[f64]| {
            let results = [of_rounds(OURS, ours, 0), of_rounds(CEILING, theirs, 0)];
            let environment = Environment::of(&std::env::temp_dir());
            let goal = goals(&fan_out(), &results, &environment).swap_remove(1);
            assert_eq!(goal.bound, Some(0.5));
            assert_eq!(goal.metric, "deliveries mean / null_coalescing");
            (goal.holds, goal.verdict("holds"))
        };
        // Both vary, and together.
        let paired = beside(&[1.6e6, 3.3e6, 6.4e6], &[2e6, 4e6, 8e6]);
        assert_eq!(paired, (Some(true), "holds"));
        let apart = beside(&[1.6e6, 3.3e6, 6.4e6], &[4e6, 4e6, 4e6]);
        assert_eq!(apart, (None, "undecided"));
        assert_eq!(beside(&[2e6], &[2e6]), (None, "undecided"));
        let short = beside(&[1.0e6, 1.1e6, 1.0e6], &[4e6, 4e6, 4e6]);
        assert_eq!(short, (Some(false), "falls short"));
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
