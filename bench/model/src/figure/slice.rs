//! Some results of a run, picked by the levels of their factors, and series made of them.
//!
//! Cells are read by their names, so that a factor which an experiment gains later disturbs no figure:
//! a slice in which it varies is narrowed by one more pair.

use super::{Point, Series};
use crate::results::{CellResult, Run};

/// Results that have certain levels.
#[derive(Clone, Debug)]
pub struct Slice<'a>(Vec<&'a CellResult>);

/// The level of a factor in the name of a cell.
pub fn level<'a>(cell: &'a str, factor: &str) -> Option<&'a str> {
    let mut pairs = cell.split(';').filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(name, _)| *name == factor)
        .map(|(_, level)| level)
}

impl<'a> Slice<'a> {
    /// All results of a run.
    pub fn of(run: &'a Run) -> Self {
        Self(run.results.iter().collect())
    }

    /// Those with a level of a factor.
    pub fn with(&self, factor: &str, wanted: &str) -> Self {
        self.keep(|result| level(&result.cell, factor) == Some(wanted))
    }

    /// Those with a level of a factor, or without the factor: `link=local` as it was before links.
    pub fn with_or_without(&self, factor: &str, wanted: &str) -> Self {
        self.keep(|result| level(&result.cell, factor).is_none_or(|level| level == wanted))
    }

    /// Those that have a factor at another level.
    pub fn without(&self, factor: &str, unwanted: &str) -> Self {
        self.keep(|result| level(&result.cell, factor).is_some_and(|level| level != unwanted))
    }

    /// Those of a contender.
    pub fn by(&self, target: &str) -> Self {
        self.keep(|result| result.target == target)
    }

    fn keep(&self, is: impl Fn(&CellResult) -> bool) -> Self {
        Self(self.0.iter().copied().filter(|result| is(result)).collect())
    }

    /// The results.
    pub fn results(&self) -> &[&'a CellResult] {
        &self.0
    }

    /// The levels of a factor, in the order of the run.
    pub fn levels(&self, factor: &str) -> Vec<&'a str> {
        let of = |result: &&'a CellResult| level(&result.cell, factor);
        in_order(self.0.iter().filter_map(of))
    }

    /// The contenders, in the order of the run.
    pub fn targets(&self) -> Vec<&'a str> {
        in_order(self.0.iter().map(|result| result.target.as_str()))
    }

    /// A metric over a factor that is a number; a cell that failed stays with its reason.
    pub fn line(&self, factor: &str, metric: &str, scale: f64) -> Vec<Point> {
        let at = |result: &&CellResult| {
            let x: f64 = level(&result.cell, factor)?.parse().ok()?;
            Some((x, Point::of_result(x, result, metric, scale)))
        };
        let mut points: Vec<(f64, Point)> = self.0.iter().filter_map(at).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        points.into_iter().map(|(_, point)| point).collect()
    }

    /// A line a contender.
    pub fn lines(&self, factor: &str, metric: &str, scale: f64) -> Vec<Series> {
        let of = |target: &str| Series::here(target, self.by(target).line(factor, metric, scale));
        self.targets().into_iter().map(of).collect()
    }

    /// A series a contender over labels that are made of cells.
    pub fn bars(&self, label: impl Fn(&str) -> String, metric: &str, scale: f64) -> Vec<Series> {
        let of = |target: &str| {
            let own = self.by(target);
            let point =
                |result: &&CellResult| Point::of_result(label(&result.cell), result, metric, scale);
            Series::here(target, own.0.iter().map(point).collect())
        };
        self.targets().into_iter().map(of).collect()
    }
}

fn in_order<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// Several levels of a cell in words, those that it has.
pub fn words(cell: &str, factors: &[&str]) -> String {
    let levels: Vec<&str> = factors
        .iter()
        .filter_map(|factor| level(cell, factor))
        .collect();
    levels.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let of = |cell: &str, target: &str| CellResult {
            cell: cell.into(),
            target: target.into(),
            status: "absent".into(),
            ..CellResult::default()
        };
        Run {
            results: vec![
                of("test=a;rate=100", "x"),
                of("test=a;rate=20", "x"),
                of("test=b;rate=20;link=3g", "y"),
            ],
            ..Run::default()
        }
    }

    #[test]
    fn slices_narrow_by_level_and_contender_and_keep_what_failed() {
        let run = run();
        let slice = Slice::of(&run).with("test", "a");
        let line = slice.line("rate", "rtt", 1.0);
        assert_eq!(line.len(), 2);
        assert_eq!((&line[0].x, line[0].y), (&20.0.into(), None));
        assert_eq!(line[0].note, "absent");
        assert_eq!(
            Slice::of(&run)
                .with_or_without("link", "local")
                .results()
                .len(),
            2
        );
        assert_eq!(Slice::of(&run).levels("rate"), ["100", "20"]);
        assert_eq!(
            words("test=b;rate=20;link=3g", &["link", "none", "test"]),
            "3g, b"
        );
    }
}
