//! `report.html`: a run as one page that works from disk, without network and without script.
//!
//! Words first, then figures, tables, verdicts and what must be known to believe them. Everything is
//! rendered here from `run.json`; the script of a few pages only sorts, filters, switches and points.
//! What it deliberately does not do: fetch anything, load a library, or sum a run up in one score. The
//! decision worth arguing: figures are drawn in Rust and not by a library of charts, so that what is
//! printed, what is read aloud and what is clicked are the same numbers.

mod answer;
mod caveats;
mod cells;
mod changes;
mod clock;
mod configuration;
mod figures;
mod front;
mod leaders;
mod markup;
mod paper;
mod picture;
mod svg;
mod verdicts;

use super::Subject;
use markup::escaped;

pub use changes::changes;
pub use front::{Chapter, front};
pub(crate) use picture::picture;

const STYLE: &str = include_str!("style.css");
/// The colours, and what is drawn with them: of a page and of a picture alike.
const PLOT_STYLE: &str = include_str!("plot.css");
const SCRIPT: &str = include_str!("script.js");

/// A section of the page: its anchor, its title, its inside; an empty one is left out.
type Section = (&'static str, &'static str, String);

/// The page of a run.
pub(crate) fn page(subject: &Subject) -> String {
    let Subject { run, figures, .. } = subject;
    let sections: [Section; 9] = [
        ("figures", "Figures", figures::section(run, figures)),
        ("matrix", "Matrix", cells::matrix(run)),
        ("claims", "What the papers claim", verdicts::claims(run)),
        ("goals", "Goals", verdicts::goals(run)),
        ("ratios", "Ours divided by theirs", verdicts::ratios(run)),
        ("published", "Published tables", paper::tables(run)),
        ("caveats", "Before you believe it", caveats::section(run)),
        ("cells", "All cells", cells::table(run)),
        ("repeat", "How to repeat it", caveats::repeat(run)),
    ];
    let title = format!("{}, {}", run.title(), run.started);
    document(&title, &answer::head(run, subject.about), &sections)
}

/// A page of sections under a head.
fn document(title: &str, head: &str, sections: &[Section]) -> String {
    let shown = || sections.iter().filter(|(_, _, inside)| !inside.is_empty());
    let links: String = shown()
        .map(|(id, title, _)| format!("<a href=\"#{id}\">{title}</a> "))
        .collect();
    let bodies: String = shown()
        .map(|(id, title, inside)| {
            format!("<section id=\"{id}\"><h2>{title}</h2>\n{inside}</section>\n")
        })
        .collect();
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title>\n<style>\n{PLOT_STYLE}{STYLE}</style></head>\n<body>\n{hatches}<header>{head}\
         <nav aria-label=\"Sections\">{links}</nav></header>\n<main>\n{bodies}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        hatches = svg::HATCHES,
    )
}

#[cfg(test)]
mod tests;
