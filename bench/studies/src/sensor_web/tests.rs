//! The experiment where it needs no gateway: its cells, and the load of each against the server that does nothing.
#![allow(clippy::unwrap_used)]

use super::cells::{Scale, Setting, names, settings};
use super::figures;
use super::requests::Does;
use super::sample::{ANSWER, GROWTH, RATE};
use weir_bench_model::effort::Effort;
use weir_bench_model::results::{CEILING, CellResult, Metric, OURS, Run, single};

#[test]
fn a_quick_run_has_every_request_of_a_full_one_and_more_than_one_round() {
    let kinds = |effort| {
        let all = settings(effort).into_iter();
        let mut kinds: Vec<_> = all.map(|it| (it.test, it.words())).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(Effort::Quick), kinds(Effort::Full));
    for effort in [Effort::Quick, Effort::Full] {
        assert!(Scale::of(effort).rounds > 2);
    }
}

#[test]
fn requests_ask_for_what_is_counted_in_their_answers() {
    for setting in settings(Effort::Full) {
        match &setting.request.does {
            Does::Insert(insertion) => {
                let message = insertion(setting.observations).message;
                let times = message.text.matches("T00:00:00.000000Z").count();
                assert_eq!(times, setting.observations, "{}", setting.name());
            }
            Does::Read(reading) => {
                let target = (reading.target)(setting.observations);
                assert!(target.starts_with('/') && !target.contains(' '), "{target}");
                assert!(!reading.marker.is_empty());
            }
        }
    }
}

fn result(setting: &Setting, target: &str, metrics: Vec<Metric>) -> CellResult {
    CellResult {
        cell: setting.name(),
        target: target.into(),
        status: "ok".into(),
        metrics,
        ..CellResult::default()
    }
}

/// A run in which ours and the null server have a rate in each cell.
fn run(ours: f64, null: f64) -> Run {
    let results = settings(Effort::Quick).into_iter().flat_map(|setting| {
        let metrics = |rate| {
            let growth = single(GROWTH, "bytes", 262_144.0);
            let bytes = single("answer_bytes", "bytes", 1_048_576.0);
            vec![
                single(RATE, "1/s", rate),
                single(ANSWER, "us", 900.0),
                growth,
                bytes,
            ]
        };
        let of = |target, rate| result(&setting, target, metrics(rate));
        [of(OURS, ours), of(CEILING, null)]
    });
    Run {
        experiment: "sensor-web".into(),
        effort: "quick".into(),
        results: results.collect(),
        ..Run::default()
    }
}

#[test]
fn what_comes_near_the_server_that_does_nothing_is_marked() {
    let marked = |ours| {
        let mut run = run(ours, 1000.0);
        super::mark_ceiling(&mut run.results);
        let of_ours = run.results.into_iter().filter(|it| it.target == OURS);
        let mut states: Vec<String> = of_ours.map(|it| it.status).collect();
        states.dedup();
        states
    };
    assert_eq!(marked(500.0), ["ok"]);
    assert_eq!(marked(900.0), ["ceiling"]);
}

#[test]
fn the_page_names_52norths_figures_and_every_goal_of_the_run() {
    let mut run = run(2e6, 4e6);
    super::mark_ceiling(&mut run.results);
    run.goals = super::goals::of(&run);
    let page = super::page::markdown(&run, "runs/sensor-web");
    assert!(
        page.contains("52North/SOS#825")
            && page.contains("at most (52North/SOS, issue 825: 120 s)")
    );
    for goal in &run.goals {
        assert!(page.contains(&goal.cell), "{}", goal.cell);
    }
    // One round: what it gave is told and judges nothing.
    assert!(
        page.contains("2,000,000 (one round) | undecided |"),
        "{page}"
    );
    let memory = "| get-observation, swe-text | 0.250 (1.00) | 0.250 (1.00) | - |";
    assert!(page.contains(memory), "{page}");
    assert!(page.contains("| 50.0 |"), "{page}");
}

#[test]
fn figures_show_what_was_measured_with_the_published_times_beside_it() {
    let run = run(2e6, 4e6);
    let figures = figures::of(&run);
    let shown: Vec<&str> = figures
        .iter()
        .filter(|it| it.shows_something())
        .map(|it| it.name.as_str())
        .collect();
    let expected = [
        "inserts",
        "short",
        "rates-of-long-answers",
        "memory-of-long-answers",
    ];
    // Of single figures there is no distribution.
    assert_eq!(shown, expected);
    let published = figures[1].series.last().unwrap();
    let values: Vec<_> = published.points.iter().map(|it| it.y.unwrap()).collect();
    assert_eq!(values, [120_000.0, 12_000.0]);
}

#[test]
fn names_tell_what_a_cell_is() {
    let first = "test=insert;service=sensorthings;request=create-observations;format=data-array;\
                 observations=10000;connections=4";
    assert_eq!(names(Effort::Quick)[0], first);
}
