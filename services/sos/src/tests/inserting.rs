//! Sensors, observations and results inserted, and read again by every way.
#![allow(clippy::panic, reason = "tests")]

use super::house::{House, exception, house, text, texts, xml};
use serde_json::json;
use weir_hub::{Grants, Latest, Principal, Verb};
use weir_model::{BatchBuilder, Filter, Time, Value};

const NAMESPACES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
  xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:sams="http://www.opengis.net/samplingSpatial/2.0" xmlns:sf="http://www.opengis.net/sampling/2.0"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;

const POINT: &str = crate::names::SAMPLING_POINT;

fn insert_sensor() -> String {
    format!(
        r#"<swes:InsertSensor {NAMESPACES}>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:procedureDescription><sml:PhysicalSystem gml:id="a">
        <gml:identifier codeSpace="uniqueID">urn:s:9</gml:identifier>
        </sml:PhysicalSystem></swes:procedureDescription>
        <swes:observableProperty>urn:p:level</swes:observableProperty>
        <swes:observableProperty>urn:p:flow</swes:observableProperty>
        <swes:metadata><sos:SosInsertionMetadata>
        <sos:observationType>http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement</sos:observationType>
        <sos:featureOfInterestType>{POINT}</sos:featureOfInterestType>
        </sos:SosInsertionMetadata></swes:metadata></swes:InsertSensor>"#
    )
}

/// An observation; its feature stands inline.
fn observation(minute: u32, property: &str, value: f64) -> String {
    format!(
        r##"<sos:observation><om:OM_Observation gml:id="o{minute}">
        <om:type xlink:href="http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"/>
        <om:phenomenonTime><gml:TimeInstant gml:id="t{minute}">
        <gml:timePosition>2026-01-01T00:0{minute}:00Z</gml:timePosition></gml:TimeInstant></om:phenomenonTime>
        <om:resultTime xlink:href="#t{minute}"/><om:procedure xlink:href="urn:s:9"/>
        <om:observedProperty xlink:href="{property}"/>
        <om:featureOfInterest><sams:SF_SpatialSamplingFeature gml:id="f{minute}">
        <gml:identifier codeSpace="">urn:f:9</gml:identifier>
        <sf:type xlink:href="http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint"/>
        <sf:sampledFeature xlink:href="urn:river"/>
        <sams:shape><gml:Point gml:id="p{minute}">
        <gml:pos srsName="http://www.opengis.net/def/crs/EPSG/0/4326">51.9 7.6</gml:pos></gml:Point></sams:shape>
        </sams:SF_SpatialSamplingFeature></om:featureOfInterest>
        <om:result xsi:type="gml:MeasureType" uom="m">{value}</om:result></om:OM_Observation></sos:observation>"##
    )
}

fn insert_observations() -> String {
    let observations = [
        observation(0, "urn:p:level", 1.5),
        observation(1, "urn:p:level", 1.75),
        observation(2, "urn:p:flow", 20.0),
    ];
    format!(
        "<sos:InsertObservation {NAMESPACES}><sos:offering>urn:s:9/observations</sos:offering>{}\
         </sos:InsertObservation>",
        observations.concat()
    )
}

fn accepted(house: &House, body: String) -> weir_codec::document::Element {
    let answer = house.post("application/xml", body);
    assert_eq!(answer.status, 200, "{}", text(&answer));
    xml(&answer)
}

fn refused(house: &House, body: String) -> (String, String) {
    exception(&house.post("application/xml", body))
}

const ALL: &str = "request=GetObservation&version=2.0.0&procedure=urn:s:9";

