//! Times in Chromium, at three speeds, and how a person feels about them.

use super::{head, row};
use crate::encoding::browser::{COLUMNS, NAME};
use crate::encoding::cells::{Place, SLOWDOWNS};
use crate::encoding::figures::{Figures, Of};
use crate::encoding::over_link::Class;
use crate::encoding::task::Task;
use weir_bench_lab::devtools::{SLOWDOWN, Slowdown};
use weir_bench_model::number::number;

/// Data sets whose documents are read.
const DOCUMENTS: [&str; 7] = ["caps", "sd", "obs", "rs", "io", "a", "b"];

/// Files whose observations are read.
const OBSERVED: [(&str, &str, &str); 5] = [
    ("message", "1", "The message of one node"),
    ("message", "5", "The message of five nodes"),
    ("obs", "4", "The observations of OBS 4"),
    ("io", "2", "The 1,000 observations of IO 2"),
    ("a", "block", "The 18,500 observations of document A"),
];

pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    documents(figures, text);
    observations(figures, text);
}

const OF_DOCUMENTS: &str = "\n## Documents in Chromium, ms\n\nParsed into trees, as fast as the machine is and slowed \
                            4 and 6 times. The classes are those that section 5.1.1 of Tamayo et al. quotes, here of \
                            the slowest: crisp under 150 ms, noticeable under 1 s, annoying under 5 s, unbearable \
                            beyond.\n";

fn documents(figures: &Figures<'_>, text: &mut String) {
    let mut tables = String::new();
    let own = "By the browser's own `DOMParser` and `JSON.parse`:";
    let ours = "By the codec in WebAssembly, into the same tree as that of the XML:";
    for (by, formats, names) in [
        (own, ["xml", "json"], ["XML", "JSON"]),
        (ours, ["exi", "exi-c"], ["EXI", "EXI-C"]),
    ] {
        let rows = documents_in(figures, formats);
        if !rows.is_empty() {
            tables += &format!("\n{by}\n\n");
            let [one, other] = names;
            let columns = ["file", one, "4x", "6x", "class", other, "4x", "6x", "class"];
            head(&columns, &mut tables);
            tables += &rows;
        }
    }
    if !tables.is_empty() {
        *text += OF_DOCUMENTS;
        *text += &tables;
    }
}

/// A row a document that was read in one of these formats.
fn documents_in(figures: &Figures<'_>, formats: [&str; 2]) -> String {
    let mut rows = String::new();
    for data in DOCUMENTS {
        for file in figures.files(data) {
            let of = Of::document(data, file);
            let times = formats.map(|format| times(figures, of, format, NAME));
            if times.iter().flatten().any(Option::is_some) {
                let name = std::iter::once(format!("{data} {file}"));
                row(name.chain(times.iter().flat_map(with_class)), &mut rows);
            }
        }
    }
    rows
}

const OF_OBSERVATIONS: &str = "\n## Observations in Chromium, ms\n\nInto objects by the dashboard's decoder of the \
                               format, and into columns of numbers by the codec in WebAssembly.\n";

fn observations(figures: &Figures<'_>, text: &mut String) {
    let mut tables = String::new();
    for (data, file, title) in OBSERVED {
        let of = Of::observations(data, file);
        let lines = weir_codec::FORMATS.iter().map(|format| {
            let times = [NAME, COLUMNS].map(|way| times(figures, of, format.name, way));
            (format.name, times)
        });
        let lines: Vec<_> = lines
            .filter(|(_, times)| times.iter().flatten().any(Option::is_some))
            .collect();
        if lines.is_empty() {
            continue;
        }
        tables += &format!("\n{title}:\n\n");
        head(
            &[
                "format", "objects", "4x", "6x", "class", "columns", "4x", "6x", "class",
            ],
            &mut tables,
        );
        for (format, times) in lines {
            let name = std::iter::once(format.to_string());
            row(name.chain(times.iter().flat_map(with_class)), &mut tables);
        }
    }
    if !tables.is_empty() {
        *text += OF_OBSERVATIONS;
        *text += &tables;
    }
}

/// Milliseconds, and whether the page was as slow as it was to be.
type Time = (f64, bool);

/// At each speed.
fn times(figures: &Figures<'_>, of: Of<'_>, format: &str, way: &str) -> [Option<Time>; 3] {
    SLOWDOWNS.map(|asked| {
        let of = of.at(Place::Browser(asked));
        let us = figures.time_by(of, format, way, Task::Parse)?;
        let found = figures.metric_by(of, format, way, SLOWDOWN);
        let slowdown = found.map(|metric| Slowdown {
            asked,
            found: metric.estimate.mean,
        });
        Some((us / 1000.0, slowdown.is_none_or(Slowdown::is_in_force)))
    })
}

fn with_class(times: &[Option<Time>; 3]) -> [String; 4] {
    let shown = |time: Option<Time>| match time {
        None => "-".into(),
        Some((ms, true)) => number(ms),
        Some((ms, false)) => format!("{} (not slowed)", number(ms)),
    };
    let [one, four, six] = times.map(shown);
    let slowed = times.iter().flatten().filter(|(_, is_slowed)| *is_slowed);
    let slowest = slowed.map(|(ms, _)| *ms).reduce(f64::max);
    let class = slowest.map_or("-", |ms| Class::of(ms * 1e3).name());
    [one, four, six, class.into()]
}

#[cfg(test)]
mod tests {
    use super::{tables, with_class};
    use crate::encoding::figures::Figures;
    use weir_bench_report::that_say_something;

    #[test]
    fn a_run_without_a_browser_has_no_section_of_one() {
        let mut text = String::from("# Encodings\n");
        tables(&Figures(&[]), &mut text);
        assert_eq!(that_say_something(&text), "# Encodings\n");
    }

    #[test]
    fn the_class_is_that_of_the_slowest_speed_measured() {
        let shown = with_class(&[Some((100.0, true)), Some((400.0, true)), None]);
        assert_eq!(shown, ["100", "400", "-", "noticeable"]);
        let lapsed = with_class(&[Some((100.0, true)), None, Some((1100.0, false))]);
        assert_eq!(lapsed, ["100", "-", "1,100 (not slowed)", "crisp"]);
        assert_eq!(with_class(&[None; 3])[3], "-");
    }
}
