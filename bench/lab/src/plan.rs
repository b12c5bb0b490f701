//! What a run will do and in which order: cells shuffled by a seed, contenders within each round.

use crate::guest::Guest;
use weir_bench_model::cell::{Cell, Contender};
use weir_bench_model::effort::wants;
use weir_bench_model::random::Random;

/// A run to be made.
pub struct Plan {
    /// The names of all cells, in the order of the report.
    pub order: Vec<String>,
    /// The cells, in the order in which they are run.
    pub cells: Vec<Cell>,
    /// What orders cells and contenders.
    pub seed: u64,
    /// Targets that take part by their URL.
    pub guests: Vec<Guest>,
}

impl Plan {
    /// The cells whose name contains `only`, shuffled.
    pub fn new(mut cells: Vec<Cell>, only: &str, seed: u64) -> Self {
        let order = cells.iter().map(Cell::name).collect();
        cells.retain(|cell| wants(only, &cell.name()));
        Random::of(seed).shuffle(&mut cells);
        Self {
            order,
            cells,
            seed,
            guests: Vec::new(),
        }
    }

    /// The same with targets that are not on the list.
    pub fn with_guests(self, guests: Vec<Guest>) -> Self {
        Self { guests, ..self }
    }

    /// The contenders of each round of a cell, each round in an order of its own.
    pub fn rounds(&self, cell: &Cell) -> Vec<Vec<Contender>> {
        let mut shuffle = Random::of(self.seed ^ cell.name().len() as u64);
        let mut round = || {
            let mut contenders = cell.contenders.clone();
            shuffle.shuffle(&mut contenders);
            contenders
        };
        (0..cell.rounds).map(|_| round()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::cell::Work;

    fn cells() -> Vec<Cell> {
        let cell = |factors: Vec<(&'static str, String)>| Cell {
            factors,
            work: Work::Unmeasured { reason: "" },
            contenders: Vec::new(),
            rounds: 1,
            goals: Vec::new(),
        };
        let idle = ["sse", "websocket", "mqtt"]
            .map(|by| cell(vec![("test", "idle".into()), ("delivery", by.into())]));
        let replay = ["300", "1500"]
            .map(|count| cell(vec![("test", "replay".into()), ("messages", count.into())]));
        idle.into_iter().chain(replay).collect()
    }

    fn names(seed: u64, only: &str) -> Vec<String> {
        Plan::new(cells(), only, seed)
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

    #[test]
    fn of_several_wishes_one_is_enough() {
        let both = names(1, "test=idle delivery=sse, test=replay").len();
        let each = ["test=idle delivery=sse", "test=replay"].map(|only| names(1, only).len());
        assert!(each.iter().all(|count| *count > 0));
        assert_eq!(both, each.iter().sum::<usize>());
        assert_eq!(
            names(1, "test=replay, ").len(),
            each[1],
            "an empty wish is none"
        );
    }
}
