//! `summary.csv`: one row a cell, contender and metric; ratios as rows of `ours/theirs`.

use crate::latency::Percentiles;
use crate::results::{CellResult, Metric, OURS, Ratio, Run};

const HEAD: &str =
    "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,ci_low,ci_high,lost,status\n";

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
/// that of the mean over rounds.
fn row(experiment: &str, result: &CellResult, metric: &Metric) -> String {
    let estimate = &metric.estimate;
    let (n, mean, quantiles) = match &metric.percentiles {
        Some(percentiles) => (percentiles.n, percentiles.mean, quantiles(percentiles)),
        None => (estimate.n, estimate.mean, ",,,,".into()),
    };
    format!(
        "{experiment},{},{},{},{},{n},{mean:.3},{quantiles},{:.3},{:.3},{},{}\n",
        result.target,
        quoted(&result.cell),
        metric.metric,
        metric.unit,
        estimate.low,
        estimate.high,
        metric.lost,
        quoted(&result.status),
    )
}

fn ratio_row(experiment: &str, ratio: &Ratio) -> String {
    let estimate = &ratio.estimate;
    let status = if estimate.is_wide() { "wide" } else { "ok" };
    format!(
        "{experiment},{OURS}/{},{},{}_ratio,1,{},{:.4},,,,,,{:.4},{:.4},0,{status}\n",
        ratio.target,
        quoted(&ratio.cell),
        ratio.metric,
        estimate.n,
        estimate.mean,
        estimate.low,
        estimate.high,
    )
}

fn failed(experiment: &str, result: &CellResult) -> String {
    let (cell, status) = (quoted(&result.cell), quoted(&result.status));
    format!(
        "{experiment},{},{cell},,,0,,,,,,,,,,{status}\n",
        result.target
    )
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
        assert!(row.ends_with(",\"answered 404, \"\"no\"\"\"\n"));
        let before_status = row.split('"').next().unwrap_or("");
        assert_eq!(
            before_status.matches(',').count(),
            HEAD.matches(',').count()
        );
    }
}
