//! Times in Chromium, at three speeds, and how a person feels about them.

use super::{head, row};
use crate::encoding::cells::{Place, SLOWDOWNS};
use crate::encoding::codings::From;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;
use crate::report::number;

const DATA: [&str; 4] = ["caps", "obs", "io", "a"];

pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## Parsing in Chromium, ms\n\nWhole documents by `DOMParser` and `JSON.parse`; \
              observations by the dashboard's decoders. The classes are those that section 5.1.1 \
              of Tamayo et al. quotes: crisp under 150 ms, noticeable under 1 s, annoying under \
              5 s, unbearable beyond; they are of the slowest column.\n\n";
    let columns = [
        "cell",
        "format",
        "as it is",
        "4 times slower",
        "6 times slower",
        "class",
    ];
    head(&columns, text);
    for data in DATA {
        for file in figures.files(data) {
            let document = Of::document(data, file);
            for format in ["xml", "json"] {
                line(figures, document, format, text);
            }
            for format in weir_codec::FORMATS {
                line(figures, Of::observations(data, file), format.name, text);
            }
        }
    }
}

fn line(figures: &Figures<'_>, of: Of<'_>, format: &str, text: &mut String) {
    let time = |slowdown| {
        let time = figures.time(of.at(Place::Browser(slowdown)), format, Task::Parse);
        time.map(|us| us / 1000.0)
    };
    let times = SLOWDOWNS.map(time);
    if times.iter().all(Option::is_none) {
        return;
    }
    let from = if of.from == From::Observations {
        ", observations"
    } else {
        ""
    };
    let [one, four, six] = times.map(|ms| ms.map_or("-".into(), number));
    let class = times[2].map_or("-", class);
    row(
        [
            format!("{} {}{from}", of.data, of.file),
            format.into(),
            one,
            four,
            six,
            class.into(),
        ],
        text,
    );
}

/// The class of a response time, milliseconds.
fn class(ms: f64) -> &'static str {
    match ms {
        ms if ms < 150.0 => "crisp",
        ms if ms < 1000.0 => "noticeable",
        ms if ms < 5000.0 => "annoying",
        _ => "unbearable",
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_end_where_the_paper_says() {
        let classes = [149.9, 150.0, 999.0, 4999.0, 5000.0].map(class);
        assert_eq!(
            classes,
            [
                "crisp",
                "noticeable",
                "noticeable",
                "annoying",
                "unbearable"
            ]
        );
    }
}
