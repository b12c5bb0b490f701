//! JSON as clients of 52North's server send it: objects of ours with the members that theirs have.

use super::house::{House, house, measured, text};
use serde_json::{Value as Json, json};

fn told(house: &House, request: &Json) -> Json {
    let answer = house.post("application/json", request.to_string());
    serde_json::from_slice(&answer.body).unwrap()
}

fn request(name: &str, members: Json) -> Json {
    let mut request = json!({"request": name, "service": "SOS", "version": "2.0.0"});
    for (name, value) in members.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    request
}

const SENSOR: &str = r#"<sml:PhysicalSystem xmlns:sml="http://www.opengis.net/sensorml/2.0"
    xmlns:gml="http://www.opengis.net/gml/3.2" gml:id="a">
    <gml:identifier codeSpace="uniqueID">urn:s:9</gml:identifier></sml:PhysicalSystem>"#;
const SML: &str = "http://www.opengis.net/sensorml/2.0";
const COUNT: &str = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_CountObservation";
const MEASUREMENT: &str = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement";

fn insert_sensor() -> Json {
    let members = json!({
        "procedureDescriptionFormat": SML,
        "procedureDescription": SENSOR,
        "observableProperty": ["urn:p:level", "urn:p:pressed"],
        "observationType": [COUNT, MEASUREMENT],
        "featureOfInterestType": crate::names::SAMPLING_POINT,
    });
    request("InsertSensor", members)
}

fn observation(time: Json, result: Json) -> Json {
    json!({
        "identifier": {"value": "urn:o:1", "codespace": "urn:unknown"},
        "type": COUNT,
        "procedure": "urn:s:9",
        "observedProperty": "urn:p:level",
        "featureOfInterest": {
            "identifier": {"value": "urn:f:9", "codespace": "urn:unknown"},
            "name": [{"value": "the river", "codespace": ""}],
            "sampledFeature": ["urn:river"],
            "geometry": {"type": "Point", "coordinates": [51.9, 7.6],
                "crs": {"type": "name", "properties": {"name": "EPSG:4326"}}},
        },
        "phenomenonTime": time,
        "resultTime": "2026-01-01T00:10:00Z",
        "result": result,
    })
}

/// [SOS2-10.2-3]
#[test]
fn a_sensor_goes_in_and_its_description_is_replaced() {
    let house = house();
    assert_eq!(
        told(&house, &insert_sensor())["assignedProcedure"],
        "urn:s:9"
    );
    let one = observation(json!("2026-01-01T00:00:00+00:00"), json!(3));
    let two = observation(
        json!(["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"]),
        json!({"uom": "m", "value": 4.5}),
    );
    let offering = "urn:s:9/observations";
    let insert = request(
        "InsertObservation",
        json!({"offering": offering, "observation": [one, two]}),
    );
    assert_eq!(told(&house, &insert)["request"], "InsertObservation");
    let get = request("GetObservation", json!({"procedure": ["urn:s:9"]}));
    let found = told(&house, &get);
    let found = &found["observationData"][1]["OM_Observation"];
    assert_eq!(found["result"]["value"], "4.5");
    assert_eq!(
        found["phenomenonTime"]["TimePeriod"]["endPosition"],
        "2026-01-01T00:02:00Z"
    );
    let features = request("GetFeatureOfInterest", json!({"procedure": "urn:s:9"}));
    assert!(told(&house, &features).to_string().contains("51.9 7.6"));
    let described = SENSOR.replace("gml:id=\"a\"", "gml:id=\"b\"");
    let members = json!({
        "procedure": "urn:s:9",
        "procedureDescriptionFormat": SML,
        "procedureDescription": [{"description": described}],
    });
    let updated = told(&house, &request("UpdateSensorDescription", members));
    assert_eq!(updated["updatedProcedure"], "urn:s:9");
    let members = json!({"procedure": "urn:s:9", "procedureDescriptionFormat": SML});
    let now = told(&house, &request("DescribeSensor", members)).to_string();
    assert!(now.contains("\"id\":\"b\""), "{now}");
}

