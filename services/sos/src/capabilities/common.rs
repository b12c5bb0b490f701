//! What both versions say alike.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::{Offering, Series, distinct};
use crate::names::{SML20, SML101, SML101_MEDIA};
use crate::operations::OPERATIONS;
use crate::params::Version;
use weir_codec::document::Xml;
use weir_hub::Extent;
use weir_model::Time;

pub(super) fn identification(profiles: &[&str], xml: &mut Xml) {
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
    xml.leaves("ows:Profile", profiles);
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
// [SOS2-8.1-6]
pub(super) fn operations(ask: &Ask, offerings: &[Offering], xml: &mut Xml) {
    xml.start("ows:OperationsMetadata");
    let values = Values::of(offerings);
    let own = OPERATIONS.iter().filter(|own| own.version == ask.version);
    for operation in own {
        xml.start("ows:Operation").attribute("name", operation.name);
        dcp(&ask.url, operation.changes, xml);
        parameters(operation.name, &values, xml);
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

/// Where it is sent; what changes something, by POST alone.
fn dcp(url: &str, changes: bool, xml: &mut Xml) {
    xml.start("ows:DCP").start("ows:HTTP");
    let methods = [
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
    ];
    for (method, url, types) in &methods[usize::from(changes)..] {
        xml.start(method).attribute("xlink:href", url);
        xml.start("ows:Constraint")
            .attribute("name", "Content-Type");
        xml.start("ows:AllowedValues");
        xml.leaves("ows:Value", *types);
        xml.end().end().end();
    }
    xml.end().end();
}

/// The values of parameters, each once; what is offered may be much, and several operations name it.
struct Values<'a> {
    offerings: Vec<&'a str>,
    procedures: Vec<&'a str>,
    properties: Vec<&'a str>,
    features: Vec<&'a str>,
}

impl<'a> Values<'a> {
    fn of(offerings: &'a [Offering]) -> Self {
        let series = || offerings.iter().flat_map(|offering| &offering.series);
        Self {
            offerings: offerings.iter().map(|own| own.id.as_str()).collect(),
            procedures: distinct(series().map(|series| series.procedure.as_str())),
            properties: distinct(series().map(|series| series.property.as_str())),
            features: distinct(series().flat_map(Series::features)),
        }
    }
}

fn parameters(operation: &str, values: &Values<'_>, xml: &mut Xml) {
    let offering = ("offering", &values.offerings);
    let procedure = ("procedure", &values.procedures);
    let property = ("observedProperty", &values.properties);
    let feature = ("featureOfInterest", &values.features);
    let named: &[_] = match operation {
        "GetObservation" | "GetDataAvailability" => &[offering, procedure, property, feature],
        "GetFeatureOfInterest" => &[procedure, property, feature],
        "DescribeSensor" | "DeleteSensor" => &[procedure],
        "GetResult" | "GetResultTemplate" => &[offering, property],
        _ => &[],
    };
    for (name, values) in named {
        parameter(name, values, xml);
    }
}

fn parameter(name: &str, values: &[&str], xml: &mut Xml) {
    xml.start("ows:Parameter").attribute("name", name);
    if values.is_empty() {
        xml.start("ows:NoValues").end()
    } else {
        xml.start("ows:AllowedValues")
            .leaves("ows:Value", values)
            .end()
    };
    xml.end();
}

/// From when to when there are observations of each offering, as far as that is known; asked of the hub at once.
// [SOS2-8.1-9]
pub(super) fn extents(ask: &Ask, offerings: &[Offering]) -> Result<Vec<Spans>, Exception> {
    let series = || offerings.iter().flat_map(|offering| &offering.series);
    let made: Vec<_> = series().map(|own| own.made()).collect();
    let mut all = ask.caller()?.extents(&made)?.into_iter();
    let spans = offerings.iter().map(|offering| {
        let own = all.by_ref().take(offering.series.len()).flatten();
        let last = || offering.series.iter().filter_map(|own| own.last).max();
        match own.reduce(Extent::joined) {
            Some(extent) => Spans::of(&extent),
            None => Spans {
                observed: (None, last()),
                result: None,
            },
        }
    });
    Ok(spans.collect())
}

/// Of the first and of the last observation.
pub(super) type Span = (Option<Time>, Option<Time>);

/// When was observed, and when there were results.
pub(super) struct Spans {
    pub(super) observed: Span,
    pub(super) result: Option<(Time, Time)>,
}

impl Spans {
    fn of(extent: &Extent) -> Self {
        let end = extent.last.max(extent.end.unwrap_or(extent.last));
        Self {
            observed: (Some(extent.first), Some(end)),
            result: extent.result,
        }
    }
}

/// `gml:beginPosition` and `gml:endPosition`.
pub(super) fn positions((begin, end): Span, xml: &mut Xml) {
    for (name, time) in [("gml:beginPosition", begin), ("gml:endPosition", end)] {
        match time {
            Some(time) => xml.leaf(name, &time.to_string()),
            None => xml.empty(name, "indeterminatePosition", "unknown"),
        };
    }
}
