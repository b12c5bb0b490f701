//! Claims, goals, figures and the page of a run whose figures are chosen.

use super::*;
use weir_bench_model::effort::Effort;
use weir_bench_model::results::{CellResult, single};

/// The whole grid with the same figures everywhere, but for streaming, which is better.
fn chosen() -> Run {
    let of = |setting: weir_sim::Setting| {
        let is_streaming = setting.scheme == weir_sim::Scheme::Streaming;
        let value = |other: f64, streaming: f64| if is_streaming { streaming } else { other };
        CellResult {
            cell: setting.to_string(),
            target: device::TARGET.into(),
            status: "ok".into(),
            metrics: vec![
                single("mpt", "s", value(2.5, 0.25)),
                single("rpm", "%", value(50.0, 100.0)),
                single("rupm", "%", value(50.0, 100.0)),
                single("mct", "%", value(5.0, 75.0)),
                single("ntp", "packets/s", value(50.0, 250.0)),
                single("ntb", "KiB/s", value(10.0, 5.0)),
                single("repeated", "%", value(1.0, 0.0)),
                single("rmp", "%", 100.0),
                single("sp", "%", value(2.0, 1.0)),
                single("energy", "mJ", value(3.0, 0.5)),
            ],
            ..CellResult::default()
        }
    };
    let settings = cells::of_device(Effort::Quick);
    Run {
        effort: "full".into(),
        results: settings.into_iter().map(of).chain(took()).collect(),
        ..Run::default()
    }
}

/// What simulating took: each twelfth of the paper's grid by both readings of its line, and what is not of it.
fn took() -> Vec<CellResult> {
    let settings = cells::of_device(Effort::Quick);
    let of_a_group = settings.chunk_by(|a, b| (a.line, a.clients) == (b.line, b.clients));
    let of = |group: &[weir_sim::Setting]| CellResult {
        cell: group[0].to_string(),
        target: device::SIMULATION.into(),
        status: "ok".into(),
        metrics: vec![single(device::TOOK, "s", 90.0)],
        ..CellResult::default()
    };
    of_a_group.map(of).collect()
}

fn verdict(run: &Run, words: &str) -> Option<bool> {
    let claims = claims::judge(run);
    let found: Vec<_> = claims
        .iter()
        .filter(|it| it.claim.contains(words))
        .collect();
    assert_eq!(found.len(), 1, "{words}");
    found[0].holds
}

#[test]
fn every_run_has_the_papers_grid_twice_and_a_few_settings_that_it_has_not() {
    for (effort, more) in [(Effort::Quick, 16..100), (Effort::Full, 144..300)] {
        let settings = cells::of_device(effort);
        let of_grid = |it: &&weir_sim::Setting| {
            let line = it.line;
            let is_usual = line.rate == cells::LINE && line.loss == 0.0 && it.duty == 1.0;
            is_usual
                && line.duplex != weir_sim::Duplex::Shared
                && weir_sim::SCHEMES.contains(&it.scheme)
        };
        let count = settings.iter().filter(of_grid).count();
        assert_eq!(count, 2 * 252);
        assert!(
            more.contains(&(settings.len() - count)),
            "{}",
            settings.len()
        );
    }
}

#[test]
fn more_clients_than_the_papers_have_fewer_runs() {
    let runs = [256, 1_000, 10_000].map(|clients| cells::runs(Effort::Full, clients));
    assert_eq!(runs, [10, 3, 3]);
}

#[test]
fn claims_are_judged_by_the_figures() {
    let mut run = chosen();
    assert_eq!(verdict(&run, "streaming beats long polling"), Some(true));
    assert_eq!(
        verdict(&run, "mean coherent time 50 percent with"),
        Some(false)
    );
    assert_eq!(verdict(&run, "near 50 packets/s"), Some(true));
    assert_eq!(verdict(&run, "takes the fewest bytes"), Some(false));
    assert_eq!(verdict(&run, "never better than streaming"), Some(true));
    let slow = |it: &&mut CellResult| {
        it.cell
            .starts_with("clients=64;publish=5;scheme=streaming;line=14400;duplex=half")
    };
    let found = run
        .results
        .iter_mut()
        .find(slow)
        .expect("it is of the grid");
    found.metrics[0] = single("mpt", "s", 3.0);
    assert_eq!(verdict(&run, "streaming beats long polling"), Some(false));
    assert_eq!(verdict(&run, "never better than streaming"), Some(false));
}

