//! The order of ways, which of them cannot be told apart, and which nothing beats in everything.

use crate::answer::Way;
use crate::figures::{Figures, Spread};
use crate::question::By;

/// Sorts, and gives ranks: ways whose intervals meet that of the best of their rank share it.
pub(crate) fn rank(ways: &mut [Way], by: By) {
    let of = |way: &Way| figure(&way.figures, by);
    ways.sort_by(|a, b| match (of(a), of(b)) {
        (Some(a), Some(b)) => a.value.total_cmp(&b.value),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let (mut rank, mut best) = (0, None::<Spread>);
    for (index, way) in ways.iter_mut().enumerate() {
        let own = of(way);
        let met = best
            .zip(own)
            .is_some_and(|(best, own)| best.ends().1 >= own.ends().0);
        if !met {
            (rank, best) = (index + 1, own);
        }
        way.rank = rank;
    }
    let ranks: Vec<usize> = ways.iter().map(|way| way.rank).collect();
    for way in ways.iter_mut() {
        way.tied = ranks.iter().filter(|rank| **rank == way.rank).count() > 1;
    }
}

fn figure(figures: &Figures, by: By) -> Option<Spread> {
    match by {
        By::Latency => Some(figures.latency.mean),
        By::Bytes => figures.bytes,
        By::Cpu => figures.cpu,
        By::Memory => figures.memory,
    }
}

/// Marks the ways that no other beats in one figure without losing in another, of the figures that all
/// have (Pareto).
pub(crate) fn mark_front(ways: &mut [Way]) {
    let all = [By::Latency, By::Bytes, By::Cpu, By::Memory];
    let known = |by: &By| ways.iter().all(|way| figure(&way.figures, *by).is_some());
    let known: Vec<By> = all.into_iter().filter(known).collect();
    let points: Vec<Vec<f64>> = ways
        .iter()
        .map(|way| {
            let values = known.iter().filter_map(|by| figure(&way.figures, *by));
            values.map(|spread| spread.value).collect()
        })
        .collect();
    for (way, point) in ways.iter_mut().zip(&points) {
        way.front = !points.iter().any(|other| beats(other, point));
    }
}

fn beats(one: &[f64], other: &[f64]) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
}