#[test]
fn filters_are_objects() {
    let house = measured();
    let get = |filters: Json| {
        let mut members = filters;
        members["procedure"] = json!("urn:s:north");
        let answer = told(&house, &request("GetObservation", members));
        answer.to_string().matches("\"OM_Observation\"").count()
    };
    let during = json!({"during": {"ref": "om:phenomenonTime",
        "value": ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"]}});
    assert_eq!(get(json!({"temporalFilter": [during]})), 2);
    assert_eq!(get(json!({"temporalFilter": during})), 2);
    let latest = json!({"equals": {"ref": "om:phenomenonTime", "value": "latest"}});
    assert_eq!(get(json!({"temporalFilter": [latest]})), 1);
    let polygon = |north: f64| {
        json!({"bbox": {"ref": "om:featureOfInterest/sams:SF_SpatialSamplingFeature/sams:shape",
            "value": {"type": "Polygon", "coordinates":
                [[[7, 50], [8, 50], [8, north], [7, north], [7, 50]]]}}})
    };
    assert_eq!(get(json!({"spatialFilter": polygon(51.0)})), 3);
    assert_eq!(get(json!({"spatialFilter": polygon(50.2)})), 0);
    let wrong = json!({"temporalFilter": {"sometimes": {"value": "2026-01-01"}}});
    let refused = told(&house, &request("GetObservation", wrong.clone()));
    assert_eq!(refused["Exception"]["exceptionCode"], "OptionNotSupported");
    let response = house.post(
        "application/json",
        request("GetObservation", wrong).to_string(),
    );
    assert_eq!(text(&response).matches("\"version\"").count(), 1);
}

#[test]
fn a_batch_answers_each_of_its_requests() {
    let house = house();
    let wrong = request(
        "DescribeSensor",
        json!({"procedure": "urn:no",
        "procedureDescriptionFormat": SML}),
    );
    let requests = json!([insert_sensor(), wrong, request("GetObservation", json!({}))]);
    let batch = request(
        "Batch",
        json!({"stopAtFailure": false, "requests": requests}),
    );
    let answer = told(&house, &batch);
    assert_eq!(answer["responses"][0]["assignedProcedure"], "urn:s:9");
    assert_eq!(answer["responses"][1]["Exception"]["locator"], "procedure");
    assert_eq!(answer["responses"][2]["request"], "GetObservation");
    let many = vec![json!({}); crate::limits::BATCH_MAX + 1];
    let refused = told(&house, &request("Batch", json!({"requests": many})));
    assert_eq!(refused["Exception"]["locator"], "requests");
}

/// More would be answered than was asked for, were such a filter passed over.
#[test]
fn a_filter_of_an_unknown_form_is_an_exception_that_names_it() {
    let house = measured();
    for (name, value) in [
        ("spatialFilter", r#"[{"bbox":{}}]"#),
        ("spatialFilter", "true"),
        ("spatialFilter", "{}"),
        ("bbox", "[50,7,51,8]"),
        ("bbox", "{}"),
        ("temporalFilter", "{}"),
        ("temporalFilter", "true"),
        ("temporalFilter", "5"),
        ("offering", "{}"),
        ("procedure", r#"[["urn:s:north"]]"#),
        (
            "featureOfInterest",
            r#"{"identifier":"urn:weir:feature:kitchen"}"#,
        ),
    ] {
        let request = format!(
            r#"{{"request":"GetObservation","service":"SOS","version":"2.0.0","{name}":{value}}}"#
        );
        let response = house.post("application/json", request);
        assert_eq!(response.status, 400, "{name}: {value}");
        assert!(
            text(&response).contains("InvalidParameterValue"),
            "{}",
            text(&response)
        );
        assert!(text(&response).contains(name), "{}", text(&response));
    }
}
