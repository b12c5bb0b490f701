//! The results of a run as they are kept: rounds merged into metrics, ratios, goals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell::{Bound, Cell, Figure, Goal};
use crate::environment::Environment;
use crate::latency::{Latency, Percentiles};
use crate::limits::CEILING_SHARE;
use crate::load::job::Trial;
use crate::sample::Sample;
use crate::statistics::Estimate;

/// A whole run; `run.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Version of this layout.
    pub(crate) schema: u32,
    /// The experiment.
    pub(crate) experiment: String,
    /// Where the experiment comes from.
    pub(crate) source: String,
    /// The command that made it.
    pub(crate) command: String,
    /// What ordered it.
    pub(crate) seed: u64,
    /// `quick` or `full`.
    pub(crate) effort: String,
    /// When it began, UTC.
    pub(crate) started: String,
    /// How long it took, seconds.
    pub(crate) seconds: f64,
    /// Where.
    pub(crate) environment: Environment,
    /// Targets: name and version, or why absent.
    pub(crate) targets: BTreeMap<String, String>,
    /// One result a cell and contender.
    pub(crate) results: Vec<CellResult>,
    /// Ours against others, cell by cell.
    pub(crate) ratios: Vec<Ratio>,
    /// What ours had to reach.
    pub(crate) goals: Vec<GoalResult>,
}

/// What one contender gave in one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CellResult {
    /// The cell's name.
    pub(crate) cell: String,
    /// The target's name.
    pub(crate) target: String,
    /// `ok`, `ceiling`, `wide`, or why it failed.
    pub(crate) status: String,
    /// Further things a reader must know.
    pub(crate) remarks: Vec<String>,
    /// Its metrics.
    pub(crate) metrics: Vec<Metric>,
    /// The trials of each round's search.
    pub(crate) trials: Vec<Vec<Trial>>,
}

/// One metric of one contender in one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metric {
    /// Its name.
    pub(crate) metric: String,
    /// Its unit: `us` of every distribution.
    pub(crate) unit: String,
    /// Over rounds.
    pub(crate) estimate: Estimate,
    /// Over all samples of all rounds; of distributions.
    pub(crate) percentiles: Option<Percentiles>,
    /// Each round on its own.
    pub(crate) rounds: Vec<Figures>,
    /// What did not come.
    pub(crate) lost: u64,
}

/// Figures of one round; of a single figure all are the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Number of the round.
    pub(crate) round: usize,
    /// Mean.
    pub(crate) mean: f64,
    /// Median.
    pub(crate) p50: f64,
    /// 99th percentile.
    pub(crate) p99: f64,
}

/// Ours divided by another's, round by round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// The cell's name.
    pub(crate) cell: String,
    /// By whose figure ours is divided.
    pub(crate) target: String,
    /// Metric and figure.
    pub(crate) metric: String,
    /// Geometric mean and interval.
    pub(crate) estimate: Estimate,
}

/// Whether a goal was reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GoalResult {
    /// The cell's name.
    pub(crate) cell: String,
    /// Metric and figure.
    pub(crate) metric: String,
    /// What was asked.
    pub(crate) asked: String,
    /// The bound in the metric's unit.
    pub(crate) bound: Option<f64>,
    /// What was measured.
    pub(crate) measured: Option<f64>,
    /// Whether it holds; unknown where something is missing.
    pub(crate) holds: Option<bool>,
}

/// The target whose results are ours.
pub(crate) const OURS: &str = "weir";
/// The target that is the ceiling of the load.
pub(crate) const CEILING: &str = "null_coalescing";
/// Metrics that are rates, for which the ceiling is asked.
const RATES: [&str; 2] = ["deliveries", "observations"];

impl Figure {
    /// Its name behind a metric's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    fn of(self, metric: &Metric) -> f64 {
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

impl CellResult {
    /// Merges the rounds of one contender: number and sample, or number and reason.
    pub(crate) fn of(cell: &Cell, target: &str, rounds: &[(usize, Result<Sample, String>)]) -> Self {
        let good: Vec<(usize, &Sample)> =
            rounds.iter().filter_map(|(n, r)| Some((*n, r.as_ref().ok()?))).collect();
        let bad: Vec<&String> = rounds.iter().filter_map(|(_, r)| r.as_ref().err()).collect();
        let mut result = Self {
            cell: cell.name(),
            target: target.into(),
            status: if good.is_empty() { "not run".into() } else { "ok".into() },
            remarks: good.iter().filter_map(|(_, sample)| sample.remark.clone()).collect(),
            metrics: metrics(&good),
            trials: good.iter().map(|(_, sample)| sample.trials.clone()).collect(),
        };
        match bad.first() {
            Some(&reason) if good.is_empty() => result.status = reason.clone(),
            Some(reason) => {
                let counted = format!("{} of {} rounds failed: {reason}", bad.len(), rounds.len());
                result.remarks.push(counted);
            }
            None => {}
        }
        let wide = |m: &Metric| RATES.contains(&m.metric.as_str()) && m.estimate.is_wide();
        if result.metrics.iter().any(wide) {
            result.status = "wide".into();
        }
        result
    }

    /// A metric by its name.
    pub(crate) fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }
}

