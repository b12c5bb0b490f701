//! Offerings with names of their own: announced with sensors, listed, asked for, inserted into, kept.
#![allow(clippy::panic, reason = "tests")]

use super::house::{House, call, exception, house, now, text, texts, xml};
use weir_codec::document::Element;
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
  xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;

/// Capabilities that name offerings.
fn named(offerings: &[(&str, &str)]) -> String {
    let one = |(id, label): &(&str, &str)| {
        format!(
            r#"<sml:capability name="offeringID"><swe:Text definition="urn:ogc:def:identifier:OGC:offeringID">
            <swe:label>{label}</swe:label><swe:value>{id}</swe:value></swe:Text></sml:capability>"#
        )
    };
    let all: String = offerings.iter().map(one).collect();
    format!(
        r#"<sml:capabilities name="offerings"><sml:CapabilityList>{all}</sml:CapabilityList></sml:capabilities>"#
    )
}

fn described(procedure: &str, inner: &str) -> String {
    format!(
        r#"<sml:PhysicalSystem gml:id="a"><gml:identifier codeSpace="uniqueID">{procedure}</gml:identifier>
        {inner}</sml:PhysicalSystem>"#
    )
}

fn insert_sensor(procedure: &str, inner: &str) -> String {
    let description = described(procedure, inner);
    format!(
        r#"<swes:InsertSensor {NAMES}>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:procedureDescription>{description}</swes:procedureDescription>
        <swes:observableProperty>urn:p:level</swes:observableProperty></swes:InsertSensor>"#
    )
}

fn insert(offerings: &[&str], procedure: &str, minute: u32) -> String {
    let offerings = offerings
        .iter()
        .map(|id| format!("<sos:offering>{id}</sos:offering>"));
    let offerings: String = offerings.collect();
    format!(
        r##"<sos:InsertObservation {NAMES}>{offerings}<sos:observation><om:OM_Observation gml:id="o">
        <om:phenomenonTime><gml:TimeInstant gml:id="t"><gml:timePosition>2026-01-01T00:0{minute}:00Z</gml:timePosition>
        </gml:TimeInstant></om:phenomenonTime><om:resultTime xlink:href="#t"/>
        <om:procedure xlink:href="{procedure}"/><om:observedProperty xlink:href="urn:p:level"/>
        <om:featureOfInterest xlink:href="urn:f:1"/>
        <om:result xsi:type="gml:MeasureType" uom="m">{minute}</om:result></om:OM_Observation></sos:observation>
        </sos:InsertObservation>"##
    )
}

fn accepted(house: &House, body: String) -> Element {
    let answer = house.post("application/xml", body);
    assert_eq!(answer.status, 200, "{}", text(&answer));
    xml(&answer)
}

fn refused(house: &House, body: String) -> (String, String) {
    exception(&house.post("application/xml", body))
}

fn invalid(locator: &str) -> (String, String) {
    ("InvalidParameterValue".to_owned(), locator.to_owned())
}

/// Identifier, name and procedure of each offering.
fn offered(house: &House) -> Vec<[String; 3]> {
    let root = house.document("request=GetCapabilities&sections=Contents");
    let mut found = Vec::new();
    let contents = root.find("Contents").unwrap();
    for own in contents.all("offering").filter_map(Element::first) {
        let said = |name| own.child(name).map(Element::text).unwrap_or_default();
        found.push([said("identifier"), said("name"), said("procedure")]);
    }
    found
}

fn results(house: &House, offering: &str) -> Vec<String> {
    let query = format!("request=GetObservation&version=2.0.0&offering={offering}");
    texts(&house.document(&query), "result")
}

const OWN: &[(&str, &str)] = &[("urn:o:a", "The river"), ("urn:o:b", "Rivers")];

