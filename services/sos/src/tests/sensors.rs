//! Sensors that are inserted and deleted: all of it, or nothing.

use super::house::{House, call, exception, house, text, texts, xml};
use weir_codec::document::Element;
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;
use weir_service::Response;

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
  xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink""#;

fn insert(properties: &[&str]) -> String {
    let property =
        |name: &&str| format!("<swes:observableProperty>{name}</swes:observableProperty>");
    format!(
        r#"<swes:InsertSensor {NAMES}>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:procedureDescription><sml:PhysicalSystem gml:id="a">
        <gml:identifier codeSpace="uniqueID">urn:s:9</gml:identifier></sml:PhysicalSystem>
        </swes:procedureDescription>{}</swes:InsertSensor>"#,
        properties.iter().map(property).collect::<String>()
    )
}

fn delete() -> String {
    format!(
        "<swes:DeleteSensor {NAMES}><swes:procedure>urn:s:9</swes:procedure></swes:DeleteSensor>"
    )
}

/// By somebody who reads all and changes what matches.
fn by(house: &House, changes: &[&str], body: String) -> Response {
    let rule = |verb| move |filter: &str| (verb, Filter::parse(filter).unwrap());
    let changes = changes.iter().copied().map(rule(Verb::Change));
    let mut call = call("POST", "application/xml", body.into());
    call.principal = Principal {
        name: "ada".into(),
        grants: Grants::new(changes.chain([rule(Verb::Read)("#")]).collect()).into(),
        standing: Default::default(),
    };
    house.call(call)
}

fn offered(house: &House) -> Vec<String> {
    let root = house.document("request=GetCapabilities&sections=Contents");
    let contents = root.find("ObservationOffering");
    contents.map_or_else(Vec::new, |own| texts(own, "observableProperty"))
}

#[test]
fn a_sensor_of_which_one_datastream_cannot_be_is_not_registered() {
    let house = house();
    let long = "p".repeat(1100);
    let refused = house.post("application/xml", insert(&["level", &long]));
    assert_eq!(refused.status, 400, "{}", text(&refused));
    let refused = by(&house, &["v1.1/Sensors/#"], insert(&["level"]));
    assert_eq!(refused.status, 403, "{}", text(&refused));
    let refused = by(&house, &["sos/#"], insert(&["level"]));
    assert_eq!(refused.status, 403, "{}", text(&refused));
    assert_eq!(offered(&house), [] as [String; 0]);
    let inserted = by(&house, &["v1.1/Sensors/#", "sos/#"], insert(&["level"]));
    assert_eq!(inserted.status, 200, "it can still be: {}", text(&inserted));
    assert_eq!(offered(&house), ["level"]);
}

#[test]
fn a_sensor_is_deleted_with_all_datastreams_or_with_none() {
    let house = house();
    let both = house.post("application/xml", insert(&["flow", "level"]));
    assert_eq!(both.status, 200, "{}", text(&both));
    for changes in [
        &["v1.1/Sensors/#", "sos/urn:s:9/flow"][..],
        &["v1.1/Sensors/#", "sos/urn:s:9/level"],
        &["sos/#"],
    ] {
        let refused = by(&house, changes, delete());
        assert_eq!(refused.status, 403, "{}", text(&refused));
        assert_eq!(offered(&house), ["flow", "level"], "{changes:?}");
    }
    let deleted = by(&house, &["v1.1/Sensors/#", "sos/#"], delete());
    assert_eq!(deleted.status, 200, "{}", text(&deleted));
    assert_eq!(offered(&house), [] as [String; 0]);
}

#[test]
fn templates_of_a_sensor_go_with_it() {
    let house = house();
    house.post("application/xml", insert(&["level"]));
    let template = format!(
        r#"<sos:InsertResultTemplate {NAMES}><sos:proposedTemplate><sos:ResultTemplate>
        <swes:identifier>urn:t:9</swes:identifier><sos:offering>urn:s:9/observations</sos:offering>
        <sos:observationTemplate><om:OM_Observation gml:id="o"><om:procedure xlink:href="urn:s:9"/>
        <om:observedProperty xlink:href="level"/><om:featureOfInterest xlink:href="urn:f:9"/><om:result/>
        </om:OM_Observation></sos:observationTemplate><sos:resultStructure><swe:DataRecord>
        <swe:field name="phenomenonTime"><swe:Time
          definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime"/></swe:field>
        <swe:field name="level"><swe:Quantity definition="level"><swe:uom code="m"/></swe:Quantity></swe:field>
        </swe:DataRecord></sos:resultStructure><sos:resultEncoding>
        <swe:TextEncoding tokenSeparator="," blockSeparator="@"/></sos:resultEncoding></sos:ResultTemplate>
        </sos:proposedTemplate></sos:InsertResultTemplate>"#
    );
    let kept = house.post("application/xml", template.clone());
    assert_eq!(texts(&xml(&kept), "acceptedTemplate"), ["urn:t:9"]);
    let again = house.post("application/xml", template.clone());
    assert_eq!(again.status, 200, "{}", text(&again));
    let changed = house.post(
        "application/xml",
        template.replace("code=\"m\"", "code=\"mm\""),
    );
    assert_eq!(changed.status, 400);
    assert!(
        text(&changed).contains("locator=\"identifier\""),
        "{}",
        text(&changed)
    );
    let other = template
        .replace("urn:t:9", "urn:t:10")
        .replace("urn:s:9", "urn:s:10");
    house.post(
        "application/xml",
        insert(&["level"]).replace("urn:s:9", "urn:s:10"),
    );
    let kept = house.post("application/xml", other);
    assert_eq!(kept.status, 200, "{}", text(&kept));
    let results = |template: &str| {
        let body = format!(
            "<sos:InsertResult {NAMES}><sos:template>{template}</sos:template>\
             <sos:resultValues>2026-01-01T00:00:00Z,1.5</sos:resultValues></sos:InsertResult>"
        );
        house.post("application/xml", body).status
    };
    assert_eq!(results("urn:t:9"), 200);
    let deleted = house.post("application/xml", delete());
    assert_eq!(deleted.status, 200, "{}", text(&deleted));
    assert_eq!(results("urn:t:9"), 400, "it went with its sensor");
    assert_eq!(results("urn:t:10"), 200, "another sensor's stays");
}

