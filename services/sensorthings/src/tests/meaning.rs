//! Links that the path and the body say, places of which there are several descriptions, and expressions that no
//! entity can answer.

use super::*;
use weir_model::percent;

fn id(path: &str) -> Json {
    let inner = path.split_once('(').unwrap().1.trim_end_matches(')');
    let id = inner
        .parse::<u64>()
        .map_or_else(|_| inner.trim_matches('\'').into(), Json::from);
    json!({"@iot.id": id})
}

fn stream(house: &House, thing: &str) -> String {
    let all = house.get(&format!("{thing}/Datastreams"));
    format!("Datastreams({})", all["value"][0]["@iot.id"])
}

/// Two things, each with a datastream.
fn two(house: &House) -> ([String; 2], [String; 2]) {
    let things = [
        house.post("Things", kitchen()),
        house.post("Things", kitchen()),
    ];
    let streams = [stream(house, &things[0]), stream(house, &things[1])];
    (things, streams)
}

/// [STA-A.3.1.1-4]
#[test]
fn a_link_of_path_and_body_is_the_same_or_a_contradiction() {
    let house = house("links");
    let (things, streams) = two(&house);
    let observation = |member: &str, link: Json| json!({"result": 1, member: link});
    let sensor = house.get(&format!("{}/Sensor", streams[0]))["@iot.id"].clone();
    let property = house.get(&format!("{}/ObservedProperty", streams[0]))["@iot.id"].clone();
    let datastream = |member: &str, link: Json| {
        json!({"name": "D", "description": "", "observationType": "OM_Measurement",
            "unitOfMeasurement": {"name": "", "symbol": "m", "definition": ""},
            "Thing": id(&things[0]), "Sensor": {"@iot.id": sensor},
            "ObservedProperty": {"@iot.id": property}, member: link})
    };
    let feature = |name: &str| {
        json!({"name": name, "description": "", "encodingType": "application/geo+json",
            "feature": {"type": "Point", "coordinates": [7, 50]}})
    };
    let features = [
        house.post("FeaturesOfInterest", feature("a")),
        house.post("FeaturesOfInterest", feature("b")),
    ];
    let of_feature =
        |at: &str| json!({"result": 1, "Datastream": id(&streams[0]), "FeatureOfInterest": id(at)});
    let noted = |thing: &str| json!({"time": "2026-11-19T10:00:00Z", "Thing": id(thing)});
    for (url, same, other) in [
        (
            format!("{}/Observations", streams[0]),
            observation("Datastream", id(&streams[0])),
            observation("Datastream", id(&streams[1])),
        ),
        (
            format!("{}/Datastreams", things[0]),
            datastream("Thing", id(&things[0])),
            datastream("Thing", id(&things[1])),
        ),
        (
            format!("{}/HistoricalLocations", things[0]),
            noted(&things[0]),
            noted(&things[1]),
        ),
        (
            format!("{}/Observations", features[0]),
            of_feature(&features[0]),
            of_feature(&features[1]),
        ),
    ] {
        house.post(&url, same);
        let said = house.ask("POST", &url, other.clone());
        let text = String::from_utf8_lossy(&said.body).into_owned();
        assert_eq!(said.status, 400, "{url} {other}: {text}");
        assert!(
            text.contains("the body says another than the path"),
            "{text}"
        );
    }
    // What would be made in the body is another, too.
    let made = observation("Datastream", kitchen()["Datastreams"][0].clone());
    assert_eq!(
        house.status("POST", &format!("{}/Observations", streams[0]), made),
        400
    );
    let mut made = kitchen()["Datastreams"][0].clone();
    made["Thing"] = json!({"name": "x", "description": ""});
    assert_eq!(
        house.status("POST", &format!("{}/Datastreams", things[0]), made),
        400
    );
    let all = house.get(&format!("{}/Observations?$count=true", streams[1]));
    assert_eq!(all["@iot.count"], 3);
}

