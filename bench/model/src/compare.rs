//! `weir bench compare`: what changed between two runs, beyond noise.
//!
//! Each metric of each cell and contender is tested on its own: rounds against rounds, on a logarithmic
//! scale, by Welch's t, and all of them together are corrected for being many (Holm 1979). A change
//! counts that is both beyond chance and beyond a threshold that a person cares about. What it
//! deliberately does not do: guess from one round, unless both runs' figures cannot vary. What gave figures or lost
//! nothing and now does not is worse whatever the rounds say. Where a cell asks for as much as a target can do, its
//! latency is that of a full queue and says nothing, and processors are divided by the messages that they served.

mod table;
mod welch;

use crate::results::{CellResult, Figures, Metric, RATES, Run};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub use table::{json, text};
use welch::Welch;

/// How probable a difference by chance may be, over all comparisons together.
const CHANCE_MAX: f64 = 0.05;

/// Latencies that are those of a full queue where a target is sent as much as it takes.
const QUEUED: [&str; 2] = ["publish_to_receive", "acknowledgement"];

/// Whether a metric is better where it is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// Rates, efficiency.
    More,
    /// Times, sizes, what is spent.
    Less,
}

/// What is said of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Beyond noise and threshold, for the worse.
    Worse,
    /// Beyond both, for the better.
    Better,
    /// The interval of the ratio lies within the threshold.
    Same,
    /// Neither: too few rounds or too wide.
    Inconclusive,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// One metric in both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The cell.
    pub cell: String,
    /// The contender.
    pub target: String,
    /// Metric and figure: `publish_to_receive_p99`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Geometric mean of the rounds before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// After divided by before, and its 95 % interval.
    pub ratio: [f64; 3],
    /// Probability that chance alone does it, corrected for the number of comparisons.
    p: f64,
    /// What is said of it.
    pub verdict: Verdict,
}

/// Two runs beside each other.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What differs between the runs besides the results.
    pub remarks: Vec<String>,
    /// A row a metric.
    pub rows: Vec<Row>,
    /// Of the metrics that have a 95 % interval in both runs, how many intervals meet, and how many there are.
    pub meeting: [usize; 2],
    /// Cells and contenders that the second run could not measure and the first could, or that lose messages now and
    /// lost none.
    pub broken: Vec<String>,
    /// Cells and contenders that the second run left out.
    pub missing: Vec<String>,
}

impl Comparison {
    /// Of two runs; `threshold` is the share from which a change matters: 0.05.
    pub fn of(before: &Run, after: &Run, threshold: f64) -> Self {
        let mut rows = Vec::new();
        let mut missing = Vec::new();
        let results = by_name(&after.results);
        for old in &before.results {
            match results.get(&name(old)) {
                Some(new) => rows.extend(rows_of(old, new, threshold)),
                None => missing.push(format!(
                    "{} of {}: not in the second run",
                    old.cell, old.target
                )),
            }
        }
        let broken = failed(before, after).chain(lossy(before, after)).collect();
        correct(&mut rows);
        Self {
            remarks: remarks(before, after),
            meeting: meeting(before, &results),
            rows,
            broken,
            missing,
        }
    }

    /// Whether anything became worse.
    pub fn has_regression(&self) -> bool {
        self.count(Verdict::Worse) > 0 || !self.broken.is_empty()
    }

    /// How many rows have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }
}

/// Two runs of one thing agree where their own intervals meet, which says whether those are wide enough.
fn meeting(before: &Run, after: &BTreeMap<Name<'_>, &CellResult>) -> [usize; 2] {
    let pairs = before
        .results
        .iter()
        .filter_map(|old| Some((old, *after.get(&name(old))?)));
    let metrics = pairs.flat_map(|(old, new)| {
        let judged = old
            .metrics
            .iter()
            .filter(|metric| goodness(metric).is_some());
        judged.filter_map(|metric| Some((metric.estimate, new.metric(&metric.metric)?.estimate)))
    });
    // What never varies has none.
    let both: Vec<_> = metrics
        .filter(|(a, b)| a.low < a.high && b.low < b.high)
        .collect();
    let meets = both
        .iter()
        .filter(|(a, b)| a.low <= b.high && b.low <= a.high);
    [meets.count(), both.len()]
}

