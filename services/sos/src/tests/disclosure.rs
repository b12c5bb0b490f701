//! What a caller may not read answers as what is not there: a question about a name that something hidden has is asked
//! about a name that nothing has, too.

#![allow(clippy::panic, reason = "tests")]

use super::house::{House, call, house, text};
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;
use weir_service::Response;

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink""#;

fn insert_sensor(id: &str, offering: &str) -> String {
    format!(
        r#"<swes:InsertSensor {NAMES}>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:procedureDescription><sml:PhysicalSystem gml:id="a">
        <gml:identifier codeSpace="uniqueID">{id}</gml:identifier>
        <sml:capabilities name="offerings"><sml:CapabilityList><sml:capability name="offeringID"><swe:Text
        definition="http://www.opengis.net/def/offering/identifier"><swe:value>{offering}</swe:value></swe:Text>
        </sml:capability></sml:CapabilityList></sml:capabilities></sml:PhysicalSystem>
        </swes:procedureDescription><swes:observableProperty>level</swes:observableProperty></swes:InsertSensor>"#
    )
}

fn insert_template(sensor: &str, offering: &str, id: &str) -> String {
    format!(
        r#"<sos:InsertResultTemplate {NAMES}><sos:proposedTemplate><sos:ResultTemplate>
        <swes:identifier>{id}</swes:identifier><sos:offering>{offering}</sos:offering>
        <sos:observationTemplate><om:OM_Observation gml:id="x"><om:procedure xlink:href="{sensor}"/>
        <om:observedProperty xlink:href="level"/><om:result/></om:OM_Observation></sos:observationTemplate>
        <sos:resultStructure><swe:DataRecord><swe:field name="time">
        <swe:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime"><swe:uom code="s"/></swe:Time>
        </swe:field><swe:field name="level"><swe:Quantity definition="level"><swe:uom code="m"/></swe:Quantity>
        </swe:field></swe:DataRecord></sos:resultStructure><sos:resultEncoding>
        <swe:TextEncoding tokenSeparator="," blockSeparator="@@"/></sos:resultEncoding>
        </sos:ResultTemplate></sos:proposedTemplate></sos:InsertResultTemplate>"#
    )
}

fn insert_observation(sensor: &str, offering: &str) -> String {
    format!(
        r##"<sos:InsertObservation {NAMES}><sos:offering>{offering}</sos:offering><sos:observation>
        <om:OM_Observation gml:id="o"><om:phenomenonTime><gml:TimeInstant gml:id="t">
        <gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition></gml:TimeInstant></om:phenomenonTime>
        <om:resultTime xlink:href="#t"/><om:procedure xlink:href="{sensor}"/>
        <om:observedProperty xlink:href="level"/><om:featureOfInterest xlink:href="urn:f:river"/>
        <om:result xsi:type="gml:MeasureType" uom="m">1</om:result></om:OM_Observation></sos:observation>
        </sos:InsertObservation>"##
    )
}

fn delete(sensor: &str) -> String {
    format!(
        "<swes:DeleteSensor {NAMES}><swes:procedure>{sensor}</swes:procedure></swes:DeleteSensor>"
    )
}

fn by(house: &House, name: &str, rules: &[(Verb, &str)], body: String) -> Response {
    let rules = rules
        .iter()
        .map(|(verb, text)| (*verb, Filter::parse(text).unwrap()));
    let mut call = call("POST", "application/xml", body.into());
    call.principal = Principal {
        name: name.into(),
        grants: Grants::new(rules.collect()).into(),
        standing: Default::default(),
    };
    house.call(call)
}

fn done(house: &House, body: String) {
    let response = house.post("application/xml", body);
    assert_eq!(response.status, 200, "{}", text(&response));
}

/// A house with a sensor that all may see, and one that some may not.
fn furnished() -> House {
    let house = house();
    for name in ["open", "secret"] {
        let (sensor, offering) = (format!("urn:s:{name}"), format!("urn:o:{name}"));
        done(&house, insert_sensor(&sensor, &offering));
        done(
            &house,
            insert_template(&sensor, &offering, &format!("urn:t:{name}")),
        );
        done(&house, insert_observation(&sensor, &offering));
    }
    house
}

