//! What both versions say alike.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::{Offering, distinct};
use crate::names::{SML20, SML101, SML101_MEDIA};
use crate::operations::OPERATIONS;
use crate::params::Version;
use weir_codec::document::Xml;
use weir_hub::{Exchange, Extent, Request};
use weir_model::Time;

pub(super) fn identification(ask: &Ask, profiles: &[&str], xml: &mut Xml) {
    xml.start("ows:ServiceIdentification");
    xml.leaf("ows:Title", "weir");
    xml.leaf(
        "ows:Abstract",
        "Observations of all that publishes to this gateway",
    );
    xml.leaf("ows:ServiceType", "OGC:SOS");
    for version in [Version::V2, Version::V1] {
        xml.leaf("ows:ServiceTypeVersion", version.text());
    }
    if ask.version == Version::V2 {
        xml.leaves("ows:Profile", profiles);
    }
    xml.leaf("ows:Fees", "NONE");
    xml.leaf("ows:AccessConstraints", "NONE");
    xml.end();
}

pub(super) fn provider(xml: &mut Xml) {
    xml.start("ows:ServiceProvider");
    xml.leaf("ows:ProviderName", "weir");
    xml.start("ows:ServiceContact").end();
    xml.end();
}

/// Every operation of the version, with the values that its parameters may have.
pub(super) fn operations(ask: &Ask, offerings: &[Offering], xml: &mut Xml) {
    xml.start("ows:OperationsMetadata");
    let own = OPERATIONS.iter().filter(|own| own.version == ask.version);
    for operation in own {
        xml.start("ows:Operation").attribute("name", operation.name);
        dcp(&ask.url, xml);
        parameters(operation.name, offerings, xml);
        match (operation.name, ask.version) {
            ("DescribeSensor", Version::V1) => parameter("outputFormat", &[SML101_MEDIA], xml),
            ("DescribeSensor", Version::V2) => {
                parameter("procedureDescriptionFormat", &[SML20, SML101], xml);
            }
            _ => {}
        }
        xml.end();
    }
    for (name, value) in [("service", "SOS"), ("version", ask.version.text())] {
        parameter(name, &[value], xml);
    }
    xml.end();
}

fn dcp(url: &str, xml: &mut Xml) {
    xml.start("ows:DCP").start("ows:HTTP");
    for (method, url, types) in [
        ("ows:Get", format!("{url}?"), &["application/x-kvp"][..]),
        (
            "ows:Post",
            url.to_owned(),
            &[
                "application/xml",
                "text/xml",
                "application/soap+xml",
                "application/exi",
                "application/json",
            ],
        ),
    ] {
        xml.start(method).attribute("xlink:href", &url);
        xml.start("ows:Constraint")
            .attribute("name", "Content-Type");
        xml.start("ows:AllowedValues");
        xml.leaves("ows:Value", types);
        xml.end().end().end();
    }
    xml.end().end();
}

fn parameters(operation: &str, offerings: &[Offering], xml: &mut Xml) {
    let procedures = || {
        offerings
            .iter()
            .map(|offering| offering.procedure.as_str())
            .collect()
    };
    let names: &[&str] = match operation {
        "GetObservation" => &[
            "offering",
            "procedure",
            "observedProperty",
            "featureOfInterest",
        ],
        "GetFeatureOfInterest" => &["procedure", "observedProperty", "featureOfInterest"],
        "DescribeSensor" | "DeleteSensor" => &["procedure"],
        "GetResult" | "GetResultTemplate" => &["offering", "observedProperty"],
        _ => &[],
    };
    for name in names {
        let ids: Vec<&str> = offerings
            .iter()
            .map(|offering| offering.id.as_str())
            .collect();
        let values: Vec<&str> = match *name {
            "offering" => ids,
            "procedure" => procedures(),
            "observedProperty" => distinct(offerings.iter().flat_map(Offering::properties)),
            _ => distinct(offerings.iter().flat_map(Offering::features)),
        };
        parameter(name, &values, xml);
    }
}

fn parameter(name: &str, values: &[&str], xml: &mut Xml) {
    xml.start("ows:Parameter").attribute("name", name);
    match values.is_empty() {
        true => xml.start("ows:NoValues").end(),
        false => xml
            .start("ows:AllowedValues")
            .leaves("ows:Value", values)
            .end(),
    };
    xml.end();
}

/// From when to when there are observations, as far as that is known.
pub(super) fn extent(
    ask: &Ask,
    offering: &Offering,
) -> Result<(Option<Time>, Option<Time>), Exception> {
    let last = offering
        .series
        .iter()
        .filter_map(|series| series.last)
        .max();
    let topics = offering.series.iter().map(|own| own.topic.to_string());
    let Exchange::Extents(all) = ask.open(Request::Extents(topics.collect()))? else {
        return Ok((None, last));
    };
    let all = all.into_iter().flatten().reduce(Extent::joined);
    Ok(match all {
        Some(extent) => (
            Some(extent.first),
            Some(extent.last.max(extent.end.unwrap_or(extent.last))),
        ),
        None => (None, last),
    })
}

/// `gml:beginPosition` and `gml:endPosition`.
pub(super) fn positions((begin, end): (Option<Time>, Option<Time>), xml: &mut Xml) {
    for (name, time) in [("gml:beginPosition", begin), ("gml:endPosition", end)] {
        match time {
            Some(time) => xml.leaf(name, &time.to_string()),
            None => xml.empty(name, "indeterminatePosition", "unknown"),
        };
    }
}