#[test]
fn goals_are_those_of_both_lines_and_of_the_time_that_simulating_takes() {
    let mut run = chosen();
    let all = goals::of(&run);
    assert!(all.iter().all(|goal| goal.holds == Some(true)), "{all:?}");
    // The grid by one reading of its line, of six groups; the other and all else stand apart.
    let took = all.last().expect("it is the last");
    assert_eq!(took.measured, Some(6.0 * 90.0));
    let rest = (self::took().len() - 6) as f64 * 90.0;
    assert!(
        took.asked.contains(&weir_bench_model::number::number(rest)),
        "{took:?}"
    );
    run.results.retain(|it| !it.cell.contains("duplex=full"));
    let unknown = |run: &Run| {
        let goals = goals::of(run);
        goals.iter().filter(|goal| goal.holds.is_none()).count()
    };
    assert_eq!(unknown(&run), 4);
    // Not the whole grid.
    run.results.retain(|it| !it.cell.contains("clients=32;"));
    assert_eq!(unknown(&run), 5);
}

#[test]
fn the_smallest_build_is_not_judged_where_none_was_built() {
    let mut run = chosen();
    assert_eq!(verdict(&run, "30 bytes of RAM per connection"), None);
    let claims = claims::judge(&run);
    let words = &claims.last().expect("it is the last").number;
    assert!(
        words.contains("(device.md)") && words.starts_with("16 bytes"),
        "{words}"
    );
    run.results.clear();
    assert_eq!(verdict(&run, "30 bytes of RAM per connection"), None);
}

#[test]
fn figures_2_to_7_are_drawn_by_both_readings_of_the_line() {
    let figures = figures::of(&chosen());
    assert_eq!(figures.len(), 6 * 2 * 2);
    let trips = figures
        .iter()
        .find(|it| it.name == "duquennoy-figure-2a-half");
    let ghosts = trips.map(|it| {
        it.series
            .iter()
            .filter(|it| it.source != weir_bench_model::figure::Source::Here)
            .count()
    });
    assert_eq!(ghosts, Some(1));
}

#[test]
fn the_page_tells_every_scheme_and_number_of_clients() {
    let page = page::markdown(&chosen(), "runs/notification");
    assert!(
        page.contains("| streaming | 0.250 | 0.250 | 0.250 | 0.250 | 0.250 | 0.250 |"),
        "{page}"
    );
}

#[test]
fn the_page_tells_what_the_paper_does_not_have_and_what_it_costs() {
    let mut run = chosen();
    run.claims = claims::judge(&run);
    let page = page::markdown(&run, "runs/notification");
    for title in [
        "Server-sent events and CoAP Observe, half duplex",
        "Server-sent events and CoAP Observe, full duplex",
        "A line that loses packets",
        "A line that all share",
        "A duty cycle",
        "What a notification costs the board",
    ] {
        assert!(page.contains(&format!("\n## {title}\n")), "{title}\n{page}");
    }
    // Not in a quick run.
    assert!(!page.contains("## More clients"), "{page}");
    assert!(page.contains("| MPT, s, at 5 s | observe | 2.50 | 2.50 | 2.50 | 2.50 | - | - |"));
    assert!(page.contains("| 0.02 | 16 | 5 | streaming | 0.250 | 100 | 75.0 | 250 | 0 | - |"));
    // 80,000 instructions a second for 1 of 1 client and 5 s.
    assert!(
        page.contains("| instructions a message | streaming | 400,000 | 25,000 |"),
        "{page}"
    );
    assert!(
        page.contains("What follows from those that do not hold: "),
        "{page}"
    );
}

#[test]
fn the_page_of_a_part_tells_nothing_of_the_others() {
    let mut run = chosen();
    run.results = vec![CellResult {
        cell: cells::gateway_name("isp", 100, weir_bench_model::cell::Scheme::Sse),
        target: "weir".into(),
        status: "ok".into(),
        ..CellResult::default()
    }];
    run.claims = claims::judge(&run);
    let page = page::markdown(&run, "runs/notification-gateway");
    assert!(page.contains("**The gateway** stands"), "{page}");
    for word in ["smoltcp", "Figure", "What the paper claims", "## Goals"] {
        assert!(!page.contains(word), "{word}\n{page}");
    }
}