type Name<'a> = (&'a str, &'a str);

fn name(result: &CellResult) -> Name<'_> {
    (&result.cell, &result.target)
}

fn by_name(results: &[CellResult]) -> BTreeMap<Name<'_>, &CellResult> {
    results
        .iter()
        .map(|result| (name(result), result))
        .collect()
}

/// What the second run could not measure and the first could.
fn failed<'a>(before: &'a Run, after: &'a Run) -> impl Iterator<Item = String> + 'a {
    let old = by_name(&before.results);
    let failed = after.results.iter().filter(move |new| {
        let had = old
            .get(&name(new))
            .is_some_and(|old| !old.metrics.is_empty());
        new.metrics.is_empty() && had
    });
    failed.map(|new| format!("{} of {}: {}", new.cell, new.target, new.status))
}

/// Whether a cell is over a link that loses packets, where one more or less says nothing.
fn loses_by_itself(cell: &str) -> bool {
    let link = cell
        .split(';')
        .find_map(|level| level.strip_prefix("link="));
    link.is_some_and(|link| !["local", "lan", "none"].contains(&link))
}

/// What lost messages in the second run and none in the first.
fn lossy<'a>(before: &'a Run, after: &'a Run) -> impl Iterator<Item = String> + 'a {
    let old = by_name(&before.results);
    let lost = |result: &CellResult| result.metrics.iter().map(|it| it.lost).max().unwrap_or(0);
    let lossy = after.results.iter().filter(move |new| {
        let was_whole = old
            .get(&name(new))
            .is_some_and(|old| !old.metrics.is_empty() && lost(old) == 0);
        was_whole && lost(new) > 0 && !loses_by_itself(&new.cell)
    });
    lossy.map(move |new| {
        format!(
            "{} of {}: {} messages lost",
            new.cell,
            new.target,
            lost(new)
        )
    })
}

/// Metrics of which something is said: those whose unit tells which way is better, and which are of the
/// contender and not of the load, or of the bench as a client.
pub fn goodness(metric: &Metric) -> Option<Good> {
    if ["load_", "clock_", "client_"]
        .iter()
        .any(|of| metric.metric.starts_with(of))
        || metric.metric == "schedule_lag"
    {
        return None;
    }
    if metric.metric.starts_with("eta") {
        return Some(Good::More);
    }
    match metric.unit.as_str() {
        "1/s" | "B/s" | "MB/s" => Some(Good::More),
        "us" | "ns" | "ms" | "s" | "bytes" | "cpus" => Some(Good::Less),
        "%" => goodness_of_share(&metric.metric),
        _ => None,
    }
}

/// Shares are good or bad by what they are of.
fn goodness_of_share(metric: &str) -> Option<Good> {
    match metric.to_lowercase().as_str() {
        "rupm" | "mct" => Some(Good::More),
        "sp" | "repeated" | "lost" | "size_of_xml" => Some(Good::Less),
        _ => None,
    }
}

/// The rate of a cell that asks for as much as a target can do.
fn greatest_rate(result: &CellResult) -> Option<&Metric> {
    let is_fixed = result
        .cell
        .split(';')
        .any(|level| level.starts_with("rate="));
    let mut rates = RATES.iter().filter_map(|rate| result.metric(rate));
    rates.next().filter(|_| !is_fixed)
}

