//! The abstract test suite of 18-088, annex A, one by one.

use super::*;

fn unit() -> Json {
    json!({"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"})
}

fn place(longitude: f64) -> Json {
    json!({"type": "Point", "coordinates": [longitude, 44.5]})
}

/// A body of each type with all that it cannot be without made with it, and those members.
fn bodies() -> Vec<(&'static str, Json, Vec<&'static str>)> {
    let thing = json!({"name": "T", "description": "a thing", "properties": {"a": 1}});
    let geojson = "application/geo+json";
    let location = json!({
        "name": "L", "description": "a place", "encodingType": geojson, "location": place(20.5),
        "properties": {"a": 1},
    });
    let sensor = json!({
        "name": "S", "description": "a sensor", "encodingType": "text/html", "metadata": "x",
        "properties": {"a": 1},
    });
    let property = json!({
        "name": "P", "description": "a property", "definition": "http://x/p",
        "properties": {"a": 1},
    });
    let feature = json!({
        "name": "F", "description": "a feature", "encodingType": geojson, "feature": place(21.5),
        "properties": {"a": 1},
    });
    let datastream = json!({
        "name": "D", "description": "a datastream", "observationType": "OM_Measurement",
        "unitOfMeasurement": unit(), "properties": {"a": 1},
        "Thing": thing, "Sensor": sensor, "ObservedProperty": property,
    });
    let historical = json!({
        "time": "2026-11-19T10:00:00.000Z", "Thing": thing, "Locations": [location],
    });
    let observation = json!({
        "phenomenonTime": "2026-11-20T10:00:00.000Z", "result": 1, "resultQuality": "good",
        "validTime": "2026-11-20T10:00:00.000Z/2026-11-20T11:00:00.000Z", "parameters": {"a": 1},
        "Datastream": datastream, "FeatureOfInterest": feature,
    });
    let named = vec!["name", "description"];
    let coded = |other| [&named[..], &["encodingType", other]].concat();
    let of_datastream = [
        "observationType",
        "unitOfMeasurement",
        "Thing",
        "Sensor",
        "ObservedProperty",
    ];
    vec![
        ("Things", thing.clone(), named.clone()),
        ("Locations", location, coded("location")),
        ("HistoricalLocations", historical, vec!["time", "Thing"]),
        (
            "Datastreams",
            datastream,
            [&named[..], &of_datastream].concat(),
        ),
        ("Sensors", sensor, coded("metadata")),
        (
            "ObservedProperties",
            property,
            [&named[..], &["definition"]].concat(),
        ),
        ("Observations", observation, vec!["result", "Datastream"]),
        ("FeaturesOfInterest", feature, coded("feature")),
    ]
}

/// The navigations of each type (tables 4 to 18).
const WAYS: [(&str, &[&str]); 8] = [
    (
        "Things",
        &["Locations", "HistoricalLocations", "Datastreams"],
    ),
    ("Locations", &["Things", "HistoricalLocations"]),
    ("HistoricalLocations", &["Thing", "Locations"]),
    (
        "Datastreams",
        &["Thing", "Sensor", "ObservedProperty", "Observations"],
    ),
    ("Sensors", &["Datastreams"]),
    ("ObservedProperties", &["Datastreams"]),
    ("Observations", &["Datastream", "FeatureOfInterest"]),
    ("FeaturesOfInterest", &["Observations"]),
];

fn is_empty(house: &House) -> bool {
    let sets = WAYS.iter().map(|(set, _)| *set);
    sets.into_iter()
        .all(|set| house.get(set)["value"] == json!([]))
}

fn path_of(entity: &Json) -> String {
    let link = entity["@iot.selfLink"].as_str().unwrap();
    link.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned()
}

fn encoded(query: &str) -> String {
    weir_model::percent::encode(query, b"=&$/")
}

