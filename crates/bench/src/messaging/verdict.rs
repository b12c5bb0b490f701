//! Ours divided by every other broker's, round by round.

use crate::results::{CellResult, Figures, Metric, Ratio, Run, is_ours};
use crate::statistics::Estimate;

/// A figure of a round.
type Figure = fn(&Figures) -> f64;

/// What is compared, by metric and figure.
const COMPARED: [(&str, &str, Figure); 5] = [
    ("t_transfer", "t_transfer_p50", |round| round.p50),
    ("t_transfer", "t_transfer_mean", |round| round.mean),
    ("message_rate", "message_rate", |round| round.mean),
    ("server_cpu", "server_cpu", |round| round.mean),
    ("server_memory_peak", "server_memory_peak", |round| {
        round.mean
    }),
];

/// All pairs of a run.
pub(super) fn ratios(run: &Run) -> Vec<Ratio> {
    let ours = run.results.iter().filter(|result| is_ours(&result.target));
    ours.flat_map(|ours| {
        let of_cell = run.results.iter().filter(|theirs| theirs.cell == ours.cell);
        let others = of_cell.filter(|theirs| !is_ours(&theirs.target));
        others.flat_map(|theirs| pairs(ours, theirs))
    })
    .collect()
}

fn pairs(ours: &CellResult, theirs: &CellResult) -> Vec<Ratio> {
    let pair = |&(metric, name, figure): &(&str, &str, Figure)| {
        let estimate = paired(ours.metric(metric)?, theirs.metric(metric)?, figure)?;
        Some(Ratio {
            cell: ours.cell.clone(),
            target: theirs.target.clone(),
            metric: name.into(),
            estimate,
        })
    };
    COMPARED.iter().filter_map(pair).collect()
}

fn paired(ours: &Metric, theirs: &Metric, figure: Figure) -> Option<Estimate> {
    let same = |round| theirs.rounds.iter().find(|theirs| theirs.round == round);
    let pair = |own: &Figures| Some((figure(own), figure(same(own.round)?)));
    let pairs: Vec<(f64, f64)> = ours.rounds.iter().filter_map(pair).collect();
    Estimate::of_ratios(&pairs)
}
