//! What the paper does not have: schemes of today, lines that lose, collide or are silent, more clients, and what a
//! notification costs the board.
//!
//! A few settings of each, and the tables that show them, the paper's settings beside them. What it deliberately
//! does not do: a whole grid of any of these but of the two schemes of today.

mod tables;

pub(super) use tables::write;

use weir_sim::{CLIENTS, Duplex, Line, Publication, Scheme, Setting, settings, settings_of};

use super::cells::line;
use weir_bench_model::effort::Effort;

/// Who is told, the paper's schemes first.
const TOLD: [Scheme; 4] = [
    Scheme::LongPolling,
    Scheme::Streaming,
    Scheme::Events,
    Scheme::Observe,
];
/// Who is told, and who asks as often as something is published, or about so.
const ALL: [Scheme; 6] = [
    Scheme::Polling(5),
    Scheme::Adaptive,
    Scheme::LongPolling,
    Scheme::Streaming,
    Scheme::Events,
    Scheme::Observe,
];
/// Those of today.
const TODAY: [Scheme; 2] = [Scheme::Events, Scheme::Observe];
/// Adaptive polling beside the fixed intervals that it lies between, and who is told.
const ADAPTIVE: [Scheme; 4] = [
    Scheme::Polling(5),
    Scheme::Polling(50),
    Scheme::Adaptive,
    Scheme::Streaming,
];

/// When something is published on every other line.
const USUAL: [Publication; 1] = [Publication::Every(5)];
const SELDOM_AND_OFTEN: [Publication; 4] = [
    Publication::Every(1),
    Publication::Every(15),
    Publication::Every(50),
    Publication::Varying,
];
/// What a line loses, each way.
const LOSSES: [f64; 3] = [0.0, 0.02, 0.1];
const CLIENTS_OF_LOSS: [usize; 2] = [16, 128];
/// Clients on lines of which there is less: shared, or silent most of the time.
const FEW: [usize; 2] = [16, 64];
/// Share of the time in which an end may talk, on a line with a duty cycle.
const DUTY: f64 = 0.1;
/// More clients than the paper's, each with as much of its line: clients, bytes a second, and when something is
/// published; more often would take 10,000 clients minutes a run.
const MANY: [(usize, u32, &[Publication]); 2] = [
    (
        1_000,
        144_000,
        &[Publication::Every(5), Publication::Every(30)],
    ),
    (10_000, 1_440_000, &[Publication::Every(30)]),
];
/// Who is told there. The authors' long polls pause for longer the more clients there are: 10,000 for 150 s.
const TOLD_MANY: [Scheme; 3] = [Scheme::Streaming, Scheme::Events, Scheme::Observe];
/// Clients of a quick run, where something is published at the usual interval.
const QUICK_MAX: usize = 64;

fn of(
    clients: &[usize],
    publications: &[Publication],
    line: Line,
    schemes: &[Scheme],
) -> Vec<Setting> {
    let mut all = settings_of(clients, line, schemes);
    all.retain(|setting| publications.contains(&setting.publication));
    all
}

/// The schemes of today on the paper's whole grid.
fn today() -> Vec<Setting> {
    let of = |duplex| settings(line(duplex, 0.0), &TODAY);
    [Duplex::Half, Duplex::Full].map(of).concat()
}

fn lossy() -> Vec<Setting> {
    let of = |loss| of(&CLIENTS_OF_LOSS, &USUAL, line(Duplex::Half, loss), &TOLD);
    LOSSES.map(of).concat()
}

fn adaptive() -> Vec<Setting> {
    let line = line(Duplex::Half, 0.0);
    of(&FEW, &SELDOM_AND_OFTEN, line, &ADAPTIVE)
}

fn shared() -> Vec<Setting> {
    of(&FEW, &USUAL, line(Duplex::Shared, 0.0), &ALL)
}

fn silent() -> Vec<Setting> {
    let mut all = of(&FEW, &USUAL, line(Duplex::Half, 0.0), &ALL);
    all.iter_mut().for_each(|setting| setting.duty = DUTY);
    all
}

fn many() -> Vec<Setting> {
    let of = |(clients, rate, publications)| {
        let line = Line {
            rate,
            ..line(Duplex::Full, 0.0)
        };
        of(&[clients], publications, line, &TOLD_MANY)
    };
    MANY.map(of).concat()
}

/// What a notification costs, by scheme and clients.
fn costs() -> Vec<Setting> {
    of(&CLIENTS, &USUAL, line(Duplex::Half, 0.0), &ALL)
}

/// All settings, some of them the paper's; of a quick run those with few clients, at the usual interval but where
/// polling adapts itself to it.
pub(super) fn all(effort: Effort) -> Vec<Setting> {
    let parts = [today, lossy, adaptive, shared, silent, many, costs];
    let mut all: Vec<Setting> = parts.iter().flat_map(|part| part()).collect();
    let is_quick = |setting: &Setting| {
        let is_usual = USUAL.contains(&setting.publication);
        setting.clients <= QUICK_MAX && (is_usual || setting.scheme == Scheme::Adaptive)
    };
    all.retain(|setting| effort == Effort::Full || is_quick(setting));
    all
}
