//! `summary.csv`: one row a cell, contender and metric; ratios as rows of `ours/theirs`.

use weir_bench_model::latency::Percentiles;
use weir_bench_model::results::{CellResult, Metric, OURS, Ratio, Run};
use weir_bench_model::statistics::Estimate;

const HEAD: &str = concat!(
    "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,",
    "ci_low,ci_high,lost,status,rounds\n"
);

/// The whole table.
pub(super) fn csv(run: &Run) -> String {
    let mut text = String::from(HEAD);
    for result in &run.results {
        if result.metrics.is_empty() {
            text += &failed(&run.experiment, result);
        }
        for metric in &result.metrics {
            text += &row(&run.experiment, result, metric);
        }
    }
    for ratio in &run.ratios {
        text += &ratio_row(&run.experiment, ratio);
    }
    text
}

/// `n` counts the samples of a distribution and the rounds of a single figure; the interval is
/// that of the mean over rounds, and empty where there was one.
fn row(experiment: &str, result: &CellResult, metric: &Metric) -> String {
    let estimate = &metric.estimate;
    let (n, mean, quantiles) = match &metric.percentiles {
        Some(percentiles) => (percentiles.n, percentiles.mean, quantiles(percentiles)),
        None => (estimate.n, estimate.mean, ",,,,".into()),
    };
    format!(
        "{experiment},{},{},{},{},{n},{mean:.3},{quantiles},{},{},{},{}\n",
        result.target,
        quoted(&result.cell),
        metric.metric,
        metric.unit,
        interval(estimate, 3),
        metric.lost,
        quoted(&result.status),
        estimate.n,
    )
}

fn ratio_row(experiment: &str, ratio: &Ratio) -> String {
    let estimate = &ratio.estimate;
    let status = if estimate.is_wide() { "wide" } else { "ok" };
    format!(
        "{experiment},{OURS}/{},{},{}_ratio,1,{},{:.4},,,,,,{},0,{status},{}\n",
        ratio.target,
        quoted(&ratio.cell),
        ratio.metric,
        estimate.n,
        estimate.mean,
        interval(estimate, 4),
        estimate.n,
    )
}

fn failed(experiment: &str, result: &CellResult) -> String {
    let (cell, status) = (quoted(&result.cell), quoted(&result.status));
    format!(
        "{experiment},{},{cell},,,0,,,,,,,,,,{status},0\n",
        result.target
    )
}

/// Its ends; of one round there are none.
fn interval(estimate: &Estimate, digits: usize) -> String {
    match estimate.n {
        0 | 1 => ",".into(),
        _ => format!("{:.digits$},{:.digits$}", estimate.low, estimate.high),
    }
}

fn quantiles(p: &Percentiles) -> String {
    format!(
        "{:.3},{:.3},{:.3},{:.3},{:.3}",
        p.p50, p.p90, p.p99, p.p999, p.max
    )
}

/// RFC 4180: quotes where a comma, a quote or a line end would cut.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_columns_of_the_head() {
        let result = CellResult {
            cell: "test=x;rate=1".into(),
            target: "weir".into(),
            status: "answered 404, \"no\"".into(),
            missed: false,
            remarks: Vec::new(),
            metrics: Vec::new(),
            trials: Vec::new(),
            samples: Vec::new(),
        };
        let row = failed("gateway", &result);
        assert!(row.ends_with(",\"answered 404, \"\"no\"\"\",0\n"));
        let before_status = row.split('"').next().unwrap_or("");
        assert_eq!(
            before_status.matches(',').count() + 1,
            HEAD.matches(',').count()
        );
    }

    #[test]
    fn one_round_has_no_interval_and_says_that_it_is_one() {
        let rows = |rounds: &[f64]| {
            let estimate = Estimate::of(rounds).unwrap_or_default();
            let metric = Metric {
                metric: "rtt".into(),
                unit: "us".into(),
                estimate,
                ..Metric::default()
            };
            let ratio = Ratio {
                estimate,
                ..Ratio::default()
            };
            let result = CellResult {
                status: "ok".into(),
                ..CellResult::default()
            };
            [row("x", &result, &metric), ratio_row("x", &ratio)]
        };
        let [once, ratio] = rows(&[5.0]);
        assert_eq!(once, "x,,,rtt,us,1,5.000,,,,,,,,0,ok,1\n");
        assert!(ratio.ends_with(",5.0000,,,,,,,,0,ok,1\n"), "{ratio}");
        let [twice, ratio] = rows(&[5.0, 5.0]);
        assert_eq!(twice, "x,,,rtt,us,2,5.000,,,,,,5.000,5.000,0,ok,2\n");
        assert!(ratio.ends_with(",5.0000,5.0000,0,ok,2\n"), "{ratio}");
        for row in [once, twice, ratio] {
            assert_eq!(row.matches(',').count(), HEAD.matches(',').count(), "{row}");
        }
    }
}
