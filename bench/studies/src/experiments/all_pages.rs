//! The pages of all experiments: what one of them writes wrongly, a reader sees in each.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "reads the documentation"
)]

use std::path::{Path, PathBuf};

use super::EXPERIMENTS;
use weir_bench_lab::experiment::Experiment;
use weir_bench_model::effort::Effort;
use weir_bench_model::latency::Percentiles;
use weir_bench_model::results::{CellResult, Metric, Run, single};
use weir_bench_report::page::width;

/// Who may stand in a column of its own.
const SERVERS: [&str; 8] = [
    "weir",
    "mosquitto",
    "libcoap",
    "cometd",
    "chromium",
    "chromium_columns",
    "bare",
    "comet",
];

/// What pages show; one that a page does not know costs nothing.
const METRICS: [&str; 46] = [
    "size",
    "parse",
    "parse_rate",
    "serialize",
    "serialize_rate",
    "from_xml",
    "from_xml_rate",
    "size_as_elements",
    "content_density",
    "communication_share",
    "payload",
    "received",
    "superseded",
    "t_transfer",
    "t_transmit",
    "t_transmission",
    "t_decode",
    "t_process",
    "t_render",
    "t_render_traced",
    "t_draw",
    "t_total",
    "t_total_drawn",
    "t_first_byte",
    "t_first_observation",
    "presentation_error",
    "schedule_lag",
    "eta",
    "eta_with_ip",
    "eta_both_ways",
    "eta_with_opening",
    "rtt",
    "rtt_settled",
    "opening_bytes",
    "opening_time",
    "transport_bytes",
    "link_bytes",
    "link_packets",
    "mct",
    "ntp",
    "rpm",
    "message_rate",
    "observations",
    "answer_time",
    "server_cpu",
    "server_memory_peak",
];

/// A run that measured everything in the cells of a quick one.
fn full_of(experiment: &Experiment) -> Run {
    let metrics: Vec<Metric> = METRICS.iter().map(|name| timed(name)).collect();
    let cells = (experiment.cells)(Effort::Quick);
    let pairs = cells
        .iter()
        .flat_map(|cell| SERVERS.iter().map(move |server| (cell, server)));
    let result = |(cell, server): (&String, &&str)| CellResult {
        cell: cell.clone(),
        target: (*server).into(),
        status: "ok".into(),
        metrics: metrics.clone(),
        ..CellResult::default()
    };
    let results: Vec<CellResult> = pairs.map(result).collect();
    let mut run = Run {
        experiment: experiment.name.into(),
        effort: "quick".into(),
        results,
        ..Run::default()
    };
    run.claims = (experiment.claims)(&run);
    run
}

fn timed(name: &str) -> Metric {
    let us = 1234.0;
    Metric {
        percentiles: Some(Percentiles {
            n: 300,
            mean: us,
            p50: us,
            p90: us,
            p99: us,
            p999: us,
            max: us,
        }),
        ..single(name, "us", us)
    }
}

/// The lines of a page whose table has another width, each with what stands above it.
fn ragged(page: &str) -> Vec<String> {
    let pairs = page.lines().zip(page.lines().skip(1));
    let differ = |(above, line): &(&str, &str)| {
        let both = width(above).zip(width(line));
        both.is_some_and(|(above, line)| above != line)
    };
    let both = pairs.filter(differ);
    both.map(|(above, line)| format!("{above}\n{line}"))
        .collect()
}

#[test]
fn every_table_of_every_page_has_as_many_heads_as_cells() {
    let mut silent = Vec::new();
    for experiment in EXPERIMENTS {
        let page = (experiment.page)(&full_of(experiment), "runs/x");
        assert_eq!(ragged(&page), Vec::<String>::new(), "{}", experiment.name);
        if !["1,234", "1.23"].iter().any(|figure| page.contains(figure)) {
            silent.push(experiment.name);
        }
    }
    assert_eq!(silent, Vec::<&str>::new());
}

#[test]
fn every_table_of_the_published_results_has_as_many_heads_as_cells() {
    for path in published_pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        assert_eq!(ragged(&page), Vec::<String>::new(), "{}", path.display());
    }
}

fn published_pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}
