//! Features of interest, and GetFeatureOfInterest (OGC 12-006 section 9.1).
//!
//! What a datastream observes is known where it was said (by an observation that was inserted, or in the
//! catalog's entry); else it is a feature of the topic above.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::gml;
use crate::inventory::Inventory;
use crate::named::Named;
use crate::names::*;
use crate::records::{Set, position_of, topics_of};
use crate::reply::Reply;
use crate::selection::selected;
use crate::whereabouts::Followed;
use std::collections::{BTreeMap, HashSet};
use weir_codec::crs::Position;
use weir_codec::document::Xml;
use weir_model::Place;

const ACTION: &str =
    "http://www.opengis.net/def/serviceOperation/sos/foiRetrieval/2.0/GetFeatureOfInterestResponse";

/// One feature.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    /// What people call it, where that is known.
    pub(crate) name: Option<String>,
    pub(crate) position: Option<Position>,
    /// Topics of the datastreams that observe it.
    pub(crate) topics: HashSet<String>,
}

impl Feature {
    /// Takes what follows from where a thing was, or else from where a datastream is.
    fn take(&mut self, followed: &Followed, series: &Named) {
        let of_series = series.place.map(|place| Position {
            place,
            height: None,
        });
        let position = if followed.is_known() {
            followed.position()
        } else {
            of_series
        };
        self.name = self.name.take().or(followed.name().map(str::to_owned));
        self.position = self.position.or(position);
        self.topics.insert(series.topic.to_string());
    }

    /// Where it is in the plane.
    pub(crate) fn place(&self) -> Option<Place> {
        self.position.map(|position| position.place)
    }
}

/// The features that all datastreams of an inventory observe, by identifier.
pub(crate) fn known(
    ask: &Ask,
    inventory: &Inventory<'_>,
) -> Result<BTreeMap<String, Feature>, Exception> {
    observed(ask, inventory, inventory.all().map(|named| &**named))
}

/// The features that some of the datastreams of an inventory observe, and those that were described, by
/// identifier.
fn observed<'i>(
    ask: &Ask,
    inventory: &Inventory<'_>,
    some: impl Iterator<Item = &'i Named>,
) -> Result<BTreeMap<String, Feature>, Exception> {
    let mut features: BTreeMap<String, Feature> = BTreeMap::new();
    let mut said: HashSet<String> = HashSet::new();
    for (id, body) in ask.records(Set::Features)? {
        let topics = topics_of(&body).into_iter();
        let topics: HashSet<String> = topics
            .filter(|topic| inventory.of_topic(topic).next().is_some())
            .collect();
        said.extend(topics.iter().cloned());
        let feature = Feature {
            name: body["name"].as_str().map(str::to_owned),
            position: position_of(&body),
            topics,
        };
        features.insert(id, feature);
    }
    for series in some {
        // The feature of observations that name none; one that nobody described is not there beside one that
        // observations name.
        for (_, followed) in inventory.features(series) {
            let is_described = followed.is_known() || features.contains_key(&followed.id);
            if is_described || !said.contains(&*series.topic) {
                let feature = features.entry(followed.id.clone()).or_default();
                feature.take(&followed, series);
            }
        }
    }
    features.retain(|_, feature| !feature.topics.is_empty());
    Ok(features)
}

/// Answers the request.
// [SOS2-9.1-1] [SOS2-9.1-2] [SOS2-9.1-3] [SOS2-9.1-4] [SOS2-9.1-5] [SOS2-13.3-1]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let inventory = ask.inventory()?;
    let picked = selected(ask, &inventory)?;
    let named = ask.params.all("featureOfInterest");
    let features = if named.is_empty() {
        observed(ask, &inventory, picked.iter().map(|series| &**series))?
    } else {
        known(ask, &inventory)?
    };
    let picked: HashSet<&str> = picked.iter().map(|series| &*series.topic).collect();
    if let Some(unknown) = named.iter().find(|id| !features.contains_key(*id)) {
        let sentence = format!("there is no `{unknown}`");
        return Err(Exception::invalid("featureOfInterest", sentence));
    }
    let wanted = features.iter().filter(|(id, feature)| {
        let observed = feature
            .topics
            .iter()
            .any(|own| picked.contains(own.as_str()));
        ask.params.region.has(feature.place())
            && observed
            && (named.is_empty() || named.contains(*id))
    });
    let mut xml = Xml::new();
    xml.start("sos:GetFeatureOfInterestResponse").prefixes(&[
        ("sos", SOS20),
        ("gml", GML32),
        ("sam", SAM20),
        ("sams", SAMS20),
        ("xlink", XLINK),
    ]);
    for (number, (id, feature)) in wanted.enumerate() {
        write(number, id, feature, &mut xml);
    }
    Ok(Reply::Document(xml.finish(), ACTION))
}

/// A sampling point (OGC 10-025r1 clause 10), or a reference to what has no place that is known.
fn write(number: usize, id: &str, feature: &Feature, xml: &mut Xml) {
    let Some(position) = feature.position else {
        xml.empty("sos:featureMember", "xlink:href", id);
        return;
    };
    xml.start("sos:featureMember")
        .start("sams:SF_SpatialSamplingFeature");
    xml.attribute("gml:id", &format!("f{number}"));
    xml.start("gml:identifier")
        .attribute("codeSpace", "urn:weir");
    xml.text(id).end();
    xml.leaf("gml:name", feature.name.as_deref().unwrap_or(id));
    xml.empty("sam:type", "xlink:href", SAMPLING_POINT);
    xml.empty("sam:sampledFeature", "nilReason", "unknown");
    xml.start("sams:shape").start("gml:Point");
    xml.attribute("gml:id", &format!("p{number}"));
    gml::position(position, [WGS84, WGS84_3D], xml);
    xml.end().end().end().end();
}