/// What is compared of a result.
fn compared(result: &CellResult) -> Vec<Cow<'_, Metric>> {
    let all = result.metrics.iter();
    let Some(rate) = greatest_rate(result) else {
        return all.map(Cow::Borrowed).collect();
    };
    let all = all.filter(|metric| !QUEUED.contains(&metric.metric.as_str()));
    let all = all.map(|metric| match metric.metric.as_str() {
        "server_cpu" => Cow::Owned(a_message(metric, rate)),
        _ => Cow::Borrowed(metric),
    });
    all.collect()
}

/// Processors divided by a rate, round by round: microseconds a message.
fn a_message(cpus: &Metric, rate: &Metric) -> Metric {
    let rounds = cpus.rounds.iter().filter_map(|cpus| {
        let rate = rate.rounds.iter().find(|rate| rate.round == cpus.round)?;
        let us = cpus.mean / rate.mean * 1e6;
        Some(Figures {
            round: cpus.round,
            mean: us,
            p50: us,
            p99: us,
        })
    });
    Metric {
        metric: format!("{}_per_message", cpus.metric),
        unit: "us".into(),
        rounds: rounds.collect(),
        ..Metric::default()
    }
}

/// Whether a metric is the same in every round: sizes and shares of bytes.
pub fn is_exact(metric: &str) -> bool {
    metric.starts_with("size") || metric.starts_with("eta")
}

fn rows_of(old: &CellResult, new: &CellResult, threshold: f64) -> Vec<Row> {
    let (old_ones, new_ones) = (compared(old), compared(new));
    let pairs = old_ones.iter().filter_map(|a| {
        let b = new_ones.iter().find(|b| b.metric == a.metric)?;
        Some((a.as_ref(), b.as_ref()))
    });
    let rows = pairs.flat_map(|(a, b)| {
        let good = goodness(a);
        let figures: &[Pick] = match a.percentiles {
            Some(_) => &[P50, P99],
            None => &[MEAN],
        };
        good.into_iter().flat_map(move |good| {
            let rows = figures
                .iter()
                .map(move |pick| row(old, [a, b], pick, good, threshold));
            rows.flatten().collect::<Vec<_>>()
        })
    });
    rows.collect()
}

/// A figure of a round, by its name.
type Pick = (&'static str, fn(&Figures) -> f64);

const MEAN: Pick = ("", |figures| figures.mean);
const P50: Pick = ("_p50", |figures| figures.p50);
const P99: Pick = ("_p99", |figures| figures.p99);

fn row(
    result: &CellResult,
    [a, b]: [&Metric; 2],
    (suffix, pick): &Pick,
    good: Good,
    threshold: f64,
) -> Option<Row> {
    let logs = |metric: &Metric| -> Vec<f64> {
        let values = metric.rounds.iter().map(pick).filter(|value| *value > 0.0);
        values.map(f64::ln).collect()
    };
    let welch = match (is_exact(&a.metric), &logs(a)[..], &logs(b)[..]) {
        (true, &[before], &[after]) => Welch::exact(before, after),
        (_, before, after) => Welch::of(before, after)?,
    };
    let ratio = [welch.difference, welch.low, welch.high].map(f64::exp);
    Some(Row {
        cell: result.cell.clone(),
        target: result.target.clone(),
        metric: format!("{}{suffix}", a.metric),
        unit: a.unit.clone(),
        before: welch.before.exp(),
        after: welch.after.exp(),
        ratio,
        p: welch.p,
        verdict: verdict(ratio, good, threshold),
    })
}

/// As if it were the only one; [`correct`] takes back what chance explains.
fn verdict([ratio, low, high]: [f64; 3], good: Good, threshold: f64) -> Verdict {
    let (least, most) = (1.0 / (1.0 + threshold), 1.0 + threshold);
    if least <= low && high <= most {
        return Verdict::Same;
    }
    let matters = ratio < least || ratio > most;
    if !matters || (low <= 1.0 && high >= 1.0) || low.is_nan() {
        return Verdict::Inconclusive;
    }
    match (ratio > 1.0, good) {
        (true, Good::More) | (false, Good::Less) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

/// Holm: the smallest probability is multiplied by the number of all comparisons, the next by one less,
/// and none falls below the one before it.
fn correct(rows: &mut [Row]) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[a].p.total_cmp(&rows[b].p));
    let mut least = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        let row = &mut rows[at];
        least = least.max(row.p * (order.len() - rank) as f64).min(1.0);
        row.p = least;
        let is_change = matches!(row.verdict, Verdict::Better | Verdict::Worse);
        if is_change && row.p > CHANCE_MAX {
            row.verdict = Verdict::Inconclusive;
        }
    }
}

