//! What a contender gave in a cell, as metrics.

use std::collections::BTreeMap;

use super::codings::From;
use super::data::Document;
use super::spent::Spent;
use super::steady::{Steady, median};
use super::task::Task;
use weir_bench_lab::devtools::{SLOWDOWN, Slowdown};
use weir_bench_model::latency::Percentiles;
use weir_bench_model::quantiles::Quantiles;
use weir_bench_model::results::{CellResult, Figures, Metric, NOT_SLOWED, single};
use weir_bench_model::samples::Series;
use weir_bench_model::statistics::Estimate;
use weir_bench_model::steadiness::State;

/// What was measured of one contender in one cell.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Bytes.
    pub bytes: usize,
    /// Characters, of text.
    pub characters: Option<usize>,
    /// Each round's steady state, by task.
    pub rounds: BTreeMap<Task, Vec<(usize, Steady)>>,
    /// What the sides spent, by round.
    pub(super) spent: Vec<(usize, Spent)>,
    /// How slow the page was; of pages that were to be slow.
    pub slowdown: Option<Slowdown>,
    /// What failed.
    pub faults: Vec<String>,
}

/// What figures of a document are set against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// Bytes of its XML.
    pub xml_bytes: usize,
    /// Observations in what was encoded.
    pub observations: Option<usize>,
}

impl Measure {
    /// Of a document's codings from this.
    pub(super) fn of(document: &Document, from: From) -> Self {
        let count = document.batch.as_ref().map(weir_model::Batch::len);
        Self {
            xml_bytes: document.xml.len(),
            observations: count.filter(|_| from == From::Observations),
        }
    }
}

impl Outcome {
    /// Adds a task's round.
    pub(super) fn add(&mut self, task: Task, round: usize, steady: Result<Steady, String>) {
        match steady {
            Ok(steady) => self.rounds.entry(task).or_default().push((round, steady)),
            Err(fault) => self.faults.push(format!("{}: {fault}", task.time())),
        }
    }

    /// As the result of a cell.
    pub(super) fn into_result(self, cell: &str, target: &str, measure: Measure) -> CellResult {
        let mut metrics = vec![single("size", "bytes", self.bytes as f64)];
        if measure.xml_bytes > 0 {
            let percent = self.bytes as f64 * 100.0 / measure.xml_bytes as f64;
            metrics.push(single("size_of_xml", "%", percent));
        }
        if let Some(characters) = self.characters {
            metrics.push(single("characters", "1", characters as f64));
        }
        for (task, rounds) in &self.rounds {
            metrics.extend(times(*task, rounds));
            let per_second = |of: f64| move |us: f64| of / us;
            let megabytes = per_second(measure.xml_bytes as f64);
            metrics.extend(rates(task.rate(), "MB/s", rounds, megabytes));
            if let Some(count) = measure.observations {
                let observations = per_second(count as f64 * 1e6);
                metrics.extend(rates(task.observation_rate(), "1/s", rounds, observations));
            }
        }
        let is_wide = metrics.iter().any(|metric| metric.estimate.is_wide());
        // What is spent beside it ranks nothing.
        metrics.extend(spent(&self.spent));
        metrics.extend(self.slowdown.map(|it| single(SLOWDOWN, "1", it.found)));
        let is_slowed = self.slowdown.is_none_or(Slowdown::is_in_force);
        let status = match (is_slowed, is_wide) {
            (false, _) => NOT_SLOWED,
            (true, true) => "wide",
            (true, false) => "ok",
        };
        CellResult {
            cell: cell.into(),
            target: target.into(),
            status: status.into(),
            missed: false,
            remarks: self.remarks(),
            metrics,
            trials: Vec::new(),
            samples: self.samples(),
        }
    }

    /// Every round's window, sample by sample.
    fn samples(&self) -> Vec<Series> {
        let of = |(task, rounds): (&Task, &Vec<(usize, Steady)>)| {
            let name = task.time();
            let rounds = rounds.iter();
            let series = rounds.map(|(round, steady)| Series::of(*round, name, "us", &steady.us));
            series.collect::<Vec<_>>()
        };
        self.rounds.iter().flat_map(of).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.faults.clone();
        let slowdown = self.slowdown.filter(|it| !it.is_in_force());
        remarks.extend(slowdown.map(Slowdown::remark));
        for (task, rounds) in &self.rounds {
            let unsteady = rounds
                .iter()
                .filter(|(_, steady)| !steady.is_steady)
                .count();
            if unsteady > 0 {
                let worst = rounds
                    .iter()
                    .map(|(_, steady)| steady.cov)
                    .fold(0.0, f64::max);
                let of = rounds.len();
                let name = task.time();
                remarks.push(format!(
                    "{name}: {unsteady} of {of} not steady (COV {worst:.3})"
                ));
            }
        }
        remarks
    }
}

/// Times of a task. The interval is that of the rounds' means: samples of one round share what a round was
/// like, so that theirs would be too narrow for the next run. One round has none.
fn times(task: Task, rounds: &[(usize, Steady)]) -> Option<Metric> {
    let all: Vec<f64> = rounds
        .iter()
        .flat_map(|(_, steady)| steady.us.clone())
        .collect();
    let means: Vec<f64> = rounds
        .iter()
        .map(|(_, s)| Estimate::of(&s.us).map_or(0.0, |e| e.mean))
        .collect();
    let estimate = Estimate::of(&means)?;
    let figures = rounds
        .iter()
        .zip(&means)
        .map(|((round, steady), &mean)| Figures {
            round: *round,
            mean,
            p50: steady.median_us(),
            p99: quantile(&steady.us, 0.99),
        });
    Some(Metric {
        metric: task.time().into(),
        unit: "us".into(),
        estimate,
        percentiles: Some(percentiles(&all)),
        quantiles: Quantiles::of_samples(&all),
        state: State::of_rounds(rounds.iter().filter_map(|(_, s)| State::of(&s.us))),
        rounds: figures.collect(),
        lost: 0,
    })
}

