//! What datastreams say of their observations.

use super::*;
use weir_model::{Datastream, Place};

/// The datastream of a kitchen, and its path.
fn stream(house: &House) -> (String, Json) {
    let thing = house.post("Things", kitchen());
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0].clone();
    (format!("Datastreams({})", stream["@iot.id"]), stream)
}

#[test]
fn a_datastream_says_when_and_where_it_was_observed() {
    let house = house("extent");
    let (path, stream) = stream(&house);
    let span = "2026-11-20T10:00:00.000Z/2026-11-20T10:03:00.000Z";
    assert_eq!(stream["phenomenonTime"], span);
    let result = "2026-11-20T10:02:00.000Z/2026-11-20T10:02:00.000Z";
    assert_eq!(stream["resultTime"], result);
    let point = json!([20.5, 44.8]);
    let ring = json!([[point, point, point, point, point]]);
    assert_eq!(stream["observedArea"]["type"], "Polygon");
    assert_eq!(stream["observedArea"]["coordinates"], ring);
    let elsewhere = json!({
        "phenomenonTime": "2026-11-20T09:00:00Z", "resultTime": "2026-11-20T13:00:00Z", "result": 1,
        "FeatureOfInterest": {
            "name": "Garden", "description": "behind", "encodingType": "application/geo+json",
            "feature": {"type": "LineString", "coordinates": [[20.25, 44.5], [20.75, 44.25]]},
        },
    });
    house.post(&format!("{path}/Observations"), elsewhere);
    let stream = house.get(&path);
    let span = "2026-11-20T09:00:00.000Z/2026-11-20T10:03:00.000Z";
    assert_eq!(stream["phenomenonTime"], span);
    let result = "2026-11-20T10:02:00.000Z/2026-11-20T13:00:00.000Z";
    assert_eq!(stream["resultTime"], result);
    let ring = [
        [20.25, 44.25],
        [20.75, 44.25],
        [20.75, 44.8],
        [20.25, 44.8],
        [20.25, 44.25],
    ];
    assert_eq!(stream["observedArea"]["coordinates"], json!([ring]));
    let value = house.ask("GET", &format!("{path}/phenomenonTime/$value"), Json::Null);
    assert_eq!(&value.body[..], span.as_bytes());
}

#[test]
fn what_was_withdrawn_does_not_count() {
    let house = house("extent-withdrawn");
    let (path, _) = stream(&house);
    let all = house.get(&format!("{path}/Observations"));
    let link = |index: usize| {
        let link = all["value"][index]["@iot.selfLink"].as_str().unwrap();
        link.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned()
    };
    assert_eq!(house.status("DELETE", &link(0), Json::Null), 200);
    let span = "2026-11-20T10:01:00.000Z/2026-11-20T10:03:00.000Z";
    assert_eq!(house.get(&path)["phenomenonTime"], span);
    for index in [1, 2] {
        assert_eq!(house.status("DELETE", &link(index), Json::Null), 200);
    }
    assert_eq!(house.get(&path).get("phenomenonTime"), None);
}

#[test]
fn datastreams_are_found_and_sorted_by_what_is_computed() {
    let house = house("extent-filter");
    for (name, time) in [
        ("late", "2026-11-20T11:00:00Z"),
        ("early", "2026-11-20T10:00:00Z"),
    ] {
        house.publish(
            &format!("a/{name}"),
            &format!(r#"{{"value":1,"time":"{time}"}}"#),
        );
    }
    let found = |query: &str| {
        let query = weir_model::percent::encode(query, b"=&$");
        let found = house.get(&format!("Datastreams?{query}"));
        names(&found).join(" ")
    };
    assert_eq!(found("$orderby=phenomenonTime"), "a/early a/late");
    assert_eq!(
        found("$filter=phenomenonTime gt 2026-11-20T10:30:00Z"),
        "a/late"
    );
    assert_eq!(found("$filter=resultTime eq null"), "a/late a/early");
}

#[test]
fn features_that_may_not_be_read_are_shown_nowhere() {
    let mut house = house("feature-grants");
    house.publish("cellar/pressure", r#"{"value":1.5}"#);
    let stream = house.get("Datastreams")["value"][0]["@iot.id"].clone();
    let observation = json!({"result": 2, "FeatureOfInterest": {
        "name": "Garden", "description": "behind", "encodingType": "application/geo+json",
        "feature": {"type": "Point", "coordinates": [20.25, 44.5]},
    }});
    house.post(&format!("Datastreams({stream})/Observations"), observation);
    let shown = |house: &House| {
        let expanded = house.get("Observations?$expand=FeatureOfInterest");
        let has_area = house.get("Datastreams")["value"][0]["observedArea"].is_object();
        (expanded.to_string().contains("Garden"), has_area)
    };
    assert_eq!(shown(&house), (true, true));
    let rules = vec![(Verb::Read, Filter::parse("cellar/#").unwrap())];
    house.who = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules)),
        standing: Default::default(),
    };
    assert_eq!(results(&house.get("Observations")).len(), 2);
    assert_eq!(shown(&house), (false, false));
}

#[test]
fn where_a_thing_is_is_told_to_who_may_read_it() {
    let mut house = house("place-grants");
    for topic in ["truck/load", "truck/gps"] {
        house.publish(topic, r#"{"value":1.5}"#);
    }
    let here = Datastream {
        place: Some(Place {
            latitude: 44.5,
            longitude: 20.25,
        }),
        ..Datastream::default()
    };
    let caller = house.hub.caller(now(), &house.who).unwrap();
    caller.change("truck/gps", Some(here)).unwrap();
    let places = |house: &House| {
        let things = house.get("Things?$expand=Locations");
        assert_eq!(things["value"].as_array().unwrap().len(), 1, "{things}");
        things.to_string().contains("20.25")
    };
    assert!(places(&house));
    let rules = vec![(Verb::Read, Filter::parse("truck/load").unwrap())];
    house.who = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules)),
        standing: Default::default(),
    };
    assert!(!places(&house));
}
