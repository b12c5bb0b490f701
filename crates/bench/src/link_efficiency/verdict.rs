//! Ours against theirs, and against the bare echo.

use super::cells::{Pace, Setting};
use super::figures::Figures;
use super::protocol::{Echo, Protocol, Security};
use super::servers::BARE;
use crate::ratios::Compared;
use crate::results::{GoalResult, OURS};

/// How many times a bare echo of datagrams a confirmable request may take.
const TIMES_BARE_MAX: f64 = 1.3;

/// What of ours is divided by every other server's.
pub(super) const COMPARED: [Compared; 2] = [
    ("rtt", "rtt_p50", |round| round.p50),
    ("rtt", "rtt_p99", |round| round.p99),
];

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
