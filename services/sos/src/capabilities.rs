//! GetCapabilities (OGC 12-006 section 8.1, OGC 06-009r6 section 8.2, OGC 06-121r9 section 7).

mod common;
mod edition;
mod version1;
mod version2;

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::Offering;
use crate::names::XLINK;
use crate::params::Version;
use crate::reply::Reply;
use std::cell::LazyCell;
use weir_codec::document::Xml;

const ACTION: &str =
    "http://www.opengis.net/def/serviceOperation/sos/core/2.0/GetCapabilitiesResponse";

/// A part of the document (OGC 06-121r9 table 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    ServiceIdentification,
    ServiceProvider,
    OperationsMetadata,
    InsertionCapabilities,
    FilterCapabilities,
    Contents,
}

const SECTIONS: &[(&str, &[Section])] = &[
    ("ServiceIdentification", &[Section::ServiceIdentification]),
    ("ServiceProvider", &[Section::ServiceProvider]),
    ("OperationsMetadata", &[Section::OperationsMetadata]),
    ("FilterCapabilities", &[Section::FilterCapabilities]),
    ("Filter_Capabilities", &[Section::FilterCapabilities]),
    ("InsertionCapabilities", &[Section::InsertionCapabilities]),
    ("Contents", &[Section::Contents]),
    ("All", ALL),
];

const ALL: &[Section] = &[
    Section::ServiceIdentification,
    Section::ServiceProvider,
    Section::OperationsMetadata,
    Section::InsertionCapabilities,
    Section::FilterCapabilities,
    Section::Contents,
];

/// What the document is about.
struct Offered<F> {
    sequence: String,
    /// Not looked at where no section tells of them.
    offerings: LazyCell<Vec<Offering>, F>,
}

/// Answers the request: all of the document, or the sections that are asked for; nothing but its root
/// where the client has what there is.
// [SOS2-8.1-2]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let wanted = sections(ask)?;
    let inventory = ask.inventory()?;
    let offered = Offered {
        sequence: inventory.sequence(),
        offerings: LazyCell::new(|| inventory.offerings()),
    };
    let known = ask.params.one("updateSequence")?;
    let wanted = if known == Some(offered.sequence.as_str()) {
        Vec::new()
    } else {
        wanted
    };
    Ok(Reply::Document(document(ask, &offered, &wanted)?, ACTION))
}

fn document(
    ask: &Ask,
    offered: &Offered<impl FnOnce() -> Vec<Offering>>,
    wanted: &[Section],
) -> Result<String, Exception> {
    let edition = match ask.version {
        Version::V1 => &version1::EDITION,
        Version::V2 => &version2::EDITION,
    };
    let mut xml = Xml::new();
    xml.start("sos:Capabilities").prefixes(edition.prefixes);
    xml.prefixes(&[("xlink", XLINK)]);
    xml.attribute("version", ask.version.text());
    xml.attribute("updateSequence", &offered.sequence);
    if wanted.contains(&Section::ServiceIdentification) {
        common::identification(edition.profiles, &mut xml);
    }
    if wanted.contains(&Section::ServiceProvider) {
        common::provider(&mut xml);
    }
    if wanted.contains(&Section::OperationsMetadata) {
        common::operations(ask, &offered.offerings, &mut xml);
    }
    if let (true, Some(insertion)) = (
        wanted.contains(&Section::InsertionCapabilities),
        edition.insertion,
    ) {
        insertion(&mut xml);
    }
    if wanted.contains(&Section::FilterCapabilities) {
        (edition.filters)(&mut xml);
    }
    if wanted.contains(&Section::Contents) {
        (edition.contents)(ask, &offered.offerings, &mut xml)?;
    }
    Ok(xml.finish())
}

// [SOS2-8.1-1]
fn sections(ask: &Ask) -> Result<Vec<Section>, Exception> {
    let mut wanted = Vec::new();
    let named = ask.params.all("Sections");
    for name in named {
        let known = SECTIONS.iter().find(|(own, _)| own == name);
        let (_, sections) = known.ok_or_else(|| {
            Exception::invalid("Sections", format!("there is no section `{name}`"))
        })?;
        wanted.extend_from_slice(sections);
    }
    if named.is_empty() {
        Ok(ALL.to_vec())
    } else {
        Ok(wanted)
    }
}
