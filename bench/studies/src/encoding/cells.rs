//! Names of cells: where, of what, from what, in which format.

use super::codings::{From, codings};
use super::data::{Source, sources};
use weir_bench_model::effort::Effort;

/// Formats that EXIficient encodes of every document; the rest only of those that goals set beside it.
pub(super) const EXIFICIENT: [&str; 2] = ["exi", "exi-c"];
/// The same of those.
pub(super) const EXIFICIENT_MORE: [&str; 4] = ["exi", "exi-byte", "exi-pre", "exi-c"];

/// In what a page reads whole documents: by the browser's own parsers, and EXI by the codec.
pub(super) const DOCUMENTS_IN_BROWSER: [&str; 4] = ["xml", "json", "exi", "exi-c"];

/// How much slower than it is the browser's processor pretends to be.
pub(super) const SLOWDOWNS: [u32; 3] = [1, 4, 6];

/// Where a cell's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In this process, or in one beside it.
    Native,
    /// In Chromium, so many times slowed.
    Browser(u32),
}

impl Place {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> String {
        match self {
            Self::Native => "native".into(),
            Self::Browser(1) => "browser".into(),
            Self::Browser(times) => format!("browser-{times}x"),
        }
    }
}

/// The name of a cell.
pub(super) fn name(place: Place, data: &str, file: &str, from: From, format: &str) -> String {
    let (place, from) = (place.name(), from.name());
    format!("place={place};data={data};file={file};from={from};format={format}")
}

/// The formats that EXIficient takes part in with a document.
pub(super) fn exificient_formats(data: &str, file: &str) -> &'static [&'static str] {
    match data {
        _ if has_goals(data, file) => &EXIFICIENT_MORE,
        "message" => &["exi", "exi-c", "exi-s", "exi-sc"],
        _ => &EXIFICIENT,
    }
}

/// Says whether goals speak of a document's times: these have several rounds.
pub(super) fn has_goals(data: &str, file: &str) -> bool {
    matches!((data, file), ("a", "block") | ("b", _))
}

/// Every native cell that may have a result, and those of the browser.
pub(super) fn names(effort: Effort) -> Vec<String> {
    let sources = sources(effort);
    let mut names: Vec<String> = sources.iter().flat_map(native).collect();
    for slowdown in SLOWDOWNS {
        let of = |source| browser(source, slowdown, effort);
        names.extend(sources.iter().flat_map(of));
    }
    names.extend(super::over_link::names(effort));
    names
}

/// The native cells of a document.
pub(super) fn native(source: &Source) -> Vec<String> {
    let mut formats: Vec<(From, &str)> = codings()
        .iter()
        .map(|coding| (coding.from, coding.format))
        .collect();
    formats.extend(
        exificient_formats(source.data, source.file)
            .iter()
            .map(|f| (From::Document, *f)),
    );
    let mut names: Vec<String> = Vec::new();
    for (from, format) in formats {
        let name = name(Place::Native, source.data, source.file, from, format);
        let fits = from == From::Document || source.has_observations();
        if fits && !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| name.contains("from=observations"));
    names
}

/// The cells of a document in the browser.
pub(super) fn browser(source: &Source, slowdown: u32, effort: Effort) -> Vec<String> {
    let place = Place::Browser(slowdown);
    if !source.is_for_browsers() {
        return Vec::new();
    }
    let of = |from, format| name(place, source.data, source.file, from, format);
    let documents = DOCUMENTS_IN_BROWSER.iter();
    let mut names: Vec<_> = documents.map(|format| of(From::Document, format)).collect();
    if reads_observations((source.data, source.file), slowdown, effort) {
        let formats = weir_codec::FORMATS.iter();
        names.extend(formats.map(|format| of(From::Observations, format.name)));
    }
    names
}

/// Says whether a browser so slow reads a document's observations too: messages, one file of each set
/// that has some, and document A, whose 18,500 take seconds in many formats. In a quick run slow ones
/// read none.
pub(super) fn reads_observations(file: (&str, &str), slowdown: u32, effort: Effort) -> bool {
    let is_read = matches!(file, ("message" | "a", _) | ("obs", "4") | ("io", "2"));
    is_read && (slowdown == 1 || effort == Effort::Full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_data_sets_of_the_paper_are_there_native_and_in_the_browser() {
        let names = names(Effort::Full);
        for data in ["caps", "sd", "obs", "rs", "io", "a", "b"] {
            for place in ["native", "browser", "browser-4x", "browser-6x"] {
                let begin = format!("place={place};data={data};");
                let named = names.iter().any(|name| name.starts_with(&begin));
                assert!(named, "{begin}");
            }
        }
    }
}
