//! Content density and the category of a document (Tamayo et al. 2012, section 5.1).
//!
//! The paper gives it in a sentence: the percentage of a document that is "actual data", values of
//! attributes and elements, and not structure, namespaces and tags. Counted here in bytes as they
//! stand: references are not resolved; declarations of namespaces and of where schemas lie are
//! structure; so is white space that only indents.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Density above which a document belongs to category I, percent (section 5.1).
const HIGH_PERCENT: f64 = 33.0;
/// Bytes above which a document of low density is large.
const LARGE_BYTES: usize = 100 * 1024;
/// Bytes below which it is tiny.
const TINY_BYTES: usize = 1024;

/// The paper's classes of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    /// Data predominates.
    I,
    /// Structure predominates, large.
    II,
    /// Structure predominates, small.
    #[allow(clippy::upper_case_acronyms, reason = "a Roman number")]
    III,
    /// Structure predominates, tiny.
    IV,
}

impl Category {
    /// Of a document of so many bytes and percent.
    pub(super) fn of(bytes: usize, density_percent: f64) -> Self {
        match (density_percent > HIGH_PERCENT, bytes) {
            (true, _) => Self::I,
            (false, bytes) if bytes > LARGE_BYTES => Self::II,
            (false, bytes) if bytes < TINY_BYTES => Self::IV,
            _ => Self::III,
        }
    }

    /// Its number as the paper writes it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::II => "II",
            Self::III => "III",
            Self::IV => "IV",
        }
    }
}

/// Says whether an attribute belongs to the structure.
pub(super) fn is_structure(attribute: &str) -> bool {
    attribute == "xmlns"
        || attribute.starts_with("xmlns:")
        || attribute.ends_with(":schemaLocation")
        || attribute.ends_with(":noNamespaceSchemaLocation")
}

/// The content density of a document, percent.
pub(super) fn content_density_percent(xml: &str) -> Result<f64, String> {
    let mut reader = Reader::from_str(xml);
    let mut data = 0;
    loop {
        let at = reader.buffer_position();
        match reader.read_event().map_err(|e| format!("byte {at}: {e}"))? {
            Event::Start(tag) | Event::Empty(tag) => data += in_attributes(&tag)?,
            Event::Text(text) if !text.trim_ascii().is_empty() => data += text.len(),
            Event::CData(text) => data += text.len(),
            Event::GeneralRef(name) => data += name.len() + "&;".len(),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(data as f64 * 100.0 / xml.len().max(1) as f64)
}

fn in_attributes(tag: &BytesStart<'_>) -> Result<usize, String> {
    let mut data = 0;
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|e| e.to_string())?;
        if !is_structure(attribute.key.as_ref()) {
            data += attribute.value.len();
        }
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_of_attributes_and_elements_are_data() {
        // 4 + 6 bytes of data in 36.
        let xml = "<a b=\"four\">\n  <c>six</c><d>xis</d></a>";
        let percent = content_density_percent(xml).unwrap();
        assert!(
            (percent - 1000.0 / xml.len() as f64).abs() < 1e-9,
            "{percent}"
        );
    }

    #[test]
    fn namespaces_schema_places_comments_and_indentation_are_structure() {
        let xml = "<?xml version=\"1.0\"?>\n<a xmlns=\"urn:a\" xmlns:x=\"urn:x\" \
                   x:schemaLocation=\"urn:a a.xsd\">\n  <!-- no --><x:b/>\n</a>";
        assert_eq!(content_density_percent(xml).unwrap(), 0.0);
    }

    #[test]
    fn references_count_as_they_stand() {
        let xml = "<a>1 &lt; 2</a>";
        let percent = content_density_percent(xml).unwrap();
        assert!(
            (percent - 800.0 / xml.len() as f64).abs() < 1e-9,
            "{percent}"
        );
    }

    #[test]
    fn categories_are_the_papers() {
        let of = |kilobytes: f64, percent| Category::of((kilobytes * 1024.0) as usize, percent);
        assert_eq!(of(3.91, 68.91), Category::I);
        assert_eq!(of(205.0, 33.0), Category::II);
        assert_eq!(of(72.39, 30.9), Category::III);
        assert_eq!(of(0.5, 10.0), Category::IV);
    }
}
