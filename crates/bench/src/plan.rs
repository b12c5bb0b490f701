//! What a run will do and in which order: cells shuffled by a seed, contenders within each round.

use crate::cell::{Cell, Contender};
use crate::experiments::{Effort, Experiment};

/// A run to be made.
pub(crate) struct Plan {
    /// The experiment.
    pub(crate) experiment: &'static Experiment,
    /// The cells, in the order in which they are run.
    pub(crate) cells: Vec<Cell>,
    /// What orders cells and contenders.
    pub(crate) seed: u64,
    /// How much time it takes.
    pub(crate) effort: Effort,
}

/// The same order for the same seed, everywhere (SplitMix64).
pub(crate) struct Shuffle(u64);

impl Plan {
    /// The cells of an experiment whose name contains `only`, shuffled.
    pub(crate) fn new(
        experiment: &'static Experiment,
        effort: Effort,
        only: &str,
        seed: u64,
    ) -> Self {
        let mut cells = (experiment.cells)(effort);
        // The semicolon lets `subscribers=10;` mean ten and not ten thousand.
        cells.retain(|cell| (cell.name() + ";").contains(only));
        Shuffle::new(seed).shuffle(&mut cells);
        Self {
            experiment,
            cells,
            seed,
            effort,
        }
    }

    /// The contenders of each round of a cell, each round in an order of its own.
    pub(crate) fn rounds(&self, cell: &Cell) -> Vec<Vec<Contender>> {
        let mut shuffle = Shuffle::new(self.seed ^ cell.name().len() as u64);
        let mut round = || {
            let mut contenders = cell.contenders.clone();
            shuffle.shuffle(&mut contenders);
            contenders
        };
        (0..cell.rounds).map(|_| round()).collect()
    }
}

impl Shuffle {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, (self.next() % (index as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(seed: u64, only: &str) -> Vec<String> {
        let gateway = Experiment::named("gateway").unwrap();
        Plan::new(gateway, Effort::Full, only, seed)
            .cells
            .iter()
            .map(Cell::name)
            .collect()
    }

    #[test]
    fn a_seed_gives_the_same_order_again_and_another_seed_another() {
        assert_eq!(names(7, ""), names(7, ""));
        assert_ne!(names(7, ""), names(8, ""));
    }

    #[test]
    fn only_narrows_to_cells_that_contain_it() {
        let names = names(1, "test=idle");
        assert!(names.len() >= 2 && names.iter().all(|name| name.contains("test=idle")));
    }
}
