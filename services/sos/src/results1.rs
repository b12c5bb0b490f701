//! Results by a template in version 1.0.0 (OGC 06-009r6 sections 8.4 and 10.2): GetObservation with
//! responseMode `resultTemplate` says what they are, GetResult gives them.
//!
//! A template is a datastream; its identifier is the topic as an XML name, of what the datastream was before with the
//! number of its description.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::identifiers::{nc_name, of_nc_name};
use crate::inventory::Series;
use crate::named::Named;
use crate::names::*;
use crate::observed::{Layout, Observed};
use crate::pages::{Pages, Wanted};
use crate::reply::Reply;
use crate::sensorml::component;
use weir_codec::document::Xml;

const ACTION: &str = "http://www.opengis.net/sos/1.0/GetObservationResponse";

/// What stands for what the values will be.
const LATER: &str = "urn:ogc:def:nil:OGC:template";

/// Observations without their values.
pub(crate) fn templates(series: &[Series]) -> Reply {
    let mut xml = Xml::new();
    xml.start("om:ObservationCollection").prefixes(&[
        ("om", OM10),
        ("gml", GML31),
        ("swe", SWE101),
        ("xlink", XLINK),
    ]);
    for own in series {
        xml.start("om:member").start("om:Observation");
        xml.attribute("gml:id", &nc_name(&identifier(own)));
        for (name, href) in [
            ("om:samplingTime", LATER),
            ("om:procedure", &own.procedure),
            ("om:observedProperty", &own.property),
            ("om:featureOfInterest", own.feature()),
        ] {
            xml.empty(name, "xlink:href", href);
        }
        xml.start("om:result");
        array(own, &mut xml);
        xml.end().end().end();
    }
    if series.is_empty() {
        xml.start("om:member").end();
    }
    Reply::Document(xml.finish(), ACTION)
}

/// No topic has the sign that stands before the number.
fn identifier(named: &Named) -> String {
    match named.under().first().filter(|_| !named.is_newest()) {
        Some(number) => format!("{}#{number}", named.topic),
        None => named.topic.to_string(),
    }
}

fn array(series: &Series, xml: &mut Xml) {
    xml.start("swe:DataArray").start("swe:elementCount");
    xml.start("swe:Count").end().end();
    xml.start("swe:elementType").attribute("name", "record");
    xml.start("swe:DataRecord");
    xml.start("swe:field").attribute("name", "time");
    xml.empty("swe:Time", "definition", "urn:ogc:property:time:iso8601");
    xml.end();
    xml.start("swe:field").attribute("name", "result");
    component(series, xml);
    xml.end().end().end();
    xml.start("swe:encoding").start("swe:TextBlock");
    for (name, sign) in [
        ("decimalSeparator", "."),
        ("tokenSeparator", ","),
        ("blockSeparator", "\n"),
    ] {
        xml.attribute(name, sign);
    }
    xml.end().end().end();
}

/// Answers GetResult.
// [SOS1-10.2-1] [SOS1-10.2-2]
pub(crate) fn results(ask: &Ask) -> Result<Reply, Exception> {
    let name = "ObservationTemplateId";
    let id = ask.params.required(name)?;
    let inventory = ask.inventory()?;
    let wanted = of_nc_name(id).unwrap_or_default();
    let topic = wanted.split('#').next().unwrap_or_default();
    let mut named = inventory.of_topic(topic);
    let named = named
        .find(|own| identifier(own) == wanted)
        .ok_or_else(|| Exception::invalid(name, format!("there is no `{id}`")))?;
    if let (Some(own), Some(other)) = (&named.unit, named.other_unit()) {
        let sentence = format!("one record cannot have both `{own}` and `{other}`");
        return Err(Exception::invalid(name, sentence));
    }
    let wanted = Wanted {
        unit: named.unit.as_deref().map(Into::into),
        ..Wanted::of(ask)
    };
    let pages = Pages::new(ask, vec![inventory.series(named)], wanted);
    let layout = Layout::Results1(format!("{}#{id}", ask.url).into());
    Ok(Reply::Observed(Box::new(Observed::new(pages, layout))))
}