// [STA-A.1.1-1] [STA-A.1.2-1] [STA-A.1.3-1] [STA-A.1.4-1] [STA-A.1.5-1] [STA-A.1.6-1] [STA-A.1.7-1]
// [STA-A.1.8-1] [STA-A.1.9-1] [STA-A.1.2-2] [STA-A.1.3-2] [STA-A.1.4-2] [STA-A.1.5-2] [STA-A.1.6-2]
// [STA-A.1.7-2] [STA-A.1.8-2] [STA-A.1.9-2] [STA-A.3.1.1-1]
#[test]
fn each_type_is_made_with_what_it_needs() {
    for ((set, body, _), (_, ways)) in bodies().into_iter().zip(WAYS) {
        let house = house(&format!("annex-{set}"));
        let path = house.post(set, body.clone());
        let made = house.get(&path);
        assert!(!made["@iot.id"].is_null(), "{set}");
        assert_eq!(path_of(&made), path, "{set}");
        for (name, value) in body.as_object().unwrap() {
            if !name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
                assert_eq!(made[name], *value, "{set}: {name}");
            }
        }
        for way in ways {
            assert!(
                made[format!("{way}@iot.navigationLink")].is_string(),
                "{set}: {way}"
            );
            let found = house.ask("GET", &format!("{path}/{way}"), Json::Null);
            assert_eq!(found.status, 200, "{set}: {way}");
        }
        assert_eq!(house.get(set)["value"], json!([made]), "{set}");
    }
}

// [STA-A.3.1.1-2] [STA-A.3.1.1-3]
#[test]
fn what_lacks_a_property_is_refused_with_all_beside_it() {
    for (set, body, needed) in bodies() {
        let house = house(&format!("annex-lack-{set}"));
        for name in needed {
            let mut bad = body.clone();
            bad.as_object_mut().unwrap().remove(name);
            assert_eq!(house.status("POST", set, bad), 400, "{set} without {name}");
            assert!(is_empty(&house), "{set} without {name}");
        }
        for way in [
            "Thing",
            "Sensor",
            "ObservedProperty",
            "Datastream",
            "FeatureOfInterest",
        ] {
            let Some(below) = body.get(way) else { continue };
            let mut bad = body.clone();
            bad[way].as_object_mut().unwrap().remove("name");
            assert!(below["name"].is_string());
            assert_eq!(
                house.status("POST", set, bad),
                400,
                "{set}: {way} without a name"
            );
            assert!(is_empty(&house), "{set}: {way} without a name");
        }
    }
}

// [STA-A.3.1.1-4] [STA-A.3.1.1-5]
#[test]
fn each_type_is_made_with_links_to_what_is_there_alone() {
    let house = house("annex-links");
    house.post("Observations", bodies()[6].1.clone());
    house.post("Locations", bodies()[1].1.clone());
    for (set, body, _) in bodies() {
        let mut linked = body.clone();
        let mut lost = body.clone();
        let mut any = false;
        for (name, value) in body.as_object().unwrap() {
            let target = match &**name {
                "Thing" => "Things",
                "Sensor" => "Sensors",
                "ObservedProperty" => "ObservedProperties",
                "Datastream" => "Datastreams",
                "FeatureOfInterest" => "FeaturesOfInterest",
                "Locations" => "Locations",
                _ => continue,
            };
            any = true;
            let link = |id: Json| {
                if value.is_array() {
                    json!([{"@iot.id": id}])
                } else {
                    json!({"@iot.id": id})
                }
            };
            linked[name] = link(house.get(target)["value"][0]["@iot.id"].clone());
            lost[name] = link(987_654.into());
        }
        let before = house.get("Things?$count=true")["@iot.count"].clone();
        house.post(set, linked);
        if any {
            assert_eq!(
                house.get("Things?$count=true")["@iot.count"],
                before,
                "{set}"
            );
            assert_eq!(house.status("POST", set, lost), 400, "{set}");
        }
    }
}

