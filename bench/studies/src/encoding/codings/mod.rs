//! Every way in which a document, or the observations in it, become bytes: the contenders.
//!
//! Two families. Of a *document* every coding gives back all that the document says, as a stream of
//! events whose values a reader can take: XML, its generic JSON, EXI, and XML compressed. Of
//! *observations* a coding gives back the observations: these are the lines of `FORMATS`. They are
//! told apart in cells by `from`, since only like may be compared with like.

mod compressed;
mod document_json;
mod exi;
mod formats;
pub(super) mod numbers;
mod recording;
mod xml;

use std::rc::Rc;

pub(super) use document_json::json_of;
pub(super) use exi::{WEIR_XSD, exi_of};

use super::data::Document;

/// What is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum From {
    /// The whole document.
    Document,
    /// The observations in it.
    Observations,
}

/// One contender: a format by an implementation.
pub(super) struct Coding {
    /// The format, as in cells.
    pub format: &'static str,
    /// Whose implementation.
    pub target: &'static str,
    /// What it encodes.
    pub from: From,
    /// Makes it ready for a document; an error says why it cannot take part.
    pub prepare: Prepare,
}

/// Encodes a document and says how it is read and written.
pub(super) type Prepare = Box<dyn Fn(&Rc<Document>) -> Result<Prepared, String>>;

/// Work that is measured.
pub(super) type Work = Box<dyn FnMut() -> Result<(), String>>;

/// A coding with a document's bytes at hand.
pub(super) struct Prepared {
    /// The encoded bytes.
    pub bytes: Vec<u8>,
    /// Reads them.
    pub parse: Option<Work>,
    /// Writes them, from what a program would hold.
    pub serialize: Option<Work>,
    /// Writes them from the XML, whose parsing is included; of codings of documents.
    pub from_xml: Option<Work>,
}

impl From {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Observations => "observations",
        }
    }
}

/// All contenders that run in this process.
pub(super) fn codings() -> Vec<Coding> {
    let mut all = xml::codings();
    all.extend(document_json::codings());
    all.extend(exi::codings());
    all.extend(compressed::codings());
    all.extend(formats::codings());
    all.extend(numbers::codings());
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::data::sources;
    use weir_bench_model::effort::Effort;

    #[test]
    fn every_coding_reads_and_writes_what_it_takes_part_in() {
        let wanted = [("caps", "0"), ("obs", "2"), ("message", "2")];
        let sources = sources(Effort::Full);
        let sources = sources
            .iter()
            .filter(|s| wanted.contains(&(s.data, s.file)));
        for source in sources {
            let document = Rc::new(source.make(1).unwrap());
            for coding in codings() {
                let name = format!("{source:?} {} {}", coding.format, coding.target);
                let Ok(prepared) = (coding.prepare)(&document) else {
                    continue;
                };
                let works = [prepared.parse, prepared.serialize, prepared.from_xml];
                assert!(!prepared.bytes.is_empty(), "{name}");
                assert!(works.iter().any(Option::is_some), "{name}");
                for work in works.into_iter().flatten() {
                    let mut work = work;
                    work().unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
        }
    }

    #[test]
    fn observations_are_not_asked_of_a_document_without_them() {
        let sources = sources(Effort::Full);
        let caps = sources.iter().find(|s| s.data == "caps").unwrap();
        let document = Rc::new(caps.make(1).unwrap());
        for coding in codings()
            .iter()
            .filter(|coding| coding.from == From::Observations)
        {
            assert!((coding.prepare)(&document).is_err(), "{}", coding.format);
        }
    }
}
