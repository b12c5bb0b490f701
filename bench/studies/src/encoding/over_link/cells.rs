//! The cells on links: a link before the factors of every other cell of the experiment.

use super::super::cells::{Place, SLOWDOWNS, name};
use super::super::codings::From;
use super::super::data::{Source, sources};
use super::runs::LINKS;
use weir_bench_model::effort::Effort;

/// The formats of the paper, and what any Web server would do to XML.
pub(super) const FORMATS: [&str; 5] = ["xml", "json", "exi", "exi-c", "xml-gzip"];
/// What a browser reads of a document.
pub(super) const IN_BROWSER: [&str; 2] = ["xml", "json"];

/// What a quick run has of it, since an exchange over 3G takes seconds: a document that is fetched and one
/// that is sent, of the same size.
const QUICK: [(&str, &str); 2] = [("caps", "4"), ("io", "2")];
const FORMATS_QUICK: [&str; 3] = ["xml", "json", "exi-c"];
/// What a browser takes part in there, and over which link.
const QUICK_IN_BROWSER: (&str, (&str, &str)) = ("wifi", ("caps", "4"));

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
        Effort::Quick => &FORMATS_QUICK,
        Effort::Full => &FORMATS,
    }
}

/// Every format on links, in the order of the report.
pub(crate) fn formats_on_links() -> &'static [&'static str] {
    &FORMATS
}

/// How slow browsers are that take part with a document on a link.
pub(super) fn slowdowns(link: &str, document: (&str, &str), effort: Effort) -> &'static [u32] {
    match effort {
        Effort::Full => &SLOWDOWNS,
        Effort::Quick if QUICK_IN_BROWSER == (link, document) => &SLOWDOWNS[..1],
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
    for times in slowdowns(link, document, effort) {
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

    #[test]
    fn what_clients_produce_is_sent() {
        let sent = |data: &&str| is_upload(data);
        let all = ["caps", "sd", "obs", "rs", "io"];
        assert_eq!(all.iter().copied().filter(|d| sent(d)).count(), 2);
    }
}
