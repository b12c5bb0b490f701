//! The figures that ours must reach, each beside its reference in the same run.

use super::cells::{Place, name};
use super::codings::From;
use super::exificient::NAME as EXIFICIENT;
use super::figures::{Figures, Of};
use weir_bench_model::results::{GoalResult, Metric, OURS, Ratio};
use weir_bench_model::statistics::Estimate;

/// One goal.
struct Goal {
    of: Of<'static>,
    format: &'static str,
    /// Whose figure it is, other than ours.
    target: &'static str,
    metric: &'static str,
    asked: Asked,
}

enum Asked {
    /// So much.
    Least(f64),
    /// No more than so much.
    Most(f64),
    /// So many times the figure of a reference: format, target, metric.
    LeastTimes(f64, &'static str, &'static str, &'static str),
    /// No more than so many times that.
    MostTimes(f64, &'static str, &'static str, &'static str),
}

const A: Of<'static> = Of {
    place: Place::Native,
    data: "a",
    file: "block",
    from: From::Document,
};
const B: Of<'static> = Of {
    place: Place::Native,
    data: "b",
    file: "elements",
    from: From::Document,
};
const SERIES: Of<'static> = Of {
    from: From::Observations,
    ..A
};
const FULL: Of<'static> = Of {
    file: "full-precision",
    ..SERIES
};
const MESSAGE: Of<'static> = Of {
    place: Place::Native,
    data: "message",
    file: "5",
    from: From::Observations,
};

const PARSE: &str = "parse_rate";
const ENCODE: &str = "from_xml_rate";

fn goals() -> Vec<Goal> {
    let mut all = goals_of_documents();
    all.extend(goals_of_observations());
    all
}

/// A goal that is ours to reach.
fn goal(of: Of<'static>, format: &'static str, metric: &'static str, asked: Asked) -> Goal {
    Goal {
        of,
        format,
        target: OURS,
        metric,
        asked,
    }
}

/// Those of EXI, on documents A and B.
fn goals_of_documents() -> Vec<Goal> {
    let faster = |of, format, metric, times| {
        let asked = Asked::LeastTimes(times, format, EXIFICIENT, metric);
        goal(of, format, metric, asked)
    };
    let no_larger = |of, format| {
        let asked = Asked::MostTimes(1.01, format, EXIFICIENT, "size");
        goal(of, format, "size", asked)
    };
    let than_quick_xml = Asked::LeastTimes(1.0, "xml", "quick-xml", PARSE);
    vec![
        faster(B, "exi", PARSE, 2.5),
        faster(B, "exi-c", PARSE, 6.0),
        faster(A, "exi-byte", PARSE, 25.0),
        faster(A, "exi-c", PARSE, 50.0),
        faster(B, "exi", ENCODE, 2.5),
        faster(B, "exi-c", ENCODE, 2.5),
        faster(A, "exi-byte", ENCODE, 10.0),
        faster(A, "exi-c", ENCODE, 10.0),
        goal(B, "exi", PARSE, than_quick_xml),
        no_larger(A, "exi-c"),
        no_larger(B, "exi-c"),
    ]
}

/// Those of messages, and of the series of document A: of the format `block` as a whole, from a batch
/// with names to a batch, and of its columns alone.
fn goals_of_observations() -> Vec<Goal> {
    let written = "serialize_rate";
    let (encoded, decoded) = ("serialize_observations", "parse_observations");
    let than_serde = Asked::LeastTimes(1.0, "json", "serde_json", written);
    let than_pco = Asked::MostTimes(1.05, "columns", "pco", "size");
    let in_browser = SERIES.at(Place::Browser(1));
    vec![
        goal(MESSAGE, "json", written, than_serde),
        goal(SERIES, "block", "size", Asked::Most(16_500.0)),
        goal(SERIES, "block", encoded, Asked::Least(50e6)),
        goal(SERIES, "block", decoded, Asked::Least(150e6)),
        goal(SERIES, "columns", encoded, Asked::Least(50e6)),
        goal(SERIES, "columns", decoded, Asked::Least(150e6)),
        Goal {
            target: super::browser::COLUMNS,
            ..goal(in_browser, "block", decoded, Asked::Least(50e6))
        },
        goal(FULL, "columns", "size", than_pco),
    ]
}

/// Judges every goal.
pub(super) fn judge(figures: &Figures<'_>) -> Vec<GoalResult> {
    goals().iter().map(|goal| goal.judge(figures)).collect()
}

/// Ours against the reference of every goal that has one, round by round.
pub(super) fn ratios(figures: &Figures<'_>) -> Vec<Ratio> {
    let ratio = |goal: Goal| {
        let (_, format, target, metric) = goal.asked.reference()?;
        let theirs = figures.metric_by(goal.of, format, target, metric)?;
        let ours = figures.metric_by(goal.of, goal.format, goal.target, goal.metric)?;
        Some(Ratio {
            cell: goal.cell(),
            target: target.into(),
            metric: goal.metric.into(),
            estimate: paired(ours, theirs)?,
        })
    };
    goals().into_iter().filter_map(ratio).collect()
}

