//! What the gateway has to reach, each judged by the interval of its rounds and set beside what 52North's users have.
//!
//! A rate is judged by its mean over rounds, a time by the medians of rounds. A goal holds where the whole interval
//! does, falls short where none of it does, and is undecided between; one round decides nothing. The decision worth
//! arguing: memory is flat where a long answer grows it by no more than a short one and a constant ([`SLACK_BYTES`]),
//! both by the mean over rounds; a gateway that kept its answer would show that in each of them, and what else it does
//! meanwhile shows in some.

use super::cells::{
    BULK, FEW, LATEST_OF_ALL, LONG, SHORT_IN, SHORT_OUT, SINGLES, Setting, lengths, long,
};
use super::sample::{ACKNOWLEDGEMENT, ANSWER, GROWTH, RATE};
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::published::SOS;
use weir_bench_model::results::{CellResult, GoalResult, Metric, OURS, Run};
use weir_bench_model::statistics::Estimate;

/// What a long answer may take more than a short one and still be flat, bytes: less than 100,000 observations are in
/// the shortest form.
const SLACK_BYTES: f64 = 2_097_152.0;

/// What is asked of one figure.
struct Demand {
    setting: Setting,
    figure: Figure,
    bound: f64,
    /// The operation of 52North's that stands beside.
    beside: Option<&'static str>,
}

/// Which figure; of rates more is better, of all others less.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// At least so many observations a second.
    Rate,
    /// At most so many milliseconds from a message to its answer.
    Acknowledgement,
    /// At most so many milliseconds from a request to the end of its answer.
    Answer,
    /// At most so many bytes by which memory grows.
    Growth,
}

impl Figure {
    fn metric(self) -> &'static str {
        match self {
            Self::Rate => RATE,
            Self::Acknowledgement => ACKNOWLEDGEMENT,
            Self::Answer => ANSWER,
            Self::Growth => GROWTH,
        }
    }

    /// Its name on the page.
    fn words(self) -> String {
        match self {
            Self::Rate => format!("{RATE} mean, 1/s"),
            Self::Growth => format!("{GROWTH} mean, bytes"),
            _ => format!("{} p50, ms", self.metric()),
        }
    }

    /// Over rounds; of times in milliseconds.
    fn of(self, metric: &Metric) -> Option<Estimate> {
        match self {
            Self::Rate | Self::Growth => Some(metric.estimate),
            _ => medians_ms(metric),
        }
    }

    /// Whether all of an interval holds, or none of it; of one round nothing is known.
    fn holds(self, estimate: &Estimate, bound: f64) -> Option<bool> {
        match self {
            Self::Rate => estimate.is_at_least(bound),
            _ => estimate.is_at_most(bound),
        }
    }
}

/// Of the medians of rounds, which are microseconds: milliseconds.
pub(super) fn medians_ms(metric: &Metric) -> Option<Estimate> {
    let medians: Vec<f64> = metric.rounds.iter().map(|round| round.p50 / 1e3).collect();
    Estimate::of(&medians)
}

/// All demands, in the order of the page.
fn demands() -> Vec<Demand> {
    let demand = |setting, figure, bound, beside| Demand {
        setting,
        figure,
        bound,
        beside,
    };
    let mut all = vec![
        demand(BULK, Figure::Rate, 200_000.0, None),
        demand(SINGLES, Figure::Rate, 10_000.0, None),
    ];
    all.extend(LATEST_OF_ALL.map(|it| demand(it, Figure::Answer, 1.0, None)));
    all.extend(SHORT_IN.map(|it| demand(it, Figure::Acknowledgement, 20.0, Some("InsertResult"))));
    all.extend(SHORT_OUT.map(|it| demand(it, Figure::Answer, 5.0, Some("GetObservation"))));
    let [_, text, _] = long(LONG);
    all.push(demand(text, Figure::Rate, 1_000_000.0, None));
    all
}

/// Whether a goal rests on a setting, so that a quick run begins with it.
pub(super) fn rest_on(setting: &Setting) -> bool {
    let name = setting.name();
    let is_judged = demands().iter().any(|it| it.setting.name() == name);
    is_judged || long(FEW).iter().any(|it| it.name() == name)
}

/// Every goal of a run, of what was not measured too.
pub(super) fn of(run: &Run) -> Vec<GoalResult> {
    let mut goals: Vec<_> = demands().iter().map(|it| it.goal(run)).collect();
    let effort = match run.effort.as_str() {
        "quick" => Effort::Quick,
        _ => Effort::Full,
    };
    let longer = lengths(effort).iter().filter(|&&length| length > FEW);
    goals.extend(
        longer
            .flat_map(|&length| long(length))
            .map(|it| flat(run, &it)),
    );
    goals
}

impl Demand {
    fn goal(&self, run: &Run) -> GoalResult {
        let result = ours(run, &self.setting);
        let metric = result.and_then(|it| it.metric(self.figure.metric()));
        let estimate = metric.and_then(|it| self.figure.of(it));
        // A figure that was bought with losses reaches nothing.
        let has_lost = result.is_some_and(|it| it.metrics.iter().any(|metric| metric.lost > 0));
        let judged = estimate.and_then(|it| self.figure.holds(&it, self.bound));
        GoalResult {
            cell: self.setting.name(),
            metric: self.figure.words(),
            asked: self.asked(),
            bound: Some(self.bound),
            measured: estimate.map(|it| it.mean),
            estimate,
            holds: if has_lost { Some(false) } else { judged },
        }
    }

    fn asked(&self) -> String {
        let asked = match self.figure {
            Figure::Rate => "at least",
            _ => "at most",
        };
        match self.beside.and_then(published_s) {
            Some(seconds) => format!("{asked} ({}: {seconds} s)", SOS.cited()),
            None => asked.into(),
        }
    }
}

