//! What paper 002 says, claim by claim, set beside what was measured.
//!
//! The verdict is on a line where one end talks at a time; what the other reading of the paper gives is told
//! besides. A word that names no bound is given one here: "almost", "about" and "near" are a tenth, "far lower"
//! is a half, "much" a half more.

mod bytes;
mod misses;
mod times;

use super::figures::{Grid, HALF_AND_FULL, PUBLICATIONS};
use weir_bench_model::claims::{NOT_MEASURED, judged};
use weir_bench_model::number::number;
use weir_bench_model::results::{ClaimResult, Run};

/// What a grid says of a claim; nothing where it was not measured.
type Verdict = Option<(bool, String)>;
/// How a grid is asked for it.
type Judge = fn(&Grid<'_>) -> Verdict;

/// The client counts of the paper's 210 settings.
const CLIENTS: [usize; 5] = [1, 16, 64, 128, 256];
/// The intervals at which clients poll and at which something is published, seconds.
const INTERVALS: [&str; 5] = ["1", "5", "15", "30", "50"];
const POLLING: [&str; 5] = [
    "polling-1s",
    "polling-5s",
    "polling-15s",
    "polling-30s",
    "polling-50s",
];
const LONG_POLLING: &str = "long-polling";
const STREAMING: &str = "streaming";

const CLAIMS: [(&str, Judge); 21] = [
    ("duquennoy-streaming-beats-all", times::streaming_beats_all),
    ("duquennoy-256-clients-1-s", times::clients_256),
    ("duquennoy-128-clients-coherence", times::clients_128),
    ("duquennoy-polling-5000-percent", misses::polling_5000),
    (
        "duquennoy-polling-half-coherent",
        times::polling_half_coherent,
    ),
    ("duquennoy-streaming-rupm", misses::streaming_near_100),
    ("duquennoy-line-saturation", bytes::saturation),
    ("duquennoy-comet-below-64", times::comet_below_64),
    (
        "duquennoy-long-polling-above-64",
        times::long_polling_above_64,
    ),
    (
        "duquennoy-saturated-half-interval",
        times::half_the_interval,
    ),
    ("duquennoy-request-600-bytes", bytes::of_a_request),
    ("duquennoy-comet-rpm-100", misses::comet_never_above_100),
    ("duquennoy-polling-rpm-falls", misses::polling_falls),
    (
        "duquennoy-long-polling-rupm",
        misses::long_polling_as_polling,
    ),
    (
        "duquennoy-streaming-misses-only-at-the-top",
        misses::only_at_the_top,
    ),
    (
        "duquennoy-slow-publication-few-misses",
        misses::slower_misses_less,
    ),
    ("duquennoy-streaming-fewer-bytes", bytes::streaming_fewer),
    (
        "duquennoy-slow-polling-fewest-bytes",
        bytes::slow_polling_fewest,
    ),
    (
        "duquennoy-coherence-slow-publication",
        times::coherent_when_slow,
    ),
    (
        "duquennoy-long-polling-coherent-as-polling",
        times::long_polling_coherent,
    ),
    (
        "duquennoy-long-polling-never-better",
        times::long_polling_never_better,
    ),
];

/// Judges every claim.
pub(super) fn judge(run: &Run) -> Vec<ClaimResult> {
    let grids = HALF_AND_FULL.map(|duplex| Grid::of(run, duplex));
    let mut all: Vec<ClaimResult> = CLAIMS
        .iter()
        .map(|(id, judge)| {
            let (holds, words) = both(&grids, *judge);
            judged(id, holds, words)
        })
        .collect();
    all.push(bytes::of_a_connection(run));
    all
}

/// What follows where a claim does not hold, for who chooses a scheme.
const FOLLOWS: [(&str, &str); 6] = [
    (
        "duquennoy-streaming-beats-all",
        "Where the line is saturated long polling's trip can be the shorter one, since MPT is over what arrives and \
         most of its messages never do: MPT says nothing without RUPM beside it.",
    ),
    (
        "duquennoy-streaming-misses-only-at-the-top",
        "Streaming to 256 clients at a publication a second is not yet too much for the line: who is late is sent all \
         that it lacks in one segment, so that it hears late and misses next to nothing.",
    ),
    (
        "duquennoy-long-polling-above-64",
        "Long polling is no worse than polling on a full line either: where a client cannot stream, it is still what \
         to ask with.",
    ),
    (
        "duquennoy-long-polling-coherent-as-polling",
        "It also holds the newest for longer than polling at the publication interval, whose phase decides how old \
         an answer is; no interval is the right one.",
    ),
    (
        "duquennoy-slow-polling-fewest-bytes",
        "Polling seldom spares bytes only where publications are to be missed: where something is published as \
         seldom, streaming takes fewer and is at once.",
    ),
    (
        "duquennoy-line-saturation",
        "How many packets a full line carries depends on their sizes, which the paper does not list: its packet counts \
         choose between the readings of its line, and bind nothing to the packet.",
    ),
];

/// The paragraph behind the claims: of those that do not hold, what follows.
pub(super) fn follows(run: &Run) -> String {
    let fails = |id: &str| {
        let words = judged(id, None, "").claim;
        let is_it = |claim: &&ClaimResult| claim.claim == words;
        run.claims
            .iter()
            .find(is_it)
            .is_some_and(|claim| claim.holds == Some(false))
    };
    let sentences = FOLLOWS.iter().filter(|(id, _)| fails(id));
    let sentences: Vec<&str> = sentences.map(|(_, sentence)| *sentence).collect();
    match sentences.is_empty() {
        true => String::new(),
        false => format!(
            "\nWhat follows from those that do not hold: {}\n",
            sentences.join(" ")
        ),
    }
}

/// The verdict of half duplex, in the words of both.
fn both([half, full]: &[Grid<'_>; 2], judge: Judge) -> (Option<bool>, String) {
    let Some((holds, words)) = judge(half) else {
        return (None, NOT_MEASURED.into());
    };
    let other = match judge(full) {
        None => String::new(),
        Some((other, words)) if other == holds => format!("; full duplex: {words}"),
        Some((true, words)) => format!("; full duplex, where it holds: {words}"),
        Some((false, words)) => format!("; full duplex, where it does not hold: {words}"),
    };
    (Some(holds), words + &other)
}

/// Whether a value is another within a tenth.
fn is_about(value: f64, other: f64) -> bool {
    (value - other).abs() <= 0.1 * other.abs()
}

/// How many of all settings of clients and publication agree, where all were measured: it holds where all do.
fn everywhere(
    clients: &[usize],
    publications: &[&str],
    agrees: impl Fn(usize, &str) -> Option<bool>,
) -> Verdict {
    let mut exceptions = Vec::new();
    let mut count = 0;
    for &clients in clients {
        for &publish in publications {
            count += 1;
            if !agrees(clients, publish)? {
                exceptions.push(format!("{clients} clients at {publish} s"));
            }
        }
    }
    let agree = count - exceptions.len();
    let words = match exceptions.len() {
        0 => format!("in all {count} settings of clients and publication"),
        1..=3 => format!("in {agree} of {count}, not with {}", exceptions.join(", ")),
        _ => format!("in {agree} of {count} settings of clients and publication"),
    };
    Some((exceptions.is_empty(), words))
}

/// A metric of several schemes in a setting.
fn of_schemes(
    grid: &Grid<'_>,
    clients: usize,
    publish: &str,
    schemes: &[&str],
    metric: &str,
) -> Option<Vec<f64>> {
    let mean = |scheme: &&str| grid.mean(clients, publish, scheme, metric);
    schemes.iter().map(mean).collect()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// All schemes but streaming.
fn others() -> Vec<&'static str> {
    [&POLLING[..], &[LONG_POLLING]].concat()
}

/// The scheme that polls once a publication.
fn polling_at(publish: &str) -> String {
    format!("polling-{publish}s")
}

fn named(values: &[(&str, f64)]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name} {}", number(*value)))
        .collect();
    words.join(", ")
}
