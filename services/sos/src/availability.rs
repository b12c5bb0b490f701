//! GetDataAvailability: of what there are observations, and from when to when.
//!
//! It is in no standard of OGC's: 52North's server has it (`http://www.opengis.net/sosgda/1.0`), and clients made
//! for that ask it before they draw. What is told is kept with the datastreams, so no history is read.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::Series;
use crate::names::{GDA10, GML32, XLINK};
use crate::observations::selected;
use crate::reply::Reply;
use weir_codec::document::Xml;
use weir_hub::{Exchange, Extent, Request};

const ACTION: &str =
    "http://www.opengis.net/def/serviceOperation/sos/daRetrieval/2.0/GetDataAvailabilityResponse";

/// Answers the request: procedures, properties, features and offerings filter, as in GetObservation.
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let inventory = ask.inventory()?;
    let features = ask.params.all("featureOfInterest");
    let mut picked = selected(ask, &inventory)?;
    picked.retain(|series| features.is_empty() || features.contains(&series.feature));
    let topics = picked.iter().map(|series| series.topic.to_string());
    let Exchange::Extents(extents) = ask.open(Request::Extents(topics.collect()))? else {
        return Err(Exception::internal("the hub answered something else"));
    };
    let mut xml = Xml::new();
    xml.start("gda:GetDataAvailabilityResponse").prefixes(&[
        ("gda", GDA10),
        ("gml", GML32),
        ("xlink", XLINK),
    ]);
    for (number, (series, extent)) in picked.iter().zip(extents).enumerate() {
        if let Some(extent) = extent {
            member(number + 1, series, &extent, &mut xml);
        }
    }
    Ok(Reply::Document(xml.finish(), ACTION))
}

fn member(number: usize, series: &Series, extent: &Extent, xml: &mut Xml) {
    xml.start("gda:dataAvailabilityMember");
    xml.attribute("gml:id", &format!("dam_{number}"));
    xml.empty("gda:procedure", "xlink:href", &series.procedure);
    xml.empty("gda:observedProperty", "xlink:href", &series.property);
    xml.empty("gda:featureOfInterest", "xlink:href", &series.feature);
    xml.start("gda:phenomenonTime").start("gml:TimePeriod");
    xml.attribute("gml:id", &format!("tp_{number}"));
    xml.leaf("gml:beginPosition", &extent.first.to_string());
    let end = extent.last.max(extent.end.unwrap_or(extent.last));
    xml.leaf("gml:endPosition", &end.to_string());
    xml.end().end().end();
}
