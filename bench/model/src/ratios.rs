//! Ours divided by every other's of the same cell, round by round.

use crate::results::{CellResult, Figures, Metric, Ratio, is_ours};
use crate::statistics::Estimate;

/// A figure of a round.
pub type Figure = fn(&Figures) -> f64;

/// What is compared: a metric, the name of what is compared of it, and that.
pub type Compared = (&'static str, &'static str, Figure);

/// All pairs of ours and another's in one cell, in the order of the results.
pub fn between(results: &[CellResult], compared: &[Compared]) -> Vec<Ratio> {
    of_pairs(results, compared, |ours, theirs| {
        ours.cell == theirs.cell && is_ours(&ours.target) && !is_ours(&theirs.target)
    })
}

/// All pairs of which the first is to be divided by the second, in the order of the first ones. Cells of a pair have
/// taken turns, or its rounds are no pairs.
pub fn of_pairs(
    results: &[CellResult],
    compared: &[Compared],
    is_pair: impl Fn(&CellResult, &CellResult) -> bool,
) -> Vec<Ratio> {
    let is_pair = &is_pair;
    let of_first = results.iter().flat_map(|first| {
        let seconds = results.iter().filter(move |second| is_pair(first, second));
        seconds.flat_map(move |second| pairs(first, second, compared))
    });
    of_first.collect()
}

/// What a ratio of a figure is called; whose it is where that is not ours.
pub fn name_of(figure: &str, first: &str) -> String {
    match is_ours(first) {
        true => figure.into(),
        false => format!("{figure} of {first}"),
    }
}

fn pairs(first: &CellResult, second: &CellResult, compared: &[Compared]) -> Vec<Ratio> {
    let pair = |&(metric, name, figure): &Compared| {
        let estimate = paired(first.metric(metric)?, second.metric(metric)?, figure)?;
        Some(Ratio {
            cell: first.cell.clone(),
            target: second.target.clone(),
            metric: name_of(name, &first.target),
            estimate,
        })
    };
    compared.iter().filter_map(pair).collect()
}

/// One figure divided by the other, round by round.
pub fn paired(ours: &Metric, theirs: &Metric, figure: Figure) -> Option<Estimate> {
    let same = |round| theirs.rounds.iter().find(|theirs| theirs.round == round);
    let pair = |own: &Figures| Some((figure(own), figure(same(own.round)?)));
    let pairs: Vec<(f64, f64)> = ours.rounds.iter().filter_map(pair).collect();
    Estimate::of_ratios(&pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn result(target: &str, p50s: &[f64]) -> CellResult {
        let round = |(round, &p50): (usize, &f64)| Figures {
            round,
            mean: p50,
            p50,
            p99: p50,
        };
        let rtt = Metric {
            metric: "rtt".into(),
            rounds: p50s.iter().enumerate().map(round).collect(),
            ..Metric::default()
        };
        CellResult {
            cell: "a=1".into(),
            target: target.into(),
            metrics: vec![rtt],
            ..CellResult::default()
        }
    }

    #[test]
    fn rounds_are_divided_pair_by_pair_and_only_ours_by_theirs() {
        let results = [
            result("weir", &[2.0, 20.0, 200.0]),
            result("libcoap", &[1.0, 10.0]),
            result("tornado", &[]),
        ];
        let ratios = between(&results, &[("rtt", "rtt_p50", |round| round.p50)]);
        let [ratio] = &ratios[..] else {
            panic!("{ratios:?}");
        };
        assert_eq!((ratio.target.as_str(), ratio.estimate.n), ("libcoap", 2));
        assert!((ratio.estimate.mean - 2.0).abs() < 1e-9);
    }
}
