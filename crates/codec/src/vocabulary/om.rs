//! Observations and Measurements as XML: O&M 2.0 (OGC 10-025r1) and 1.0 (OGC 07-022r1).
//!
//! One reader takes both, and any collection around the observations (GML's feature collection,
//! SOS's `observationData`, O&M's own `member`). Each version has its writer: 2.0 an
//! `om:OM_Observation` for each result ([`write`]), 1.0 one `om:Observation` for each datastream with
//! all its results in one block of values ([`write_block`]), which is what paper 004 measures.
//!
//! The decision worth arguing: in 2.0 the collection is a `gml:FeatureCollection`, as in OGC's own
//! examples; `sos:observationData` belongs to a service's answer, and O&M 2.0 has no collection itself.
//! What O&M has no place for is an `om:parameter` named by a URN of weir's, or by OGC's name where it
//! has one (`samplingGeometry`). What is not known is said so (`nilReason`), since most of O&M's
//! properties are mandatory; so nothing is invented and all comes back equal.

mod context;
mod features_met;
mod properties;
pub(crate) mod read;
mod time_object;
pub(crate) mod write;
pub(crate) mod write_block;
pub(crate) mod write_model;

use crate::infoset::Name;

const OM20: &str = "http://www.opengis.net/om/2.0";
const OM10: &str = "http://www.opengis.net/om/1.0";
/// Of specialised observations beside O&M 1.0.
const OMX10: &str = "http://www.opengis.net/omx/1.0";
const GML32: &str = "http://www.opengis.net/gml/3.2";
const GML31: &str = "http://www.opengis.net/gml";
const SWE101: &str = "http://www.opengis.net/swe/1.0.1";
const SAMPLING10: &str = "http://www.opengis.net/sampling/1.0";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const XS: &str = "http://www.w3.org/2001/XMLSchema";

/// How observations stand in another document than a message.
#[derive(Clone, Debug)]
pub struct Placement<'a> {
    /// Which rows of the batch, where each stands by itself; blocks have all.
    pub rows: core::ops::Range<usize>,
    /// Number of the batch's first row, so that identifiers differ from those of a part before.
    pub first: usize,
    /// XML before each.
    pub before: &'a str,
    /// XML after each.
    pub after: &'a str,
    /// What those are of that name no feature, by the index of their datastream in the batch.
    pub features: &'a [alloc::string::String],
    /// Rows that are not the first of their datastream and time, ascending, and how many such came before each.
    pub ordinals: &'a [(u32, u32)],
}

impl Placement<'_> {
    /// How many observations of its datastream and time came before a row.
    fn ordinal(&self, row: usize) -> u32 {
        let found = self
            .ordinals
            .binary_search_by_key(&row, |&(of, _)| of as usize);
        found.map_or(0, |at| self.ordinals[at].1)
    }
}

const HREF: Name = Name {
    uri: XLINK,
    local: "href",
};
const XSI_TYPE: Name = Name {
    uri: XSI,
    local: "type",
};
const NIL_REASON: Name = Name::local("nilReason");

/// Why there is no result where no other reason is known (`gml:NilReasonEnumeration`).
const MISSING: &str = "missing";

/// Name of the parameter that says where an observation was made (OGC 10-004r3 section 7.2.2.7).
const SAMPLING_GEOMETRY: &str = "http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry";

/// What stands for a reference to nothing where there is no `nilReason` (OGC 07-092r3).
const UNKNOWN: &str = "urn:ogc:def:nil:OGC:unknown";

/// Says whether a reference is to nothing.
fn is_nil(href: &str) -> bool {
    href.starts_with("urn:ogc:def:nil:") || href.contains("/def/nil/OGC/")
}

/// Parameters and fields that are weir's own.
mod urn {
    pub(super) const TOPIC: &str = "urn:weir:topic";
    pub(super) const UNIT: &str = "urn:weir:unit";
    pub(super) const KIND: &str = "urn:weir:kind";
    pub(super) const QUALITY: &str = "urn:weir:quality";
    pub(super) const PARAMETERS: &str = "urn:weir:parameters";
}
