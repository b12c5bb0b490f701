//! Verdicts of made-up calls.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::services::servers::{CALIFORNIUM, CXF, JERSEY};
use weir_bench_model::results::{CellResult, Figures};

/// A metric of a server in a cell, round by round.
fn result(setting: &Setting, server: &str, metrics: &[(&str, &[f64])]) -> CellResult {
    let metric = |&(name, rounds): &(&str, &[f64])| {
        let figures = rounds.iter().enumerate().map(|(round, &it)| Figures {
            round,
            mean: it,
            p50: it,
            p99: it,
        });
        Metric {
            metric: name.into(),
            estimate: Estimate::of(rounds).unwrap(),
            rounds: figures.collect(),
            ..Metric::default()
        }
    };
    CellResult {
        cell: setting.name(),
        target: server.into(),
        metrics: metrics.iter().map(metric).collect(),
        ..CellResult::default()
    }
}

fn run(results: Vec<CellResult>) -> Run {
    Run {
        results,
        ..Run::default()
    }
}

fn home(name: &str) -> Setting {
    simple(of_paper(name).unwrap(), PAYLOAD)
}

#[test]
fn one_codec_beside_itself_bears_nothing_out_and_a_slower_rest_refutes() {
    let holds = |rest: &[f64]| {
        let coding: &[f64] = &[1.0, 1.0];
        let of = |rtt| {
            [
                ("rtt", rtt),
                ("serialization", coding),
                ("deserialization", coding),
            ]
        };
        let rest = result(&home("REST"), JERSEY, &of(rest));
        let coap = result(&home("CoAP"), CALIFORNIUM, &of(&[50.0, 51.0]));
        fastest(&run(vec![rest, coap])).0
    };
    assert_eq!(holds(&[10.0, 11.0]), None);
    assert_eq!(holds(&[90.0, 91.0]), Some(false));
}

fn of_three(figure: &[&str], rounds: [&[f64]; 3]) -> Run {
    let of = |(name, server, rounds): (&str, &str, &[f64])| {
        let all: Vec<_> = figure.iter().map(|figure| (*figure, rounds)).collect();
        result(&home(name), server, &all)
    };
    let [soap, rest, coap] = rounds;
    let all = [
        ("Axis2", CXF, soap),
        ("REST", JERSEY, rest),
        ("CoAP", CALIFORNIUM, coap),
    ];
    run(all.map(of).into())
}

#[test]
fn without_dpws_soap_cannot_be_shown_to_be_followed_by_it() {
    let of = |soap| {
        let run = of_three(&["rtt"], [soap, &[10.0, 11.0], &[20.0, 21.0]]);
        soap::highest_rtt(&run).0
    };
    assert_eq!((of(&[90.0, 91.0]), of(&[1.0, 2.0])), (None, Some(false)));
}

#[test]
fn what_is_lighter_is_so_beyond_the_intervals() {
    let of = |soap: &[f64]| {
        let mut run = of_three(
            &["rtt", "server_cpu", "server_memory_peak"],
            [soap, &[10.0, 11.0], &[20.0, 21.0]],
        );
        let rate = result(&home("REST"), JERSEY, &[("message_rate", &[5.0, 5.0])]);
        for result in &mut run.results {
            result.metrics.extend(rate.metrics.clone());
        }
        soap::lighter(&run).0
    };
    assert_eq!(of(&[90.0, 91.0]), Some(true));
    assert_eq!(of(&[1.0, 2.0]), Some(false));
    assert_eq!(of(&[10.0, 60.0]), None);
}

#[test]
fn links_are_judged_by_servers_that_keep_nothing_and_the_gateway_stands_beside() {
    let of = |coding: &[f64], rtt: &[f64]| {
        let away = Setting {
            link: "wifi",
            ..home("REST")
        };
        let figures = |rtt, coding| {
            [
                ("rtt", rtt),
                ("serialization", coding),
                ("deserialization", coding),
            ]
        };
        let still: &[f64] = &[10.0, 10.1];
        let all = [
            result(&home("REST"), JERSEY, &figures(still, still)),
            result(&away, JERSEY, &figures(rtt, coding)),
            result(&home("REST"), OURS, &figures(still, still)),
            result(&away, OURS, &figures(still, still)),
        ];
        links(&run(all.into()))
    };
    let (holds, words) = of(&[10.0, 10.1], &[100.0, 101.0]);
    assert_eq!(holds, Some(true));
    assert!(words.contains("rest on jersey over wifi"), "{words}");
    assert!(words.contains("(by the gateway: RTT x 1.00"), "{words}");
    assert_eq!(of(&[30.0, 30.1], &[100.0, 101.0]).0, Some(false));
    assert_eq!(of(&[10.0, 10.1], &[20.0, 200.0]).0, None);
    assert_eq!(of(&[10.0], &[100.0]).0, None);
}
