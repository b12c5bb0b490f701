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
    let place = "<location><ogc:BBOX><ogc:PropertyName>gml:location</ogc:PropertyName><gml:Envelope>\
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

/// A house in which each model of results has a datastream of one sensor.
fn of_all_models() -> House {
    let house = super::house::house();
    let rows = [
        ("t", r#""unit":"Cel","value":1.5"#),
        ("n", r#""value":3"#),
        ("open", r#""value":true"#),
        ("state", r#""value":"7""#),
        ("vector", r#""value":[1,2]"#),
    ];
    let rows = rows.map(|(property, rest)| {
        format!(
            r#"{{"topic":"s/{property}","sensor":"urn:s","type":"{property}","time":"2026-01-01T00:00:00Z",
            "resultTime":"2026-01-01T01:00:00Z","lat":50.5,"lon":7.5,{rest}}}"#
        )
    });
    house.publish("#", &format!(r#"{{"observations":[{}]}}"#, rows.join(",")));
    house
}

const PROPERTIES: &str = "<observedProperty>t</observedProperty><observedProperty>n</observedProperty>\
    <observedProperty>open</observedProperty><observedProperty>state</observedProperty>\
    <observedProperty>vector</observedProperty>";

/// [SOS1-8.4-3]
#[test]
fn a_result_model_picks_the_observations_that_are_of_it() {
    let house = of_all_models();
    let root = house.document("request=GetCapabilities&AcceptVersions=1.0.0");
    let offered = texts(&root, "resultModel");
    let all = [
        "om:Observation",
        "om:Measurement",
        "om:CountObservation",
        "om:TruthObservation",
        "om:CategoryObservation",
    ];
    assert_eq!(offered, all);
    let offering = "<offering>urn:s/observations</offering>";
    let ask = |model: &str| {
        let model = format!("<resultModel>{model}</resultModel>");
        let inner = format!("{offering}{PROPERTIES}{FORMAT}{model}");
        asked(&house, "GetObservation", &inner)
    };
    for (model, property, result, attribute) in [
        ("om:Measurement", "t", "1.5", ("uom", "Cel")),
        ("omx:CountObservation", "n", "3", ("type", "xs:integer")),
        ("TruthObservation", "open", "true", ("type", "xs:boolean")),
        (
            "x:CategoryObservation",
            "state",
            "7",
            ("codeSpace", "state"),
        ),
    ] {
        let root = ask(model);
        let local = model.rsplit(':').next().unwrap();
        let found: Vec<_> = root.all("member").filter_map(Element::first).collect();
        assert_eq!(found.len(), 1, "{model}");
        assert_eq!(found[0].local, local);
        let href = found[0]
            .child("observedProperty")
            .unwrap()
            .attribute("href");
        assert_eq!(href, Some(property));
        assert_eq!(texts(&root, "timePosition").len(), 2);
        let told = found[0].child("result").unwrap();
        assert_eq!(
            (told.text().as_str(), told.attribute(attribute.0)),
            (result, Some(attribute.1))
        );
    }
    assert_eq!(texts(&ask("om:Observation"), "values").len(), 5);
    for unknown in ["om:GeometryObservation", "om:ComplexObservation"] {
        let inner = format!("{offering}{PROPERTIES}{FORMAT}<resultModel>{unknown}</resultModel>");
        let found = refused(&house, "GetObservation", &inner);
        assert_eq!(
            found,
            ("InvalidParameterValue".into(), "resultModel".into())
        );
    }
    let other = format!("{NORTH}{FORMAT}<resultModel>om:TruthObservation</resultModel>");
    let found = refused(&measured(), "GetObservation", &other);
    assert_eq!(
        found,
        ("InvalidParameterValue".into(), "resultModel".into())
    );
}

/// [SOS2-8.1-11]
#[test]
fn an_offering_has_the_time_of_its_results_in_2_0() {
    let root = of_all_models().document("request=GetCapabilities&AcceptVersions=2.0.0");
    let time = root.find("resultTime").unwrap();
    let hour = "2026-01-01T01:00:00Z";
    assert_eq!(texts(time, "beginPosition"), [hour]);
    assert_eq!(texts(time, "endPosition"), [hour]);
    assert!(
        measured()
            .document("request=GetCapabilities")
            .find("resultTime")
            .is_none()
    );
}

/// [SOS1-8.4-3] What was told of one house is what another takes.
#[test]
fn observations_of_a_model_are_read_as_they_were() {
    let house = of_all_models();
    let other = of_all_models();
    for (model, property) in [
        ("om:Measurement", "t"),
        ("om:CountObservation", "n"),
        ("om:TruthObservation", "open"),
        ("om:CategoryObservation", "state"),
    ] {
        let ask = |house: &House| {
            let inner = format!(
                "<offering>urn:s/observations</offering><observedProperty>{property}</observedProperty>\
                 {FORMAT}<resultModel>{model}</resultModel>"
            );
            let answer = house.post(
                "text/xml",
                format!("<GetObservation {V1}>{inner}</GetObservation>"),
            );
            text(&answer)
        };
        let told = ask(&house).replace("2026-01-01T00:", "2026-01-01T05:");
        let (_, observation) = told.split_once("<om:member>").unwrap();
        let (observation, _) = observation.split_once("</om:member>").unwrap();
        let names = r#"xmlns:om="http://www.opengis.net/om/1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
            xmlns:swe="http://www.opengis.net/swe/1.0.1" xmlns:sa="http://www.opengis.net/sampling/1.0"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xmlns:xs="http://www.w3.org/2001/XMLSchema""#;
        let request = format!(
            "<InsertObservation {V1} {names}><AssignedSensorId>urn:s</AssignedSensorId>{observation}\
             </InsertObservation>"
        );
        let answer = other.post("text/xml", request);
        assert_eq!(answer.status, 200, "{}", text(&answer));
        let both = ask(&other);
        assert_eq!(both.matches("<om:member>").count(), 2, "{both}");
        assert!(
            both.contains(&observation.replace("f0", "f1")),
            "{both}\n{observation}"
        );
    }
}

/// [SOS1-10.4-1] [SOS1-10.4-2] [SOS1-10.4-3] [SOS1-10.4-4]
#[test]
fn times_and_types_of_features_and_results_are_told() {
    let house = measured();
    let id = "<FeatureOfInterestId>urn:weir:feature:north/t</FeatureOfInterestId>";
    let root = asked(&house, "GetFeatureOfInterestTime", id);
    assert_eq!(root.local, "TimePeriod");
    assert_eq!(texts(&root, "beginPosition"), ["2026-01-01T00:00:00Z"]);
    assert_eq!(texts(&root, "endPosition"), ["2026-01-01T00:02:00Z"]);
    for (operation, inner, class) in [
        (
            "DescribeFeatureType",
            "<FeatureId>urn:weir:feature:north/t</FeatureId>",
            "sa:SamplingPointType",
        ),
        (
            "DescribeObservationType",
            "<observedProperty>temperature</observedProperty>",
            "om:MeasurementType",
        ),
        (
            "DescribeResultModel",
            "<ResultName>om:TruthObservation</ResultName>",
            "om:TruthObservationType",
        ),
        (
            "DescribeResultModel",
            "<ResultName>om:Observation</ResultName>",
            "om:ObservationType",
        ),
    ] {
        let root = asked(&house, operation, inner);
        assert_eq!(root.local, "schema");
        let element = root.child("element").unwrap();
        assert_eq!(element.attribute("type"), Some(class), "{operation}");
    }
    for (operation, name) in [
        ("GetFeatureOfInterestTime", "FeatureOfInterestId"),
        ("DescribeFeatureType", "FeatureId"),
        ("DescribeObservationType", "observedProperty"),
        ("DescribeResultModel", "ResultName"),
    ] {
        let missing = refused(&house, operation, "");
        assert_eq!(missing, ("MissingParameterValue".into(), name.into()));
        let unknown = refused(&house, operation, &format!("<{name}>no</{name}>"));
        assert_eq!(unknown, ("InvalidParameterValue".into(), name.into()));
    }
}