#[test]
fn a_place_said_by_path_and_body_moves_its_thing_once() {
    let house = house("links-many");
    let (things, _) = two(&house);
    let place = |thing: &str| {
        json!({"name": "L", "description": "", "encodingType": "application/geo+json",
            "location": {"type": "Point", "coordinates": [7, 50]}, "Things": [id(thing)]})
    };
    let count = |thing: &str| {
        house.get(&format!("{thing}/HistoricalLocations?$count=true"))["@iot.count"].clone()
    };
    let before = count(&things[0]).as_u64().unwrap();
    house.post(&format!("{}/Locations", things[0]), place(&things[0]));
    assert_eq!(count(&things[0]), before + 1);
    // Several things may be at a place.
    let both = house.post(&format!("{}/Locations", things[0]), place(&things[1]));
    let at = house.get(&format!("{both}/Things?$count=true"));
    assert_eq!(at["@iot.count"], 2);
}

/// Several locations of a thing describe one place (18-088 section 8.2.2).
/// [STA-A.3.1.1-7]
#[test]
fn of_several_locations_the_geometry_makes_the_feature() {
    let house = house("first-of-many");
    let text = json!({"name": "Text", "description": "", "encodingType": "text/plain",
        "location": "upstairs"});
    let point = json!({"name": "Point", "description": "", "encodingType": "application/geo+json",
        "location": {"type": "Point", "coordinates": [7.5, 50.5]}});
    let mut thing = kitchen();
    thing["Locations"] = json!([text, point]);
    let thing = house.post("Things", thing);
    let found = house.get(&format!(
        "{}/Observations?$expand=FeatureOfInterest&$top=1",
        stream(&house, &thing)
    ));
    let feature = &found["value"][0]["FeatureOfInterest"];
    assert_eq!(feature["name"], "Point");
    assert_eq!(feature["feature"]["coordinates"], json!([7.5, 50.5]));
    let area = house.get(&stream(&house, &thing))["observedArea"]["type"].clone();
    assert_eq!(area, "Polygon");
    let mut only = kitchen();
    only["Locations"] = json!([text]);
    let thing = house.post("Things", only);
    let found = house.get(&format!(
        "{}/Observations?$expand=FeatureOfInterest&$top=1",
        stream(&house, &thing)
    ));
    assert_eq!(found["value"][0]["FeatureOfInterest"]["name"], "Text");
}

#[test]
fn the_topic_of_a_datastream_does_not_change() {
    let house = house("topic-fixed");
    let mut thing = kitchen();
    thing["Datastreams"][0]["properties"] = json!({"topic": "room/air", "a": 1});
    let thing = house.post("Things", thing);
    let path = stream(&house, &thing);
    for (properties, status) in [
        (json!({"topic": "new/topic"}), 409),
        (json!({"topic": 5}), 409),
        (json!({"topic": "room/air", "a": 2}), 200),
        (json!({"b": 3}), 200),
    ] {
        let body = json!({"properties": properties});
        assert_eq!(house.status("PATCH", &path, body), status, "{properties}");
    }
    let operations = json!([{"op": "add", "path": "/properties/topic", "value": "new/topic"}]);
    let headers = [("content-type", "application/json-patch+json")];
    let answer = house.send("PATCH", &path, &headers, operations.to_string().into());
    assert_eq!(answer.status, 409);
    assert_eq!(house.get(&path)["properties"], json!({"b": 3}));
}

fn asked(house: &House, set: &str, option: &str, value: &str) -> Response {
    let value = percent::encode(value, b"");
    house.ask("GET", &format!("{set}?${option}={value}"), Json::Null)
}

