//! Operations that only version 1.0.0 has so.

use super::house::{House, exception, measured, text, texts, xml};
use weir_codec::document::Element;

const V1: &str = r#"service="SOS" version="1.0.0" xmlns="http://www.opengis.net/sos/1.0"
  xmlns:ogc="http://www.opengis.net/ogc" xmlns:gml="http://www.opengis.net/gml""#;

fn asked(house: &House, operation: &str, inner: &str) -> Element {
    let answer = house.post(
        "text/xml",
        format!("<{operation} {V1}>{inner}</{operation}>"),
    );
    assert_eq!(answer.status, 200, "{}", text(&answer));
    xml(&answer)
}

fn refused(house: &House, operation: &str, inner: &str) -> (String, String) {
    exception(&house.post(
        "text/xml",
        format!("<{operation} {V1}>{inner}</{operation}>"),
    ))
}

const NORTH: &str = "<offering>urn:s:north/observations</offering>\
    <observedProperty>temperature</observedProperty>";
const FORMAT: &str = "<responseFormat>text/xml;subtype=\"om/1.0.0\"</responseFormat>";

/// [SOS1-10.1-1]
#[test]
fn an_observation_is_found_by_its_identifier() {
    let house = measured();
    let id = "<ObservationId>urn:weir:observation:north%2Ft:2026-01-01T00:01:00Z</ObservationId>";
    let root = asked(&house, "GetObservationById", &format!("{id}{FORMAT}"));
    assert_eq!(root.local, "ObservationCollection");
    assert_eq!(texts(&root, "values"), ["2026-01-01T00:01:00Z,1.5;"]);
    let none = refused(
        &house,
        "GetObservationById",
        "<ObservationId>urn:x</ObservationId>",
    );
    assert_eq!(
        none,
        ("InvalidParameterValue".into(), "ObservationId".into())
    );
    let missing = refused(&house, "GetObservationById", FORMAT);
    assert_eq!(
        missing,
        ("MissingParameterValue".into(), "ObservationId".into())
    );
}

/// [SOS1-10.3-1]
#[test]
fn a_feature_is_a_sampling_point_and_several_are_a_collection() {
    let house = measured();
    let id = "<FeatureOfInterestId>urn:weir:feature:north/t</FeatureOfInterestId>";
    let root = asked(&house, "GetFeatureOfInterest", id);
    assert_eq!(root.local, "SamplingPoint");
    assert_eq!(texts(&root, "pos"), ["50.5 7.5"]);
    let other = "<FeatureOfInterestId>urn:weir:feature:kitchen</FeatureOfInterestId>";
    let root = asked(&house, "GetFeatureOfInterest", &format!("{id}{other}"));
    assert_eq!(root.local, "FeatureCollection");
    assert_eq!(root.all("featureMember").count(), 2);
    let place = "<location><ogc:BBOX><ogc:PropertyName>a</ogc:PropertyName><gml:Envelope>\
        <gml:lowerCorner>50 7</gml:lowerCorner><gml:upperCorner>51 8</gml:upperCorner></gml:Envelope>\
        </ogc:BBOX></location>";
    assert_eq!(
        asked(&house, "GetFeatureOfInterest", place).local,
        "SamplingPoint"
    );
    let none = refused(&house, "GetFeatureOfInterest", "");
    assert_eq!(none.0, "MissingParameterValue");
}

/// [SOS1-10.2-1]
#[test]
fn a_template_is_asked_for_and_then_its_results() {
    let house = measured();
    let mode = format!("{NORTH}{FORMAT}<responseMode>resultTemplate</responseMode>");
    let root = asked(&house, "GetObservation", &mode);
    let template = root.find("Observation").and_then(|own| own.attribute("id"));
    let template = template.unwrap_or_default();
    assert!(root.find("values").is_none());
    let later = "<eventTime><ogc:TM_After><ogc:PropertyName>om:samplingTime</ogc:PropertyName>\
        <gml:TimeInstant><gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition></gml:TimeInstant>\
        </ogc:TM_After></eventTime>";
    let id = format!("<ObservationTemplateId>{template}</ObservationTemplateId>");
    let root = asked(&house, "GetResult", &format!("{id}{later}"));
    assert_eq!(
        texts(&root, "result"),
        ["2026-01-01T00:01:00Z,1.5\n2026-01-01T00:02:00Z,2.5"]
    );
    let reference = root.child("result").and_then(|own| own.attribute("RS"));
    assert!(reference.is_some_and(|own| own.ends_with(template)));
    let none = refused(
        &house,
        "GetResult",
        "<ObservationTemplateId>x</ObservationTemplateId>",
    );
    assert_eq!(none.1, "ObservationTemplateId");
}

/// [SOS1-8.4-2]
#[test]
fn results_are_compared() {
    let house = measured();
    let compare = |operator: &str, literal: &str| {
        let filter = format!(
            "<result><ogc:{operator}><ogc:PropertyName>temperature</ogc:PropertyName>\
             <ogc:Literal>{literal}</ogc:Literal></ogc:{operator}></result>"
        );
        let root = asked(
            &house,
            "GetObservation",
            &format!("{NORTH}{filter}{FORMAT}"),
        );
        texts(&root, "values").concat()
    };
    assert_eq!(
        compare("PropertyIsGreaterThan", "2"),
        "2026-01-01T00:02:00Z,2.5;"
    );
    assert_eq!(
        compare("PropertyIsEqualTo", "0.5"),
        "2026-01-01T00:00:00Z,0.5;"
    );
    let unknown = format!("{NORTH}<result><ogc:Or/></result>{FORMAT}");
    assert_eq!(
        refused(&house, "GetObservation", &unknown),
        ("OptionNotSupported".into(), "result".into())
    );
}
