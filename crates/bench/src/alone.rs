//! Experiments whose cells stand alone: each has its link, and its servers are started for it.
//!
//! Cells and contenders come in an order drawn from the seed, in interleaved rounds; what fails stays in
//! the results with its reason. A quick run begins with its chief cells and ends when its time is over; in a
//! full one, cells that wait for a long link run [side by side](crate::side_by_side).

use std::path::Path;

use crate::budget::Budget;
use crate::clock::now_ns;
use crate::experiments::{Effort, Order};
use crate::journal::Versions;
use crate::link::{Ends, Links};
use crate::plan::Shuffle;
use crate::process::Processors;
use crate::progress::Progress;
use crate::results::{CellResult, Run};
use crate::rounds::Rounds;
use crate::sample::Sample;
use crate::side_by_side;
use crate::targets::Started;

/// A setting of an experiment's factors, and how much is sent in it.
pub(crate) struct Cell<S, K> {
    /// The factors.
    pub(crate) setting: S,
    /// How much.
    pub(crate) scale: K,
}

/// A server that can be measured.
pub(crate) trait Server: Sync + 'static {
    /// Its name in results.
    fn name(&self) -> &'static str;
}

/// A cell that needs nothing from the others.
pub(crate) trait Alone: Sync {
    /// What is measured in it.
    type Server: Server;

    /// Its name: `factor=level;factor=level`.
    fn name(&self) -> String;

    /// The link between its clients and its servers.
    fn link(&self) -> String;

    /// Who is measured in it.
    fn contenders(&self) -> Vec<&'static Self::Server>;

    /// How often.
    fn rounds(&self) -> usize;

    /// Whether it waits rather than computes, so that others may run beside it.
    fn waits(&self) -> bool {
        side_by_side::waits(&self.link(), false)
    }

    /// Whether a quick run has it before the others.
    fn is_chief(&self) -> bool;

    /// Measures a contender once.
    fn sample(
        &self,
        server: &'static Self::Server,
        ends: &Ends,
        started: &mut Started,
    ) -> Result<Sample, String>;
}

/// Cells of one scale.
pub(crate) fn cells<S, K: Copy>(
    settings: impl IntoIterator<Item = S>,
    scale: K,
) -> Vec<Cell<S, K>> {
    let cell = |setting| Cell { setting, scale };
    settings.into_iter().map(cell).collect()
}

/// What all cells of a run are measured with.
pub(crate) struct Turns<'a> {
    /// What was asked for.
    pub(crate) order: &'a Order<'a>,
    progress: Progress,
}

/// A cell and its number in the run.
pub(crate) type Numbered<'a, C> = (usize, &'a C);

/// Who was measured, and what it gave.
pub(crate) type Found = (Versions, Vec<CellResult>);

/// Runs those cells that the order wants. Results are in the order of `cells`, and in one cell in that of `servers`.
pub(crate) fn run<C: Alone>(order: &Order<'_>, cells: &[C], servers: &[C::Server]) -> Run {
    let began = now_ns();
    let mut budget = Budget::of(order.effort);
    let mut run = Run::begin(order);
    let wanted = in_turn(order, cells, &budget);
    let turns = Turns::new(order, &wanted);
    let is_full = order.effort == Effort::Full;
    let (waiting, prompt): (Vec<Numbered<'_, C>>, Vec<_>) =
        (wanted.into_iter().enumerate()).partition(|(_, cell)| is_full && cell.waits());
    let mut links = Links::new(order);
    for cell in prompt {
        if order.journal.has(&cell.1.name()) || budget.allows(&cell.1.name()) {
            run.add(turns.measure(cell, &mut links));
        } else {
            turns.progress.skip(measurements(cell.1));
        }
    }
    side_by_side::run(&turns, waiting, &mut run);
    turns.progress.finish();
    run.left_out = budget.left_out();
    run.links = links.used();
    let names: Vec<String> = cells.iter().map(C::name).collect();
    run.sort(&names, |name| {
        servers.iter().position(|server| server.name() == name)
    });
    run.seconds = (now_ns() - began) as f64 / 1e9;
    run
}

/// The cells that are wanted, shuffled; the chief ones first where there is haste.
fn in_turn<'a, C: Alone>(order: &Order<'_>, cells: &'a [C], budget: &Budget) -> Vec<&'a C> {
    let mut wanted: Vec<&C> = cells.iter().filter(|c| order.wants(&c.name())).collect();
    Shuffle::new(order.seed).shuffle(&mut wanted);
    if budget.is_short() {
        wanted.sort_by_key(|cell| !cell.is_chief());
    }
    wanted
}

fn measurements<C: Alone>(cell: &C) -> usize {
    cell.contenders().len() * cell.rounds()
}

impl<'a> Turns<'a> {
    fn new<C: Alone>(order: &'a Order<'a>, wanted: &[&C]) -> Self {
        let to_measure = wanted
            .iter()
            .filter(|cell| !order.journal.has(&cell.name()));
        let progress = Progress::new(to_measure.map(|cell| measurements(*cell)).sum());
        Self { order, progress }
    }

    /// Measures a cell on its link, or finds what an earlier attempt kept of it.
    pub(crate) fn measure<C: Alone>(
        &self,
        (number, cell): Numbered<'_, C>,
        links: &mut Links<'_>,
    ) -> Found {
        let name = cell.name();
        let folder = self.order.work.join(format!("cell-{number}"));
        let mut versions = Versions::new();
        let measure = |versions: &mut Versions| match links.ends(self.order.settings, &cell.link())
        {
            Ok(ends) => self.on_link((number, cell), (&ends, &folder), versions),
            Err(reason) => {
                self.progress.skip(measurements(cell));
                refused(cell, &reason)
            }
        };
        let results = self.order.journal.cell(&name, &mut versions, measure);
        let _ = std::fs::remove_dir_all(&folder);
        (versions, results)
    }

    fn on_link<C: Alone>(
        &self,
        (number, cell): Numbered<'_, C>,
        (ends, folder): (&Ends, &Path),
        versions: &mut Versions,
    ) -> Vec<CellResult> {
        let before = Processors::now();
        let mut shuffle = Shuffle::new(self.order.seed.wrapping_add((number as u64) << 32));
        let mut contenders = cell.contenders();
        let mut started = Started::below(folder);
        let mut rounds = Rounds::new(cell.name(), &self.progress);
        for round in 0..cell.rounds() {
            shuffle.shuffle(&mut contenders);
            for &contender in &contenders {
                rounds.measure(contender.name(), round, || {
                    cell.sample(contender, ends, &mut started)
                });
            }
        }
        started.tell(versions);
        let mut results = rounds.merged();
        if self.order.effort == Effort::Full && cell.waits() {
            side_by_side::mark(&mut results, Processors::now().share_since(before));
        }
        results
    }
}

/// A cell whose link is not to be had: each of its contenders with the reason.
fn refused<C: Alone>(cell: &C, reason: &str) -> Vec<CellResult> {
    let name = cell.name();
    let contenders = cell.contenders().into_iter();
    contenders
        .map(|contender| CellResult::absent(&name, contender.name(), reason))
        .collect()
}
