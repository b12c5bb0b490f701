//! Experiments whose cells stand alone: each has its link, and its servers are started for it.
//!
//! Cells and contenders come in an order drawn from the seed, in interleaved rounds; what fails stays in
//! the results with its reason. A quick run begins with its chief cells and ends when its time is over; in a
//! full one, cells that wait for a long link run [side by side](crate::side_by_side).

mod place;

use self::place::Place;
use crate::link::{Ends, Links};
use crate::order::Order;
use crate::progress::Progress;
use crate::sample::Sample;
use crate::side_by_side;
use crate::started::Started;
use weir_bench_model::budget::Budget;
use weir_bench_model::clock::now_ns;
use weir_bench_model::effort::Effort;
use weir_bench_model::journal::Versions;
use weir_bench_model::process::Processors;
use weir_bench_model::random::Random;
use weir_bench_model::results::{CellResult, Run};

/// A server that can be measured.
pub trait Server: Sync + 'static {
    /// Its name in results.
    fn name(&self) -> &'static str;
}

/// A cell that needs nothing from the others.
pub trait Alone: Sync {
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

    /// Cells of one group, on one link, take turns, round by round: what is concluded from two of them is not of the
    /// machine at two times. By itself a cell is a group of its own.
    fn group(&self) -> String {
        self.name()
    }

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

/// What all cells of a run are measured with.
pub struct Turns<'a> {
    /// What was asked for.
    pub order: &'a Order<'a>,
    progress: Progress,
}

/// A cell and its number in the run.
pub type Numbered<'a, C> = (usize, &'a C);

/// Who was measured, and what it gave.
pub type Found = (Versions, Vec<CellResult>);

/// Runs those cells that the order wants. Results are in the order of `cells`, and in one cell in that of `servers`.
pub fn run<C: Alone>(order: &Order<'_>, cells: &[C], servers: &[C::Server]) -> Run {
    let began = now_ns();
    let mut budget = Budget::of(order.effort);
    let mut run = order.begin();
    let wanted = in_turn(order, cells, &budget);
    let turns = Turns::new(order, &wanted);
    let is_full = order.effort == Effort::Full;
    let (waiting, prompt): (Vec<Numbered<'_, C>>, Vec<_>) =
        (wanted.into_iter().enumerate()).partition(|(_, cell)| is_full && cell.waits());
    let mut links = Links::new(order);
    for group in grouped(prompt) {
        let (in_time, late): (Vec<_>, Vec<_>) = group
            .into_iter()
            .partition(|(_, cell)| order.journal.has(&cell.name()) || budget.allows(&cell.name()));
        for (_, cell) in late {
            turns.progress.skip(measurements(cell));
        }
        for found in turns.measure(&in_time, &mut links) {
            run.add(found);
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
    Random::of(order.seed).shuffle(&mut wanted);
    if budget.is_short() {
        wanted.sort_by_key(|cell| !cell.is_chief());
    }
    wanted
}

/// The same in groups, in the order of each one's first.
fn grouped<C: Alone>(cells: Vec<Numbered<'_, C>>) -> Vec<Vec<Numbered<'_, C>>> {
    let mut groups: Vec<(String, Vec<Numbered<'_, C>>)> = Vec::new();
    for cell in cells {
        let name = cell.1.group();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(cell),
            None => groups.push((name, vec![cell])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
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

    /// Measures the cells of a group on their link, or finds what an earlier attempt kept of them.
    pub fn measure<C: Alone>(
        &self,
        group: &[Numbered<'_, C>],
        links: &mut Links<'_>,
    ) -> Vec<Found> {
        let journal = &self.order.journal;
        let is_new = |(_, cell): &Numbered<'_, C>| !journal.has(&cell.name());
        let new: Vec<_> = group.iter().copied().filter(is_new).collect();
        let mut found = self.on_link(&new, links).into_iter();
        let told = |(_, cell): &Numbered<'_, C>| {
            let mut versions = Versions::new();
            let results = journal.cell(&cell.name(), &mut versions, |of| {
                let (tested, results) = found.next().unwrap_or_default();
                of.extend(tested);
                results
            });
            (versions, results)
        };
        group.iter().map(told).collect()
    }

    fn on_link<C: Alone>(&self, group: &[Numbered<'_, C>], links: &mut Links<'_>) -> Vec<Found> {
        let Some((_, first)) = group.first() else {
            return Vec::new();
        };
        match links.ends(self.order.settings, &first.link()) {
            Ok(ends) => self.in_turns(group, &ends),
            Err(reason) => group
                .iter()
                .map(|(_, cell)| {
                    self.progress.skip(measurements(*cell));
                    (Versions::new(), refused(*cell, &reason))
                })
                .collect(),
        }
    }

    fn in_turns<C: Alone>(&self, group: &[Numbered<'_, C>], ends: &Ends) -> Vec<Found> {
        let before = Processors::now();
        let mut places: Vec<Place<'_, C>> =
            group.iter().map(|cell| Place::of(self, *cell)).collect();
        let last = group.iter().map(|(_, cell)| cell.rounds()).max();
        for round in 0..last.unwrap_or_default() {
            for place in &mut places {
                place.measure(round, ends);
            }
        }
        places
            .into_iter()
            .map(|place| {
                let is_beside = self.order.effort == Effort::Full && place.cell.waits();
                let (versions, mut results) = place.leave();
                if is_beside {
                    side_by_side::mark(&mut results, Processors::now().share_since(before));
                }
                (versions, results)
            })
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Server for Nobody {
        fn name(&self) -> &'static str {
            "nobody"
        }
    }

    struct Family(&'static str);

    impl Alone for Family {
        type Server = Nobody;

        fn name(&self) -> String {
            self.0.into()
        }

        fn link(&self) -> String {
            "local".into()
        }

        fn contenders(&self) -> Vec<&'static Nobody> {
            vec![&Nobody]
        }

        fn rounds(&self) -> usize {
            1
        }

        fn group(&self) -> String {
            self.0.replace('6', "4")
        }

        fn is_chief(&self) -> bool {
            false
        }

        fn sample(&self, _: &'static Nobody, _: &Ends, _: &mut Started) -> Result<Sample, String> {
            Ok(Sample::default())
        }
    }

    #[test]
    fn cells_of_a_group_are_measured_together_when_the_first_of_them_is_due() {
        let cells = ["rest-4", "soap-6", "rest-6", "coap-4", "soap-4"].map(Family);
        let groups = grouped(cells.iter().enumerate().collect());
        let names: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|(_, cell)| cell.0).collect())
            .collect();
        let expected = [
            vec!["rest-4", "rest-6"],
            vec!["soap-6", "soap-4"],
            vec!["coap-4"],
        ];
        assert_eq!(names, expected);
    }
}