/// Seconds that 52North's user states of an operation.
pub(super) fn published_s(operation: &str) -> Option<f64> {
    let rows = SOS.rows();
    let row = rows.iter().find(|row| row.text("operation") == operation);
    row.and_then(|row| row.number("seconds"))
}

/// Ours in a cell.
pub(super) fn ours<'a>(run: &'a Run, setting: &Setting) -> Option<&'a CellResult> {
    let name = setting.name();
    let mut results = run.results.iter();
    results.find(|it| it.target == OURS && it.cell == name)
}

/// By how much memory grew in a cell, over rounds, bytes.
pub(super) fn growth(run: &Run, setting: &Setting) -> Option<Estimate> {
    let metric = ours(run, setting)?.metric(GROWTH)?;
    Figure::Growth.of(metric)
}

/// That an answer as long as this takes no more memory than a short one of its form.
fn flat(run: &Run, setting: &Setting) -> GoalResult {
    let few = Setting {
        observations: FEW,
        ..*setting
    };
    let estimate = growth(run, setting);
    let bound = growth(run, &few).map(|it| it.mean + SLACK_BYTES);
    let both = estimate.zip(bound);
    GoalResult {
        cell: setting.name(),
        metric: Figure::Growth.words(),
        asked: format!(
            "at most {} more than an answer of {} takes",
            number(SLACK_BYTES),
            number(FEW as f64)
        ),
        bound,
        measured: estimate.map(|it| it.mean),
        // Without a bound it is not undecided, but not measured.
        estimate: both.map(|(estimate, _)| estimate),
        holds: both.and_then(|(estimate, bound)| Figure::Growth.holds(&estimate, bound)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::Figures;

    fn metric(name: &str, rounds: &[f64]) -> Metric {
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
    }

    fn run(results: &[(Setting, Metric)]) -> Run {
        let result = |(setting, metric): &(Setting, Metric)| CellResult {
            cell: setting.name(),
            target: OURS.into(),
            metrics: vec![metric.clone()],
            ..CellResult::default()
        };
        Run {
            effort: "quick".into(),
            results: results.iter().map(result).collect(),
            ..Run::default()
        }
    }

    fn goal(run: &Run, setting: &Setting, metric: &str) -> GoalResult {
        let mut goals = of(run).into_iter();
        let is = |it: &GoalResult| it.cell == setting.name() && it.metric.starts_with(metric);
        goals.find(is).unwrap()
    }

    #[test]
    fn a_goal_holds_where_the_whole_interval_does_and_is_undecided_where_it_meets_the_bound() {
        let of_rates = |rounds: &[f64]| {
            let goal = goal(&run(&[(BULK, metric(RATE, rounds))]), &BULK, RATE);
            (goal.holds, goal.verdict("holds"))
        };
        assert_eq!(of_rates(&[300e3, 310e3, 305e3]), (Some(true), "holds"));
        assert_eq!(
            of_rates(&[100e3, 110e3, 105e3]),
            (Some(false), "falls short")
        );
        assert_eq!(of_rates(&[190e3, 230e3, 210e3]), (None, "undecided"));
        assert_eq!(of_rates(&[300e3]), (None, "undecided"));
        let nothing = goal(&Run::default(), &BULK, RATE);
        assert_eq!(nothing.verdict("holds"), "not measured");
    }

    #[test]
    fn a_time_is_judged_by_the_medians_of_rounds_in_milliseconds_beside_the_published_one() {
        let [insert, _] = SHORT_IN;
        let times = metric(ACKNOWLEDGEMENT, &[12_000.0, 13_000.0, 12_500.0]);
        let goal = goal(&run(&[(insert, times)]), &insert, ACKNOWLEDGEMENT);
        assert_eq!((goal.measured, goal.holds), (Some(12.5), Some(true)));
        assert_eq!(goal.asked, "at most (52North/SOS, issue 825: 120 s)");
        let shown = goal.measured().unwrap();
        assert_eq!(shown, "12.5 (11.3 to 13.7)");
    }

    #[test]
    fn what_was_lost_reaches_nothing() {
        let mut rate = metric(RATE, &[300e3, 310e3, 305e3]);
        rate.lost = 1;
        assert_eq!(goal(&run(&[(BULK, rate)]), &BULK, RATE).holds, Some(false));
    }

    #[test]
    fn memory_is_flat_where_a_long_answer_takes_no_more_than_a_short_one_and_a_constant() {
        let [[_, few, _], [_, many, _]] = [FEW, LONG].map(long);
        let holds = |of_many: &[f64]| {
            let all = [
                (few, metric(GROWTH, &[100e3, 300e3])),
                (many, metric(GROWTH, of_many)),
            ];
            goal(&run(&all), &many, GROWTH).holds
        };
        assert_eq!(holds(&[0.9e6, 1.0e6]), Some(true));
        assert_eq!(holds(&[3.0e6, 3.1e6]), Some(false));
        assert_eq!(holds(&[0.5e6, 3.0e6]), None);
        let alone = run(&[(many, metric(GROWTH, &[0.0]))]);
        assert_eq!(goal(&alone, &many, GROWTH).verdict("holds"), "not measured");
    }

    #[test]
    fn goals_rest_on_cells_of_a_quick_run() {
        let quick = super::super::cells::names(Effort::Quick);
        let goals = of(&run(&[]));
        assert_eq!(goals.len(), 10 + 3);
        for goal in goals {
            assert!(quick.contains(&goal.cell), "{}", goal.cell);
        }
    }
}