/// Runs of different things cannot be blamed on the change between them.
fn remarks(before: &Run, after: &Run) -> Vec<String> {
    let (a, b) = (&before.environment, &after.environment);
    let differs = [
        ("experiment", &before.experiment, &after.experiment),
        ("effort", &before.effort, &after.effort),
        ("processor", &a.cpu, &b.cpu),
        ("kernel", &a.kernel, &b.kernel),
        (
            "congestion control",
            &a.congestion_control,
            &b.congestion_control,
        ),
        ("data disk", &a.data_disk, &b.data_disk),
    ];
    let differs = differs.into_iter().filter(|(_, a, b)| a != b);
    let mut remarks: Vec<_> = differs
        .map(|(what, a, b)| format!("the {what} differs: {a}, then {b}"))
        .collect();
    if a.cpus != b.cpus {
        remarks.push(format!("processors differ: {}, then {}", a.cpus, b.cpus));
    }
    for (target, version) in &before.targets {
        if let Some(other) = after.targets.get(target).filter(|other| *other != version) {
            remarks.push(format!("{target} differs: {version}, then {other}"));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_judged_by_its_interval_its_size_and_which_way_is_good() {
        let of = |ratio, good| verdict(ratio, good, 0.05);
        assert_eq!(of([1.0, 0.98, 1.03], Good::More), Verdict::Same);
        assert_eq!(of([1.2, 1.1, 1.3], Good::More), Verdict::Better);
        assert_eq!(of([1.2, 1.1, 1.3], Good::Less), Verdict::Worse);
        assert_eq!(of([0.8, 0.7, 0.9], Good::More), Verdict::Worse);
        assert_eq!(of([1.2, 0.9, 1.6], Good::More), Verdict::Inconclusive);
        assert_eq!(of([1.04, 1.01, 1.07], Good::Less), Verdict::Inconclusive);
        assert_eq!(
            of([2.0, f64::NAN, f64::NAN], Good::Less),
            Verdict::Inconclusive
        );
    }

    fn once(metric: &str, bytes: f64) -> Run {
        let round = Figures {
            round: 0,
            mean: bytes,
            p50: bytes,
            p99: bytes,
        };
        let metric = Metric {
            metric: metric.into(),
            unit: "bytes".into(),
            rounds: vec![round],
            ..Metric::default()
        };
        let result = CellResult {
            cell: "format=cbor".into(),
            metrics: vec![metric],
            ..CellResult::default()
        };
        Run {
            results: vec![result],
            ..Run::default()
        }
    }

    #[test]
    fn a_size_is_judged_by_one_round_and_what_varies_is_not() {
        let verdict = |metric: &str, before: f64, after: f64| {
            let (before, after) = (once(metric, before), once(metric, after));
            Comparison::of(&before, &after, 0.05).rows[0].verdict
        };
        assert_eq!(verdict("size", 1184.0, 2368.0), Verdict::Worse);
        assert_eq!(verdict("size", 1184.0, 1184.0), Verdict::Same);
        assert_eq!(
            verdict("server_memory_peak", 1184.0, 2368.0),
            Verdict::Inconclusive
        );
    }

    fn of_rounds(cell: &str, metrics: &[(&str, &str, f64)], lost: u64) -> Run {
        let metric = |&(name, unit, value): &(&str, &str, f64)| {
            let round = |round: usize| {
                let it = value * (1.0 + 0.001 * round as f64);
                Figures {
                    round,
                    mean: it,
                    p50: it,
                    p99: it,
                }
            };
            Metric {
                metric: name.into(),
                unit: unit.into(),
                rounds: (0..4).map(round).collect(),
                lost,
                ..Metric::default()
            }
        };
        let result = CellResult {
            cell: cell.into(),
            metrics: metrics.iter().map(metric).collect(),
            ..CellResult::default()
        };
        Run {
            results: vec![result],
            ..Run::default()
        }
    }

    #[test]
    fn what_fails_or_loses_messages_now_is_a_regression() {
        let rate = [("deliveries", "1/s", 1e6)];
        let before = of_rounds("a=1", &rate, 0);
        let has = |after: &Run| Comparison::of(&before, after, 0.05).has_regression();
        assert!(!has(&before));
        assert!(has(&of_rounds("a=1", &[], 0)));
        assert!(has(&of_rounds("a=1", &rate, 3)));
        assert!(!has(&Run::default()));
        let lossy = of_rounds("a=1", &rate, 3);
        assert!(!Comparison::of(&lossy, &lossy, 0.05).has_regression());
    }

    #[test]
    fn as_fast_as_it_goes_processors_are_divided_by_messages_and_latency_says_nothing() {
        let rows = |cell: &str| {
            let of = |times: f64| {
                let all = [
                    ("deliveries", "1/s", 1e6 * times),
                    ("publish_to_receive", "us", 100.0 * times),
                    ("server_cpu", "cpus", 0.5 * times),
                ];
                of_rounds(cell, &all, 0)
            };
            let rows = Comparison::of(&of(1.0), &of(2.0), 0.05).rows;
            let rows = rows.into_iter().map(|row| (row.metric, row.verdict));
            rows.collect::<Vec<_>>()
        };
        let (better, worse, same) = (Verdict::Better, Verdict::Worse, Verdict::Same);
        let expected = [("deliveries", better), ("server_cpu_per_message", same)];
        let expected = expected.map(|(name, verdict)| (name.to_owned(), verdict));
        assert_eq!(rows("test=fan-out;p99=50ms"), expected);
        let fixed = rows("test=latency;rate=1000");
        assert!(fixed.contains(&("server_cpu".into(), worse)), "{fixed:?}");
        assert!(
            fixed.contains(&("publish_to_receive".into(), worse)),
            "{fixed:?}"
        );
    }

    #[test]
    fn shares_are_good_or_bad_by_name() {
        let of = |metric: &str| {
            goodness(&Metric {
                metric: metric.into(),
                unit: "%".into(),
                ..Metric::default()
            })
        };
        assert_eq!(of("RUPM"), Some(Good::More));
        assert_eq!(of("repeated"), Some(Good::Less));
        assert_eq!(of("deliveries_of_ceiling"), None);
    }

    fn row_with(p: f64) -> Row {
        Row {
            cell: String::new(),
            target: String::new(),
            metric: String::new(),
            unit: "us".into(),
            before: 1.0,
            after: 2.0,
            ratio: [2.0, 1.5, 2.6],
            p,
            verdict: Verdict::Worse,
        }
    }

    #[test]
    fn many_comparisons_are_corrected_by_holm() {
        let mut rows: Vec<_> = [0.04, 0.001, 0.03].map(row_with).into();
        correct(&mut rows);
        let shown: Vec<_> = rows.iter().map(|row| (row.p * 1e3).round()).collect();
        assert_eq!(shown, [60.0, 3.0, 60.0]);
        let verdicts: Vec<_> = rows.iter().map(|row| row.verdict).collect();
        let open = Verdict::Inconclusive;
        assert_eq!(verdicts, [open, Verdict::Worse, open]);
    }
}
