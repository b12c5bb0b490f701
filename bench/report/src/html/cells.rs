//! Every cell, contender and metric: a table to sort and filter, and the same as a matrix of factors.
//!
//! The numbers travel once, as JSON, and the script shows what is asked of them; without it the first
//! rows stand here as they are, and `summary.csv` has all.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::markup::{cell, embedded, escaped, heads};
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Metric, Run};
use weir_bench_model::steadiness::State;

/// Rows that stand in the page without its script.
const ROWS_STATIC: usize = 200;

const HEAD: [&str; 13] = [
    "cell",
    "contender",
    "metric",
    "unit",
    "n",
    "mean",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
    "interval",
    "lost",
];

/// The table of all cells.
pub(super) fn table(run: &Run) -> String {
    let heads = heads(HEAD.into_iter().chain(["status"]));
    let rows = run.results.iter().flat_map(rows_of);
    let total: usize = run.results.iter().map(|r| r.metrics.len().max(1)).sum();
    let first: String = rows.take(ROWS_STATIC).collect();
    let more = match total > ROWS_STATIC {
        true => format!(
            "<p class=\"more\">{ROWS_STATIC} of {total} rows; all of them are in <a \
             href=\"summary.csv\">summary.csv</a>.</p>"
        ),
        false => String::new(),
    };
    format!(
        "<p class=\"note\">Latencies in microseconds; the interval is that of the mean over rounds, 95 %. \
         A status that is not <code>ok</code> says why a row must not be ranked.</p>\n\
         <div class=\"filter\" id=\"filter\" hidden></div>\n<div class=\"scroll tall\"><table \
         class=\"cells\" id=\"table\"><thead><tr>{heads}</tr></thead><tbody>{first}</tbody></table></div>\
         {more}\n<script type=\"application/json\" id=\"data\">{}</script>\n",
        embedded(&data(run).to_string())
    )
}

fn rows_of(result: &CellResult) -> Vec<String> {
    if result.metrics.is_empty() {
        let empty = "<td></td>".repeat(HEAD.len() - 2);
        let status = escaped(&result.status);
        return vec![format!(
            "{}{empty}<td class=\"bad\">{status}</td></tr>",
            begin(result)
        )];
    }
    result
        .metrics
        .iter()
        .map(|metric| row(result, metric))
        .collect()
}

fn begin(result: &CellResult) -> String {
    let (cell, target) = (cell(&result.cell), escaped(&result.target));
    format!("<tr><td class=\"words cell\">{cell}</td><td class=\"words\">{target}</td>")
}

fn row(result: &CellResult, metric: &Metric) -> String {
    let p = metric.percentiles.as_ref();
    let quantiles = p.map(|p| [p.p50, p.p90, p.p99, p.p999, p.max].map(number));
    let n = p.map_or(metric.estimate.n, |p| p.n);
    let mean = number(p.map_or(metric.estimate.mean, |p| p.mean));
    let mut fields = vec![n.to_string(), mean];
    fields.extend(quantiles.unwrap_or_default());
    fields.push(match metric.estimate.n {
        0 | 1 => String::new(),
        _ => metric.estimate.interval(),
    });
    fields.push(match metric.lost {
        0 => String::new(),
        lost => lost.to_string(),
    });
    let words: String = [&metric.metric, &metric.unit]
        .map(|text| format!("<td class=\"words\">{}</td>", escaped(text)))
        .concat();
    let numbers: String = fields
        .iter()
        .map(|field| format!("<td>{field}</td>"))
        .collect();
    let class = if result.status == "ok" {
        "words"
    } else {
        "bad"
    };
    let status = escaped(&format!("{}{}", result.status, restless(metric)));
    format!(
        "{}{words}{numbers}<td class=\"{class}\">{status}</td></tr>",
        begin(result)
    )
}

/// What measuring again and again did not come to: in brackets, where that is known.
fn restless(metric: &Metric) -> String {
    let state = metric.state.filter(|state| *state != State::Steady);
    state.map_or(String::new(), |state| format!(" ({})", state.name()))
}

/// Six digits are more than any of it is worth.
fn digits(value: f64) -> Value {
    match value.is_finite() {
        true => format!("{value:.5e}")
            .parse::<f64>()
            .map_or(Value::Null, Value::from),
        false => Value::Null,
    }
}

fn data(run: &Run) -> Value {
    let metrics: Vec<(&str, &str)> = metrics(run);
    let results: Vec<Value> = run
        .results
        .iter()
        .map(|result| json!([result.cell, result.target, result.status, result.remarks]))
        .collect();
    let mut rows = Vec::new();
    for (at, result) in run.results.iter().enumerate() {
        for metric in &result.metrics {
            let name = (metric.metric.as_str(), metric.unit.as_str());
            let which = metrics.iter().position(|one| *one == name);
            rows.push(row_of_data(at, which.unwrap_or(0), metric));
        }
        if result.metrics.is_empty() {
            rows.push(json!([at, -1]));
        }
    }
    json!({"metrics": metrics, "results": results, "rows": rows})
}

fn row_of_data(result: usize, which: usize, metric: &Metric) -> Value {
    let estimate = &metric.estimate;
    let p = metric.percentiles.as_ref();
    let interval = (estimate.n > 1).then(|| [digits(estimate.low), digits(estimate.high)]);
    let [low, high] = interval.unwrap_or_default();
    let quantiles = p.map(|p| [p.p50, p.p90, p.p99, p.p999, p.max].map(digits));
    let [p50, p90, p99, p999, max] = quantiles.unwrap_or_default();
    let n = p.map_or(estimate.n, |p| p.n);
    let mean = digits(p.map_or(estimate.mean, |p| p.mean));
    json!([
        result,
        which,
        n,
        mean,
        p50,
        p90,
        p99,
        p999,
        max,
        low,
        high,
        metric.lost,
        restless(metric)
    ])
}

/// Metrics with their units, in the order in which they first occur.
fn metrics(run: &Run) -> Vec<(&str, &str)> {
    let mut metrics = Vec::new();
    for metric in run.results.iter().flat_map(|result| &result.metrics) {
        let name = (metric.metric.as_str(), metric.unit.as_str());
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    metrics
}

/// The place of the matrix, which the script fills; nothing where there is one cell only.
pub(super) fn matrix(run: &Run) -> String {
    let cells: BTreeSet<&str> = run.results.iter().map(|r| r.cell.as_str()).collect();
    if cells.len() < 2 || metrics(run).is_empty() {
        return String::new();
    }
    "<p class=\"note\">Any two factors of this run against each other, by any metric. Where several cells \
     fall together their range and number are shown: narrow the other factors.</p>\n<div class=\"filter\" \
     id=\"pivot-choice\"></div>\n<div class=\"scroll tall\" id=\"pivot\"></div>\n<noscript><p>The matrix \
     needs this page's script; the table below has the same numbers.</p></noscript>\n"
        .into()
}
