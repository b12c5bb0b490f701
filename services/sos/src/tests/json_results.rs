//! Results of more than a value in JSON, and offerings of names of their own, as clients of 52North's server send them.

use super::house::{House, house, text, texts};
use serde_json::{Value as Json, json};

const SML101: &str = "http://www.opengis.net/sensorML/1.0.1";
const SENSOR: &str = r#"<sml:SensorML xmlns:sml="http://www.opengis.net/sensorML/1.0.1"
    xmlns:swe="http://www.opengis.net/swe/1.0.1" version="1.0.1"><sml:member><sml:System><sml:identification>
    <sml:IdentifierList><sml:identifier name="uniqueID"><sml:Term definition="urn:ogc:def:identifier:OGC:1.0:uniqueID">
    <sml:value>urn:s:9</sml:value></sml:Term></sml:identifier></sml:IdentifierList></sml:identification>
    <sml:capabilities name="offerings"><swe:SimpleDataRecord><swe:field name="Offering of 9">
    <swe:Text definition="urn:ogc:def:identifier:OGC:offeringID"><swe:value>urn:o:9</swe:value></swe:Text></swe:field>
    </swe:SimpleDataRecord></sml:capabilities></sml:System></sml:member></sml:SensorML>"#;
const TIME: &str = "http://www.opengis.net/def/property/OGC/0/PhenomenonTime";
const RESULT_TIME: &str = "http://www.opengis.net/def/property/OGC/0/ResultTime";

fn request(name: &str, members: Json) -> Json {
    let mut request = json!({"request": name, "service": "SOS", "version": "2.0.0"});
    for (name, value) in members.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    request
}