// [STA-A.3.1.1-6] [STA-A.3.1.1-7] [STA-A.3.1.1-8] [STA-A.3.1.1-9]
#[test]
fn what_an_observation_does_not_say_follows_from_the_thing() {
    let house = house("annex-follows");
    let mut kitchen = kitchen();
    kitchen["Datastreams"][0]
        .as_object_mut()
        .unwrap()
        .remove("Observations");
    let thing = house.post("Things", kitchen);
    let stream = path_of(&house.get(&format!("{thing}/Datastreams"))["value"][0]);
    assert_eq!(house.get("FeaturesOfInterest")["value"], json!([]));
    let first = house.post(&format!("{stream}/Observations"), json!({"result": 1}));
    assert_eq!(house.get(&first)["resultTime"], Json::Null);
    let feature = house.get(&format!("{first}/FeatureOfInterest"));
    assert_eq!(
        feature["feature"],
        json!({"type": "Point", "coordinates": [20.5, 44.8]})
    );
    // [STA-A.3.1.1-12]
    let late = json!({"result": 2, "resultTime": "2026-11-20T09:00:00Z"});
    let second = house.post(&format!("{stream}/Observations"), late);
    let when = house.get(&second)["phenomenonTime"].clone();
    assert_eq!(when, json!("2026-11-20T12:00:00.000Z"));
    let again = house.get(&format!("{second}/FeatureOfInterest"));
    assert_eq!(again["@iot.id"], feature["@iot.id"]);
    assert_eq!(house.get("FeaturesOfInterest?$count=true")["@iot.count"], 1);
    let history = format!("{thing}/HistoricalLocations?$expand=Locations&$orderby=id");
    assert_eq!(house.get(&history)["value"].as_array().unwrap().len(), 1);
    house.post(&format!("{thing}/Locations"), bodies()[1].1.clone());
    let found = house.get(&history);
    assert_eq!(found["value"][1]["Locations"][0]["name"], "L");
    assert_eq!(names(&house.get(&format!("{thing}/Locations"))), ["L"]);
}

// [STA-A.3.1.1-10]
#[test]
fn what_may_be_anything_comes_back_as_it_was_said() {
    let house = house("annex-any");
    let stream = house.post("Datastreams", bodies()[3].1.clone());
    for (second, result) in [
        json!(1),
        json!(1.25),
        json!("text"),
        json!(true),
        json!(null),
        json!([1, "a"]),
        json!({"a": {"b": [1]}}),
    ]
    .into_iter()
    .enumerate()
    {
        let time = format!("2026-11-20T10:00:{second:02}Z");
        let body = json!({
            "result": result, "phenomenonTime": time, "resultQuality": {"a": result},
            "FeatureOfInterest": bodies()[7].1,
        });
        let path = house.post(&format!("{stream}/Observations"), body);
        let found = house.get(&path);
        assert_eq!(
            (&found["result"], &found["resultQuality"]["a"]),
            (&result, &result)
        );
        let mut sensor = bodies()[4].1.clone();
        sensor["metadata"] = result.clone();
        if !result.is_null() {
            assert_eq!(
                house.get(&house.post("Sensors", sensor))["metadata"],
                result
            );
        }
    }
}

// [STA-A.3.1.2-1] [STA-A.3.1.2-2]
#[test]
fn each_type_is_changed_in_part_and_as_a_whole() {
    for (set, body, _) in bodies() {
        let house = house(&format!("annex-change-{set}"));
        let path = house.post(set, body.clone());
        let (name, value) = match set {
            "Observations" => ("result", json!(7)),
            "HistoricalLocations" => ("time", json!("2026-11-18T10:00:00.000Z")),
            _ => ("description", json!("new")),
        };
        let before = house.get(&path);
        assert_eq!(
            house.status("PATCH", &path, json!({ name: value })),
            200,
            "{set}"
        );
        let mut expected = before;
        expected[name] = value.clone();
        assert_eq!(house.get(&path), expected, "{set}");
        let mut whole = body.clone();
        let object = whole.as_object_mut().unwrap();
        object.retain(|name, _| !name.starts_with(|letter: char| letter.is_ascii_uppercase()));
        object.remove("properties");
        object.remove("parameters");
        assert_eq!(house.status("PUT", &path, whole), 200, "{set}");
        let found = house.get(&path);
        assert_eq!(found[name], body[name], "{set}");
        assert_eq!(
            (found.get("properties"), found.get("parameters")),
            (None, None),
            "{set}"
        );
    }
}

