//! Ours against theirs, and against the bare echo.

use super::cells::{Pace, Setting};
use super::figures::Figures;
use super::protocol::{Echo, Protocol, Security};
use super::servers::BARE;
use weir_bench_model::ratios::{Compared, paired};
use weir_bench_model::results::{CellResult, GoalResult, Metric, OURS};
use weir_bench_model::verdict::mark_share;

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

/// Marks what takes hardly longer than a bare echo in its cell: there the machine is measured, and not the server.
/// On links all do, whose times are the link's; those are not marked.
pub(super) fn mark_ceiling(results: &mut [CellResult], settings: &[Setting]) {
    let median = |result: &CellResult| Some(result.metric("rtt")?.percentiles?.p50);
    for setting in settings.iter().filter(|setting| setting.is_local()) {
        let cell = setting.name();
        let mut bare = results.iter().filter(|it| it.target == BARE);
        let Some(bare) = bare.find(|it| it.cell == cell).and_then(median) else {
            continue;
        };
        let others = results
            .iter_mut()
            .filter(|it| it.target != BARE && it.cell == cell);
        for result in others {
            if let Some(us) = median(result) {
                mark_share(result, "rtt", bare / us);
            }
        }
    }
}

/// Judged by the interval of the ratio of medians, round by round.
fn goal(figures: &Figures<'_>, setting: &Setting) -> GoalResult {
    let rtt = |server| figures.metric(setting, server, "rtt");
    let (own, bare) = (rtt(OURS), rtt(BARE));
    let median = |metric: &Metric| metric.percentiles.map(|percentiles| percentiles.p50);
    let bare_us = bare.and_then(median);
    let ratio = own
        .zip(bare)
        .and_then(|(own, bare)| paired(own, bare, |round| round.p50));
    let estimate = ratio.zip(bare_us).map(|(ratio, us)| ratio.times(us));
    let bound = bare_us.map(|us| us * TIMES_BARE_MAX);
    GoalResult {
        cell: setting.name(),
        metric: "rtt p50".into(),
        asked: format!("at most {TIMES_BARE_MAX} x {BARE}"),
        bound,
        measured: match estimate {
            Some(estimate) => Some(estimate.mean),
            None => own.and_then(median),
        },
        estimate,
        holds: ratio.and_then(|ratio| ratio.is_at_most(TIMES_BARE_MAX)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::link_efficiency::cells;
    use weir_bench_model::effort::Effort;
    use weir_bench_model::latency::Percentiles;
    use weir_bench_model::results::single;

    fn result(cell: &str, target: &str, p50: f64) -> CellResult {
        let mut rtt = single("rtt", "us", p50);
        rtt.percentiles = Some(Percentiles {
            p50,
            ..Percentiles::default()
        });
        CellResult {
            cell: cell.into(),
            target: target.into(),
            status: "ok".into(),
            metrics: vec![rtt],
            ..CellResult::default()
        }
    }

    #[test]
    fn what_takes_hardly_longer_than_a_bare_echo_of_its_cell_is_marked_on_the_machine_itself() {
        let settings = cells::settings(Effort::Quick);
        let first = |is_local| {
            let found = settings.iter().find(|it| it.is_local() == is_local);
            found.unwrap().name()
        };
        let (here, far) = (first(true), first(false));
        let mut results = [
            result(&here, OURS, 24.0),
            result(&here, "libcoap", 30.0),
            result(&here, BARE, 20.0),
            result(&far, OURS, 24.0),
            result(&far, BARE, 20.0),
        ];
        mark_ceiling(&mut results, &settings);
        let marked = results.each_ref().map(|it| it.status == "ceiling");
        assert_eq!(marked, [true, false, false, false, false]);
        let share = results[1].metric("rtt_of_ceiling").unwrap();
        assert!((share.estimate.mean - 200.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_goal_is_judged_by_the_ratio_of_rounds_and_undecided_within_its_interval() {
        let settings = cells::settings(Effort::Full);
        let is_judged = |it: &&Setting| {
            it.is_local() && (it.protocol, it.pace) == (Protocol::CoapCon, Pace::Next)
        };
        let cell = settings.iter().find(is_judged).unwrap().name();
        let of = |target, p50s: &[f64]| {
            let mut result = result(&cell, target, p50s[0]);
            let round = |(round, &p50): (usize, &f64)| weir_bench_model::results::Figures {
                round,
                mean: p50,
                p50,
                p99: p50,
            };
            result.metrics[0].rounds = p50s.iter().enumerate().map(round).collect();
            result
        };
        let verdict = |ours: &[f64], bare: &[f64]| {
            let results = [of(OURS, ours), of(BARE, bare)];
            let goals = goals(&Figures(&results), &settings);
            goals
                .into_iter()
                .find(|it| it.cell == cell)
                .unwrap()
                .verdict("holds")
        };
        assert_eq!(verdict(&[11.0, 22.0, 43.0], &[10.0, 20.0, 40.0]), "holds");
        assert_eq!(
            verdict(&[11.0, 16.0, 12.0], &[10.0, 10.0, 10.0]),
            "undecided"
        );
        assert_eq!(
            verdict(&[20.0, 21.0, 20.0], &[10.0, 10.0, 10.0]),
            "falls short"
        );
        assert_eq!(verdict(&[11.0], &[10.0]), "undecided");
    }
}
