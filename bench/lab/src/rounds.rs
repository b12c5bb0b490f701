//! The rounds of one cell: each measurement is told as it goes on, kept, and all are merged into results.

use std::collections::BTreeMap;

use crate::merge::{Round, merge};
use crate::progress::Progress;
use crate::sample::Sample;
use weir_bench_model::results::CellResult;

/// What the contenders of a cell gave so far.
pub struct Rounds<'a> {
    cell: String,
    progress: &'a Progress,
    given: BTreeMap<&'static str, Vec<Round>>,
}

impl<'a> Rounds<'a> {
    /// Of a cell that nothing is known of.
    pub fn new(cell: String, progress: &'a Progress) -> Self {
        Self {
            cell,
            progress,
            given: BTreeMap::new(),
        }
    }

    /// Measures a contender once; a failure is kept with its reason.
    pub fn measure(
        &mut self,
        contender: &'static str,
        round: usize,
        sample: impl FnOnce() -> Result<Sample, String>,
    ) {
        self.progress.begin(&self.cell, contender, round);
        let sample = sample();
        self.progress.end(&self.cell, contender, &sample);
        let given = self.given.entry(contender).or_default();
        given.push((round, sample));
    }

    /// One result a contender that was measured.
    pub fn merged(&self) -> Vec<CellResult> {
        let of_contender = |(contender, rounds): (&&'static str, &Vec<Round>)| {
            merge(&self.cell, contender, rounds)
        };
        self.given.iter().map(of_contender).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contender_has_a_result_of_its_own_rounds() {
        let progress = Progress::new(3);
        let mut rounds = Rounds::new("a=1".into(), &progress);
        for round in [0, 1] {
            rounds.measure("weir", round, || {
                let mut sample = Sample::default();
                sample.put("packets", "1", round as f64);
                Ok(sample)
            });
        }
        rounds.measure("tornado", 0, || Err("absent: no Tornado".into()));
        let merged = rounds.merged();
        let told: Vec<_> = merged
            .iter()
            .map(|it| (it.target.as_str(), it.status.as_str(), it.metrics.len()))
            .collect();
        let expected = [("tornado", "absent: no Tornado", 0), ("weir", "ok", 1)];
        assert_eq!(told, expected);
        assert_eq!(merged[1].metrics[0].estimate.n, 2);
    }
}
