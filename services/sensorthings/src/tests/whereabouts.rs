//! Of what observations are that name no feature: of where their thing was at their time, whichever protocol they
//! came by.

use super::*;

fn place(name: &str, longitude: f64) -> Json {
    json!({"name": name, "description": "d", "encodingType": "application/geo+json",
        "location": {"type": "Point", "coordinates": [longitude, 44.8]}})
}

fn link(house: &House, path: &str) -> Json {
    json!({"@iot.id": house.get(path)["@iot.id"]})
}

/// A thing that came to its house now, with a datastream at `room/air` and no observation.
fn thing_in(house: &House) -> String {
    let mut thing = kitchen();
    thing["Datastreams"][0]["properties"] = json!({"topic": "room/air"});
    thing["Datastreams"][0]["Observations"] = json!([]);
    house.post("Things", thing)
}

fn was(house: &House, thing: &str, time: &str, place: &str) -> String {
    let locations = json!([link(house, place)]);
    let noted = json!({"time": time, "Thing": link(house, thing), "Locations": locations});
    house.post("HistoricalLocations", noted)
}

fn publish(house: &House, value: u32, time: &str) {
    let body = json!({"value": value, "time": time}).to_string();
    house.publish("room/air", &body);
}

/// Of what each observation is, by time.
fn features(house: &House) -> Vec<String> {
    let asked = "Observations?$expand=FeatureOfInterest&$orderby=phenomenonTime";
    let found = house.get(asked);
    let all = found["value"].as_array().unwrap().iter();
    all.map(|it| it["FeatureOfInterest"]["name"].to_string().replace('"', ""))
        .collect()
}

