//! Who is ahead: for a metric, the levels of one factor compared where all other factors are equal.
//!
//! A level leads a group where its interval does not meet the next one's; where they meet it is a tie,
//! and a time of one round is not ranked at all. Deliberately no sum over metrics.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{better, parted};
use super::markup::escaped;
use weir_bench_model::compare::{Good, goodness, is_exact};
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Metric, Run};
use weir_bench_model::statistics::Estimate;

/// Metrics that are ranked, the chief ones first; as many as are there are told.
const CHIEF: [&str; 13] = [
    "t_total_drawn",
    "t_total",
    "t_transfer",
    "rtt",
    "publish_to_receive",
    "message_rate",
    "deliveries",
    "size",
    "parse",
    "serialize",
    "eta",
    "observations",
    "server_memory_per_connection",
];
/// Factors whose levels are ranked, the first that is varied; `contender` is the target.
const FACTORS: [&str; 5] = ["format", "protocol", "scheme", "delivery", CONTENDER];
const CONTENDER: &str = "contender";
/// Formats that carry bare values and nothing of what they are of: smaller than any other, and no rivals of it.
const BARE: [&str; 2] = ["format=plain", "format=columns"];
/// Sentences at most.
const SENTENCES_MAX: usize = 4;

/// Whether a target is no contender but the ceiling of load and machine.
pub(super) fn is_ceiling(target: &str) -> bool {
    target.starts_with("null") || target == "bare"
}

/// A factor's level in a group, and its value.
type Group<'a> = Vec<(&'a str, Estimate)>;

/// A sentence for each chief metric.
pub(super) fn sentences(run: &Run) -> Vec<String> {
    let told = CHIEF.iter().filter_map(|metric| sentence(run, metric));
    told.take(SENTENCES_MAX).collect()
}

fn sentence(run: &Run, metric: &str) -> Option<String> {
    let example = run
        .results
        .iter()
        .find_map(|result| result.metric(metric))?;
    let good = goodness(example)?;
    // What was compared pair by pair is told of the pairs.
    let is_paired = run
        .ratios
        .iter()
        .any(|ratio| parted(&ratio.metric).0 == metric);
    let factors = FACTORS
        .iter()
        .filter(|factor| !is_paired || **factor != CONTENDER);
    factors
        .filter_map(|factor| ranked(run, metric, factor, good))
        .next()
}

fn ranked(run: &Run, metric: &str, factor: &str, good: Good) -> Option<String> {
    let groups = groups(run, metric, factor);
    let mut led: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut ties = 0;
    for group in &groups {
        match leader(group, good) {
            Some((level, by)) => led.entry(level).or_default().push(by),
            None => ties += 1,
        }
    }
    let mut order: Vec<(&str, Vec<f64>)> = led.into_iter().collect();
    order.sort_by_key(|(_, gaps)| std::cmp::Reverse(gaps.len()));
    if order.is_empty() {
        return None;
    }
    let of = groups.len();
    let told: Vec<String> = order
        .iter()
        .take(3)
        .enumerate()
        .map(|(place, (level, gaps))| {
            let by = number(mean_of(gaps));
            let gap = match (place, good) {
                (0, Good::Less) => format!(" (the next takes {by} times as much)"),
                (0, Good::More) => format!(" ({by} times the next)"),
                _ => String::new(),
            };
            format!("<b>{}</b> is ahead in {}{gap}", escaped(level), gaps.len())
        })
        .collect();
    let ties = match ties {
        0 => String::new(),
        ties => format!("; {ties} within noise"),
    };
    Some(format!(
        "{} ({}), by {}: of {of} {} {}{ties}.",
        capital(&metric.replace('_', " ")),
        better(good),
        escaped(factor),
        if of == 1 { "comparison" } else { "comparisons" },
        told.join(", ")
    ))
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    first.to_uppercase() + rest
}

fn mean_of(ratios: &[f64]) -> f64 {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (logs / ratios.len() as f64).exp()
}

/// Results that differ in one factor only; of contenders two make a group, of ways to do it three.
fn groups<'a>(run: &'a Run, metric: &str, factor: &str) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<String, Group<'a>> = BTreeMap::new();
    for result in run
        .results
        .iter()
        .filter(|result| !is_ceiling(&result.target) && !is_bare(&result.cell))
    {
        let Some(found) = result.metric(metric).filter(|metric| is_ranked(metric)) else {
            continue;
        };
        if let Some((rest, level)) = split(result, factor) {
            groups
                .entry(rest)
                .or_default()
                .push((level, found.estimate));
        }
    }
    let least = if factor == CONTENDER { 2 } else { 3 };
    let levels = |group: &Group<'_>| {
        let names: BTreeSet<&str> = group.iter().map(|one| one.0).collect();
        names.len()
    };
    groups
        .into_values()
        .filter(|group| levels(group) >= least)
        .collect()
}