// [STA-A.3.1.2-3] [STA-A.3.1.2-4]
#[test]
fn links_are_changed_by_identifier_and_nothing_is_made() {
    let house = house("annex-relink");
    let stream = house.post("Datastreams", bodies()[3].1.clone());
    let other = house.post("Sensors", bodies()[4].1.clone());
    let id = house.get(&other)["@iot.id"].clone();
    let binding = json!({"Sensor": {"@iot.id": id}});
    assert_eq!(house.status("PATCH", &stream, binding), 200);
    assert_eq!(house.get(&format!("{stream}/Sensor"))["@iot.id"], id);
    let inline = json!({"Sensor": bodies()[4].1});
    assert_eq!(house.status("PATCH", &stream, inline), 400);
    assert_eq!(house.get("Sensors?$count=true")["@iot.count"], 2);
    let things = json!({"Datastreams": [bodies()[3].1]});
    let thing = path_of(&house.get(&format!("{stream}/Thing")));
    assert_eq!(house.status("PATCH", &thing, things), 400);
    assert_eq!(house.get("Datastreams?$count=true")["@iot.count"], 1);
}

// [STA-A.3.1.3-1]
#[test]
fn each_type_is_deleted_with_what_cannot_be_without_it() {
    for (set, gone) in [
        (
            "Things",
            &["Datastreams", "Observations", "HistoricalLocations"][..],
        ),
        ("Locations", &["HistoricalLocations"]),
        ("HistoricalLocations", &[]),
        ("Datastreams", &["Observations"]),
        ("Sensors", &["Datastreams", "Observations"]),
        ("ObservedProperties", &["Datastreams", "Observations"]),
        ("Observations", &[]),
        ("FeaturesOfInterest", &["Observations"]),
    ] {
        let house = house(&format!("annex-delete-{set}"));
        house.post("Things", kitchen());
        let left = |set: &str| house.get(set)["value"].as_array().unwrap().len();
        let path = path_of(&house.get(set)["value"][0]);
        let before: Vec<_> = WAYS.iter().map(|(set, _)| left(set)).collect();
        assert_eq!(house.status("DELETE", &path, Json::Null), 200, "{set}");
        assert_eq!(house.status("GET", &path, Json::Null), 404, "{set}");
        for ((other, _), before) in WAYS.iter().zip(before) {
            let expected = match *other {
                other if gone.contains(&other) => 0,
                other if other == set => before - 1,
                _ => before,
            };
            assert_eq!(left(other), expected, "{other} after one of {set}");
        }
    }
}

// [STA-A.1.10-1]
#[test]
fn every_use_of_a_path_leads_where_it_is_to_lead() {
    let house = house("annex-paths");
    let root = house.get("");
    let listed = root["value"].as_array().unwrap();
    for (set, _) in WAYS {
        let url = format!("http://h/sta/v1.1/{set}");
        assert!(listed.contains(&json!({"name": set, "url": url})), "{set}");
    }
    let thing = house.post("Things", kitchen());
    let all = house.get(&format!("{thing}/Datastreams"));
    let stream = &all["value"][0]["@iot.id"];
    let nested = house.get(&format!("{thing}/Datastreams({stream})/Observations"));
    assert_eq!(results(&nested), [20.0, 21.5, 22.0]);
    let name = house.get(&format!("Datastreams({stream})/ObservedProperty/name"));
    assert_eq!(name, json!({"name": "temperature"}));
    let symbol = format!("Datastreams({stream})/unitOfMeasurement/symbol/$value");
    let response = house.ask("GET", &symbol, Json::Null);
    assert_eq!(&response.body[..], b"Cel");
    let links = house.get(&format!("{thing}/Datastreams/$ref"));
    let link = format!("http://h/sta/v1.1/Datastreams({stream})");
    assert_eq!(links["value"], json!([{"@iot.selfLink": link}]));
    let missing = house.ask(
        "GET",
        &format!("{thing}/Datastreams({stream}1)"),
        Json::Null,
    );
    assert_eq!(missing.status, 404);
    let nothing = bodies()[0].1.clone();
    let plain = house.post("Things", nothing);
    assert_eq!(
        house.get(&format!("{plain}/Datastreams"))["value"],
        json!([])
    );
}

