//! Rounds merged into one result: distributions by their buckets, single figures by their mean.

use crate::sample::Sample;
use weir_bench_model::latency::Latency;
use weir_bench_model::quantiles::Quantiles;
use weir_bench_model::results::{CellResult, Figures, Metric, RATES};
use weir_bench_model::samples::percentiles;
use weir_bench_model::statistics::Estimate;
use weir_bench_model::steadiness::State;

/// What an experiment is about, so that its interval says whether a result can rank: the first that a result has.
const CHIEF: [&str; 8] = [
    "deliveries",
    "observations",
    "message_rate",
    "t_transfer",
    "t_total_drawn",
    "t_total",
    "rtt",
    "MPT",
];

/// Distributions whose missing samples are losses.
const ECHOES_AND_DELIVERIES: [&str; 3] = ["publish_to_receive", "rtt", "t_transfer"];

/// The number of a round, and what it gave or why it failed.
pub type Round = (usize, Result<Sample, String>);

/// Merges the rounds of one contender into its result.
pub fn merge(cell: &str, target: &str, rounds: &[Round]) -> CellResult {
    let good: Vec<(usize, &Sample)> = rounds
        .iter()
        .filter_map(|(n, r)| Some((*n, r.as_ref().ok()?)))
        .collect();
    let bad: Vec<&String> = rounds
        .iter()
        .filter_map(|(_, r)| r.as_ref().err())
        .collect();
    let mut result = CellResult {
        cell: cell.into(),
        target: target.into(),
        status: if good.is_empty() {
            "not run".into()
        } else {
            "ok".into()
        },
        missed: false,
        remarks: remarks(&good),
        metrics: metrics(&good),
        trials: good
            .iter()
            .map(|(_, sample)| sample.trials.clone())
            .collect(),
        samples: good
            .iter()
            .flat_map(|(round, sample)| sample.series(*round))
            .collect(),
    };
    match bad.first() {
        Some(&reason) if good.is_empty() => result.status = reason.clone(),
        Some(reason) => {
            let counted = format!("{} of {} rounds failed: {reason}", bad.len(), rounds.len());
            result.remarks.push(counted);
        }
        None => {}
    }
    if let Some(missed) = good.iter().find_map(|(_, sample)| sample.missed.clone()) {
        result.status = missed;
        result.missed = true;
        return result;
    }
    let chief = CHIEF.iter().find_map(|name| result.metric(name));
    if chief.is_some_and(|metric| metric.estimate.is_wide()) {
        result.status = "wide".into();
    }
    result
}

/// What rounds after each other say in the same words, once.
fn remarks(rounds: &[(usize, &Sample)]) -> Vec<String> {
    let remarks = rounds
        .iter()
        .filter_map(|(_, sample)| sample.remark.clone());
    let mut remarks: Vec<String> = remarks.collect();
    remarks.dedup();
    remarks
}

fn metrics(rounds: &[(usize, &Sample)]) -> Vec<Metric> {
    let names = |pick: fn(&Sample) -> Vec<&'static str>| {
        rounds
            .iter()
            .flat_map(|(_, s)| pick(s))
            .collect::<std::collections::BTreeSet<_>>()
    };
    let distributions = names(|s| s.latencies.keys().copied().collect());
    let sampled = names(|s| s.samples.keys().copied().collect());
    let values = names(|s| s.values.keys().copied().collect());
    let distributions = distributions
        .into_iter()
        .filter_map(|name| distribution(name, rounds));
    let values = values.into_iter().filter_map(|name| value(name, rounds));
    let sampled = sampled
        .into_iter()
        .filter_map(|name| sampled_metric(name, rounds));
    distributions.chain(sampled).chain(values).collect()
}

/// Of samples that are all there: percentiles of them all, figures of each round's.
fn sampled_metric(name: &str, rounds: &[(usize, &Sample)]) -> Option<Metric> {
    let of =
        |(n, s): &(usize, &Sample)| s.samples.get(name).map(|(unit, v)| (*n, *unit, v.clone()));
    let found: Vec<(usize, &str, Vec<f64>)> = rounds.iter().filter_map(of).collect();
    let figures = found.iter().map(|(round, _, values)| {
        let of_round = percentiles(values);
        let (mean, p50, p99) = (of_round.mean, of_round.p50, of_round.p99);
        Figures {
            round: *round,
            mean,
            p50,
            p99,
        }
    });
    let figures: Vec<Figures> = figures.collect();
    let means: Vec<f64> = figures.iter().map(|f| f.mean).collect();
    let all: Vec<f64> = found.iter().flat_map(|f| f.2.iter().copied()).collect();
    Some(Metric {
        metric: name.into(),
        unit: found.first()?.1.into(),
        estimate: Estimate::of(&means)?,
        percentiles: Some(percentiles(&all)),
        quantiles: Quantiles::of_samples(&all),
        state: State::of_rounds(found.iter().filter_map(|(.., values)| State::of(values))),
        rounds: figures,
        lost: lost(name, rounds),
    })
}

/// Losses stand with what was owed.
fn lost(name: &str, rounds: &[(usize, &Sample)]) -> u64 {
    match ECHOES_AND_DELIVERIES.contains(&name) {
        true => rounds.iter().map(|(_, s)| s.lost).sum(),
        false => 0,
    }
}

fn value(name: &str, rounds: &[(usize, &Sample)]) -> Option<Metric> {
    let of = |(n, s): &(usize, &Sample)| s.values.get(name).map(|&(unit, v)| (*n, unit, v));
    let found: Vec<(usize, &str, f64)> = rounds.iter().filter_map(of).collect();
    let means: Vec<f64> = found.iter().map(|f| f.2).collect();
    let figures = found.iter().map(|&(round, _, v)| Figures {
        round,
        mean: v,
        p50: v,
        p99: v,
    });
    let lost = rounds.iter().map(|(_, s)| s.lost).sum();
    Some(Metric {
        metric: name.into(),
        unit: found.first()?.1.into(),
        estimate: Estimate::of(&means)?,
        percentiles: None,
        quantiles: Quantiles::default(),
        state: None,
        rounds: figures.collect(),
        lost: if RATES.contains(&name) { lost } else { 0 },
    })
}

fn distribution(name: &str, rounds: &[(usize, &Sample)]) -> Option<Metric> {
    let mut merged = Latency::new();
    let mut figures = Vec::new();
    for (round, sample) in rounds {
        let Some(latency) = sample.latencies.get(name) else {
            continue;
        };
        merged.merge(latency);
        let of_round = latency.percentiles();
        let (mean, p50, p99) = (of_round.mean, of_round.p50, of_round.p99);
        figures.push(Figures {
            round: *round,
            mean,
            p50,
            p99,
        });
    }
    let means: Vec<f64> = figures.iter().map(|f| f.mean).collect();
    let courses = rounds.iter().filter_map(|(_, s)| s.courses.get(name));
    Some(Metric {
        metric: name.into(),
        unit: "us".into(),
        estimate: Estimate::of(&means)?,
        percentiles: Some(merged.percentiles()),
        quantiles: merged.quantiles(),
        state: State::of_rounds(courses.filter_map(|course| State::of(course))),
        rounds: figures,
        lost: lost(name, rounds),
    })
}