/// [SOS2-8.2-1] [SOS2-10.2-1] [SOS2-10.3-1] [SOS2-10.4-2]
#[test]
fn a_sensor_is_inserted_observed_and_survives_a_restart() {
    let mut house = house();
    let root = accepted(&house, insert_sensor());
    assert_eq!(root.child("assignedProcedure").unwrap().text(), "urn:s:9");
    assert_eq!(
        root.child("assignedOffering").unwrap().text(),
        "urn:s:9/observations"
    );
    assert_eq!(refused(&house, insert_sensor()).0, "InvalidParameterValue");
    accepted(&house, insert_observations());
    for _ in 0..2 {
        let root = house.document(ALL);
        assert_eq!(texts(&root, "result"), ["1.5", "1.75", "20"]);
        let feature = root.find("featureOfInterest").unwrap();
        assert_eq!(feature.attribute("href"), Some("urn:f:9"));
        let describe = "request=DescribeSensor&version=2.0.0&procedure=urn:s:9";
        let format = "procedureDescriptionFormat=http://www.opengis.net/sensorml/2.0";
        let root = house.document(&format!("{describe}&{format}"));
        assert_eq!(
            root.find("PhysicalSystem").unwrap().attribute("id"),
            Some("a")
        );
        let root = house.document("request=GetFeatureOfInterest&version=2.0.0&procedure=urn:s:9");
        assert_eq!(texts(&root, "identifier"), ["urn:f:9"]);
        assert_eq!(texts(&root, "pos"), ["51.9 7.6"]);
        house = house.reopened();
    }
    let delete = format!(
        "<swes:DeleteSensor {NAMESPACES}><swes:procedure>urn:s:9</swes:procedure></swes:DeleteSensor>"
    );
    accepted(&house, delete.clone());
    assert_eq!(
        house.refused(ALL),
        ("InvalidParameterValue".into(), "procedure".into())
    );
    assert_eq!(refused(&house, delete).1, "procedure");
}

#[test]
fn what_is_inserted_lies_at_a_topic_that_every_protocol_sees() {
    let house = house();
    accepted(&house, insert_sensor());
    accepted(&house, insert_observations());
    let wanted = vec![Filter::parse("sos/urn:s:9/#").unwrap()];
    let who = Principal::unrestricted();
    let opened = house
        .hub
        .caller(super::house::now(), &who)
        .and_then(|caller| caller.latest(&wanted));
    let Ok(Latest { batch, .. }) = opened else {
        panic!("no latest values");
    };
    assert_eq!(batch.len(), 2);
    assert_eq!(batch.row(1).topic, "sos/urn:s:9/urn:p:level");
    assert_eq!(batch.value(1).number(), Some(1.75));
    assert_eq!(batch.row(1).unit, Some("m"));
}

/// [SOS2-9.2-1]
#[test]
fn observations_are_found_by_their_identifiers() {
    let house = house();
    accepted(&house, insert_sensor());
    accepted(&house, insert_observations());
    let ids = texts(&house.document(ALL), "identifier");
    let query = format!(
        "request=GetObservationById&version=2.0.0&observation={}",
        ids[1]
    );
    let root = house.document(&query);
    assert_eq!(root.local, "GetObservationByIdResponse");
    assert_eq!(texts(&root, "result"), ["1.75"]);
    let wrong = "request=GetObservationById&version=2.0.0&observation=urn:x";
    assert_eq!(
        house.refused(wrong),
        ("InvalidParameterValue".into(), "observation".into())
    );
}

/// [SOS2-11.1-1] [SOS2-11.1-2] [SOS2-11.2-1] [SOS2-11.2-2] [SOS2-11.2-3]
/// No results, and more or less of them than is said.
const WRONG_VALUES: [&str; 4] = [
    "x,y",
    "5@@2026-01-01T00:02:00Z,1",
    "0@@2026-01-01T00:02:00Z,1",
    "1@@",
];

