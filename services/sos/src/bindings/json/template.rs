//! A template of results in JSON, as clients of 52North's server send it, made what it is in XML: so there is one
//! reader of templates.

use crate::exception::Exception;
use crate::gml;
use crate::insertion_json::{check_members, each, feature};
use crate::limits::FIELDS_MAX;
use crate::names::*;
use serde_json::Value as Json;
use weir_codec::document::{Element, Xml, read_xml};

/// `proposedTemplate` of InsertResultTemplate.
pub(super) fn proposed(request: &Json) -> Result<Element, Exception> {
    let mut xml = Xml::new();
    xml.start("sos:proposedTemplate").prefixes(&[
        ("sos", SOS20),
        ("swes", SWES20),
        ("swe", SWE20),
        ("om", OM20),
        ("gml", GML32),
        ("sams", SAMS20),
        ("xlink", XLINK),
    ]);
    xml.start("sos:ResultTemplate");
    xml.leaves("swes:identifier", request["identifier"].as_str());
    xml.leaf("sos:offering", said("offering", &request["offering"])?);
    xml.start("sos:observationTemplate");
    observation(&request["observationTemplate"], &mut xml)?;
    xml.end().start("sos:resultStructure");
    structure(&request["resultStructure"]["fields"], &mut xml)?;
    xml.end().start("sos:resultEncoding");
    xml.start("swe:TextEncoding");
    for name in ["tokenSeparator", "blockSeparator", "decimalSeparator"] {
        if let Some(separator) = request["resultEncoding"][name].as_str() {
            xml.attribute(name, separator);
        }
    }
    let document = xml.finish();
    read_xml(document.as_bytes()).map_err(|fault| Exception::malformed(fault.to_string()))
}

fn said<'a>(name: &str, text: &'a Json) -> Result<&'a str, Exception> {
    text.as_str().ok_or_else(|| Exception::missing(name))
}

fn observation(template: &Json, xml: &mut Xml) -> Result<(), Exception> {
    xml.start("om:OM_Observation")
        .attribute("gml:id", "template");
    for name in ["procedure", "observedProperty"] {
        let href = said(name, &template[name])?;
        xml.empty(&format!("om:{name}"), "xlink:href", href);
    }
    let (id, position) = feature(&template["featureOfInterest"])?;
    match (id, position) {
        (None, _) => {}
        (Some(id), None) => {
            xml.empty("om:featureOfInterest", "xlink:href", id);
        }
        (Some(id), Some(position)) => {
            xml.start("om:featureOfInterest");
            xml.start("sams:SF_SpatialSamplingFeature");
            xml.leaf("gml:identifier", id);
            xml.start("sams:shape").start("gml:Point");
            gml::position(position, [WGS84, WGS84_3D], xml);
            xml.end().end().end().end();
        }
    }
    xml.end();
    Ok(())
}

/// A record of SWE Common.
fn structure(fields: &Json, xml: &mut Xml) -> Result<(), Exception> {
    let name = "resultStructure";
    let fields = fields.as_array().ok_or_else(|| Exception::missing(name))?;
    if fields.len() > FIELDS_MAX {
        return Err(Exception::invalid(
            name,
            format!("more than {FIELDS_MAX} fields"),
        ));
    }
    xml.start("swe:DataRecord");
    for field in fields {
        check_members(name, field, &["constraint"])?;
        let (component, unit) = match field["type"].as_str() {
            Some("time") => ("swe:Time", "xlink:href"),
            Some("timeRange") => ("swe:TimeRange", "xlink:href"),
            Some("quantity") => ("swe:Quantity", "code"),
            Some("count") => ("swe:Count", ""),
            Some("boolean") => ("swe:Boolean", ""),
            Some("text") => ("swe:Text", ""),
            Some("category") => ("swe:Category", ""),
            other => {
                let sentence = format!("no field of type `{}`", other.unwrap_or_default());
                return Err(Exception::invalid(name, sentence));
            }
        };
        xml.start("swe:field");
        xml.attribute("name", field["name"].as_str().unwrap_or("field"));
        xml.start(component);
        if let Some(definition) = field["definition"].as_str() {
            xml.attribute("definition", definition);
        }
        if let (false, Some(code)) = (unit.is_empty(), field["uom"].as_str()) {
            xml.empty("swe:uom", unit, code);
        }
        rules(field, xml)?;
        xml.end().end();
    }
    xml.end();
    Ok(())
}

/// What is said of the values of a field (OGC 08-094r1 sections 7.2.13 and 7.2.14).
fn rules(field: &Json, xml: &mut Xml) -> Result<(), Exception> {
    if let Some(nils) = field.get("nilValues") {
        xml.start("swe:nilValues").start("swe:NilValues");
        for nil in each(nils) {
            let reason = nil["reason"].as_str().unwrap_or_default();
            xml.start("swe:nilValue").attribute("reason", reason);
            xml.text(&token(&nil["value"])?).end();
        }
        xml.end().end();
    }
    let Some(constraint) = field.get("constraint") else {
        return Ok(());
    };
    xml.start("swe:constraint").start("swe:AllowedValues");
    for (name, value) in constraint.as_object().into_iter().flatten() {
        match name.as_str() {
            "type" | "significantFigures" => {}
            "value" | "values" => {
                for value in each(value) {
                    xml.leaf("swe:value", &token(value)?);
                }
            }
            "interval" | "intervals" => intervals(value, xml)?,
            other => {
                let sentence = format!("`{other}` of a constraint is not read");
                return Err(Exception::invalid("resultStructure", sentence));
            }
        }
    }
    xml.end().end();
    Ok(())
}

/// One interval, or a list of such.
fn intervals(given: &Json, xml: &mut Xml) -> Result<(), Exception> {
    let is_one = given[0].is_number() || given[0].is_string();
    let all = if is_one {
        std::slice::from_ref(given)
    } else {
        given.as_array().map_or(&[][..], Vec::as_slice)
    };
    for ends in all {
        let ends = format!("{} {}", token(&ends[0])?, token(&ends[1])?);
        xml.leaf("swe:interval", &ends);
    }
    Ok(())
}

/// A value as it stands in a block.
fn token(value: &Json) -> Result<String, Exception> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(truth) => Ok(truth.to_string()),
        _ => Err(Exception::invalid(
            "resultStructure",
            "a number or a text was expected",
        )),
    }
}
