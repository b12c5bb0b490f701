//! The cells on links: a link before the factors of every other cell of the experiment.

use super::super::cells::{Place, SLOWDOWNS, name};
use super::super::codings::From;
use super::super::data::{Source, sources};
use super::runs::LINKS;
use crate::experiments::Effort;

/// The formats of the paper, and what any Web server would do to XML.
pub(super) const FORMATS: [&str; 5] = ["xml", "json", "exi", "exi-c", "xml-gzip"];
/// What a browser reads of a document.
pub(super) const IN_BROWSER: [&str; 2] = ["xml", "json"];

/// Documents of a quick run: small and large ones of each kind, none of which takes minutes.
const QUICK: [(&str, &str); 6] = [
    ("caps", "0"),
    ("caps", "4"),
    ("caps", "8"),
    ("obs", "1"),
    ("io", "2"),
    ("io", "6"),
];
/// Those that a browser takes part in, in a quick run.
const QUICK_IN_BROWSER: [(&str, &str); 2] = [("caps", "4"), ("io", "2")];

/// Whether a document is sent rather than fetched: what clients produce (RS, IO).
pub(super) fn is_upload(data: &str) -> bool {
    matches!(data, "rs" | "io")
}

/// The paper's data sets.
pub(super) fn sources_on_links(effort: Effort) -> Vec<Source> {
    let of_the_paper = |source: &Source| match effort {
        Effort::Quick => QUICK.contains(&(source.data, source.file)),
        Effort::Full => matches!(source.data, "caps" | "sd" | "obs" | "rs" | "io"),
    };
    let all = sources(Effort::Full).into_iter();
    all.filter(of_the_paper).collect()
}

/// The formats of an effort, natively.
pub(super) fn formats(effort: Effort) -> &'static [&'static str] {
    match effort {
        Effort::Quick => &FORMATS[..4],
        Effort::Full => &FORMATS,
    }
}

/// Every format on links, in the order of the report.
pub(crate) fn formats_on_links() -> &'static [&'static str] {
    &FORMATS
}

/// How slow browsers are that take part with a document.
pub(super) fn slowdowns((data, file): (&str, &str), effort: Effort) -> &'static [u32] {
    match effort {
        Effort::Full => &SLOWDOWNS,
        Effort::Quick if QUICK_IN_BROWSER.contains(&(data, file)) => &SLOWDOWNS,
        Effort::Quick => &[],
    }
}

/// The name of a cell on a link.
pub(super) fn on_link(
    link: &str,
    place: Place,
    (data, file): (&str, &str),
    format: &str,
) -> String {
    format!(
        "link={link};{}",
        name(place, data, file, From::Document, format)
    )
}

/// All cells of a document on a link.
pub(super) fn of(source: &Source, link: &str, effort: Effort) -> Vec<String> {
    let document = (source.data, source.file);
    let native = formats(effort).iter();
    let mut all: Vec<String> = native
        .map(|format| on_link(link, Place::Native, document, format))
        .collect();
    for times in slowdowns(document, effort) {
        let place = Place::Browser(*times);
        let formats = IN_BROWSER.iter();
        all.extend(formats.map(|format| on_link(link, place, document, format)));
    }
    all
}

/// The names of all cells on links.
pub(crate) fn names(effort: Effort) -> Vec<String> {
    let sources = sources_on_links(effort);
    let of_link = |link| {
        let of = |source: &Source| of(source, link, effort);
        sources.iter().flat_map(of).collect::<Vec<_>>()
    };
    LINKS.into_iter().flat_map(of_link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_on_a_link_has_its_own_name_and_the_quick_ones_are_among_the_full() {
        let full: Vec<String> = names(Effort::Full);
        let set: BTreeSet<&String> = full.iter().collect();
        assert_eq!(set.len(), full.len());
        let quick = names(Effort::Quick);
        assert!(!quick.is_empty() && quick.iter().all(|name| set.contains(name)));
    }

    #[test]
    fn what_clients_produce_is_sent() {
        let sent = |data: &&str| is_upload(data);
        let all = ["caps", "sd", "obs", "rs", "io"];
        assert_eq!(all.iter().copied().filter(|d| sent(d)).count(), 2);
    }
}