/// [SOS2-10.2-4] [SOS2-10.4-4]
#[test]
fn a_sensor_names_its_offerings_and_they_stay_over_a_restart() {
    let mut house = house();
    let root = accepted(&house, insert_sensor("urn:s:1", &named(OWN)));
    assert_eq!(texts(&root, "assignedOffering"), ["urn:o:a"]);
    accepted(&house, insert(&["urn:o:a"], "urn:s:1", 1));
    accepted(&house, insert(&["urn:o:b", "urn:o:a"], "urn:s:1", 2));
    let other = refused(&house, insert(&["urn:o:a", "urn:no"], "urn:s:1", 3));
    assert_eq!(other, invalid("offering"));
    let own = OWN.iter();
    let expected = own.map(|(id, name)| [*id, name, "urn:s:1"].map(str::to_owned));
    let expected: Vec<_> = expected.collect();
    for _ in 0..2 {
        assert_eq!(offered(&house), expected);
        assert_eq!(results(&house, "urn:o:a"), ["1", "2"]);
        assert_eq!(results(&house, "urn:o:b"), ["1", "2"]);
        let default = "request=GetObservation&version=2.0.0&offering=urn:s:1/observations";
        assert_eq!(house.refused(default), invalid("offering"));
        let result =
            "request=GetResult&version=2.0.0&offering=urn:o:b&observedProperty=urn:p:level";
        assert!(texts(&house.document(result), "resultValues")[0].starts_with("2\n"));
        house = house.reopened();
    }
    let delete = format!(
        "<swes:DeleteSensor {NAMES}><swes:procedure>urn:s:1</swes:procedure></swes:DeleteSensor>"
    );
    accepted(&house, delete);
    assert!(offered(&house).is_empty());
    accepted(&house, insert_sensor("urn:s:2", &named(OWN)));
}

#[test]
fn version_1_lists_an_offering_by_its_names_and_takes_either() {
    let house = house();
    accepted(&house, insert_sensor("urn:s:1", &named(&OWN[..1])));
    accepted(&house, insert(&["urn:o:a"], "urn:s:1", 1));
    let root = house.document("request=GetCapabilities&AcceptVersions=1.0.0");
    let own = root.find("ObservationOffering").unwrap();
    assert_eq!(texts(own, "name"), ["urn:o:a", "The river"]);
    for id in ["urn:o:a", own.attribute("id").unwrap()] {
        let query = format!(
            "request=GetObservation&version=1.0.0&offering={id}&observedProperty=urn:p:level\
             &responseFormat=text/xml;subtype=\"om/1.0.0\""
        );
        let values = texts(&house.document(&query), "values").concat();
        assert!(values.starts_with("2026-01-01T00:01:00Z,1"), "{values}");
    }
}

