//! What coordinates and tokens mean: reference systems, heights, values that stand for none, constraints; commas that
//! separate and those that do not.

use super::house::{House, exception, house, measured, text, texts, xml};
use serde_json::{Value as Json, json};

const NAMESPACES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
  xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:sams="http://www.opengis.net/samplingSpatial/2.0" xmlns:fes="http://www.opengis.net/fes/2.0"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;
const BELOW: &str = "http://www.opengis.net/def/nil/OGC/0/BelowDetectionRange";

/// A house with a sensor.
fn registered() -> House {
    let house = house();
    accepted(
        &house,
        format!(
            r#"<swes:InsertSensor {NAMESPACES}>
        <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
        <swes:procedureDescription><sml:PhysicalSystem gml:id="a">
        <gml:identifier codeSpace="uniqueID">urn:s:9</gml:identifier>
        </sml:PhysicalSystem></swes:procedureDescription>
        <swes:observableProperty>urn:p:level</swes:observableProperty></swes:InsertSensor>"#
        ),
    );
    house
}

fn accepted(house: &House, body: String) -> weir_codec::document::Element {
    let answer = house.post("application/xml", body);
    assert_eq!(answer.status, 200, "{}", text(&answer));
    xml(&answer)
}

fn refused(house: &House, body: String) -> (String, String) {
    exception(&house.post("application/xml", body))
}

