//! Ours against theirs, and against the bare echo.

use super::cells::{Pace, Setting};
use super::figures::Figures;
use super::protocol::{Echo, Protocol, Security};
use super::servers::BARE;
use crate::results::{Figures as OfRound, GoalResult, Metric, OURS, Ratio};
use crate::statistics::Estimate;

/// How many times a bare echo of datagrams a confirmable request may take.
const TIMES_BARE_MAX: f64 = 1.3;

/// A figure of a round.
type Figure = fn(&OfRound) -> f64;

/// What is compared, by name.
const QUANTILES: [(&str, Figure); 2] = [
    ("rtt_p50", |round| round.p50),
    ("rtt_p99", |round| round.p99),
];

/// Ours divided by every other server's of the same cell, round by round.
pub(super) fn ratios(figures: &Figures<'_>, settings: &[Setting]) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for setting in settings {
        let name = setting.name();
        let others = figures.0.iter().filter(|r| r.cell == name);
        for theirs in others.filter(|r| r.target != OURS) {
            let pair = figures
                .metric(setting, OURS, "rtt")
                .zip(theirs.metric("rtt"));
            let Some((ours, rtt)) = pair else { continue };
            for (metric, figure) in QUANTILES {
                let Some(estimate) = paired(ours, rtt, figure) else {
                    continue;
                };
                ratios.push(Ratio {
                    cell: name.clone(),
                    target: theirs.target.clone(),
                    metric: metric.into(),
                    estimate,
                });
            }
        }
    }
    ratios
}

fn paired(ours: &Metric, theirs: &Metric, figure: Figure) -> Option<Estimate> {
    let same = |round| theirs.rounds.iter().find(|theirs| theirs.round == round);
    let pair = |own: &OfRound| Some((figure(own), figure(same(own.round)?)));
    let pairs: Vec<(f64, f64)> = ours.rounds.iter().filter_map(pair).collect();
    Estimate::of_ratios(&pairs)
}

/// A confirmable request against a bare echo of as many bytes.
pub(super) fn goals(figures: &Figures<'_>, settings: &[Setting]) -> Vec<GoalResult> {
    let asked = |setting: &&Setting| {
        let kind = (setting.protocol, setting.echo, setting.pace);
        let is_plain = setting.is_local() && setting.security == Security::None;
        is_plain && kind == (Protocol::CoapCon, Echo::Answer, Pace::Next)
    };
    settings
        .iter()
        .filter(asked)
        .map(|setting| goal(figures, setting))
        .collect()
}

fn goal(figures: &Figures<'_>, setting: &Setting) -> GoalResult {
    let median = |server| {
        let metric = figures.metric(setting, server, "rtt")?;
        metric.percentiles.map(|percentiles| percentiles.p50)
    };
    let measured = median(OURS);
    let bound = median(BARE).map(|us| us * TIMES_BARE_MAX);
    GoalResult {
        cell: setting.name(),
        metric: "rtt p50".into(),
        asked: format!("at most {TIMES_BARE_MAX} x {BARE}"),
        bound,
        measured,
        holds: measured
            .zip(bound)
            .map(|(measured, bound)| measured <= bound),
    }
}