#[test]
fn results_go_in_and_out_without_what_describes_them() {
    let house = house();
    accepted(&house, insert_sensor());
    let template = format!(
        r#"<sos:InsertResultTemplate {NAMESPACES}><sos:proposedTemplate><sos:ResultTemplate>
        <swes:identifier>urn:t:1</swes:identifier>
        <sos:offering>urn:s:9/observations</sos:offering><sos:observationTemplate>
        <om:OM_Observation gml:id="x"><om:phenomenonTime nilReason="template"/><om:resultTime nilReason="template"/>
        <om:procedure xlink:href="urn:s:9"/><om:observedProperty xlink:href="urn:p:level"/>
        <om:featureOfInterest xlink:href="urn:f:9"/><om:result/></om:OM_Observation></sos:observationTemplate>
        <sos:resultStructure><swe:DataRecord><swe:field name="phenomenonTime">
        <swe:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime">
        <swe:uom xlink:href="http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"/></swe:Time></swe:field>
        <swe:field name="level"><swe:Quantity definition="urn:p:level"><swe:uom code="cm"/></swe:Quantity></swe:field>
        </swe:DataRecord></sos:resultStructure>
        <sos:resultEncoding><swe:TextEncoding tokenSeparator="," blockSeparator="@@"/></sos:resultEncoding>
        </sos:ResultTemplate></sos:proposedTemplate></sos:InsertResultTemplate>"#
    );
    let root = accepted(&house, template.clone());
    assert_eq!(root.child("acceptedTemplate").unwrap().text(), "urn:t:1");
    let house = house.reopened();
    let result = |template: &str, values: &str| {
        format!(
            "<sos:InsertResult {NAMESPACES}><sos:template>{template}</sos:template>\
             <sos:resultValues>{values}</sos:resultValues></sos:InsertResult>"
        )
    };
    let values = "2@@2026-01-01T00:00:00Z,32.0@@2026-01-01T00:01:00.000+00:00,32.5@@";
    accepted(&house, result("urn:t:1", values));
    let names = "version=2.0.0&offering=urn:s:9/observations&observedProperty=urn:p:level";
    let root = house.document(&format!("request=GetResult&{names}"));
    assert_eq!(
        texts(&root, "resultValues"),
        ["2\n2026-01-01T00:00:00Z,32\n2026-01-01T00:01:00Z,32.5"]
    );
    let never = "temporalFilter=om:phenomenonTime,2025-01-01T00:00:00Z/2025-01-02T00:00:00Z";
    let root = house.document(&format!("request=GetResult&{names}&{never}"));
    assert_eq!(texts(&root, "resultValues"), [""]);
    let root = house.document(&format!("request=GetResultTemplate&{names}"));
    assert_eq!(
        root.find("Quantity")
            .unwrap()
            .child("uom")
            .unwrap()
            .attribute("code"),
        Some("cm")
    );
    assert_eq!(refused(&house, result("urn:no", values)).1, "template");
    for wrong in WRONG_VALUES {
        let said = refused(&house, result("urn:t:1", wrong));
        assert_eq!(said.1, "resultValues", "{wrong}");
    }
    let wrong = template.replace("urn:s:9/observations", "urn:no");
    assert_eq!(refused(&house, wrong).1, "offering");
    for unknown in ["swe:Matrix>", "swe:DataChoice>"] {
        let wrong = template.replace("swe:DataRecord>", unknown);
        assert_eq!(refused(&house, wrong).1, "resultStructure", "{unknown}");
    }
    let binary = template.replace("TextEncoding", "BinaryEncoding");
    assert_eq!(refused(&house, binary).1, "resultEncoding");
    let other = names.replace("urn:p:level", "temperature");
    assert_eq!(
        house.refused(&format!("request=GetResult&{other}")).1,
        "observedProperty"
    );
}