/// Rights at what is open, and to change sensors.
const CLERK: &[(Verb, &str)] = &[
    (Verb::Read, "sos/urn:s:open/#"),
    (Verb::Publish, "sos/+/#"),
    (Verb::Change, "sos/+/#"),
    (Verb::Change, "v1.1/Sensors/+"),
];

#[test]
fn an_offering_of_a_hidden_procedure_is_one_of_nothing() {
    let house = furnished();
    for (who, rules, expected) in [("anonymous", &[][..], 401), ("clerk", CLERK, 200)] {
        let answers = ["secret", "nothing"].map(|name| {
            let (sensor, offering) = (format!("urn:s:{name}-{who}"), format!("urn:o:{name}"));
            let answer = by(&house, who, rules, insert_sensor(&sensor, &offering));
            (answer.status, text(&answer).replace(name, "*"))
        });
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0].0, expected, "{}", answers[0].1);
    }
    let taken = by(
        &house,
        "clerk",
        CLERK,
        insert_sensor("urn:s:other", "urn:o:open"),
    );
    assert_eq!(
        taken.status,
        400,
        "who may read it is told: {}",
        text(&taken)
    );
}

#[test]
fn what_is_said_of_a_hidden_sensor_is_answered_as_of_none() {
    let house = furnished();
    let reader = &[(Verb::Read, "sos/urn:s:open/#")][..];
    for (who, rules) in [("anonymous", &[][..]), ("reader", reader), ("clerk", CLERK)] {
        let asks: [fn(&str) -> String; 4] = [
            |name| delete(&format!("urn:s:{name}")),
            |name| insert_observation(&format!("urn:s:{name}"), &format!("urn:o:{name}")),
            |name| insert_observation(&format!("urn:s:{name}"), "urn:o:open"),
            |name| {
                insert_template(
                    &format!("urn:s:{name}"),
                    &format!("urn:o:{name}"),
                    "urn:t:x",
                )
            },
        ];
        for ask in asks {
            let answers = ["secret", "nothing"].map(|name| {
                let answer = by(&house, who, rules, ask(name));
                (answer.status, text(&answer).replace(name, "*"))
            });
            assert_eq!(answers[0], answers[1], "{who} {}", ask("*"));
        }
    }
}

#[test]
fn a_template_that_may_not_be_read_hinders_nobody_and_stays() {
    let keeper = [
        (Verb::Read, "sos/urn:s:open/#"),
        (Verb::Change, "sos/urn:s:open/#"),
        (Verb::Change, "v1.1/Sensors/+"),
    ];
    let reads = [&keeper[..], &[(Verb::Read, "sos/templates/+")]].concat();
    let house = furnished();
    let refused = by(&house, "reads", &reads, delete("urn:s:open"));
    assert_eq!(refused.status, 403, "{}", text(&refused));
    let deleted = by(&house, "keeper", &keeper, delete("urn:s:open"));
    assert_eq!(deleted.status, 200, "{}", text(&deleted));
    assert_eq!(kept(&house, "sos/templates/+").len(), 2);
}

/// What is kept at keys that match.
fn kept(house: &House, filter: &str) -> Vec<serde_json::Value> {
    let all = house
        .hub
        .internal()
        .entities(&[Filter::parse(filter).unwrap()]);
    let read = all
        .iter()
        .map(|entity| serde_json::from_slice(&entity.body));
    read.map(Result::unwrap).collect()
}

#[test]
fn the_topics_that_observe_a_feature_are_no_property_of_it() {
    let house = furnished();
    let body = &kept(&house, "v1.1/FeaturesOfInterest/+")[0];
    assert_eq!(body["properties"], serde_json::Value::Null, "{body}");
    assert_eq!(body["@topics"].as_array().unwrap().len(), 2, "{body}");
}
