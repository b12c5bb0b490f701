//! The page of a run, as a reader and a browser get it.

use super::*;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::quantiles::Quantiles;
use weir_bench_model::results::{CellResult, Metric, Run};
use weir_bench_model::statistics::Estimate;

fn single(metric: &str, unit: &str, value: f64) -> Metric {
    Metric {
        metric: metric.into(),
        unit: unit.into(),
        estimate: Estimate {
            n: 1,
            mean: value,
            low: value,
            high: value,
        },
        percentiles: None,
        quantiles: Quantiles::default(),
        state: None,
        rounds: Vec::new(),
        lost: 0,
    }
}

fn result(cell: &str, target: &str, status: &str) -> CellResult {
    CellResult {
        cell: cell.into(),
        target: target.into(),
        status: status.into(),
        metrics: match status {
            "ok" => vec![single("size", "bytes", 1234.0), single("parse", "us", 5.5)],
            _ => Vec::new(),
        },
        ..CellResult::default()
    }
}

fn run() -> Run {
    Run {
        experiment: "encoding".into(),
        source: "Tamayo et al. 2012".into(),
        command: "weir bench run encoding".into(),
        results: vec![
            result("format=xml", "weir", "ok"),
            result("format=<json>", "weir", "ok"),
            result("format=exi", "</script>", "absent: no <program>"),
        ],
        ..Run::default()
    }
}

fn subject() -> Subject {
    Subject {
        run: run(),
        about: "sizes",
        figures: Vec::new(),
    }
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let page = page(&subject());
    for outside in ["http://", "https://", "src=", "@import", "url(//"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn what_failed_stays_in_the_page_with_its_reason() {
    let page = page(&subject());
    assert!(page.contains("absent: no &lt;program&gt;"));
    assert!(page.contains("Not measured: 1 result:"));
    let before_data = page.split("application/json").next();
    assert!(before_data.is_some_and(|html| !html.contains("<json>")));
}

#[test]
fn a_page_says_how_to_repeat_the_run() {
    assert!(page(&subject()).contains("weir bench run encoding --seed 0"));
}

#[test]
fn every_form_is_drawn_for_both_windows_with_title_and_description() {
    let forms = [
        Form::Lines,
        Form::Bars,
        Form::Stacked,
        Form::Distribution,
        Form::Scatter,
    ];
    for form in forms {
        let points = || {
            vec![
                Point::at(1.0, 0.5).between(0.4, 0.6),
                Point::failed(2.0, "no"),
            ]
        };
        let figure = Figure::new(form, "f", "A <figure>")
            .axes(Axis::new("x", "bytes").log(), Axis::new("y", "ms"))
            .series([
                Series::here("a", points()),
                Series::published("a", "Tamayo2012, Table 2", points()),
            ]);
        let drawn = svg::drawn(&figure);
        assert_eq!(drawn.matches("<svg class=\"plot").count(), 2);
        assert_eq!(drawn.matches("<desc").count(), 2);
        assert!(
            drawn.contains("A &lt;figure&gt;") && !drawn.contains("NaN"),
            "{drawn}"
        );
        assert!(
            drawn.contains("published in Tamayo2012, Table 2"),
            "{form:?}"
        );
    }
}

#[test]
fn a_heat_map_prints_its_numbers() {
    let row = |name: &str, value| {
        Series::here(name, vec![Point::at("a", value), Point::failed("b", "no")])
    };
    let figure = Figure::new(Form::Heat, "h", "H").series([row("x", 1.0), row("y", 400.0)]);
    let drawn = svg::drawn(&figure);
    assert!(
        drawn.contains(">400</td>") && drawn.contains("--t:100%") && drawn.contains(">failed</td>")
    );
}
