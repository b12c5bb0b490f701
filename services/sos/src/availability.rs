//! GetDataAvailability: of what there are observations, and from when to when.
//!
//! It is in no standard of OGC's: 52North's server has it (`http://www.opengis.net/sosgda/1.0`, and 2.0, which adds
//! offerings and formats), and clients made for that ask it before they draw. What is told is kept with the
//! datastreams, so no history is read but where a datastream has
//! several descriptions.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::features;
use crate::inventory::{Inventory, Series};
use crate::names::{GDA10, GDA20, GML32, OM20, SML20, XLINK};
use crate::records::OwnOffering;
use crate::reply::Reply;
use crate::selection::selected;
use std::collections::BTreeMap;
use weir_codec::document::Xml;
use weir_hub::Extent;

const ACTION: &str =
    "http://www.opengis.net/def/serviceOperation/sos/daRetrieval/2.0/GetDataAvailabilityResponse";

/// Answers the request: procedures, properties, features and offerings filter, as in GetObservation.
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let inventory = ask.inventory()?;
    let picked = selected(ask, &inventory)?;
    let features = observed(ask, &inventory)?;
    let made: Vec<_> = picked.iter().map(|series| series.made()).collect();
    let extents = ask.caller()?.extents(&made)?;
    let told = picked.iter().zip(extents);
    let told = told.filter_map(|(series, extent)| Some((series, extent?)));
    let mut xml = Xml::new();
    xml.start("gda:GetDataAvailabilityResponse");
    let space = if is_version_2(ask)? { GDA20 } else { GDA10 };
    xml.prefixes(&[("gda", space), ("gml", GML32), ("xlink", XLINK)]);
    let mut number = 0;
    for (series, extent) in told {
        let features = features.get(&*series.topic).into_iter().flatten();
        let offerings = in_offerings(ask, &inventory, series, space);
        let each = features.flat_map(|feature| offerings.iter().map(move |own| (feature, own)));
        for (feature, offering) in each {
            number += 1;
            member(number, (series, feature.as_str()), &extent, &mut xml);
            offering
                .iter()
                .for_each(|own| descriptor(own, series, &mut xml));
            xml.end();
        }
    }
    Ok(Reply::Document(xml.finish(), ACTION))
}

/// The features that are asked for of those that each datastream observes, by topic.
fn observed(
    ask: &Ask,
    inventory: &Inventory<'_>,
) -> Result<BTreeMap<String, Vec<String>>, Exception> {
    let wanted = ask.params.all("featureOfInterest");
    let mut by_topic: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, feature) in features::known(ask, inventory)? {
        if wanted.is_empty() || wanted.contains(&id) {
            for topic in feature.topics {
                by_topic.entry(topic).or_default().push(id.clone());
            }
        }
    }
    Ok(by_topic)
}

/// Which of the two is asked for: by the namespace of XML, or else by `responseFormat`.
fn is_version_2(ask: &Ask) -> Result<bool, Exception> {
    let space = ask.params.element.as_ref().map(|root| root.uri.as_str());
    let format = ask.params.one("responseFormat")?;
    Ok(space == Some(GDA20) || format == Some(GDA20))
}

/// A member for each offering of the procedure that is asked for; without offerings, one.
fn in_offerings(
    ask: &Ask,
    inventory: &Inventory<'_>,
    series: &Series,
    space: &str,
) -> Vec<Option<OwnOffering>> {
    if space == GDA10 {
        return vec![None];
    }
    let wanted = ask.params.all("offering");
    let own = inventory.offerings_of(&series.procedure).into_iter();
    let own = own.filter(|own| wanted.is_empty() || wanted.contains(&own.id));
    own.map(Some).collect()
}

/// What version 2.0 adds: the offering, and the formats that it and its procedure are given in.
fn descriptor(offering: &OwnOffering, series: &Series, xml: &mut Xml) {
    xml.start("gda:offering")
        .attribute("xlink:href", &offering.id);
    if let Some(name) = &offering.name {
        xml.attribute("xlink:title", name);
    }
    xml.end().start("gda:formatDescriptor");
    xml.start("gda:procedureDescriptionFormatDescriptor");
    xml.leaf("gda:procedureDescriptionFormat", SML20).end();
    xml.start("gda:observationFormatDescriptor");
    xml.leaf("gda:responseFormat", OM20);
    xml.leaf("gda:observationType", series.class);
    xml.end().end();
}

/// A member, left open.
fn member(number: usize, (series, feature): (&Series, &str), extent: &Extent, xml: &mut Xml) {
    xml.start("gda:dataAvailabilityMember");
    xml.attribute("gml:id", &format!("dam_{number}"));
    xml.empty("gda:procedure", "xlink:href", &series.procedure);
    xml.empty("gda:observedProperty", "xlink:href", &series.property);
    xml.empty("gda:featureOfInterest", "xlink:href", feature);
    xml.start("gda:phenomenonTime").start("gml:TimePeriod");
    xml.attribute("gml:id", &format!("tp_{number}"));
    xml.leaf("gml:beginPosition", &extent.first.to_string());
    let end = extent.last.max(extent.end.unwrap_or(extent.last));
    xml.leaf("gml:endPosition", &end.to_string());
    xml.end().end();
}
