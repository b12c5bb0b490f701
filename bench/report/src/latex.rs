//! The tables of a run for a paper: one `longtable` of the cells, one of the claims.
//!
//! Deliberately plain: the package `longtable` is all it needs, and captions name the command, so that
//! whoever reads the paper can repeat it.

use std::fmt::Write;

use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Metric, Run};

const CELLS: &str = "cell & target & metric & mean & 95\\,\\% interval & p50 & p99 & lost & status";
const CLAIMS: &str = "claim & source & here & figure";

/// All tables.
pub fn latex(run: &Run) -> String {
    let mut text = String::from("% needs \\usepackage{longtable}\n");
    let about = format!(
        "{} ({}), {}. Command: \\texttt{{{}}}",
        escaped(&run.heading()),
        run.effort,
        run.started,
        escaped(&run.command)
    );
    let rows = run.results.iter().flat_map(rows);
    table(&mut text, &about, "lllrrrrrl", CELLS, rows);
    if !run.claims.is_empty() {
        let claims = run.claims.iter().map(|claim| {
            let (claimed, number) = (escaped(&claim.claim), escaped(&claim.number));
            let source = format!("{} {}", escaped(&claim.paper), escaped(&claim.place));
            format!("{claimed} & {source} & {} & {number}", claim.verdict())
        });
        let about = "What the papers claim, and whether it holds here.";
        table(
            &mut text,
            about,
            "p{.3\\textwidth}lp{.1\\textwidth}p{.3\\textwidth}",
            CLAIMS,
            claims,
        );
    }
    text
}

fn table(
    text: &mut String,
    about: &str,
    columns: &str,
    head: &str,
    rows: impl Iterator<Item = String>,
) {
    let _ = writeln!(text, "\\begin{{longtable}}{{{columns}}}");
    let _ = writeln!(text, "\\caption{{{about}}}\\\\\n\\hline");
    let _ = writeln!(text, "{head} \\\\ \\hline\n\\endhead");
    for row in rows {
        let _ = writeln!(text, "{row} \\\\");
    }
    text.push_str("\\hline\n\\end{longtable}\n\n");
}

fn rows(result: &CellResult) -> Vec<String> {
    let cell = escaped(&result.cell.replace(';', "; "));
    let start = format!("{cell} & {}", escaped(&result.target));
    let status = escaped(&result.status);
    if result.metrics.is_empty() {
        return vec![format!("{start} & -- & & & & & & {status}")];
    }
    let row = |metric: &Metric| format!("{start} & {} & {status}", figures(metric));
    result.metrics.iter().map(row).collect()
}

fn figures(metric: &Metric) -> String {
    let estimate = &metric.estimate;
    let name = escaped(&format!("{} [{}]", metric.metric, metric.unit));
    let interval = match estimate.n {
        0 | 1 => String::from("--"),
        _ => format!("{} to {}", signed(estimate.low), signed(estimate.high)),
    };
    let of = |quantile: Option<f64>| quantile.map_or(String::new(), number);
    let (p50, p99) = metric.percentiles.map(|p| (p.p50, p.p99)).unzip();
    let (mean, p50, p99) = (signed(estimate.mean), of(p50), of(p99));
    format!(
        "{name} & {mean} & {interval} & {p50} & {p99} & {}",
        metric.lost
    )
}

/// A number whose sign TeX would take for a hyphen.
fn signed(value: f64) -> String {
    number(value).replace('-', "$-$")
}

/// What TeX would take for its own.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', character]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    // Two hyphens would be set as a dash.
    out.replace("--", "-{}-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::statistics::Estimate;

    fn result(status: &str, metrics: Vec<Metric>) -> CellResult {
        CellResult {
            cell: "link=3g;rate=5".into(),
            target: "weir_mqtt".into(),
            status: status.into(),
            metrics,
            ..CellResult::default()
        }
    }

    #[test]
    fn every_row_has_the_columns_of_the_head() {
        let metric = Metric {
            metric: "load_cpu".into(),
            unit: "cpus".into(),
            estimate: Estimate::of(&[1.0, 2.0]).unwrap_or_default(),
            ..Metric::default()
        };
        let run = Run {
            results: vec![
                result("ok", vec![metric]),
                result("5 % lost & gone--", Vec::new()),
            ],
            ..Run::default()
        };
        let text = latex(&run);
        let columns = |line: &str| line.replace("\\&", "").matches('&').count();
        let rows: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("link="))
            .collect();
        assert_eq!(rows.len(), 2);
        assert!(
            rows.iter().all(|row| columns(row) == columns(CELLS)),
            "{text}"
        );
        assert!(
            rows[0].contains("weir\\_mqtt & load\\_cpu [cpus] & 1.50"),
            "{text}"
        );
        assert!(rows[1].contains("5 \\% lost \\& gone-{}-"), "{text}");
    }
}
