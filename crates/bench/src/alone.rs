//! Experiments whose cells stand alone: each has its link, and its servers are started for it.
//!
//! Cells and contenders come in an order drawn from the seed, in interleaved rounds; what fails stays in
//! the results with its reason.

use std::path::Path;

use crate::clock::now_ns;
use crate::experiments::Order;
use crate::journal::Versions;
use crate::link::{Ends, Links};
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::{CellResult, Run};
use crate::rounds::Rounds;
use crate::sample::Sample;
use crate::targets::Started;

/// A cell that needs nothing from the others.
pub(crate) trait Alone {
    /// Its name: `factor=level;factor=level`.
    fn name(&self) -> String;

    /// The link between its clients and its servers.
    fn link(&self) -> String;

    /// Who is measured in it.
    fn contenders(&self) -> Vec<&'static str>;

    /// How often.
    fn rounds(&self) -> usize;

    /// Measures a contender once.
    fn sample(
        &self,
        contender: &'static str,
        ends: &Ends,
        started: &mut Started,
    ) -> Result<Sample, String>;
}

/// Runs those cells that the order wants. Results are in the order of `cells`, and in one cell by `place`.
pub(crate) fn run<C: Alone>(
    order: &Order<'_>,
    cells: &[C],
    place: impl Fn(&str) -> Option<usize>,
) -> Run {
    let began = now_ns();
    let mut run = Run::begin(order);
    let mut wanted: Vec<&C> = cells.iter().filter(|c| order.wants(&c.name())).collect();
    let to_measure = wanted
        .iter()
        .filter(|cell| !order.journal.has(&cell.name()));
    let progress = Progress::new(to_measure.map(|cell| measurements(*cell)).sum());
    let mut shuffle = Shuffle::new(order.seed);
    shuffle.shuffle(&mut wanted);
    let mut links = Links::new(order);
    for (index, &cell) in wanted.iter().enumerate() {
        let folder = order.work.join(format!("cell-{index}"));
        let measure = |targets: &mut Versions| match links.ends(order.settings, &cell.link()) {
            Ok(ends) => measure(cell, (&ends, &folder), &mut shuffle, &progress, targets),
            Err(reason) => {
                progress.skip(measurements(cell));
                refused(cell, &reason)
            }
        };
        let results = order.journal.cell(&cell.name(), &mut run.targets, measure);
        run.results.extend(results);
        let _ = std::fs::remove_dir_all(&folder);
    }
    progress.finish();
    run.links = links.used();
    let names: Vec<String> = cells.iter().map(C::name).collect();
    run.sort(&names, place);
    run.seconds = (now_ns() - began) as f64 / 1e9;
    run
}

fn measurements<C: Alone>(cell: &C) -> usize {
    cell.contenders().len() * cell.rounds()
}

fn measure<C: Alone>(
    cell: &C,
    (ends, folder): (&Ends, &Path),
    shuffle: &mut Shuffle,
    progress: &Progress,
    targets: &mut Versions,
) -> Vec<CellResult> {
    let mut contenders = cell.contenders();
    let mut started = Started::below(folder);
    let mut rounds = Rounds::new(cell.name(), progress);
    for round in 0..cell.rounds() {
        shuffle.shuffle(&mut contenders);
        for &contender in &contenders {
            rounds.measure(contender, round, || {
                cell.sample(contender, ends, &mut started)
            });
        }
    }
    started.tell(targets);
    rounds.merged()
}

/// A cell whose link is not to be had: each of its contenders with the reason.
fn refused<C: Alone>(cell: &C, reason: &str) -> Vec<CellResult> {
    let name = cell.name();
    let contenders = cell.contenders().into_iter();
    contenders
        .map(|contender| CellResult::absent(&name, contender, reason))
        .collect()
}
