//! A cell while it is measured, round by round.

use std::path::PathBuf;

use super::{Alone, Found, Numbered, Server, Turns};
use crate::link::Ends;
use crate::rounds::Rounds;
use crate::started::Started;
use weir_bench_model::journal::Versions;
use weir_bench_model::random::Random;

/// A cell while it is measured: its servers run for as long.
pub(super) struct Place<'a, C: Alone> {
    pub(super) cell: &'a C,
    folder: PathBuf,
    shuffle: Random,
    contenders: Vec<&'static C::Server>,
    started: Started,
    rounds: Rounds<'a>,
}

impl<'a, C: Alone> Place<'a, C> {
    pub(super) fn of(turns: &'a Turns<'_>, (number, cell): Numbered<'a, C>) -> Self {
        let folder = turns.order.work.join(format!("cell-{number}"));
        let seed = turns.order.seed.wrapping_add((number as u64) << 32);
        Self {
            cell,
            started: Started::below(&folder),
            folder,
            shuffle: Random::of(seed),
            contenders: cell.contenders(),
            rounds: Rounds::new(cell.name(), &turns.progress),
        }
    }

    pub(super) fn measure(&mut self, round: usize, ends: &Ends) {
        if round >= self.cell.rounds() {
            return;
        }
        self.shuffle.shuffle(&mut self.contenders);
        let (cell, started) = (self.cell, &mut self.started);
        for &contender in &self.contenders {
            self.rounds.measure(contender.name(), round, || {
                cell.sample(contender, ends, started)
            });
        }
    }

    /// Stops its servers, and says who was measured and what it gave.
    pub(super) fn leave(self) -> Found {
        let mut versions = Versions::new();
        self.started.tell(&mut versions);
        let results = self.rounds.merged();
        drop(self.started);
        let _ = std::fs::remove_dir_all(&self.folder);
        (versions, results)
    }
}