fn listed(house: &House) -> Vec<String> {
    let mut names: Vec<String> = names(&house.get("FeaturesOfInterest"))
        .into_iter()
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

/// A thing that was in a shed, in a yard, and is in a house; observations of each time.
fn moved(house: &House) -> (String, [String; 2], [String; 2]) {
    let thing = thing_in(house);
    let places =
        [("Shed", 1.5), ("Yard", 2.5)].map(|(name, at)| house.post("Locations", place(name, at)));
    let shed = was(house, &thing, "2026-11-18T00:00:00Z", &places[0]);
    let yard = was(house, &thing, "2026-11-19T00:00:00Z", &places[1]);
    for (value, time) in [
        (1, "2026-11-17T12:00:00Z"),
        (2, "2026-11-18T12:00:00Z"),
        (3, "2026-11-19T00:00:00Z"),
        (4, "2026-11-20T12:00:00Z"),
    ] {
        publish(house, value, time);
    }
    (thing, places, [shed, yard])
}

#[test]
fn an_observation_is_of_where_its_thing_was_at_its_time() {
    let house = house("moved");
    let thing = thing_in(&house);
    assert_eq!(house.get("FeaturesOfInterest")["value"], json!([]));
    let stream = "Datastreams('room%2Fair')";
    assert_eq!(house.get(stream)["observedArea"], Json::Null);
    publish(&house, 1, "2026-11-17T12:00:00Z");
    assert_eq!(features(&house), ["House"]);
    assert_eq!(listed(&house), ["House"]);
    let shed = house.post("Locations", place("Shed", 1.5));
    was(&house, &thing, "2026-11-18T00:00:00Z", &shed);
    assert_eq!(features(&house), ["Shed"], "before all, where it was first");
    house.post(
        &format!("{stream}/Observations"),
        json!({"result": 2, "phenomenonTime": "2026-11-18T12:00:00Z"}),
    );
    publish(&house, 3, "2026-11-20T12:00:00Z");
    let own = r#"{"value":4,"time":"2026-11-18T13:00:00Z","feature":"urn:f:own"}"#;
    house.publish("room/air", own);
    assert_eq!(features(&house), ["Shed", "Shed", "urn:f:own", "House"]);
    assert_eq!(listed(&house), ["House", "Shed"]);
    let found = house.get("FeaturesOfInterest?$filter=name%20eq%20'Shed'&$count=true");
    assert_eq!(found["@iot.count"], 1);
    assert_eq!(
        found["value"][0]["feature"]["coordinates"],
        json!([1.5, 44.8])
    );
    let id = &found["value"][0]["@iot.id"];
    assert!(id.is_number(), "{id}");
    let of_shed = format!("FeaturesOfInterest({id})/Observations");
    assert_eq!(results(&house.get(&of_shed)), [1.0, 2.0]);
    for (filter, expected) in [
        (
            "FeatureOfInterest/name eq 'Shed'".to_owned(),
            [1.0, 2.0].as_slice(),
        ),
        (format!("FeatureOfInterest/id eq {id}"), &[1.0, 2.0]),
        ("FeatureOfInterest/name eq 'House'".to_owned(), &[3.0]),
        (
            "st_within(FeatureOfInterest/feature,geography'POLYGON((1 44,2 44,2 45,1 45,1 44))')"
                .to_owned(),
            &[1.0, 2.0],
        ),
    ] {
        let filter = weir_model::percent::encode(&filter, b"");
        let found = house.get(&format!("Observations?$filter={filter}"));
        assert_eq!(results(&found), expected, "{filter}");
    }
    let area = house.get(stream)["observedArea"]["coordinates"][0].clone();
    assert_eq!(area[0], json!([1.5, 44.8]));
    assert_eq!(area[2], json!([20.5, 44.8]));
}

#[test]
fn who_was_nowhere_before_is_of_where_it_came_to() {
    let house = house("came");
    let mut thing = kitchen();
    thing.as_object_mut().unwrap().remove("Locations");
    thing["Datastreams"][0]["Observations"] = json!([]);
    thing["Datastreams"][0]["properties"] = json!({"topic": "room/air"});
    let thing = house.post("Things", thing);
    publish(&house, 1, "2026-11-17T12:00:00Z");
    assert_eq!(features(&house), ["null"]);
    let bare = json!({"result": 2});
    let stream = "Datastreams('room%2Fair')/Observations";
    assert_eq!(house.status("POST", stream, bare.clone()), 400);
    house.post(&format!("{thing}/Locations"), place("Shed", 1.5));
    assert_eq!(features(&house), ["Shed"]);
    house.post(stream, bare);
    assert_eq!(features(&house), ["Shed", "Shed"]);
}

#[test]
fn a_corrected_place_is_that_of_what_was_observed_there() {
    let house = house("corrected");
    let (thing, [shed, _], [_, in_yard]) = moved(&house);
    assert_eq!(features(&house), ["Shed", "Shed", "Yard", "House"]);
    let renamed = json!({"name": "Barn"});
    assert_eq!(house.status("PATCH", &shed, renamed), 200);
    assert_eq!(features(&house), ["Barn", "Barn", "Yard", "House"]);
    let earlier = json!({"time": "2026-11-18T06:00:00Z"});
    assert_eq!(house.status("PATCH", &in_yard, earlier), 200);
    assert_eq!(features(&house), ["Barn", "Yard", "Yard", "House"]);
    // The last to come is where the thing is.
    let last = json!({"time": "2026-11-20T13:00:00Z"});
    assert_eq!(house.status("PATCH", &in_yard, last), 200);
    assert_eq!(names(&house.get(&format!("{thing}/Locations"))), ["Yard"]);
    assert_eq!(features(&house), ["Barn", "Barn", "Barn", "House"]);
    assert_eq!(house.status("DELETE", &in_yard, Json::Null), 200);
    assert_eq!(features(&house), ["Barn", "Barn", "Barn", "House"]);
    assert_eq!(listed(&house), ["Barn", "House"]);
}

#[test]
fn what_somebody_says_of_a_feature_that_follows_stays() {
    let house = house("described");
    let (_, [shed, _], _) = moved(&house);
    let found = house.get("FeaturesOfInterest?$filter=name%20eq%20'Shed'");
    let id = found["value"][0]["@iot.id"].clone();
    let path = format!("FeaturesOfInterest({id})");
    assert_eq!(house.status("PATCH", &path, json!({"name": "Barn"})), 200);
    assert_eq!(house.get(&path)["name"], "Barn");
    assert_eq!(house.status("PATCH", &shed, json!({"name": "Hut"})), 200);
    assert_eq!(features(&house), ["Barn", "Barn", "Yard", "House"]);
    assert_eq!(listed(&house), ["Barn", "House", "Yard"]);
    // One that is named is the same.
    let named = json!({"result": 5, "phenomenonTime": "2026-11-21T00:00:00Z",
        "FeatureOfInterest": {"@iot.id": id}});
    house.post("Datastreams('room%2Fair')/Observations", named);
    assert_eq!(features(&house)[4], "Barn");
    assert_eq!(
        results(&house.get(&format!("{path}/Observations"))),
        [1.0, 2.0, 5.0]
    );
}

#[test]
fn what_was_observed_at_a_gone_location_keeps_its_feature() {
    let house = house("gone");
    let (thing, [shed, yard], _) = moved(&house);
    assert_eq!(house.status("DELETE", &yard, Json::Null), 200);
    let noted = house.get(&format!("{thing}/HistoricalLocations?$count=true"));
    assert_eq!(noted["@iot.count"], 2);
    assert_eq!(features(&house), ["Shed", "Shed", "Yard", "House"]);
    assert_eq!(house.status("DELETE", &shed, Json::Null), 200);
    assert_eq!(features(&house), ["Shed", "Shed", "Yard", "House"]);
    assert_eq!(listed(&house), ["House", "Shed", "Yard"]);
    let found = house.get("FeaturesOfInterest?$filter=name%20eq%20'Shed'");
    let path = format!("FeaturesOfInterest({})", found["value"][0]["@iot.id"]);
    assert_eq!(
        results(&house.get(&format!("{path}/Observations"))),
        [1.0, 2.0]
    );
    let whole = json!({"name": "Barn", "description": "", "encodingType": "text/plain",
        "feature": "barn"});
    assert_eq!(house.status("PUT", &path, whole), 200);
    assert_eq!(features(&house), ["Barn", "Barn", "Yard", "House"]);
}

#[test]
fn a_feature_goes_with_its_observations_and_comes_with_others() {
    let house = house("feature-gone");
    moved(&house);
    let found = house.get("FeaturesOfInterest?$filter=name%20eq%20'Shed'");
    let path = format!("FeaturesOfInterest({})", found["value"][0]["@iot.id"]);
    assert_eq!(house.status("DELETE", &path, Json::Null), 200);
    assert_eq!(features(&house), ["Yard", "House"]);
    assert_eq!(listed(&house), ["House", "Yard"]);
    assert_eq!(house.status("GET", &path, Json::Null), 404);
    publish(&house, 5, "2026-11-18T12:00:00Z");
    assert_eq!(features(&house), ["Shed", "Yard", "House"]);
    assert_eq!(house.get(&path)["name"], "Shed");
}

#[test]
fn a_feature_that_no_observation_has_is_not_listed() {
    let house = house("all-named");
    thing_in(&house);
    for minute in 0..3 {
        let named = json!({"value": 1, "feature": "urn:f:own",
            "time": format!("2026-11-20T12:0{minute}:00Z")});
        house.publish("room/air", &named.to_string());
    }
    assert_eq!(listed(&house), Vec::<String>::new());
    assert_eq!(features(&house), ["urn:f:own"; 3]);
    // One among those that name theirs, and not the last.
    publish(&house, 1, "2026-11-20T12:01:30Z");
    assert_eq!(listed(&house), ["House"]);
}

#[test]
fn a_multi_datastream_is_of_where_its_thing_was_too() {
    let house = house("moved-multi");
    let thing = thing_in(&house);
    let many = house.post("MultiDatastreams", writes::multi_of(&thing));
    let shed = house.post("Locations", place("Shed", 1.5));
    was(&house, &thing, "2026-11-18T00:00:00Z", &shed);
    for time in ["2026-11-18T12:00:00Z", "2026-11-20T12:00:00Z"] {
        let both = json!({"result": [1, 2], "phenomenonTime": time});
        house.post(&format!("{many}/Observations"), both);
    }
    assert_eq!(features(&house), ["Shed", "House"]);
    assert_eq!(listed(&house), ["House", "Shed"]);
    let area = house.get(&many)["observedArea"]["coordinates"][0][0].clone();
    assert_eq!(area, json!([1.5, 44.8]));
}