fn is_bare(cell: &str) -> bool {
    cell.split(';').any(|pair| BARE.contains(&pair))
}

/// What varies is ranked from two rounds on.
fn is_ranked(metric: &Metric) -> bool {
    metric.estimate.n > 1 || is_exact(&metric.metric)
}

/// A result without a factor, and the factor's level.
fn split<'a>(result: &'a CellResult, factor: &str) -> Option<(String, &'a str)> {
    if factor == CONTENDER {
        return Some((result.cell.clone(), &result.target));
    }
    let pairs = || {
        result
            .cell
            .split(';')
            .filter_map(|pair| pair.split_once('='))
    };
    let (_, level) = pairs().find(|(name, _)| *name == factor)?;
    let rest: Vec<String> = pairs()
        .filter(|(name, _)| *name != factor)
        .map(|(name, level)| format!("{name}={level}"))
        .collect();
    Some((rest.join(";"), level))
}

/// Who leads a group and by how many times; nobody where the first two meet.
fn leader<'a>(group: &Group<'a>, good: Good) -> Option<(&'a str, f64)> {
    let mut best: BTreeMap<&str, Estimate> = BTreeMap::new();
    for (level, estimate) in group {
        // Of a level that several contenders have, the best stands for it.
        let held = best.entry(level).or_insert(*estimate);
        if is_better(estimate, held, good) {
            *held = *estimate;
        }
    }
    let mut order: Vec<(&str, Estimate)> = best.into_iter().collect();
    order.sort_by(|(_, a), (_, b)| match good {
        Good::More => b.mean.total_cmp(&a.mean),
        Good::Less => a.mean.total_cmp(&b.mean),
    });
    let [(level, first), (_, second), ..] = order.as_slice() else {
        return None;
    };
    let apart = match good {
        Good::More => first.low > second.high,
        Good::Less => first.high < second.low,
    };
    let ratio = first.mean / second.mean;
    let by = if ratio < 1.0 { 1.0 / ratio } else { ratio };
    (apart && by.is_finite()).then_some((*level, by))
}

fn is_better(one: &Estimate, other: &Estimate, good: Good) -> bool {
    match good {
        Good::More => one.mean > other.mean,
        Good::Less => one.mean < other.mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(mean: f64, half: f64) -> Estimate {
        let (low, high) = (mean - half, mean + half);
        Estimate {
            n: 5,
            mean,
            low,
            high,
        }
    }

    #[test]
    fn who_is_ahead_beyond_its_interval_leads_and_who_is_not_ties() {
        let group = vec![("a", around(10.0, 1.0)), ("b", around(20.0, 1.0))];
        assert_eq!(leader(&group, Good::Less), Some(("a", 2.0)));
        assert_eq!(leader(&group, Good::More), Some(("b", 2.0)));
        let near = vec![("a", around(10.0, 6.0)), ("b", around(20.0, 5.0))];
        assert_eq!(leader(&near, Good::Less), None);
    }

    #[test]
    fn what_carries_bare_values_leads_nobody() {
        let result = |format: &str, size: f64| CellResult {
            cell: format!("place=native;format={format}"),
            target: "weir".into(),
            metrics: vec![Metric {
                metric: "size".into(),
                estimate: around(size, 0.0),
                ..Metric::default()
            }],
            ..CellResult::default()
        };
        let sizes = [
            ("plain", 38.0),
            ("cbor", 900.0),
            ("json", 1465.0),
            ("xml", 1873.0),
        ];
        let run = Run {
            results: sizes.map(|(format, size)| result(format, size)).to_vec(),
            ..Run::default()
        };
        let groups = groups(&run, "size", "format");
        assert_eq!(
            leader(&groups[0], Good::Less).map(|(level, _)| level),
            Some("cbor")
        );
    }

    #[test]
    fn several_contenders_of_a_level_are_one() {
        let group = vec![
            ("a", around(10.0, 1.0)),
            ("a", around(30.0, 1.0)),
            ("b", around(20.0, 1.0)),
        ];
        assert_eq!(leader(&group, Good::Less), Some(("a", 2.0)));
    }
}
