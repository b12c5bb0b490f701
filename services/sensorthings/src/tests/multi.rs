//! MultiDatastreams: arrays here, ordinary datastreams everywhere else.

use super::*;

/// A station whose observations have three components.
pub(super) fn station() -> Json {
    let measured = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement";
    let category = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_CategoryObservation";
    let property = |name: &str| {
        let definition = format!("http://x/{name}");
        json!({"name": name, "definition": definition, "description": name})
    };
    let unit = |symbol: Json| json!({"name": symbol, "symbol": symbol, "definition": symbol});
    json!({
        "name": "Station", "description": "on the roof",
        "Locations": [{
            "name": "Roof", "description": "flat", "encodingType": "application/geo+json",
            "location": {"type": "Point", "coordinates": [20.5, 44.8]},
        }],
        "MultiDatastreams": [{
            "name": "Weather", "description": "of the roof",
            "multiObservationDataTypes": [measured, measured, category],
            "unitOfMeasurements": [unit("Cel".into()), unit("%".into()), unit(Json::Null)],
            "Sensor": {
                "name": "WS-1", "description": "a box", "encodingType": "text/html",
                "metadata": "x",
            },
            "ObservedProperties": [property("temperature"), property("humidity"), property("sky")],
            "Observations": [
                {"phenomenonTime": "2026-11-20T10:00:00Z", "result": [25, 65, "clear"]},
                {"phenomenonTime": "2026-11-20T10:01:00Z", "result": [24.5, 66, "cloudy"],
                 "resultTime": "2026-11-20T10:02:00Z", "parameters": {"mast": 2}},
            ],
        }],
    })
}

fn posted(house: &House) -> String {
    let thing = house.post("Things", station());
    let multi = &house.get(&format!("{thing}/MultiDatastreams"))["value"][0];
    format!("MultiDatastreams({})", multi["@iot.id"])
}

fn arrays(collection: &Json) -> Vec<Json> {
    let values = collection["value"].as_array().unwrap().iter();
    values.map(|value| value["result"].clone()).collect()
}

fn link_of(observation: &Json) -> String {
    let link = observation["@iot.selfLink"].as_str().unwrap();
    link.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned()
}

// [STA-A.5.1.1-1] [STA-A.5.1.1-2]
#[test]
fn a_multi_datastream_is_inserted_and_found_by_every_way() {
    let house = house("multi-deep");
    let path = posted(&house);
    let multi = house.get(&path);
    let complex = multi["observationType"].as_str().unwrap();
    assert!(complex.ends_with("/OM_ComplexObservation"));
    for name in [
        "name",
        "description",
        "multiObservationDataTypes",
        "unitOfMeasurements",
    ] {
        assert!(!multi[name].is_null(), "{name}");
    }
    for name in ["Thing", "Sensor", "ObservedProperties", "Observations"] {
        assert!(
            multi[format!("{name}@iot.navigationLink")].is_string(),
            "{name}"
        );
    }
    let properties = house.get(&format!("{path}/ObservedProperties"));
    assert_eq!(names(&properties), ["temperature", "humidity", "sky"]);
    for way in ["Things", "Sensors", "ObservedProperties"] {
        let found = house.get(&format!(
            "{way}?$expand=MultiDatastreams&$filter=MultiDatastreams/name%20eq%20'Weather'"
        ));
        assert_eq!(
            found["value"][0]["MultiDatastreams"][0]["name"], "Weather",
            "{way}"
        );
    }
    let observations = house.get(&format!("{path}/Observations"));
    assert_eq!(
        arrays(&observations),
        [json!([25, 65, "clear"]), json!([24.5, 66, "cloudy"])]
    );
    let last = &observations["value"][1];
    assert_eq!(last["parameters"]["mast"], 2);
    assert!(last["MultiDatastream@iot.navigationLink"].is_string());
    assert_eq!(last.get("Datastream@iot.navigationLink"), None);
    let link = link_of(last);
    assert_eq!(house.get(&link)["result"], json!([24.5, 66, "cloudy"]));
    assert_eq!(
        house.get(&format!("{link}/MultiDatastream"))["name"],
        "Weather"
    );
    assert_eq!(
        house.status("GET", &format!("{link}/Datastream"), Json::Null),
        204
    );
    let feature = house.get(&format!("{link}/FeatureOfInterest"));
    let of_feature = format!("FeaturesOfInterest({})/Observations", feature["@iot.id"]);
    assert_eq!(arrays(&house.get(&of_feature)).len(), 2);
    let span = "2026-11-20T10:00:00.000Z/2026-11-20T10:01:00.000Z";
    assert_eq!(multi["phenomenonTime"], span);
    assert_eq!(multi["observedArea"]["type"], "Polygon");
}