/// A unit, and a value of each round.
type OfRounds<'a> = (&'a str, Vec<(usize, f64)>);

/// Of each figure a metric over the rounds.
fn spent(rounds: &[(usize, Spent)]) -> Vec<Metric> {
    let mut all: BTreeMap<&str, OfRounds<'_>> = BTreeMap::new();
    for (round, spent) in rounds {
        for &(name, unit, value) in spent {
            let of_name = all.entry(name).or_insert((unit, Vec::new()));
            of_name.1.push((*round, value));
        }
    }
    let metric = |(name, (unit, values)): (&str, OfRounds<'_>)| by_round(name, unit, &values);
    all.into_iter().filter_map(metric).collect()
}

/// Rates of the rounds' medians.
fn rates(
    name: &str,
    unit: &str,
    rounds: &[(usize, Steady)],
    of_us: impl Fn(f64) -> f64,
) -> Option<Metric> {
    let rate = |(round, steady): &(usize, Steady)| (*round, of_us(steady.median_us()));
    let values: Vec<(usize, f64)> = rounds.iter().map(rate).collect();
    by_round(name, unit, &values)
}

/// One value a round.
fn by_round(name: &str, unit: &str, values: &[(usize, f64)]) -> Option<Metric> {
    let only: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let figure = |&(round, value): &(usize, f64)| Figures {
        round,
        mean: value,
        p50: value,
        p99: value,
    };
    Some(Metric {
        metric: name.into(),
        unit: unit.into(),
        estimate: Estimate::of(&only)?,
        percentiles: None,
        quantiles: Quantiles::default(),
        state: None,
        rounds: values.iter().map(figure).collect(),
        lost: 0,
    })
}

fn percentiles(us: &[f64]) -> Percentiles {
    Percentiles {
        n: us.len() as u64,
        mean: us.iter().sum::<f64>() / us.len().max(1) as f64,
        p50: median(us),
        p90: quantile(us, 0.9),
        p99: quantile(us, 0.99),
        p999: quantile(us, 0.999),
        max: quantile(us, 1.0),
    }
}

/// The sample at a quantile, the nearest one above.
fn quantile(us: &[f64], quantile: f64) -> f64 {
    let mut sorted = us.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn outcome(rounds: usize) -> Outcome {
        let mut outcome = Outcome {
            bytes: 50,
            ..Outcome::default()
        };
        for round in 0..rounds {
            outcome.add(
                Task::Parse,
                round,
                Ok(Steady::of(vec![10.0 + round as f64; 10])),
            );
        }
        outcome
    }

    #[test]
    fn rates_count_the_xml_whatever_the_format() {
        let measure = Measure {
            xml_bytes: 1000,
            observations: Some(4),
        };
        let result = outcome(1).into_result("cell", "weir", measure);
        let mean = |name: &str| result.metric(name).unwrap().estimate.mean;
        assert_eq!(mean("size_of_xml"), 5.0);
        assert_eq!(mean("parse_rate"), 100.0);
        assert_eq!(mean("parse_observations"), 400_000.0);
        let parse = result.metric("parse").unwrap();
        assert_eq!((parse.estimate.n, parse.percentiles.unwrap().n), (1, 10));
    }

    #[test]
    fn the_interval_of_several_rounds_is_that_of_their_means() {
        let measure = Measure {
            xml_bytes: 1000,
            observations: None,
        };
        let result = outcome(3).into_result("cell", "weir", measure);
        let parse = result.metric("parse").unwrap();
        assert_eq!((parse.estimate.n, parse.estimate.mean), (3, 11.0));
        assert_eq!(parse.percentiles.unwrap().n, 30);
    }

    #[test]
    fn a_page_that_was_not_as_slow_as_asked_is_marked() {
        let of = |found| {
            let mut outcome = outcome(1);
            outcome.slowdown = Some(Slowdown { asked: 6, found });
            let measure = Measure {
                xml_bytes: 1000,
                observations: None,
            };
            outcome.into_result("cell", "chromium", measure)
        };
        let [fast, slow] = [of(1.04), of(5.5)];
        assert_eq!((&*fast.status, &*slow.status), (NOT_SLOWED, "ok"));
        assert_eq!(fast.remarks.len(), 1, "{:?}", fast.remarks);
        assert_eq!(slow.metric(SLOWDOWN).unwrap().estimate.mean, 5.5);
    }

    #[test]
    fn what_failed_and_what_was_not_steady_is_said() {
        let mut outcome = outcome(1);
        outcome.add(Task::Serialize, 0, Err("no".into()));
        outcome.add(Task::FromXml, 0, Ok(Steady::of(vec![1.0, 9.0])));
        let measure = Measure {
            xml_bytes: 1000,
            observations: None,
        };
        let remarks = outcome.into_result("cell", "weir", measure).remarks;
        assert!(
            remarks.iter().any(|remark| remark == "serialize: no"),
            "{remarks:?}"
        );
        assert!(
            remarks.iter().any(|remark| remark.contains("not steady")),
            "{remarks:?}"
        );
    }
}