/// Marks what comes too near to the ceiling, in the results of one cell.
pub(crate) fn mark_ceiling(cell: &Cell, results: &mut [CellResult]) {
    if cell.work.has_fixed_rate() {
        return;
    }
    for rate in RATES {
        let ceiling = results.iter().find(|r| r.target == CEILING);
        let Some(ceiling) = ceiling.and_then(|r| r.metric(rate)).map(|m| m.estimate.mean) else {
            continue;
        };
        for result in results.iter_mut().filter(|r| !r.target.starts_with("null")) {
            let reached = result.metric(rate).map_or(0.0, |metric| metric.estimate.mean);
            if result.status == "ok" && reached >= CEILING_SHARE * ceiling {
                result.status = "ceiling".into();
            }
        }
    }
}

/// Ours against every other contender of one cell.
pub(crate) fn ratios(results: &[CellResult]) -> Vec<Ratio> {
    let Some(ours) = results.iter().find(|r| r.target == OURS) else { return Vec::new() };
    let compared = [
        ("deliveries", Figure::Mean),
        ("observations", Figure::Mean),
        ("publish_to_receive", Figure::P50),
        ("publish_to_receive", Figure::P99),
        ("server_memory_per_connection", Figure::Mean),
    ];
    let mut ratios = Vec::new();
    for theirs in results.iter().filter(|r| r.target != OURS) {
        for (name, figure) in compared {
            let pair = ours.metric(name).zip(theirs.metric(name));
            let Some(estimate) = pair.and_then(|(a, b)| ratio(a, b, figure)) else { continue };
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
    cell: &Cell, results: &[CellResult], environment: &Environment,
) -> Vec<GoalResult> {
    cell.goals.iter().map(|goal| judge(cell, goal, results, environment)).collect()
}

fn judge(
    cell: &Cell, goal: &Goal, results: &[CellResult], environment: &Environment,
) -> GoalResult {
    let figure_of = |target: &str| {
        let result = results.iter().find(|r| r.target == target)?;
        result.metric(goal.metric).map(|metric| goal.figure.of(metric))
    };
    let measured = figure_of(OURS);
    let disk = 64.0 * environment.fdatasyncs_per_second();
    let (asked, bound, is_floor) = match goal.bound {
        Bound::AtLeast(floor) => (format!("at least {floor}"), Some(floor), true),
        Bound::AtLeastOrDisk(floor, share) => {
            let asked = format!("at least {floor}, or {share} x 64 x fdatasyncs/s if less");
            (asked, Some(floor.min(share * disk)), true)
        }
        Bound::AtMost(most) => (format!("at most {most}"), Some(most), false),
        Bound::AtLeastTimes(share, other) => {
            (format!("at least {share} x {other}"), figure_of(other).map(|v| v * share), true)
        }
        Bound::AtMostTimes(times, other) => {
            (format!("at most {times} x {other}"), figure_of(other).map(|v| v * times), false)
        }
    };
    let holds = |(measured, bound)| if is_floor { measured >= bound } else { measured <= bound };
    GoalResult {
        cell: cell.name(),
        metric: format!("{} {}", goal.metric, goal.figure.name()),
        asked,
        bound,
        measured,
        holds: measured.zip(bound).map(holds),
    }
}

fn metrics(rounds: &[(usize, &Sample)]) -> Vec<Metric> {
    let names = |pick: fn(&Sample) -> Vec<&'static str>| {
        rounds.iter().flat_map(|(_, s)| pick(s)).collect::<std::collections::BTreeSet<_>>()
    };
    let distributions = names(|s| s.latencies.keys().copied().collect());
    let values = names(|s| s.values.keys().copied().collect());
    let distributions = distributions.into_iter().filter_map(|name| distribution(name, rounds));
    let values = values.into_iter().filter_map(|name| value(name, rounds));
    distributions.chain(values).collect()
}

fn value(name: &str, rounds: &[(usize, &Sample)]) -> Option<Metric> {
    let of = |(n, s): &(usize, &Sample)| s.values.get(name).map(|&(unit, v)| (*n, unit, v));
    let found: Vec<(usize, &str, f64)> = rounds.iter().filter_map(of).collect();
    let means: Vec<f64> = found.iter().map(|f| f.2).collect();
    let figures = found.iter().map(|&(round, _, v)| Figures { round, mean: v, p50: v, p99: v });
    let lost = rounds.iter().map(|(_, s)| s.lost).sum();
    Some(Metric {
        metric: name.into(),
        unit: found.first()?.1.into(),
        estimate: Estimate::of(&means)?,
        percentiles: None,
        rounds: figures.collect(),
        lost: if RATES.contains(&name) { lost } else { 0 },
    })
}

fn distribution(name: &str, rounds: &[(usize, &Sample)]) -> Option<Metric> {
    let mut merged = Latency::new();
    let mut figures = Vec::new();
    for (round, sample) in rounds {
        let Some(latency) = sample.latencies.get(name) else { continue };
        merged.merge(latency);
        let of_round = latency.percentiles();
        let (mean, p50, p99) = (of_round.mean, of_round.p50, of_round.p99);
        figures.push(Figures { round: *round, mean, p50, p99 });
    }
    let means: Vec<f64> = figures.iter().map(|f| f.mean).collect();
    Some(Metric {
        metric: name.into(),
        unit: "us".into(),
        estimate: Estimate::of(&means)?,
        percentiles: Some(merged.percentiles()),
        rounds: figures,
        lost: if name == "publish_to_receive" { rounds.iter().map(|(_, s)| s.lost).sum() } else { 0 },
    })
}