#[test]
fn other_protocols_see_components_and_publish_them() {
    let house = house("multi-hub");
    let path = posted(&house);
    assert_eq!(house.get("Datastreams")["value"], json!([]));
    let filters = vec![Filter::parse("station/weather/#").unwrap()];
    let Ok(latest) = house
        .hub
        .caller(now(), &house.who)
        .and_then(|caller| caller.latest(&filters))
    else {
        panic!("last values were asked for")
    };
    let rows: Vec<_> = latest
        .batch
        .rows()
        .map(|row| (row.topic, row.unit))
        .collect();
    let known = [
        ("station/weather/humidity", Some("%")),
        ("station/weather/sky", None),
        ("station/weather/temperature", Some("Cel")),
    ];
    assert_eq!(rows, known);
    house.publish(
        "station/weather",
        r#"{"temperature":21.5,"humidity":40,"sky":"rain"}"#,
    );
    house.publish(
        "station/weather/humidity",
        r#"{"value":41,"time":"2026-11-20T12:30:00Z"}"#,
    );
    house.publish("station/weather", r#"{"value":7}"#);
    let newest = format!("{path}/Observations?$top=1&$orderby=phenomenonTime%20desc");
    assert_eq!(arrays(&house.get(&newest)), [json!([null, 41, null])]);
    let all = arrays(&house.get(&format!("{path}/Observations")));
    assert_eq!(
        all[2..],
        [json!([21.5, 40, "rain"]), json!([null, 41, null])]
    );
    assert_eq!(house.get("Observations?$count=true")["@iot.count"], 5);
}

// [STA-A.5.1.1-3]
#[test]
fn arrays_of_another_length_are_refused() {
    let house = house("multi-bad");
    let path = posted(&house);
    for result in [
        json!([1, 2]),
        json!([1, 2, "x", 4]),
        json!(1),
        json!({"a": 1}),
    ] {
        let body = json!({"result": result});
        let status = house.status("POST", &format!("{path}/Observations"), body.clone());
        assert_eq!(status, 400, "{body}");
    }
    for name in [
        "unitOfMeasurements",
        "multiObservationDataTypes",
        "ObservedProperties",
    ] {
        let mut bad = station();
        let arrays = bad["MultiDatastreams"][0][name].as_array_mut().unwrap();
        arrays.pop();
        assert_eq!(house.status("POST", "Things", bad), 400, "{name}");
        let mut bad = station();
        bad["MultiDatastreams"][0][name] = json!("x");
        assert_eq!(house.status("POST", "Things", bad), 400, "{name}");
    }
    for way in ["Thing", "Sensor", "ObservedProperties"] {
        let status = house.status("PATCH", &path, json!({ way: [] }));
        assert_eq!(status, 400, "{way}");
    }
    let short = json!({"unitOfMeasurements": []});
    assert_eq!(house.status("PATCH", &path, short), 400);
    assert_eq!(house.get("Things?$count=true")["@iot.count"], 1);
    assert_eq!(house.get("Observations?$count=true")["@iot.count"], 2);
}

#[test]
fn a_topic_that_is_a_datastream_has_no_components_below_it() {
    let house = house("multi-base");
    house.publish("a/b", r#"{"value":1}"#);
    let said = |topic: &str| {
        let mut body = station();
        body["MultiDatastreams"][0]["properties"] = json!({"topic": topic});
        house.status("POST", "Things", body)
    };
    assert_eq!(said("a/b"), 409);
    assert_eq!(said("a/c"), 201);
    assert_eq!(said("a/c"), 409);
    house.publish("a/c", r#"{"value":2}"#);
    let path = "MultiDatastreams?$expand=Observations";
    let first = house.get(path)["value"][0]["Observations"][0].clone();
    assert_eq!(
        house.status("PATCH", &link_of(&first), json!({"result": [1, 2, "x"]})),
        200
    );
    assert_eq!(house.get(&link_of(&first))["result"], json!([1, 2, "x"]));
    assert_eq!(house.status("DELETE", &link_of(&first), Json::Null), 200);
    assert_eq!(
        results(&house.get("Datastreams('a%2Fc')/Observations")),
        [2.0]
    );
}

#[test]
fn arrays_go_through_all_pages_orders_and_filters() {
    let house = house("multi-pages");
    let path = posted(&house);
    for number in 0..20 {
        let time = format!("2026-11-20T11:00:{:02}Z", number / 3);
        let body = json!({"phenomenonTime": time, "result": [number, number % 2, "x"]});
        house.post(&format!("{path}/Observations"), body);
        house.publish("plain", &format!(r#"{{"value":{number},"time":"{time}"}}"#));
    }
    for order in ["", "&$orderby=phenomenonTime%20desc", "&$orderby=id"] {
        for (set, all) in [
            (format!("{path}/Observations"), 22),
            ("Observations".into(), 42),
        ] {
            let (mut seen, mut ids) = (0, std::collections::BTreeSet::new());
            let mut url = format!("{set}?$top=4{order}");
            loop {
                let page = house.get(&url);
                for observation in page["value"].as_array().unwrap() {
                    seen += 1;
                    ids.insert(observation["@iot.id"].to_string());
                    assert_eq!(
                        house.get(&link_of(observation))["result"],
                        observation["result"]
                    );
                }
                let Some(next) = page["@iot.nextLink"].as_str() else {
                    break;
                };
                url = next.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned();
            }
            assert_eq!((seen, ids.len()), (all, all), "{set} {order}");
        }
    }
    let filter = "phenomenonTime ge 2026-11-20T11:00:05Z and result/1 eq 1";
    let filter = weir_model::percent::encode(filter, b"");
    let found = house.get(&format!("{path}/Observations?$filter={filter}"));
    assert_eq!(arrays(&found), [15, 17, 19].map(|it| json!([it, 1, "x"])));
}

#[test]
fn arrays_come_as_data_arrays_are_corrected_and_withdrawn() {
    let house = house("multi-change");
    let path = posted(&house);
    let id = house.get(&path)["@iot.id"].clone();
    let rows = json!([
        ["2026-11-20T11:00:00Z", [1, 2, "a"]],
        ["2026-11-20T11:00:00Z", [3, 4, "b"]],
        ["2026-11-20T11:01:00Z", [5, 6]],
    ]);
    let link = json!({"@iot.id": id});
    let columns = json!(["phenomenonTime", "result"]);
    let body = json!([{"MultiDatastream": link, "components": columns, "dataArray": rows}]);
    let response = house.ask("POST", "CreateObservations", body);
    assert_eq!(response.status, 201);
    let links: Vec<String> = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(links[2], "error");
    let second = links[1].strip_prefix("http://h/sta/v1.1/").unwrap();
    assert_eq!(house.get(second)["result"], json!([3, 4, "b"]));
    assert_eq!(
        house.status("PATCH", second, json!({"result": [7, 8, "c"]})),
        200
    );
    assert_eq!(house.get(second)["result"], json!([7, 8, "c"]));
    assert_eq!(house.status("PATCH", second, json!({"result": [7]})), 400);
    assert_eq!(house.status("DELETE", second, Json::Null), 200);
    assert_eq!(house.status("GET", second, Json::Null), 404);
    let all = arrays(&house.get(&format!("{path}/Observations")));
    let left = [
        json!([25, 65, "clear"]),
        json!([24.5, 66, "cloudy"]),
        json!([1, 2, "a"]),
    ];
    assert_eq!(all, left);
    let renamed = json!({"name": "Climate"});
    assert_eq!(house.status("PATCH", &path, renamed), 200);
    assert_eq!(house.get(&path)["name"], "Climate");
    assert_eq!(arrays(&house.get(&format!("{path}/Observations"))).len(), 3);
    assert_eq!(house.status("DELETE", &path, Json::Null), 200);
    assert_eq!(house.get("MultiDatastreams")["value"], json!([]));
    assert_eq!(house.get("Observations")["value"], json!([]));
    assert_eq!(names(&house.get("ObservedProperties")).len(), 3);
}