/// [SOS2-10.2-4]
#[test]
fn an_offering_of_another_procedure_is_not_taken() {
    let house = house();
    accepted(&house, insert_sensor("urn:s:1", &named(OWN)));
    accepted(&house, insert_sensor("urn:s:2", ""));
    for id in [
        "urn:o:b",
        "urn:s:2/observations",
        "urn:s:later/observations",
    ] {
        let body = insert_sensor("urn:s:3", &named(&[(id, "")]));
        assert_eq!(
            refused(&house, body),
            invalid("procedureDescription"),
            "{id}"
        );
    }
    let many: Vec<String> = (0..65).map(|number| format!("urn:o:{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|id| (id.as_str(), "")).collect();
    let body = insert_sensor("urn:s:3", &named(&many));
    assert_eq!(refused(&house, body), invalid("procedureDescription"));
    accepted(
        &house,
        insert_sensor("urn:s:3", &named(&[("urn:s:3/observations", "")])),
    );
}

/// [SOS2-10.2-3]
#[test]
fn a_description_that_replaces_another_may_name_others() {
    let house = house();
    accepted(&house, insert_sensor("urn:s:1", &named(OWN)));
    let sequence = || {
        let root = house.document("request=GetCapabilities&sections=ServiceProvider");
        root.attribute("updateSequence").unwrap().to_owned()
    };
    let update = |inner: &str| {
        let description = described("urn:s:1", inner);
        format!(
            r#"<swes:UpdateSensorDescription {NAMES}><swes:procedure>urn:s:1</swes:procedure>
            <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
            <swes:description><swes:SensorDescription><swes:data>{description}</swes:data></swes:SensorDescription>
            </swes:description></swes:UpdateSensorDescription>"#
        )
    };
    let before = sequence();
    accepted(&house, update(""));
    assert_eq!((offered(&house).len(), sequence()), (2, before.clone()));
    accepted(&house, update(&named(&[("urn:o:c", "Another")])));
    let expected = ["urn:o:c", "Another", "urn:s:1"].map(str::to_owned);
    assert_eq!(offered(&house), [expected]);
    assert_ne!(sequence(), before);
    let describe = "request=DescribeSensor&version=2.0.0&procedure=urn:s:1\
        &procedureDescriptionFormat=http://www.opengis.net/sensorML/1.0.1";
    let root = house.document(describe);
    let field = root
        .find("capabilities")
        .and_then(|own| own.find("Text"))
        .unwrap();
    assert_eq!(
        (texts(field, "value"), texts(field, "name")),
        (vec!["urn:o:c".to_owned()], vec!["Another".to_owned()],)
    );
}

#[test]
fn what_is_attached_to_a_system_observes_for_its_offering() {
    let house = house();
    accepted(&house, insert_sensor("urn:s:1", &named(&OWN[..1])));
    let attached = r#"<sml:attachedTo xlink:title="urn:s:1"/>"#;
    accepted(&house, insert_sensor("urn:s:1:cup", attached));
    accepted(&house, insert(&["urn:o:a"], "urn:s:1:cup", 1));
    accepted(
        &house,
        insert(&["urn:s:1:cup/observations"], "urn:s:1:cup", 2),
    );
    assert_eq!(
        refused(&house, insert(&["urn:s:1:cup/observations"], "urn:s:1", 3)),
        invalid("procedure")
    );
    assert_eq!(results(&house, "urn:o:a"), ["1", "2"]);
    assert_eq!(results(&house, "urn:s:1:cup/observations"), ["1", "2"]);
    let listed: Vec<_> = offered(&house)
        .into_iter()
        .map(|own| own[2].clone())
        .collect();
    assert_eq!(listed, ["urn:s:1", "urn:s:1:cup"]);
}

#[test]
fn an_offering_is_seen_by_who_may_read_what_it_has() {
    let house = house();
    house.publish(
        "#",
        r#"{"observations":[{"topic":"a/t","sensor":"urn:s:1","type":"t","value":1},
        {"topic":"b/t","sensor":"urn:s:2","type":"t","value":2}]}"#,
    );
    let put = |id: &str, offering: &str| {
        let body =
            format!(r#"{{"name":"s","properties":{{"offerings":[{{"id":"{offering}"}}]}}}}"#);
        let put = vec![(format!("v1.1/Sensors/{id}"), Some(body.into()))];
        let ticket = house.hub.internal().at(now()).put(put).unwrap();
        house.log.wait_committed(ticket.cursor()).unwrap();
    };
    put("urn:s:1", "urn:o:a");
    put("urn:s:2", "urn:o:b");
    assert_eq!(offered(&house).len(), 2);
    let reader = Principal {
        name: "ada".into(),
        grants: Grants::new(vec![(Verb::Read, Filter::parse("a/#").unwrap())]).into(),
        standing: Default::default(),
    };
    let get = |query: &str| {
        let mut call = call("GET", "", Default::default());
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        call.query = pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        call.principal = reader.clone();
        house.call(call)
    };
    let capabilities = xml(&get(
        "service=SOS&request=GetCapabilities&sections=Contents",
    ));
    assert_eq!(texts(&capabilities, "identifier"), ["urn:o:a"]);
    let observed = |id: &str| {
        get(&format!(
            "service=SOS&request=GetObservation&version=2.0.0&offering={id}"
        ))
    };
    assert_eq!(texts(&xml(&observed("urn:o:a")), "result"), ["1"]);
    assert_eq!(exception(&observed("urn:o:b")), invalid("offering"));
}