fn told(house: &House, name: &str, members: Json) -> (u16, Json) {
    let answer = house.post("application/json", request(name, members).to_string());
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

fn accepted(house: &House, name: &str, members: Json) -> Json {
    let answer = house.post("application/json", request(name, members).to_string());
    assert_eq!(answer.status, 200, "{}", text(&answer));
    serde_json::from_slice(&answer.body).unwrap()
}

fn insert_sensor() -> Json {
    json!({
        "procedureDescriptionFormat": SML101,
        "procedureDescription": SENSOR,
        "observableProperty": ["urn:p:level", "urn:p:state"],
        "featureOfInterestType": crate::names::SAMPLING_POINT,
    })
}

fn registered() -> House {
    let house = house();
    let answer = accepted(&house, "InsertSensor", insert_sensor());
    assert_eq!(answer["assignedOffering"], "urn:o:9");
    house
}

fn observation(result: Json) -> Json {
    json!({
        "offering": "urn:o:9",
        "observation": {
            "procedure": "urn:s:9",
            "observedProperty": "urn:p:level",
            "featureOfInterest": "urn:f:9",
            "phenomenonTime": "2026-01-01T00:00:00Z",
            "result": result,
        },
    })
}

/// The results of a property, and their times.
fn observed(house: &House, property: &str) -> (Vec<String>, Vec<String>) {
    let query = format!(
        "request=GetObservation&version=2.0.0&offering=urn:o:9&observedProperty={property}"
    );
    let root = house.document(&query);
    let mut times = texts(&root, "timePosition");
    times.extend(texts(&root, "endPosition"));
    (texts(&root, "result"), times)
}

#[test]
fn arrays_are_rows_of_values_and_records_are_fields_with_theirs() {
    let house = registered();
    let fields = json!([
        {"type": "time", "name": "time", "definition": TIME, "uom": "iso"},
        {"type": "quantity", "name": "level", "definition": "urn:p:level", "uom": "m"},
    ]);
    let values = json!([["2026-01-02T00:00:00Z", 1.5], ["2026-01-02T00:01:00Z", 2]]);
    let array = observation(json!({"fields": fields, "values": values}));
    accepted(&house, "InsertObservation", array);
    let (results, times) = observed(&house, "urn:p:level");
    assert_eq!(results, ["1.5", "2"]);
    assert_eq!(times, ["2026-01-02T00:00:00Z", "2026-01-02T00:01:00Z"]);
    let record = json!([
        {"type": "quantity", "name": "q", "definition": "urn:p:q", "uom": "m", "value": 51.5},
        {"type": "category", "name": "c", "definition": "urn:p:c", "value": "sunny"},
        {"type": "count", "name": "n", "definition": "urn:p:n", "value": 2},
        {"type": "quantityRange", "name": "r", "definition": "urn:p:r", "value": [1, 2]},
    ]);
    accepted(&house, "InsertObservation", observation(record));
    for (property, expected) in [("urn:p:q", "51.5"), ("urn:p:c", "sunny"), ("urn:p:n", "2")] {
        assert_eq!(observed(&house, property).0, [expected]);
    }
    for (wrong, locator) in [
        (
            json!({"fields": fields, "values": [["2026-01-02T00:00:00Z"]]}),
            "result",
        ),
        (json!({"fields": fields, "values": [["x", 1]]}), "result"),
        (json!({"value": [1]}), "result"),
        (Json::Null, "result"),
    ] {
        let (status, answer) = told(&house, "InsertObservation", observation(wrong));
        let exception = &answer["Exception"];
        assert_eq!(
            (status, &exception["locator"]),
            (400, &json!(locator)),
            "{answer}"
        );
    }
}

#[test]
fn parameters_say_where_and_what_else() {
    let house = registered();
    let mut inserted = observation(json!({"uom": "m", "value": 0.25}));
    let place = json!({"type": "Point", "coordinates": [7.9, 47.9]});
    let name = "http://www.opengis.net/def/param-name/OGC-OM/2.0/samplingGeometry";
    inserted["observation"]["parameter"] = json!([
        {"NamedValue": {"name": name, "value": place}},
        {"NamedValue": {"name": "depth", "value": {"uom": "cm", "value": 5}}},
    ]);
    accepted(&house, "InsertObservation", inserted.clone());
    let root = house.document("request=GetObservation&version=2.0.0&offering=urn:o:9");
    assert_eq!(texts(&root, "pos"), ["47.9 7.9"]);
    assert!(root.to_xml().contains("depth"), "{}", root.to_xml());
    let far = json!({"type": "name", "properties": {"name": "EPSG:31467"}});
    inserted["observation"]["parameter"][0]["NamedValue"]["value"]["crs"] = far;
    let (status, answer) = told(&house, "InsertObservation", inserted);
    assert_eq!(
        (status, &answer["Exception"]["locator"]),
        (400, &json!("parameter"))
    );
}

/// [SOS2-11.1-1] [SOS2-11.1-2]
#[test]
fn a_template_and_its_results_go_in() {
    let house = registered();
    let feature = json!({
        "identifier": {"value": "urn:f:9", "codespace": "urn:unknown"},
        "name": [{"value": "here", "codespace": ""}],
        "geometry": {"type": "Point", "coordinates": [47.5, 7.5],
            "crs": {"type": "name", "properties": {"name": "EPSG:4326"}}},
    });
    let template = json!({
        "identifier": "urn:t:1",
        "offering": "urn:o:9",
        "observationTemplate": {
            "procedure": "urn:s:9",
            "observedProperty": "urn:p:level",
            "featureOfInterest": feature,
            "phenomenonTime": "template",
            "resultTime": "template",
            "result": null,
        },
        "resultStructure": {"fields": [
            {"type": "timeRange", "name": "time", "definition": TIME, "uom": "iso"},
            {"type": "time", "name": "resultTime", "definition": RESULT_TIME, "uom": "iso"},
            {"type": "quantity", "name": "level", "definition": "urn:p:level", "uom": "m"},
        ]},
        "resultEncoding": {"tokenSeparator": ",", "blockSeparator": "#"},
    });
    let answer = accepted(&house, "InsertResultTemplate", template.clone());
    assert_eq!(answer["acceptedTemplate"], "urn:t:1");
    let values = "1#2026-01-03T00:00:00Z/2026-01-03T00:01:00Z,2026-01-03T00:02:00Z,1.5#";
    let members = json!({"templateIdentifier": "urn:t:1", "resultValues": values});
    accepted(&house, "InsertResult", members);
    let (results, times) = observed(&house, "urn:p:level");
    assert_eq!(results, ["1.5"]);
    assert_eq!(times, ["2026-01-03T00:02:00Z", "2026-01-03T00:01:00Z"]);
    let features = "request=GetFeatureOfInterest&version=2.0.0&featureOfInterest=urn:f:9";
    assert_eq!(texts(&house.document(features), "pos"), ["47.5 7.5"]);
    for (part, value, locator) in [
        ("offering", json!("urn:no"), "offering"),
        (
            "observationTemplate",
            json!({"observedProperty": "urn:p:level"}),
            "procedure",
        ),
        ("resultStructure", json!({}), "resultStructure"),
        (
            "resultStructure",
            json!({"fields": [{"type": "vector"}]}),
            "resultStructure",
        ),
    ] {
        let mut wrong = template.clone();
        wrong[part] = value;
        let (status, answer) = told(&house, "InsertResultTemplate", wrong);
        let found = &answer["Exception"]["locator"];
        assert_eq!((status, found), (400, &json!(locator)), "{answer}");
    }
}

#[test]
fn a_batch_inserts_into_the_offering_that_it_announces() {
    let house = house();
    let requests = [
        request("InsertSensor", insert_sensor()),
        request(
            "InsertObservation",
            observation(json!({"uom": "m", "value": 1})),
        ),
    ];
    let answer = accepted(&house, "Batch", json!({"requests": requests}));
    assert_eq!(
        answer["responses"][1]["request"], "InsertObservation",
        "{answer}"
    );
    assert!(answer["responses"][1]["Exception"].is_null(), "{answer}");
    assert_eq!(observed(&house, "urn:p:level").0, ["1"]);
}

/// A filter of 52North's examples: its corners have the latitude first, and say so.
#[test]
fn a_geometry_has_the_order_of_the_system_that_it_names() {
    let house = super::house::measured();
    let ring = json!([
        [50.0, 7.0],
        [51.0, 7.0],
        [51.0, 8.0],
        [50.0, 8.0],
        [50.0, 7.0]
    ]);
    let crs = json!({"type": "name", "properties": {"name": "EPSG:4326"}});
    let get = |value: Json| {
        let filter = json!({"bbox": {"ref": "om:featureOfInterest/*/sams:shape", "value": value}});
        let answer = accepted(&house, "GetObservation", json!({"spatialFilter": filter}));
        answer.to_string().matches("\"OM_Observation\"").count()
    };
    let polygon = json!({"type": "Polygon", "coordinates": [ring]});
    assert_eq!(get(polygon.clone()), 0);
    let mut named = polygon;
    named["crs"] = crs;
    assert_eq!(get(named), 3);
}