/// [SOS1-9.2-1] [SOS1-9.3-1]
#[test]
fn version_1_registers_and_inserts_blocks() {
    let house = house();
    let names = r#"service="SOS" version="1.0.0" xmlns="http://www.opengis.net/sos/1.0"
        xmlns:om="http://www.opengis.net/om/1.0" xmlns:sml="http://www.opengis.net/sensorML/1.0.1"
        xmlns:swe="http://www.opengis.net/swe/1.0.1" xmlns:gml="http://www.opengis.net/gml"
        xmlns:xlink="http://www.w3.org/1999/xlink""#;
    let register = format!(
        r#"<RegisterSensor {names}><SensorDescription><sml:SensorML version="1.0.1"><sml:member><sml:System>
        <sml:identification><sml:IdentifierList><sml:identifier name="uniqueID">
        <sml:Term definition="urn:ogc:def:identifier:OGC:1.0:uniqueID"><sml:value>urn:s:1</sml:value></sml:Term>
        </sml:identifier></sml:IdentifierList></sml:identification></sml:System></sml:member></sml:SensorML>
        </SensorDescription><ObservationTemplate><om:Measurement><om:samplingTime/>
        <om:procedure/><om:observedProperty xlink:href="urn:p:t"/><om:featureOfInterest/>
        <om:result uom="">0.0</om:result></om:Measurement></ObservationTemplate></RegisterSensor>"#
    );
    let root = accepted(&house, register.clone());
    assert_eq!(root.child("AssignedSensorId").unwrap().text(), "urn:s:1");
    // The template says nothing of what is observed: the description's outputs do.
    let outputs = r#"</sml:identification><sml:outputs><sml:OutputList><sml:output name="t">
        <swe:Quantity definition="urn:p:t"/></sml:output></sml:OutputList></sml:outputs>
        </sml:System>"#;
    let by_outputs = register
        .replace("urn:s:1", "urn:s:2")
        .replace("om:Measurement", "om:CategoryObservation")
        .replace(
            r#"<om:observedProperty xlink:href="urn:p:t"/>"#,
            "<om:observedProperty/>",
        );
    let nothing = refused(&house, by_outputs.clone());
    assert_eq!(nothing.1, "observedProperty");
    accepted(
        &house,
        by_outputs.replace("</sml:identification></sml:System>", outputs),
    );
    let insert = |sensor: &str| {
        format!(
            r#"<InsertObservation {names}><AssignedSensorId>{sensor}</AssignedSensorId><om:Observation>
            <om:samplingTime><gml:TimePeriod><gml:beginPosition>2026-01-01T00:00:00Z</gml:beginPosition>
            <gml:endPosition>2026-01-01T00:10:00Z</gml:endPosition></gml:TimePeriod></om:samplingTime>
            <om:procedure xlink:href="{sensor}"/><om:observedProperty xlink:href="urn:p:t"/>
            <om:featureOfInterest xlink:href="urn:f:1"/><om:result><swe:DataArray><swe:elementCount>
            <swe:Count><swe:value>2</swe:value></swe:Count></swe:elementCount><swe:elementType name="r"><swe:DataRecord>
            <swe:field name="time"><swe:Time definition="urn:ogc:data:time:iso8601"/></swe:field>
            <swe:field name="t"><swe:Quantity definition="urn:p:t"><swe:uom code="Cel"/></swe:Quantity></swe:field>
            </swe:DataRecord></swe:elementType><swe:encoding><swe:TextBlock decimalSeparator="." tokenSeparator=","
            blockSeparator=";"/></swe:encoding><swe:values>2026-01-01T00:00:00Z,3.5;2026-01-01T00:10:00Z,4;</swe:values>
            </swe:DataArray></om:result></om:Observation></InsertObservation>"#
        )
    };
    let root = accepted(&house, insert("urn:s:1"));
    let id = root.child("AssignedObservationId").unwrap().text();
    assert!(id.starts_with("urn:weir:observation:sos%2F"), "{id}");
    let query = "request=GetObservation&version=1.0.0&offering=urn:s:1/observations\
        &observedProperty=urn:p:t&responseFormat=text/xml; subtype=\"om/1.0.0\"\
        &eventTime=2026-01-01T00:05:00Z/2026-01-01T00:15:00Z";
    assert_eq!(
        texts(&house.document(query), "values"),
        ["2026-01-01T00:10:00Z,4;"]
    );
    assert_eq!(refused(&house, insert("urn:no")).1, "AssignedSensorId");
    let describe = "request=DescribeSensor&version=1.0.0&procedure=urn:s:1";
    let root = house.document(&format!(
        "{describe}&outputFormat=text/xml;subtype=\"sensorML/1.0.1\""
    ));
    assert_eq!(
        root.find("Term").unwrap().child("value").unwrap().text(),
        "urn:s:1"
    );
}

