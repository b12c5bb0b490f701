//! GetFeatureOfInterest of version 1.0.0 (OGC 06-009r6 section 10.1): features of GML 3.1.
//!
//! Deliberately without `eventTime`: features do not change here.

use crate::ask::Ask;
use crate::exception::{Code, Exception};
use crate::features::{Feature, known};
use crate::gml;
use crate::names::*;
use crate::reply::Reply;
use std::collections::BTreeMap;
use weir_codec::crs::Position;
use weir_codec::document::Xml;

const ACTION: &str = "http://www.opengis.net/sos/1.0/GetFeatureOfInterestResponse";

/// Answers the request: a sampling point, or a collection of several features.
// [SOS1-10.3-1] [SOS1-10.3-2]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let named = ask.params.all("FeatureOfInterestId");
    let region = &ask.params.region;
    if named.is_empty() && region.is_everywhere() {
        return Err(Exception::missing("FeatureOfInterestId"));
    }
    if !ask.params.all("eventTime").is_empty() {
        let sentence = "features are the same at any time here";
        return Err(Exception::new(
            Code::OptionNotSupported,
            "eventTime",
            sentence,
        ));
    }
    let mut features = known(ask, &ask.inventory()?)?;
    if let Some(unknown) = named.iter().find(|id| !features.contains_key(*id)) {
        let sentence = format!("there is no `{unknown}`");
        return Err(Exception::invalid("FeatureOfInterestId", sentence));
    }
    features.retain(|id, feature| {
        region.has(feature.place()) && (named.is_empty() || named.contains(id))
    });
    Ok(Reply::Document(document(&features), ACTION))
}

const PREFIXES: &[(&str, &str)] = &[("gml", GML31), ("sa", SA10), ("xlink", XLINK)];

fn document(features: &BTreeMap<String, Feature>) -> String {
    let mut xml = Xml::new();
    let only = features
        .iter()
        .next()
        .filter(|_| features.len() == 1)
        .and_then(|(id, feature)| Some((id, feature.position?)));
    if let Some((id, position)) = only {
        xml.start("sa:SamplingPoint").prefixes(PREFIXES);
        point(0, id, position, &mut xml);
        return xml.finish();
    }
    xml.start("gml:FeatureCollection").prefixes(PREFIXES);
    for (number, (id, feature)) in features.iter().enumerate() {
        match feature.position {
            Some(position) => {
                xml.start("gml:featureMember").start("sa:SamplingPoint");
                point(number, id, position, &mut xml);
                xml.end().end();
            }
            None => {
                xml.empty("gml:featureMember", "xlink:href", id);
            }
        }
    }
    xml.finish()
}

/// What is within a sampling point (OGC 07-002r3 section 7).
fn point(number: usize, id: &str, position: Position, xml: &mut Xml) {
    xml.attribute("gml:id", &format!("f{number}"));
    xml.leaf("gml:name", id);
    xml.empty(
        "sa:sampledFeature",
        "xlink:href",
        "urn:ogc:def:nil:OGC:unknown",
    );
    xml.start("sa:position").start("gml:Point");
    gml::position(position, [WGS84_URN, WGS84_3D_URN], xml);
    xml.end().end();
}
