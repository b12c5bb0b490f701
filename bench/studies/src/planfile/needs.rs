//! What every target of a plan must reach: goals, judged cell by cell.

use serde::Deserialize;

use weir_bench_model::cell::{Bound, Figure};
use weir_bench_model::results::{CellResult, GoalResult};

/// Bounds; absent ones are not asked for. Times in milliseconds.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Needs {
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    lost: Option<u64>,
    deliveries: Option<f64>,
    server_memory_mb: Option<f64>,
}

/// From due to received, or to answered where nobody subscribes.
const TIMES: [&str; 3] = ["publish_to_receive", "acknowledgement", "rtt"];

impl Needs {
    /// Every bound for every result. Where one figure is missing, nothing is known.
    pub(super) fn judge(&self, results: &[CellResult]) -> Vec<GoalResult> {
        results.iter().flat_map(|result| self.of(result)).collect()
    }

    fn of(&self, result: &CellResult) -> Vec<GoalResult> {
        let time = |figure: Figure| {
            let metric = TIMES.iter().find_map(|name| result.metric(name))?;
            Some(figure.of(metric) / 1e3)
        };
        let mean = |name: &str| result.metric(name).map(|metric| metric.estimate.mean);
        let lost = || {
            let lost = result.metrics.iter().map(|metric| metric.lost).max();
            lost.map(|lost| lost as f64)
        };
        let most = |most: Option<f64>| most.map(Bound::Most);
        let needs = [
            ("p50, ms", most(self.p50_ms), time(Figure::P50)),
            ("p99, ms", most(self.p99_ms), time(Figure::P99)),
            ("lost", most(self.lost.map(|lost| lost as f64)), lost()),
            (
                "deliveries, 1/s",
                self.deliveries.map(Bound::Least),
                mean("deliveries"),
            ),
            (
                "server memory, MB",
                most(self.server_memory_mb),
                mean("server_memory_peak").map(|bytes| bytes / 1e6),
            ),
        ];
        let asked = needs.into_iter().filter_map(|(name, bound, measured)| {
            bound.map(|bound| goal(result, name, bound, measured))
        });
        asked.collect()
    }
}

fn goal(result: &CellResult, name: &str, bound: Bound, measured: Option<f64>) -> GoalResult {
    let (words, limit, holds): (_, _, fn(f64, f64) -> bool) = match bound {
        Bound::Least(least) => ("at least", least, |measured, bound| measured >= bound),
        Bound::Most(most) | Bound::MostTimes(most, _) => ("at most", most, |m, bound| m <= bound),
        Bound::LeastOrDisk(least, _) | Bound::LeastTimes(least, _) => {
            ("at least", least, |m, bound| m >= bound)
        }
    };
    GoalResult {
        cell: result.cell.clone(),
        metric: format!("{} {name}", result.target),
        asked: format!("{words} {limit}"),
        bound: Some(limit),
        measured,
        estimate: None,
        holds: measured.map(|measured| !result.missed && holds(measured, limit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::Metric;
    use weir_bench_model::statistics::Estimate;

    #[test]
    fn each_bound_is_judged_for_each_target_and_unknown_where_nothing_was_measured() {
        let needs = Needs {
            lost: Some(0),
            deliveries: Some(100.0),
            ..Needs::default()
        };
        let deliveries = Metric {
            metric: "deliveries".into(),
            estimate: Estimate::of(&[120.0]).unwrap_or_default(),
            lost: 3,
            ..Metric::default()
        };
        let result = |target: &str, metrics| CellResult {
            target: target.into(),
            metrics,
            ..CellResult::default()
        };
        let judged = needs.judge(&[result("a", vec![deliveries]), result("b", Vec::new())]);
        let holds: Vec<_> = judged.iter().map(|goal| goal.holds).collect();
        assert_eq!(holds, [Some(false), Some(true), None, None]);
    }
}
