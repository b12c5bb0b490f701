//! The few ways in which claims are judged.

use super::Judgement;
use crate::encoding::cells::Place;
use crate::encoding::exificient::NAME as EXIFICIENT;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;
use weir_bench_model::claims::{NOT_MEASURED, all_hold};
use weir_bench_model::number::number;

/// Which files of a data set a claim speaks of.
pub(super) type Files<'a> = &'a dyn Fn(f64) -> bool;

/// Bytes of a KB, as the papers count.
pub(super) const KB: f64 = 1024.0;

/// Every file.
pub(super) fn any(_: f64) -> bool {
    true
}

/// Files of more than 100 KB of XML.
pub(super) fn large(xml_bytes: f64) -> bool {
    xml_bytes > 100.0 * KB
}

/// Files of up to 100 KB of XML.
pub(super) fn small(xml_bytes: f64) -> bool {
    !large(xml_bytes)
}

/// What is asked of some figures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// Their mean lies between these.
    Between(f64, f64),
    /// The greatest is at least that.
    GreatestAtLeast(f64),
    /// Each is at most that.
    EachAtMost(f64),
    /// Each is at least that.
    EachAtLeast(f64),
}

impl Asked {
    /// The verdict on figures of which there may be none.
    pub(super) fn of(self, figures: &[f64], unit: &str) -> Judgement {
        if figures.is_empty() {
            return Judgement::not_comparable(NOT_MEASURED);
        }
        let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = mean(figures);
        let holds = match self {
            Self::Between(low, high) => (low..=high).contains(&mean),
            Self::GreatestAtLeast(bound) => greatest >= bound,
            Self::EachAtMost(bound) => greatest <= bound,
            Self::EachAtLeast(bound) => least >= bound,
        };
        let [least, mean, greatest] = [least, mean, greatest].map(number);
        let number = match figures.len() {
            1 => format!("{mean} {unit}"),
            _ => format!("{least} to {greatest}, mean {mean} {unit}"),
        };
        Judgement::of(holds, number)
    }
}

/// The geometric mean, or of what is not all positive the arithmetic one.
fn mean(figures: &[f64]) -> f64 {
    let n = figures.len() as f64;
    match figures.iter().all(|&figure| figure > 0.0) {
        true => (figures.iter().map(|figure| figure.ln()).sum::<f64>() / n).exp(),
        false => figures.iter().sum::<f64>() / n,
    }
}

/// Percent by which a format is smaller than the XML, file by file.
pub(super) fn reductions(f: &Figures<'_>, data: &str, format: &str, files: Files<'_>) -> Vec<f64> {
    each(f, data, files, |of, xml| {
        Some(100.0 - f.size(of, format)? * 100.0 / xml)
    })
}

/// How many times longer one format takes than another, file by file.
pub(super) fn times_longer(
    f: &Figures<'_>,
    data: &str,
    task: Task,
    (slow, fast): (&str, &str),
    files: Files<'_>,
) -> Vec<f64> {
    each(f, data, files, |of, _| {
        Some(f.time(of, slow, task)? / f.time(of, fast, task)?)
    })
}

/// The same where the slow one is EXI by EXIficient, the papers' own, in words to be added.
pub(super) fn by_exificient(
    f: &Figures<'_>,
    data: &str,
    task: Task,
    (slow, fast): (&str, &str),
    files: Files<'_>,
) -> String {
    let ratio =
        |of: Of<'_>, _| Some(f.time_by(of, slow, EXIFICIENT, task)? / f.time(of, fast, task)?);
    let ratios = each(f, data, files, ratio);
    match ratios.is_empty() {
        true => String::new(),
        false => format!("; {slow} by EXIficient {}", number(mean(&ratios))),
    }
}

/// A figure of every file of a data set that has it.
pub(super) fn each(
    f: &Figures<'_>,
    data: &str,
    files: Files<'_>,
    figure: impl Fn(Of<'_>, f64) -> Option<f64>,
) -> Vec<f64> {
    let of_file = |file: &str| {
        let of = Of::document(data, file);
        let xml = f.size(of, "xml").filter(|&xml| files(xml))?;
        figure(of, xml)
    };
    f.files(data).into_iter().filter_map(of_file).collect()
}

/// Milliseconds to parse in a browser slowed so many times, of every file that has them.
pub(super) fn in_browser(
    f: &Figures<'_>,
    data: &str,
    format: &str,
    slowdown: u32,
    files: Files<'_>,
) -> Vec<f64> {
    let place = Place::Browser(slowdown);
    let figure = |of: Of<'_>, _| Some(f.time(of.at(place), format, Task::Parse)? / 1000.0);
    each(f, data, files, figure)
}

/// A claim of several parts holds where each part does, and falls with one of them.
pub(super) fn all_of(parts: &[Judgement]) -> Judgement {
    let numbers: Vec<&str> = parts.iter().map(|part| part.number.as_str()).collect();
    Judgement {
        holds: all_hold(parts.iter().map(|part| part.holds)),
        number: numbers.join("; "),
    }
}

/// The arithmetic mean of figures, if there are any.
pub(super) fn middle(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

/// How many times the greatest is the least.
pub(super) fn spread(figures: &[f64]) -> Option<f64> {
    let least = figures.iter().copied().reduce(f64::min)?;
    Some(figures.iter().copied().reduce(f64::max)? / least)
}
