//! Observations of many datastreams as arrays.

use super::*;

// [STA-A.6.1.1-2]
#[test]
fn a_bad_row_of_an_array_hinders_no_other() {
    let house = house("arrays");
    let thing = house.post("Things", kitchen());
    let id = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let body = |components: Json, rows: Json| {
        let link = json!({"@iot.id": id});
        json!([{"Datastream": link, "components": components, "dataArray": rows}])
    };
    let rows = json!([
        ["2026-11-20T10:00:00Z", 1, {"a": 1}],
        ["2026-11-20T10:05:00Z", 2, null],
        ["2026-11-20T10:05:00Z", 3, null],
        ["yesterday", 4, null],
        [5],
    ]);
    let columns = json!(["phenomenonTime", "result", "parameters"]);
    let response = house.ask("POST", "CreateObservations", body(columns, rows));
    assert_eq!(response.status, 201);
    let links: Vec<String> = serde_json::from_slice(&response.body).unwrap();
    assert_eq!((links.len(), &*links[3], &*links[4]), (5, "error", "error"));
    for (link, result) in links.iter().zip([1, 2, 3]) {
        let found = house.get(link.strip_prefix("http://h/sta/v1.1/").unwrap());
        assert_eq!(found["result"], result, "{link}");
    }
    assert_eq!(house.get("Observations?$count=true")["@iot.count"], 6);
    for bad in [
        body(json!(["phenomenonTime"]), json!([])),
        body(json!(["result", "colour"]), json!([])),
        body(json!(["result"]), json!({})),
        body(json!(["result", "result"]), json!([[1, 2]])),
        json!([{
            "Datastream": {"@iot.id": id},
            "components": ["result"],
            "dataArray@iot.count": 5,
            "dataArray": [[1]]
        }]),
        json!([{"Datastream": {"@iot.id": 999}, "components": ["result"], "dataArray": []}]),
        json!({}),
    ] {
        assert_eq!(
            house.status("POST", "CreateObservations", bad.clone()),
            400,
            "{bad}"
        );
    }
}

// [STA-A.6.1.1-2]
#[test]
fn a_cell_without_a_feature_means_the_things_location() {
    let house = house("array-features");
    let thing = house.post("Things", kitchen());
    let id = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let feature = json!({"name": "oven", "description": "", "encodingType": "application/geo+json",
        "feature": {"type": "Point", "coordinates": [1, 2]}});
    let oven = house.post("FeaturesOfInterest", feature);
    let oven = house.get(&oven)["@iot.id"].clone();
    let columns = ["result", "FeatureOfInterest/id"];
    let rows = json!([[1, oven], [2, null]]);
    let body = json!([{"Datastream": {"@iot.id": id}, "components": columns, "dataArray": rows}]);
    let response = house.ask("POST", "CreateObservations", body);
    let links: Vec<String> = serde_json::from_slice(&response.body).unwrap();
    let named = links.iter().map(|link| {
        let path = link.strip_prefix("http://h/sta/v1.1/").unwrap();
        house.get(&format!("{path}/FeatureOfInterest"))["name"].clone()
    });
    let named: Vec<Json> = named.collect();
    assert_eq!(named[0], "oven");
    assert_ne!(named[1], "oven");
}

// [STA-A.6.1.1-2]
#[test]
fn a_row_that_is_none_needs_no_location() {
    let house = house("array-nowhere");
    let mut nowhere = kitchen();
    nowhere.as_object_mut().unwrap().remove("Locations");
    let stream = nowhere["Datastreams"][0].as_object_mut().unwrap();
    stream.remove("Observations");
    let thing = house.post("Things", nowhere);
    let id = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let feature = json!({"name": "oven", "description": "", "encodingType": "application/geo+json",
        "feature": {"type": "Point", "coordinates": [1, 2]}});
    let oven = house.post("FeaturesOfInterest", feature);
    let oven = house.get(&oven)["@iot.id"].clone();
    let answered = |rows: Json| {
        let columns = ["result", "FeatureOfInterest/id"];
        let body =
            json!([{"Datastream": {"@iot.id": id}, "components": columns, "dataArray": rows}]);
        house.ask("POST", "CreateObservations", body)
    };
    let response = answered(json!([[1, oven], [2]]));
    let links: Vec<String> = serde_json::from_slice(&response.body).unwrap();
    assert_eq!((response.status, &*links[1]), (201, "error"));
    assert_eq!(answered(json!([[1, oven], [2, null]])).status, 400);
}