// [STA-A.2.1.1-1] [STA-A.2.1.5-1] [STA-A.2.1.5-2] [STA-A.2.1.5-3] [STA-A.2.1.4-1] [STA-A.2.1.7-1]
#[test]
fn options_are_evaluated_in_the_order_of_the_standard() {
    let house = house("annex-order");
    let stream = house.post("Datastreams", bodies()[3].1.clone());
    for number in 0..250 {
        let time = format!("2026-11-20T10:{:02}:{:02}Z", number / 60, number % 60);
        house.publish(
            "t/d",
            &format!(r#"{{"value":{},"time":"{time}"}}"#, (number * 7) % 250),
        );
    }
    let all = format!("{stream}/Observations");
    let query =
        "$filter=result lt 100&$orderby=result desc&$skip=10&$top=3&$count=true&$select=result";
    let page = house.get(&format!("{all}?{}", encoded(query)));
    assert_eq!(results(&page), [89.0, 88.0, 87.0]);
    assert_eq!(page["@iot.count"], 100);
    assert_eq!(page["value"][0], json!({"result": 89}));
    let next = page["@iot.nextLink"].as_str().unwrap();
    let next = house.get(next.strip_prefix("http://h/sta/v1.1/").unwrap());
    assert_eq!(results(&next), [86.0, 85.0, 84.0]);
    let first = house.get(&all);
    assert_eq!(first["value"].as_array().unwrap().len(), 100);
    assert!(first["@iot.nextLink"].is_string());
    assert_eq!(results(&house.get(&format!("{all}?$skip=249"))), [243.0]);
    assert_eq!(
        house.get(&format!("{all}?$top=0&$count=true"))["@iot.count"],
        250
    );
    let sorted = house.get(&format!("{all}?{}", encoded("$orderby=result asc&$top=2")));
    assert_eq!(results(&sorted), [0.0, 1.0]);
    for bad in [
        "$top=x",
        "$skip=-1",
        "$count=maybe",
        "$orderby=result up",
        "$orderby=colour",
    ] {
        let url = format!("{all}?{}", encoded(bad));
        assert_eq!(house.status("GET", &url, Json::Null), 400, "{bad}");
    }
}

// [STA-A.2.1.2-1] [STA-A.2.1.2-2]
#[test]
fn entities_are_expanded_and_selected_at_every_level() {
    let house = house("annex-expand");
    let thing = house.post("Things", kitchen());
    let found = house.get(&format!("{thing}?$expand=Datastreams,Locations"));
    assert_eq!(found["Locations"][0]["name"], "House");
    assert_eq!(found.get("Datastreams@iot.navigationLink"), None);
    let found = house.get(&format!("{thing}?$expand=Datastreams/Sensor"));
    assert_eq!(found["Datastreams"][0]["Sensor"]["name"], "DS18B20");
    let inner = "$expand=Datastreams($select=name;$expand=Observations($filter=result gt 20;\
                 $orderby=result desc;$top=1;$select=result;$count=true))&$select=name";
    let found = house.get(&format!("{thing}?{}", encoded(inner)));
    assert_eq!(
        found["Datastreams"][0]["Observations"],
        json!([{"result": 22}])
    );
    assert_eq!(found["Datastreams"][0]["Observations@iot.count"], 2);
    assert_eq!(found["name"], "Kitchen");
    assert_eq!(found.get("description"), None);
    let found = house.get("Things?$select=name,Datastreams");
    let members: Vec<_> = found["value"][0].as_object().unwrap().keys().collect();
    assert_eq!(members, ["Datastreams@iot.navigationLink", "name"]);
    let found = house.get("Things?$select=@iot.id,properties/floor");
    assert_eq!(found["value"][0]["properties"]["floor"], 2);
    for bad in [
        "$expand=Nothing",
        "$select=colour",
        "$expand=Datastreams($top=x)",
    ] {
        let url = format!("Things?{}", encoded(bad));
        assert_eq!(house.status("GET", &url, Json::Null), 400, "{bad}");
    }
}

// [STA-A.2.1.3-1] [STA-A.2.1.3-2]
#[test]
fn what_is_not_there_is_404_and_not_supported_501() {
    let house = house("annex-status");
    for (set, _) in WAYS {
        assert_eq!(
            house.status("GET", &format!("{set}(987654)"), Json::Null),
            404,
            "{set}"
        );
    }
    assert_eq!(house.status("GET", "Nothings", Json::Null), 404);
    for option in ["$apply=1", "$search=x", "$nothing=1"] {
        let status = house.status("GET", &format!("Things?{option}"), Json::Null);
        assert_eq!(status, 501, "{option}");
    }
    assert_eq!(house.status("GET", "Things?plain=1", Json::Null), 200);
}