fn told(house: &House, request: &Json) -> (u16, Json) {
    let answer = house.post("application/json", request.to_string());
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

/// An observation of a feature there.
fn insert(point: &str) -> String {
    format!(
        r#"<sos:InsertObservation {NAMESPACES}><sos:offering>urn:s:9/observations</sos:offering>
        <sos:observation><om:OM_Observation gml:id="o"><om:phenomenonTime><gml:TimeInstant gml:id="t">
        <gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition></gml:TimeInstant></om:phenomenonTime>
        <om:procedure xlink:href="urn:s:9"/><om:observedProperty xlink:href="urn:p:level"/>
        <om:featureOfInterest><sams:SF_SpatialSamplingFeature gml:id="f"><gml:identifier>urn:f:9</gml:identifier>
        <sams:shape><gml:Point gml:id="p">{point}</gml:Point></sams:shape></sams:SF_SpatialSamplingFeature>
        </om:featureOfInterest><om:result xsi:type="gml:MeasureType" uom="m">1</om:result></om:OM_Observation>
        </sos:observation></sos:InsertObservation>"#
    )
}

/// Where GetFeatureOfInterest says that the feature is, and in which system.
fn told_at(house: &House) -> (String, String) {
    let root = house.document("request=GetFeatureOfInterest&version=2.0.0");
    let pos = root.find("pos").unwrap();
    (pos.attribute("srsName").unwrap().to_owned(), pos.text())
}

#[test]
fn a_feature_lies_where_its_system_says_with_its_height() {
    let flat = "http://www.opengis.net/def/crs/EPSG/0/4326";
    let high = "http://www.opengis.net/def/crs/EPSG/0/4979";
    for (point, system, expected) in [
        (
            "<gml:pos srsName='CRS:84'>7.52 52.9</gml:pos>",
            flat,
            "52.9 7.52",
        ),
        (
            "<gml:pos srsName='EPSG:4326'>52.9 7.52</gml:pos>",
            flat,
            "52.9 7.52",
        ),
        (
            "<gml:pos srsName='urn:ogc:def:crs:EPSG::4979'>52.9 7.52 12.5</gml:pos>",
            high,
            "52.9 7.52 12.5",
        ),
    ] {
        let house = registered();
        accepted(&house, insert(point));
        assert_eq!(told_at(&house), (system.into(), expected.into()), "{point}");
    }
}

/// [SOS2-12.0-3]
#[test]
fn a_place_in_an_unknown_system_is_an_exception() {
    let house = registered();
    let invalid = |locator: &str| ("InvalidParameterValue".to_owned(), locator.to_owned());
    for point in [
        "<gml:pos srsName='urn:ogc:def:crs:EPSG::3857'>10 20</gml:pos>",
        "<gml:pos srsName='NotCRS84'>10 20</gml:pos>",
        "<gml:pos srsName='EPSG:4326'>10 20 30</gml:pos>",
    ] {
        assert_eq!(
            refused(&house, insert(point)),
            invalid("observation"),
            "{point}"
        );
    }
    let corners = |system: &str| {
        format!(
            "<sos:GetObservation {NAMESPACES}><sos:spatialFilter><fes:BBOX>
             <fes:ValueReference>sams:shape</fes:ValueReference><gml:Envelope>
             <gml:lowerCorner srsName='{system}'>50 7</gml:lowerCorner><gml:upperCorner>51 8</gml:upperCorner>
             </gml:Envelope></fes:BBOX></sos:spatialFilter></sos:GetObservation>"
        )
    };
    assert_eq!(
        refused(&house, corners("EPSG:3857")),
        invalid("spatialFilter")
    );
    assert_eq!(refused(&house, corners("CRS84")), invalid("spatialFilter"));
    for query in [
        "request=GetObservation&version=2.0.0&spatialFilter=sams:shape,1,2,3,4,EPSG:94326",
        "request=GetObservation&version=2.0.0&spatialFilter=sams:shape,1,2,3,4,OGC:CRS84b",
    ] {
        assert_eq!(house.refused(query), invalid("spatialFilter"), "{query}");
    }
    let asked = "request=GetObservation&version=1.0.0&offering=x&observedProperty=y\
                 &responseFormat=text/xml;subtype=%22om/1.0.0%22&srsName=EPSG:3857";
    assert_eq!(house.refused(asked), invalid("srsName"));
    let point = |crs: Json| json!({"type": "Point", "coordinates": [50.5, 7.5], "crs": crs});
    let named = |name: &str| json!({"type": "name", "properties": {"name": name}});
    for crs in [named("EPSG:3857"), json!({"type": "link"}), json!(7)] {
        let filter = json!({"within": {"ref": "sams:shape", "value": point(crs.clone())}});
        let request = json!({"request": "GetObservation", "service": "SOS", "version": "2.0.0",
            "spatialFilter": filter});
        let (status, answer) = told(&house, &request);
        let locator = &answer["Exception"]["locator"];
        assert_eq!((status, locator), (400, &json!("spatialFilter")), "{crs}");
    }
}

#[test]
fn every_part_of_a_geometry_is_turned_as_its_system_says() {
    let house = measured();
    let ring = json!([
        [50.0, 7.0],
        [51.0, 7.0],
        [51.0, 8.0],
        [50.0, 8.0],
        [50.0, 7.0]
    ]);
    let polygon = json!({"type": "Polygon", "coordinates": [ring]});
    let crs = json!({"type": "name", "properties": {"name": "EPSG:4326"}});
    for value in [
        json!({"type": "GeometryCollection", "geometries": [polygon], "crs": crs}),
        json!({"type": "Feature", "geometry": polygon, "crs": crs}),
    ] {
        let filter = json!({"intersects": {"ref": "sams:shape", "value": value}});
        let request = json!({"request": "GetObservation", "service": "SOS", "version": "2.0.0",
            "spatialFilter": filter});
        let (_, answer) = told(&house, &request);
        let found = answer.to_string().matches("\"OM_Observation\"").count();
        assert_eq!(found, 3, "{answer}");
    }
}

fn template(component: &str) -> String {
    format!(
        r#"<sos:InsertResultTemplate {NAMESPACES}><sos:proposedTemplate><sos:ResultTemplate>
        <swes:identifier>urn:t:1</swes:identifier>
        <sos:offering>urn:s:9/observations</sos:offering><sos:observationTemplate>
        <om:OM_Observation gml:id="x"><om:phenomenonTime nilReason="template"/><om:resultTime nilReason="template"/>
        <om:procedure xlink:href="urn:s:9"/><om:observedProperty xlink:href="urn:p:level"/>
        <om:featureOfInterest xlink:href="urn:f:9"/><om:result/></om:OM_Observation></sos:observationTemplate>
        <sos:resultStructure><swe:DataRecord><swe:field name="phenomenonTime"><swe:Time/></swe:field>
        <swe:field name="level">{component}</swe:field></swe:DataRecord></sos:resultStructure>
        <sos:resultEncoding><swe:TextEncoding tokenSeparator="," blockSeparator="@"/></sos:resultEncoding>
        </sos:ResultTemplate></sos:proposedTemplate></sos:InsertResultTemplate>"#
    )
}

fn results(values: &str) -> String {
    format!(
        "<sos:InsertResult {NAMESPACES}><sos:template>urn:t:1</sos:template>\
         <sos:resultValues>{values}</sos:resultValues></sos:InsertResult>"
    )
}

/// The results, and why there is none, where that is so.
fn observed(house: &House) -> Vec<String> {
    let root = house.document("request=GetObservation&version=2.0.0&procedure=urn:s:9");
    let all = root.elements().filter_map(|data| data.find("result"));
    let said = all.map(|own| match own.attribute("nilReason") {
        Some(reason) => reason.to_owned(),
        None => own.text(),
    });
    said.collect()
}

const COMPONENT: &str = r#"<swe:Quantity definition="urn:p:level"><swe:nilValues><swe:NilValues>
    <swe:nilValue reason="http://www.opengis.net/def/nil/OGC/0/BelowDetectionRange">-999</swe:nilValue>
    </swe:NilValues></swe:nilValues><swe:uom code="cm"/><swe:constraint><swe:AllowedValues>
    <swe:interval>0 500</swe:interval></swe:AllowedValues></swe:constraint></swe:Quantity>"#;

/// [SOS2-11.1-1] [SOS2-11.1-2]
#[test]
fn a_result_that_stands_for_none_is_none() {
    let house = registered();
    accepted(&house, template(COMPONENT));
    accepted(
        &house,
        results("2026-01-01T00:00:00Z,2@2026-01-01T00:01:00Z,-999.0"),
    );
    assert_eq!(observed(&house), ["2", BELOW]);
    for wrong in ["501", "-1", "-998"] {
        let said = refused(&house, results(&format!("2026-01-01T00:02:00Z,{wrong}")));
        assert_eq!(
            said,
            ("InvalidParameterValue".into(), "resultValues".into()),
            "{wrong}"
        );
    }
    let optional = COMPONENT.replace("<swe:Quantity", "<swe:Quantity optional=\"true\"");
    let said = refused(&house, template(&optional));
    assert_eq!(
        said,
        ("InvalidParameterValue".into(), "resultStructure".into())
    );
}

#[test]
fn json_says_the_same_of_its_fields() {
    let house = registered();
    let request = |name: &str, members: Json| {
        let mut request = json!({"request": name, "service": "SOS", "version": "2.0.0"});
        for (name, value) in members.as_object().into_iter().flatten() {
            request[name] = value.clone();
        }
        request
    };
    let fields = json!([
        {"type": "time", "name": "time"},
        {"type": "quantity", "name": "level", "definition": "urn:p:level", "uom": "cm",
            "nilValues": [{"reason": BELOW, "value": -999}],
            "constraint": {"type": "AllowedValues", "intervals": [[0, 500]]}},
    ]);
    let proposed = request(
        "InsertResultTemplate",
        json!({"identifier": "urn:t:1", "offering": "urn:s:9/observations",
            "observationTemplate": {"procedure": "urn:s:9", "observedProperty": "urn:p:level",
                "featureOfInterest": "urn:f:9"},
            "resultStructure": {"fields": fields},
            "resultEncoding": {"tokenSeparator": ",", "blockSeparator": "@"}}),
    );
    let (status, answer) = told(&house, &proposed);
    assert_eq!(status, 200, "{answer}");
    accepted(
        &house,
        results("2026-01-01T00:00:00Z,2@2026-01-01T00:01:00Z,-999"),
    );
    assert_eq!(
        refused(&house, results("2026-01-01T00:02:00Z,501")).1,
        "resultValues"
    );
    let insert = |field: Json| {
        let observation = json!({"procedure": "urn:s:9", "observedProperty": "urn:p:level",
            "phenomenonTime": "2026-01-01T00:03:00Z",
            "result": {"fields": [field], "values": [[-999], [3]]}});
        request(
            "InsertObservation",
            json!({"offering": "urn:s:9/observations", "observation": observation}),
        )
    };
    let mut field = fields[1].clone();
    let (status, answer) = told(&house, &insert(field.clone()));
    assert_eq!(
        (status, &answer["Exception"]["locator"]),
        (400, &json!("result"))
    );
    field.as_object_mut().unwrap().remove("constraint");
    assert_eq!(told(&house, &insert(field)).0, 200);
    assert_eq!(observed(&house), ["2", BELOW, BELOW, "3"]);
    let mut wrong = proposed;
    wrong["resultStructure"]["fields"][1]["optional"] = json!(true);
    let (status, answer) = told(&house, &wrong);
    assert_eq!(
        (status, &answer["Exception"]["locator"]),
        (400, &json!("resultStructure"))
    );
}

#[test]
fn exi_is_answered_compressed_where_asked_for_or_sent() {
    let house = measured();
    let asked = |accept: &str| {
        let mut call = super::house::call("GET", "", bytes::Bytes::new());
        call.raw_query = "service=SOS&request=GetObservation&version=2.0.0".into();
        call.headers.push(("accept".into(), accept.into()));
        house.call(call)
    };
    let media = |answer: &weir_service::Response| {
        let found = answer
            .headers
            .iter()
            .find(|(name, _)| *name == "content-type");
        found.unwrap().1.to_string()
    };
    let (plain, compressed) = (asked("application/exi"), asked("application/exi; c=1"));
    assert_eq!(media(&plain), "application/exi");
    assert_eq!(media(&compressed), "application/exi;c=1");
    assert!(compressed.body.len() < plain.body.len());
    let read =
        |answer: &weir_service::Response| weir_codec::document::exi::read(&answer.body).unwrap();
    assert_eq!(
        texts(&read(&compressed), "result"),
        texts(&read(&plain), "result")
    );
    let question = format!("<sos:GetObservation {NAMESPACES}/>");
    let sent = weir_codec::document::exi::compressed_from_xml(question.as_bytes()).unwrap();
    let answer = house.post("application/exi;c=1", sent);
    assert_eq!(
        (answer.status, &*media(&answer)),
        (200, "application/exi;c=1")
    );
    let refused = asked("application/exi;c=1, text/html;q=0.5");
    assert_eq!(media(&refused), "application/exi;c=1");
}

/// Clients look for the formats of an offering within it.
#[test]
fn each_offering_tells_its_formats_and_types() {
    let house = measured();
    let root = house.document("request=GetCapabilities&acceptVersions=2.0.0");
    let contents = root.child("contents").unwrap().child("Contents").unwrap();
    let mut count = 0;
    for offering in contents.all("offering").map(|own| own.first().unwrap()) {
        let of = |name: &str| offering.all(name).map(|own| own.text()).collect::<Vec<_>>();
        assert_eq!(of("responseFormat"), crate::names::RESPONSE_FORMATS);
        assert_eq!(of("procedureDescriptionFormat").len(), 2);
        assert_eq!(of("featureOfInterestType").len(), 2);
        count += 1;
    }
    assert_eq!(count, 2);
}

fn answered(house: &House, query: &str) -> weir_codec::document::Element {
    xml(&house.get_encoded(query))
}

/// [SOS2-13.2-2]
#[test]
fn an_encoded_comma_is_part_of_a_value() {
    let house = house();
    for property in ["http://x.org/def,1/temp", "wet"] {
        let body = format!(
            r#"{{"observations":[{{"topic":"a/{}","sensor":"urn:s,1","type":"{property}",
                "value":1}}]}}"#,
            property.len()
        );
        house.publish("#", &body);
    }
    let count = |query: &str| {
        let root = answered(
            &house,
            &format!("request=GetObservation&version=2.0.0&{query}"),
        );
        texts(&root, "result").len()
    };
    assert_eq!(count("observedProperty=http://x.org/def%2C1/temp"), 1);
    assert_eq!(
        count("observedProperty=http%3A%2F%2Fx.org%2Fdef%2C1%2Ftemp,wet"),
        2
    );
    assert_eq!(count("procedure=urn:s%2C1&observedProperty=wet"), 1);
    let wrong = "request=GetObservation&version=2.0.0&observedProperty=http://x.org/def,1/temp";
    assert_eq!(exception(&house.get_encoded(wrong)).1, "observedProperty");
    // As clients send it that encode all of a parameter.
    let house = measured();
    let both = "request=GetObservation&version=2.0.0&observedProperty=temperature%2Chumidity";
    assert_eq!(texts(&answered(&house, both), "result").len(), 6);
    let sections =
        "request=GetCapabilities&sections=Contents%2CServiceProvider&acceptVersions=2.0.0%2C1.0.0";
    assert!(answered(&house, sections).child("contents").is_some());
    let none = "request=GetObservation&version=2.0.0&observedProperty=temperature%2Cnothing";
    assert_eq!(exception(&house.get_encoded(none)).1, "observedProperty");
    let form =
        house.form("request=GetObservation&version=2.0.0&observedProperty=temperature%2Chumidity");
    assert_eq!(texts(&xml(&form), "result").len(), 6);
}
