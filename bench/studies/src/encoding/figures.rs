//! Figures of a run by what they are of: what claims, goals and tables ask for.

use super::cells::{Place, name};
use super::codings::From;
use super::exificient;
use super::task::Task;
use weir_bench_model::results::{CellResult, Metric, OURS};

/// The results of a run.
#[derive(Clone, Copy)]
pub(super) struct Figures<'a>(pub &'a [CellResult]);

/// Whose figure is taken where several have one: ours, then the one that stands for the format.
const PREFERRED: [&str; 8] = [
    OURS,
    "serde_json",
    "quick-xml",
    "flate2",
    "bzip2",
    "zstd",
    "chromium",
    exificient::NAME,
];

/// A document's figures in one format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    /// Where.
    pub place: Place,
    /// The data set.
    pub data: &'a str,
    /// Its file.
    pub file: &'a str,
    /// From what.
    pub from: From,
}

impl<'a> Of<'a> {
    /// Of a whole document, natively.
    pub(super) fn document(data: &'a str, file: &'a str) -> Self {
        Self {
            place: Place::Native,
            data,
            file,
            from: From::Document,
        }
    }

    /// Of a document's observations, natively.
    pub(super) fn observations(data: &'a str, file: &'a str) -> Self {
        Self {
            from: From::Observations,
            ..Self::document(data, file)
        }
    }

    /// The same elsewhere.
    pub(super) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

impl<'a> Figures<'a> {
    /// The metric of one contender.
    pub(super) fn metric_by(
        &self,
        of: Of<'_>,
        format: &str,
        target: &str,
        metric: &str,
    ) -> Option<&'a Metric> {
        let cell = name(of.place, of.data, of.file, of.from, format);
        let result = self
            .0
            .iter()
            .find(|r| r.cell == cell && r.target == target)?;
        result.metric(metric)
    }

    /// The metric of the contender that stands for a format, and who that is.
    pub(super) fn metric(
        &self,
        of: Of<'_>,
        format: &str,
        metric: &str,
    ) -> Option<(&'static str, &'a Metric)> {
        let found = |target| Some((target, self.metric_by(of, format, target, metric)?));
        PREFERRED.into_iter().find_map(found)
    }

    /// The mean of a metric on a link, by the contender that stands for the format.
    pub(super) fn on_link(
        &self,
        link: &str,
        of: Of<'_>,
        format: &str,
        metric: &str,
    ) -> Option<f64> {
        let cell = name(of.place, of.data, of.file, of.from, format);
        let cell = format!("link={link};{cell}");
        let mut results = self.0.iter().filter(|result| result.cell == cell);
        results.find_map(|result| Some(result.metric(metric)?.estimate.mean))
    }

    /// Bytes.
    pub(super) fn size(&self, of: Of<'_>, format: &str) -> Option<f64> {
        self.metric(of, format, "size")
            .map(|(_, metric)| metric.estimate.mean)
    }

    /// Mean time, microseconds.
    pub(super) fn time(&self, of: Of<'_>, format: &str, task: Task) -> Option<f64> {
        self.metric(of, format, task.time())
            .map(|(_, metric)| metric.estimate.mean)
    }

    /// Mean time of one contender, microseconds.
    pub(super) fn time_by(&self, of: Of<'_>, format: &str, by: &str, task: Task) -> Option<f64> {
        self.metric_by(of, format, by, task.time())
            .map(|metric| metric.estimate.mean)
    }

    /// Files of a data set that were measured, in the order of the run.
    pub(super) fn files(&self, data: &str) -> Vec<&'a str> {
        let mut files = Vec::new();
        let all: &'a [CellResult] = self.0;
        for result in all {
            let mut pairs = result
                .cell
                .split(';')
                .filter_map(|pair| pair.split_once('='));
            let mut level = |factor| {
                pairs
                    .find(|(name, _)| *name == factor)
                    .map(|(_, level)| level)
            };
            if level("data") == Some(data)
                && let Some(file) = level("file")
                && !files.contains(&file)
            {
                files.push(file);
            }
        }
        files
    }
}