#[test]
fn observations_in_json_are_inserted() {
    let house = house();
    accepted(&house, insert_sensor());
    let body = r#"{"request":"InsertObservation","service":"SOS","version":"2.0.0",
        "offering":"urn:s:9/observations","observation":[{"procedure":"urn:s:9",
        "observedProperty":"urn:p:flow",
        "featureOfInterest":"urn:f:2",
        "phenomenonTime":"2026-01-01T00:00:00Z","result":{"uom":"m3/s","value":7}}]}"#;
    let answer = house.post("application/json", body);
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(texts(&house.document(ALL), "result"), ["7"]);
    let answer = house.post(
        "application/json",
        body.replace("\"procedure\":\"urn:s:9\",", ""),
    );
    assert_eq!(answer.status, 400);
    assert!(text(&answer).contains("MissingParameterValue"));
}

#[test]
fn one_policy_covers_what_is_read_and_what_is_inserted() {
    let house = super::house::measured();
    let rule = |verb, filter| (verb, Filter::parse(filter).unwrap());
    let reader = Principal {
        name: "ada".into(),
        grants: Grants::new(vec![rule(Verb::Read, "kitchen/#")]).into(),
        standing: Default::default(),
    };
    let ask = |method: &str, query: &str, body: String| {
        let mut call = super::house::call(method, "application/xml", body.into());
        call.principal = reader.clone();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        call.query = pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        house.call(call)
    };
    let get = |query: &str| ask("GET", &format!("service=SOS&{query}"), String::new());
    let offered = texts(&xml(&get("request=GetCapabilities")), "identifier");
    assert_eq!(offered, ["urn:weir:procedure:kitchen/observations"]);
    let all = xml(&get("request=GetObservation&version=2.0.0"));
    assert_eq!(texts(&all, "result").len(), 3);
    let hidden = get("request=GetObservation&version=2.0.0&procedure=urn:s:north");
    assert_eq!(exception(&hidden).0, "InvalidParameterValue");
    let refused = ask("POST", "", insert_sensor());
    assert_eq!(
        (refused.status, exception(&refused).0.as_str()),
        (403, "NoApplicableCode")
    );
    accepted(&house, insert_sensor());
    let refused = ask("POST", "", insert_observations());
    assert_eq!(
        exception(&refused),
        ("InvalidParameterValue".into(), "offering".into())
    );
}

#[test]
fn of_several_observations_all_are_inserted_or_none() {
    let house = super::house::measured();
    let rule = |verb, filter: &str| (verb, Filter::parse(filter).unwrap());
    let insert = |publishes: &str| {
        let rules = vec![rule(Verb::Read, "#"), rule(Verb::Publish, publishes)];
        let one = observation(5, "temperature", 9.5).replace("urn:s:9", "urn:s:north");
        let other = observation(6, "level", 55.0).replace("urn:s:9", "urn:s:north");
        let body = format!(
            "<sos:InsertObservation {NAMESPACES}><sos:offering>urn:s:north/observations</sos:offering>\
             {one}{other}</sos:InsertObservation>"
        );
        let mut call = super::house::call("POST", "application/xml", body.into());
        call.principal = Principal {
            name: "ada".into(),
            grants: Grants::new(rules).into(),
            standing: Default::default(),
        };
        house.call(call).status
    };
    let count = || {
        texts(
            &house.document("request=GetObservation&version=2.0.0"),
            "result",
        )
        .len()
    };
    for (publishes, status, expected) in [("north/#", 403, 6), ("sos/#", 403, 6), ("#", 200, 8)] {
        assert_eq!(
            (insert(publishes), count()),
            (status, expected),
            "{publishes}"
        );
    }
}