#[test]
fn comparing_what_cannot_be_compared_is_an_error() {
    let house = house("types");
    // Also where nothing is there yet.
    for is_empty in [true, false] {
        if !is_empty {
            house.post("Things", kitchen());
        }
        for (set, filter) in [
            ("Things", "name gt 5"),
            ("Things", "5 lt name"),
            ("Things", "name eq true"),
            ("Things", "name"),
            ("Things", "name and true"),
            ("Things", "name add 1 eq 2"),
            ("Things", "properties eq 'x'"),
            ("Things", "properties gt 5"),
            ("Things", "name/first eq 'x'"),
            ("Things", "Datastreams/name gt 5"),
            ("Things", "Datastreams eq 'x'"),
            ("Things", "year(name) eq 2026"),
            ("Things", "round(name) eq 1"),
            ("Things", "substring(name,'a') eq 'b'"),
            ("Things", "st_within(name, geography'POINT (1 1)')"),
            ("Things", "id/x eq 1"),
            ("Things", "colour eq 'x'"),
            ("Locations", "location eq geography'POINT (1 1)'"),
            (
                "Locations",
                "st_equals(location, geography'SRID=3857;POINT (1 1)')",
            ),
            ("Datastreams", "observedArea eq 5"),
            ("Datastreams", "observedArea/kind eq 'x'"),
            ("Datastreams", "phenomenonTime/begin lt now()"),
            ("Datastreams", "unitOfMeasurement eq 'Celsius'"),
            ("Observations", "not result lt 1"),
            ("Observations", "not name"),
            ("Observations", "phenomenonTime gt 5"),
            ("Observations", "phenomenonTime gt 'yesterday'"),
            ("Observations", "phenomenonTime add 5 gt now()"),
            ("Observations", "resultTime eq duration'PT1S'"),
        ] {
            let answer = asked(&house, set, "filter", filter);
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert_eq!(answer.status, 400, "{set} {filter}: {text}");
        }
    }
    for (set, option, value) in [
        ("Things", "orderby", "name/first"),
        ("Datastreams", "orderby", "phenomenonTime/begin"),
        ("Things", "select", "name/first"),
        ("Things", "select", "Datastreams/name"),
        ("Datastreams", "select", "phenomenonTime/begin"),
        ("Things", "expand", "Datastreams($filter=name gt 5)"),
    ] {
        assert_eq!(
            asked(&house, set, option, value).status,
            400,
            "{set} {option} {value}"
        );
    }
}

#[test]
fn what_lies_below_a_property_is_filtered_ordered_and_selected() {
    let house = house("below");
    house.post("Things", kitchen());
    for (set, filter, expected) in [
        ("Datastreams", "observedArea/type eq 'Polygon'", 1),
        ("Datastreams", "observedArea/type eq 'Point'", 0),
        ("Datastreams", "observedArea/coordinates/0/0/0 gt 20", 1),
        ("Datastreams", "unitOfMeasurement/symbol eq 'Cel'", 1),
        ("Datastreams", "phenomenonTime gt '2026-11-20T09:00:00Z'", 1),
        (
            "Datastreams",
            "st_within(observedArea,geography'SRID=4326;POLYGON((20 44,21 44,21 45,20 45,20 44))')",
            1,
        ),
        ("Observations", "result gt 'x' or result lt 21", 1),
        ("Observations", "not (result lt 21)", 2),
        ("Things", "not properties/nothing", 0),
        ("Things", "properties/nothing or name eq 'Kitchen'", 1),
        ("Locations", "location/coordinates/0 eq 20.5", 1),
    ] {
        let answer = asked(&house, set, "filter", filter);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 200, "{filter}: {text}");
        let found: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(
            found["value"].as_array().unwrap().len(),
            expected,
            "{filter}"
        );
    }
    assert_eq!(
        asked(&house, "Datastreams", "orderby", "observedArea/type desc").status,
        200
    );
    let selected = |set: &str, select: &str| {
        let answer = asked(&house, set, "select", select);
        let found: Json = serde_json::from_slice(&answer.body).unwrap();
        found["value"][0].clone()
    };
    let expected = json!({"unitOfMeasurement": {"symbol": "Cel"}});
    assert_eq!(
        selected("Datastreams", "unitOfMeasurement/symbol"),
        expected
    );
    let expected = json!({"observedArea": {"type": "Polygon"}, "name": "Air temperature"});
    assert_eq!(selected("Datastreams", "name,observedArea/type"), expected);
    assert_eq!(
        selected("Things", "properties/floor"),
        json!({"properties": {"floor": 2}})
    );
    assert_eq!(
        selected("Things", "properties/nothing"),
        json!({"properties": {}})
    );
    let both = selected("Things", "properties/floor,properties");
    assert_eq!(both, json!({"properties": {"floor": 2}}));
}