/// The ratio of two figures, pairs of the same round.
fn paired(ours: &Metric, theirs: &Metric) -> Option<Estimate> {
    let same = |round| theirs.rounds.iter().find(|figures| figures.round == round);
    let pair = |own: &weir_bench_model::results::Figures| Some((own.p50, same(own.round)?.p50));
    let pairs: Vec<(f64, f64)> = ours.rounds.iter().filter_map(pair).collect();
    Estimate::of_ratios(&pairs)
}

impl Asked {
    fn reference(&self) -> Option<(f64, &'static str, &'static str, &'static str)> {
        match *self {
            Self::LeastTimes(times, format, target, metric)
            | Self::MostTimes(times, format, target, metric) => {
                Some((times, format, target, metric))
            }
            _ => None,
        }
    }

    fn is_floor(&self) -> bool {
        matches!(self, Self::Least(_) | Self::LeastTimes(..))
    }

    fn words(&self) -> String {
        let least = if self.is_floor() {
            "at least"
        } else {
            "at most"
        };
        match self {
            Self::Least(bound) | Self::Most(bound) => format!("{least} {bound}"),
            Self::LeastTimes(times, format, target, _)
            | Self::MostTimes(times, format, target, _) => {
                format!("{least} {times} x {target}'s {format}")
            }
        }
    }
}

impl Goal {
    fn cell(&self) -> String {
        name(
            self.of.place,
            self.of.data,
            self.of.file,
            self.of.from,
            self.format,
        )
    }

    fn judge(&self, figures: &Figures<'_>) -> GoalResult {
        let ours = figures.metric_by(self.of, self.format, self.target, self.metric);
        let measured = ours.map(|metric| metric.estimate.mean);
        let bound = match self.asked {
            Asked::Least(bound) | Asked::Most(bound) => Some(bound),
            Asked::LeastTimes(times, format, target, metric)
            | Asked::MostTimes(times, format, target, metric) => {
                let theirs = figures.metric_by(self.of, format, target, metric);
                theirs.map(|metric| times * metric.estimate.mean)
            }
        };
        let reached = |(measured, bound): (f64, f64)| match self.asked.is_floor() {
            true => measured >= bound,
            false => measured <= bound,
        };
        GoalResult {
            cell: self.cell(),
            metric: self.metric.into(),
            asked: self.asked.words(),
            bound,
            measured,
            estimate: None,
            holds: measured.zip(bound).map(reached),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::outcome::{Measure, Outcome};
    use crate::encoding::steady::Steady;
    use crate::encoding::task::Task;
    use weir_bench_model::results::CellResult;

    fn result(target: &str, us: &[f64]) -> CellResult {
        let mut outcome = Outcome {
            bytes: 100,
            ..Outcome::default()
        };
        for (round, us) in us.iter().enumerate() {
            outcome.add(Task::Parse, round, Ok(Steady::of(vec![*us; 10])));
        }
        let cell = name(Place::Native, "b", "elements", From::Document, "exi");
        outcome.into_result(
            &cell,
            target,
            Measure {
                xml_bytes: 1000,
                observations: None,
            },
        )
    }

    fn of<'a>(goals: &'a [GoalResult], asked: &str) -> &'a GoalResult {
        goals
            .iter()
            .find(|goal| goal.asked.starts_with(asked))
            .unwrap()
    }

    #[test]
    fn a_goal_against_a_reference_is_judged_by_the_same_runs_figures() {
        let results = [
            result(OURS, &[10.0, 20.0]),
            result(EXIFICIENT, &[30.0, 60.0]),
        ];
        let judged = judge(&Figures(&results));
        assert_eq!(
            of(&judged, "at least 2.5 x exificient's exi").holds,
            Some(true)
        );
        let results = [result(OURS, &[20.0]), result(EXIFICIENT, &[30.0])];
        let judged = judge(&Figures(&results));
        assert_eq!(
            of(&judged, "at least 2.5 x exificient's exi").holds,
            Some(false)
        );
    }

    #[test]
    fn a_goal_without_its_reference_is_not_judged() {
        let judged = judge(&Figures(&[result(OURS, &[10.0])]));
        assert_eq!(of(&judged, "at least 2.5 x").holds, None);
    }

    #[test]
    fn ratios_pair_the_rounds() {
        let results = [
            result(OURS, &[10.0, 20.0]),
            result(EXIFICIENT, &[30.0, 60.0]),
        ];
        let ratios = ratios(&Figures(&results));
        let ratio = ratios.iter().find(|ratio| ratio.metric == PARSE).unwrap();
        assert!((ratio.estimate.mean - 3.0).abs() < 1e-9);
        assert!((ratio.estimate.high - 3.0).abs() < 1e-9);
    }
}