/// [SOS2-8.3-6]
#[test]
fn an_answer_in_pieces_is_whole_or_has_a_limit() {
    let house = house();
    let count = crate::limits::WHOLE_OBSERVATIONS_MAX / 2 + 1;
    for part in 0..2 {
        let mut rows = BatchBuilder::new();
        for row in 0..count {
            rows.begin();
            rows.time(Time::from_millis((part * count + row) as i64));
            rows.value(Value::Number(row as f64));
            rows.end().unwrap();
        }
        let format = weir_codec::by_name("block").unwrap();
        let mut body = Vec::new();
        (format.encode)(&rows.finish(), &mut body);
        house.publish_as("a/b", format, body);
    }
    let names = "version=2.0.0&offering=urn:weir:procedure:a/observations&observedProperty=b";
    let all = house.document(&format!("request=GetResult&{names}"));
    let values = &texts(&all, "resultValues")[0];
    assert!(values.starts_with(&format!("{}\n", 2 * count)));
    assert_eq!(values.lines().count(), 2 * count + 1);
    let request = json!({"service": "SOS", "version": "2.0.0", "request": "GetObservation"});
    let refused = house.post("application/json", request.to_string());
    assert!(text(&refused).contains("ResponseExceedsSizeLimit"));
    let less = "temporalFilter=om:phenomenonTime,1970-01-01T00:00:00Z/1970-01-01T00:00:01Z";
    let root = house.document(&format!("request=GetResult&{names}&{less}"));
    assert!(texts(&root, "resultValues")[0].starts_with("1001\n"));
}

/// [SOS2-10.2-2] [SOS2-10.4-1]
#[test]
fn what_cannot_be_inserted_names_the_parameter() {
    let house = house();
    accepted(&house, insert_sensor());
    let insert = insert_observations();
    for (body, code, locator) in [
        (
            insert.replace("urn:s:9/observations", "urn:no"),
            "InvalidParameterValue",
            "offering",
        ),
        (
            insert.replace("href=\"urn:s:9\"", "href=\"urn:no\""),
            "InvalidParameterValue",
            "procedure",
        ),
        (
            insert.replace("<om:observedProperty xlink:href=\"urn:p:flow\"/>", ""),
            "MissingParameterValue",
            "observedProperty",
        ),
        (
            insert.replace(">20<", ">warm<"),
            "InvalidParameterValue",
            "observation",
        ),
        (
            insert_sensor().replace("sensorml/2.0</swes", "x</swes"),
            "InvalidParameterValue",
            "procedureDescriptionFormat",
        ),
        (
            insert_sensor().replace("observableProperty", "relatedFeature"),
            "MissingParameterValue",
            "observableProperty",
        ),
        (
            insert_sensor().replace("OM_Measurement", "OM_Other"),
            "InvalidParameterValue",
            "observationType",
        ),
    ] {
        assert_eq!(refused(&house, body), (code.into(), locator.into()));
    }
    let bomb = format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{insert}");
    assert_eq!(refused(&house, bomb).0, "InvalidRequest");
}

/// [SOS2-10.4-3]
#[test]
fn an_offering_takes_the_types_that_its_sensor_announced() {
    let house = house();
    accepted(&house, insert_sensor());
    let measured = insert_observations();
    let text = measured.replace(
        r#"<om:result xsi:type="gml:MeasureType" uom="m">1.75</om:result>"#,
        r#"<om:result xsi:type="xs:string"
            xmlns:xs="http://www.w3.org/2001/XMLSchema">high</om:result>"#,
    );
    assert_ne!(measured, text);
    let invalid = ("InvalidParameterValue".into(), "observationType".into());
    assert_eq!(refused(&house, text.clone()), invalid);
    let none = house.document(ALL);
    assert_eq!(texts(&none, "result"), [] as [String; 0], "all or none");
    accepted(&house, measured);
    let any = insert_sensor()
        .replace("urn:s:9", "urn:s:10")
        .replace("OM_Measurement", "OM_Observation");
    accepted(&house, any);
    accepted(&house, text.replace("urn:s:9", "urn:s:10"));
}

/// [SOS2-10.4-4]
#[test]
fn what_is_inserted_is_added_to_all_named_offerings_or_none() {
    let house = house();
    accepted(&house, insert_sensor());
    accepted(&house, insert_sensor().replace("urn:s:9", "urn:s:10"));
    let own = "<sos:offering>urn:s:9/observations</sos:offering>";
    let both = format!("{own}<sos:offering>urn:s:10/observations</sos:offering>");
    let request = insert_observations().replace(own, &both);
    let invalid = ("InvalidParameterValue".into(), "offering".into());
    assert_eq!(refused(&house, request), invalid);
    let none = house.document(ALL);
    assert_eq!(texts(&none, "result"), [] as [String; 0]);
}