/// [SOS2-8.1-14]
#[test]
fn features_of_a_sensor_are_listed_with_its_offerings() {
    let related = |inner: &str| {
        let feature = format!(
            "<swes:relatedFeature><swes:FeatureRelationship>{inner}</swes:FeatureRelationship>\
             </swes:relatedFeature>"
        );
        let body = insert(&["level"]);
        body.replace(
            "</swes:InsertSensor>",
            &format!("{feature}</swes:InsertSensor>"),
        )
    };
    let river = r#"<swes:role>urn:upstream</swes:role><swes:target xlink:href="urn:f:river"/>"#;
    let description = "<sml:PhysicalSystem xmlns:sml=\"http://www.opengis.net/sensorml/2.0\"/>";
    let json = serde_json::json!({"request": "InsertSensor", "service": "SOS", "version": "2.0.0",
        "procedureDescriptionFormat": "http://www.opengis.net/sensorml/2.0",
        "procedureDescription": description,
        "observableProperty": "level",
        "relatedFeature": {"role": "urn:upstream", "target": "urn:f:river"}});
    for (media, body) in [
        ("application/xml", related(river)),
        ("application/json", json.to_string()),
    ] {
        let house = house();
        let inserted = house.post(media, body);
        assert_eq!(inserted.status, 200, "{}", text(&inserted));
        let house = house.reopened();
        let root = house.document("request=GetCapabilities&sections=Contents");
        let feature = root.find("relatedFeature").expect("one");
        assert_eq!(texts(feature, "role"), ["urn:upstream"]);
        let target = feature.find("target").and_then(|own| own.attribute("href"));
        assert_eq!(target, Some("urn:f:river"), "{media}");
    }
    let refused = house().post("application/xml", related("<swes:role>a</swes:role>"));
    let expected = ("InvalidParameterValue".into(), "relatedFeature".into());
    assert_eq!(exception(&refused), expected);
}

/// [SOS2-8.2-4]
#[test]
fn a_description_that_was_given_is_valid_from_when_it_was() {
    let house = house();
    let inserted = house.post("application/xml", insert(&["level"]));
    assert_eq!(inserted.status, 200, "{}", text(&inserted));
    let describe = "request=DescribeSensor&version=2.0.0&procedure=urn:s:9\
        &procedureDescriptionFormat=http://www.opengis.net/sensorml/2.0";
    assert_eq!(house.get(describe).status, 200);
    let asked = |house: &House, time: &str| {
        let by_get = house.document(&format!("{describe}&validTime={time}"));
        let body = format!(
            r#"<swes:DescribeSensor {NAMES}><swes:procedure>urn:s:9</swes:procedure>
            <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
            <swes:validTime><gml:TimeInstant gml:id="t"><gml:timePosition>{time}</gml:timePosition>
            </gml:TimeInstant></swes:validTime></swes:DescribeSensor>"#
        );
        let by_post = xml(&house.post("application/xml", body));
        assert_eq!(by_get, by_post, "{time}");
        by_get
    };
    let at = "2026-01-01T00:00:00Z";
    let given = asked(&house, at);
    assert!(given.find("validTime").is_none() && given.find("outputs").is_none());
    let body = format!(
        r#"<swes:UpdateSensorDescription {NAMES}><swes:procedure>urn:s:9</swes:procedure>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:description><swes:SensorDescription><swes:data><sml:PhysicalSystem gml:id="new">
        <gml:identifier codeSpace="uniqueID">urn:s:9</gml:identifier></sml:PhysicalSystem></swes:data>
        </swes:SensorDescription></swes:description></swes:UpdateSensorDescription>"#
    );
    let updated = house.post("application/xml", body);
    assert_eq!(updated.status, 200, "{}", text(&updated));
    let house = house.reopened();
    let now = house.document(describe);
    let begin = now
        .find("validTime")
        .and_then(|own| own.find("beginPosition"));
    assert_eq!(
        begin.map(Element::text),
        Some(super::house::now().to_string())
    );
    assert!(now.find("outputs").is_none());
    let before = asked(&house, at);
    let end = before
        .find("validTime")
        .and_then(|own| own.find("endPosition"));
    assert_eq!(
        end.map(Element::text),
        Some(super::house::now().to_string())
    );
    assert!(
        before.find("outputs").is_some(),
        "it is made of what was observed"
    );
    let refused = house.refused(&format!("{describe}&validTime=2026-13-01"));
    assert_eq!(
        refused,
        ("InvalidParameterValue".into(), "validTime".into())
    );
}