/// RFC 7946 section 4; the version before could name another system.
#[test]
fn a_geometry_of_another_reference_system_is_refused() {
    let house = house("crs");
    let named = |name: &str| json!({"type": "name", "properties": {"name": name}});
    for (crs, status) in [
        (named("urn:ogc:def:crs:OGC:1.3:CRS84"), 201),
        (named("EPSG:4326"), 201),
        (Json::Null, 201),
        (named("EPSG:25832"), 400),
        (json!({"type": "link", "properties": {"href": "x"}}), 400),
    ] {
        for (set, member) in [("Locations", "location"), ("FeaturesOfInterest", "feature")] {
            let geojson = "application/geo+json";
            let body = json!({"name": "a", "description": "", "encodingType": geojson,
                member: {"type": "Point", "coordinates": [7, 50], "crs": crs}});
            assert_eq!(house.status("POST", set, body), status, "{set} {crs}");
        }
    }
}

#[test]
fn a_datastream_tells_what_it_was_before() {
    let house = house("versions");
    for (value, unit, sensor, day) in [(1.5, "m", "urn:s:old", 18), (50.0, "cm", "urn:s:new", 19)] {
        let time = format!("2026-11-{day}T00:00:00Z");
        let said =
            json!({"value": value, "unit": unit, "sensor": sensor, "type": "level", "time": time});
        house.publish("river/level", &said.to_string());
        let told = house.get("Datastreams('river%2Flevel')")["properties"].clone();
        assert_eq!(told == Json::Null, day == 18, "{told}");
    }
    let path = "Datastreams('river%2Flevel')";
    let unit =
        |code: &str| json!({"name": code, "symbol": code, "definition": format!("ucum:{code}")});
    let expected = json!([
        {"sensor": "urn:s:old", "observedProperty": "level", "unitOfMeasurement": unit("m")},
        {"from": "2026-11-19T00:00:00Z", "sensor": "urn:s:new", "observedProperty": "level",
         "unitOfMeasurement": unit("cm")},
    ]);
    assert_eq!(house.get(path)["properties"]["versions"], expected);
    // What a client got and sends back is told and not kept.
    let mut properties = house.get(path)["properties"].clone();
    properties["versions"][0]["unitOfMeasurement"] = unit("km");
    properties["a"] = 1.into();
    assert_eq!(
        house.status("PATCH", path, json!({"properties": properties})),
        200
    );
    let told = house.get(path)["properties"].clone();
    assert_eq!(told, json!({"a": 1, "versions": expected}));
    assert_eq!(
        house.status("PATCH", path, json!({"properties": null})),
        200
    );
    assert_eq!(house.get(path)["properties"], json!({"versions": expected}));
    let old = "properties/versions/unitOfMeasurement/symbol eq 'm'";
    let first = "properties/versions/0/unitOfMeasurement/symbol eq 'm'";
    let count = |filter: &str| {
        let answer = asked(&house, "Datastreams", "filter", filter);
        let found: Json = serde_json::from_slice(&answer.body).unwrap();
        found["value"].as_array().map(Vec::len)
    };
    assert_eq!(count(first), Some(1));
    assert_eq!(count(old), Some(0));
}
