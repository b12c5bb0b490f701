#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::panic)]
//! `$resultFormat`.

use crate::tests::{House, house, kitchen};
use serde_json::{Value as Json, json};

fn text(house: &House, url: &str) -> (String, String) {
    let response = house.ask("GET", url, Json::Null);
    let text = String::from_utf8_lossy(&response.body).into_owned();
    assert_eq!(response.status, 200, "{url}: {text}");
    (response.headers[0].1.clone(), text)
}

// [STA-A.6.1.1-1]
#[test]
fn observations_come_as_arrays_by_their_datastream() {
    let house = house("data-array");
    let thing = house.post("Things", kitchen());
    house.publish("hall/temp", r#"{"value":7,"time":"2026-11-20T10:00:30Z"}"#);
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.selfLink"].clone();
    let found = house.get("Observations?$resultFormat=dataArray&$count=true&$top=3");
    assert_eq!(found["@iot.count"], 4);
    assert!(
        found["@iot.nextLink"]
            .as_str()
            .unwrap()
            .contains("$resultFormat=dataArray")
    );
    let groups = found["value"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["Datastream@iot.navigationLink"], stream);
    assert_eq!(
        groups[0]["components"],
        json!(["id", "phenomenonTime", "resultTime", "result"])
    );
    assert_eq!(groups[0]["dataArray@iot.count"], 2);
    assert_eq!(groups[0]["dataArray"][1][3], 21.5);
    assert_eq!(groups[1]["dataArray"][0][3], 7);
    let link = format!(
        "Observations({})",
        groups[0]["dataArray"][0][0].as_str().unwrap()
    );
    assert_eq!(house.get(&link)["result"], 20);
    let path = format!("{thing}/Datastreams");
    let id = &house.get(&path)["value"][0]["@iot.id"];
    let some = format!("Datastreams({id})/Observations?$resultFormat=DataArray&$select=result,id");
    let some = house.get(&some);
    assert_eq!(some["value"][0]["components"], json!(["result", "id"]));
    assert_eq!(some["value"][0]["dataArray"][2][0], 22);
    for bad in [
        "Things?$resultFormat=dataArray",
        "Observations?$resultFormat=dataArray&$expand=Datastream",
        "Observations?$resultFormat=xml",
    ] {
        assert_eq!(house.status("GET", bad, Json::Null), 400, "{bad}");
    }
}

#[test]
fn a_table_has_columns_by_what_is_selected_and_expanded() {
    let house = house("csv");
    let mut body = kitchen();
    body["Datastreams"][0]["name"] = json!("Air, \"inside\"");
    house.post("Things", body);
    let url = "Observations?$select=result,parameters,phenomenonTime\
               &$expand=Datastream($select=name,unitOfMeasurement;$expand=Thing($select=name))\
               &$resultFormat=CSV&$top=2&$skip=1&$count=true";
    let (media, table) = text(&house, url);
    assert_eq!(media, "text/csv; charset=utf-8");
    let lines: Vec<&str> = table.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "result,parameters,phenomenonTime,Datastream/name,Datastream/unitOfMeasurement/name,\
         Datastream/unitOfMeasurement/symbol,Datastream/unitOfMeasurement/definition,\
         Datastream/Thing/name"
    );
    let air = r#""Air, ""inside""",Celsius,Cel,ucum:Cel,Kitchen"#;
    assert_eq!(lines[1], format!("21.5,,2026-11-20T10:01:00.000Z,{air}"));
    let interval = "2026-11-20T10:02:00.000Z/2026-11-20T10:03:00.000Z";
    let window = r#""{""window"":""open""}""#;
    assert_eq!(lines[2], format!("22,{window},{interval},{air}"));
    assert_eq!(lines[3..], [""]);
    let (_, things) = text(
        &house,
        "Things?$resultFormat=csv&$expand=Locations($top=1;$select=name)",
    );
    assert!(
        things.starts_with("id,name,description,properties,Locations/name\r\n"),
        "{things}"
    );
    assert!(things.trim_end().ends_with(",House"), "{things}");
    let many = "Things?$resultFormat=csv&$expand=Datastreams";
    assert_eq!(house.status("GET", many, Json::Null), 400);
    let first = house.ask(
        "GET",
        "Observations?$resultFormat=CSV&$top=1&$count=true",
        Json::Null,
    );
    let field = |name| {
        first
            .headers
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap()
    };
    assert!(
        field("link").1.ends_with(">; rel=\"next\""),
        "{:?}",
        first.headers
    );
    assert_eq!(field("iot-count").1, "3");
}

#[test]
fn features_have_their_own_geometry_or_that_of_what_is_expanded() {
    let house = house("geojson");
    let thing = house.post("Things", kitchen());
    let point = json!({"type": "Point", "coordinates": [20.5, 44.8]});
    let (media, all) = text(&house, "Locations?$resultFormat=GeoJSON&$count=true");
    let all: Json = serde_json::from_str(&all).unwrap();
    assert_eq!(
        (&*media, &all["@iot.count"]),
        ("application/geo+json", &json!(1))
    );
    let feature = &all["features"][0];
    assert_eq!(
        (&feature["geometry"], &feature["properties"]["name"]),
        (&point, &json!("House"))
    );
    assert!(feature["properties"]["id"].is_number());
    let url = format!(
        "{thing}?$resultFormat=geojson&$select=name,properties\
         &$expand=Locations,Datastreams($select=unitOfMeasurement;$expand=Observations($select=result))"
    );
    let one: Json = serde_json::from_str(&text(&house, &url).1).unwrap();
    let feature = &one["features"][0];
    assert_eq!(feature["geometry"], point);
    let properties = feature["properties"].as_object().unwrap();
    assert_eq!(properties["properties/floor"], 2);
    assert_eq!(properties["Datastreams/0/unitOfMeasurement/symbol"], "Cel");
    assert_eq!(properties["Datastreams/0/Observations/2/result"], 22);
    assert!(properties["Locations/0/id"].is_number());
    assert!(
        !properties
            .keys()
            .any(|name| name.contains('@') || name.contains("coordinates"))
    );
    let without = house.get("Sensors?$resultFormat=GeoJSON");
    assert_eq!(without["features"][0]["geometry"], Json::Null);
}
