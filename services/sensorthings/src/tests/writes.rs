//! Writes that meet: at once, at one time, after a deletion, half refused.

use super::*;
use weir_hub::{Aggregate, InUnit, Past, aggregate::Function};
use weir_service::Drawer;

impl House {
    /// A thing with a datastream; the latter's path.
    fn stream(&self) -> String {
        let thing = self.post("Things", kitchen());
        let id = self.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
        format!("Datastreams({id})")
    }

    fn result_at(&self, location: &str) -> Json {
        self.get(location)["result"].clone()
    }
}

fn at(time: &str, result: i32) -> Json {
    json!({"phenomenonTime": time, "result": result})
}

fn location_of(response: &Response) -> String {
    let mut headers = response.headers.iter();
    let (_, text) = headers.find(|(name, _)| *name == "location").unwrap();
    text.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned()
}

#[test]
fn a_write_is_work_of_the_workers_and_answered_from_the_disk() {
    let house = house("workers");
    let url = format!("{}/Observations", house.stream());
    let drawer = Arc::new(Drawer::default());
    let body = at("2026-11-20T11:00:00Z", 7).to_string();
    let call = Call {
        workers: drawer.clone(),
        ..house.call("POST", &url, &[], body.into())
    };
    let answer = house.service.call(call);
    let stored = results(&house.get(&url)).len();
    assert_eq!(stored, 3, "nothing is done by the call itself");
    assert_eq!(drawer.work_off(), 1);
    let response = wait(answer);
    assert_eq!(house.result_at(&location_of(&response)), 7);
}

#[test]
fn observations_of_one_time_that_come_at_once_are_told_apart() {
    let house = house("at-once");
    let url = format!("{}/Observations", house.stream());
    for time in ["11:00:00", "10:00:30", "10:01:00"] {
        let time = format!("2026-11-20T{time}Z");
        // None waits for the one before it to be on disk.
        let call = |result| {
            let body = at(&time, result).to_string();
            house.call("POST", &url, &[], body.into())
        };
        let answers = (1..=4).map(|result| house.service.call(call(result)));
        let answers: Vec<_> = answers.collect();
        for (answer, result) in answers.into_iter().zip(1..) {
            let location = location_of(&wait(answer));
            assert_eq!(house.result_at(&location), result, "{time} {location}");
        }
    }
}

#[test]
fn what_is_posted_where_one_was_deleted_has_a_place_of_its_own() {
    let house = house("again");
    let url = format!("{}/Observations", house.stream());
    for time in ["2026-11-20T10:00:30Z", "2026-11-20T11:00:00Z"] {
        let first = house.post(&url, at(time, 1));
        assert_eq!(house.status("DELETE", &first, Json::Null), 200);
        let second = house.post(&url, at(time, 2));
        assert_ne!(first, second);
        assert_eq!(house.status("GET", &first, Json::Null), 404);
        assert_eq!(house.result_at(&second), 2, "{time}");
    }
}

#[test]
fn what_other_protocols_publish_at_a_time_is_counted() {
    let house = house("counted");
    let url = format!("{}/Observations", house.stream());
    let time = "2026-11-20T11:00:00Z";
    house.post(&url, at(time, 1));
    let body = format!(r#"{{"value":2,"time":"{time}"}}"#);
    house.publish("kitchen/air-temperature", &body);
    let third = house.post(&url, at(time, 3));
    assert_eq!(house.result_at(&third), 3, "{third}");
}

#[test]
fn a_deep_insert_refused_in_part_leaves_nothing_behind() {
    let house = house("refused");
    let mut long = kitchen();
    long["Datastreams"][0]["name"] = "x".repeat(2000).into();
    let mut heavy = kitchen();
    heavy["Datastreams"][0]["properties"] = json!({"a": "x".repeat(100_000)});
    for bad in [long, heavy] {
        assert_eq!(house.status("POST", "Things", bad), 400);
        for set in ["Things", "Locations", "Datastreams", "Sensors"] {
            assert_eq!(house.get(set)["value"], json!([]), "{set}");
        }
    }
}

#[test]
fn windows_of_the_history_do_not_count_what_was_withdrawn() {
    let house = house("windows");
    let url = format!("{}/Observations", house.stream());
    let link = house.get(&url)["value"][0]["@iot.selfLink"].clone();
    let first = link.as_str().unwrap();
    let first = first.strip_prefix("http://h/sta/v1.1/").unwrap();
    let mean = || {
        let past = Past {
            filters: vec![Filter::parse("#").unwrap()],
            from: "2026-11-20T10:00:00Z".parse().unwrap(),
            to: "2026-11-20T11:00:00Z".parse().unwrap(),
            limit: 10,
            page: None,
            aggregate: Some(Aggregate {
                function: Function::Mean,
                window: std::time::Duration::from_secs(3600),
            }),
            unit: InUnit::AsMade,
        };
        match house
            .hub
            .caller(now(), &house.who)
            .and_then(|caller| caller.history(&past))
        {
            Ok(page) => page.batch.row(0).value.number().unwrap(),
            _ => panic!("windows were asked for"),
        }
    };
    assert!((mean() - 63.5 / 3.0).abs() < 1e-9);
    assert_eq!(house.status("DELETE", first, Json::Null), 200);
    assert!((mean() - 43.5 / 2.0).abs() < 1e-9);
}

#[test]
fn the_newest_observation_is_told_without_the_history() {
    let house = house("newest");
    let url = format!("{}/Observations", house.stream());
    let ask = "$top=1&$orderby=phenomenonTime%20desc";
    let newest = |more: &str| house.get(&format!("{url}?{ask}{more}"))["value"][0].clone();
    let check = |result: i32| {
        // With a count, the history is asked.
        assert_eq!(newest(""), newest("&$count=true"));
        assert_eq!(newest("")["result"], result);
    };
    check(22);
    let said = json!({
        "phenomenonTime": "2026-11-20T11:00:00Z/2026-11-20T11:30:00Z", "result": 30,
        "resultTime": "2026-11-20T11:31:00Z", "parameters": {"a": 1}, "resultQuality": "good",
    });
    house.post(&url, said);
    check(30);
    let again = house.post(&url, at("2026-11-20T11:00:00Z", 31));
    check(31);
    house.post(&url, at("2026-11-20T10:30:00Z", 5));
    check(31);
    assert_eq!(house.status("DELETE", &again, Json::Null), 200);
    check(30);
}

#[test]
fn an_observation_is_found_by_its_own_way_and_no_other() {
    let house = house("by-the-way");
    let kitchen = house.stream();
    house.publish("cellar/air", r#"{"value":12}"#);
    let first = |url: &str| house.get(&format!("{url}/Observations"))["value"][0].clone();
    let observation = first(&kitchen);
    let id = observation["@iot.id"].clone();
    let alone = format!("Observations({})", id.as_str().unwrap());
    let feature = house.get(&format!("{alone}/FeatureOfInterest"))["@iot.id"].clone();
    let place = json!({
        "name": "Cellar", "description": "below", "encodingType": "application/geo+json",
        "feature": {"type": "Point", "coordinates": [1, 2]},
    });
    let other_feature = house.post("FeaturesOfInterest", place);
    for right in [kitchen, format!("FeaturesOfInterest({feature})")] {
        let way = format!("{right}/{alone}");
        assert_eq!(house.get(&way), observation, "{way}");
        let result = house.get(&format!("{way}/Datastream"))["name"].clone();
        assert_eq!(result, "Air temperature");
    }
    for other in ["Datastreams('cellar%2Fair')", &other_feature] {
        for (method, body) in [
            ("GET", Json::Null),
            ("PATCH", json!({"result": 9})),
            ("DELETE", Json::Null),
        ] {
            let way = format!("{other}/{alone}");
            assert_eq!(house.status(method, &way, body), 404, "{method} {way}");
        }
    }
    assert_eq!(house.get(&alone), observation);
}

/// What follows from observations is noted by the gateway: a device needs no right to describe.
#[test]
fn who_may_publish_needs_no_other_right_to_make_observations() {
    let mut house = house("publish-alone");
    let mut thing = kitchen();
    thing["Datastreams"][0]["Observations"] = json!([]);
    let thing = house.post("Things", thing);
    let air = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let many = house.post("MultiDatastreams", multi_of(&thing));
    let feature = json!({
        "name": "Wall", "description": "inside", "encodingType": "application/geo+json",
        "feature": {"type": "Point", "coordinates": [1, 2]},
    });
    let wall = house.post("FeaturesOfInterest", feature.clone());
    let wall = house.get(&wall)["@iot.id"].clone();
    let rules = [(Verb::Read, "#"), (Verb::Publish, "kitchen/#")];
    let rules = rules.map(|(verb, filter)| (verb, Filter::parse(filter).unwrap()));
    house.who = Principal {
        name: "device".into(),
        grants: Arc::new(Grants::new(rules.to_vec())),
        standing: Default::default(),
    };
    let air = format!("Datastreams({air})/Observations");
    let made = house.post(&air, json!({"result": 1}));
    let found = house.get(&format!("{made}?$expand=FeatureOfInterest"));
    assert_eq!(found["FeatureOfInterest"]["name"], "House");
    let id = found["FeatureOfInterest"]["@iot.id"].clone();
    let again = house.post(&air, json!({"result": 2}));
    let found = house.get(&format!("{again}/FeatureOfInterest"));
    assert_eq!(found["@iot.id"], id, "it is made once");
    house.post(&format!("{many}/Observations"), json!({"result": [1, 2]}));
    house.post(
        &air,
        json!({"result": 3, "FeatureOfInterest": {"@iot.id": wall}}),
    );
    let of_wall = house.get(&format!("FeaturesOfInterest({wall})/Observations"));
    assert_eq!(results(&of_wall), [3.0]);
    let new = json!({"result": 4, "FeatureOfInterest": feature});
    assert_eq!(
        house.status("POST", &air, new),
        403,
        "to describe is to change"
    );
    let name = json!({"name": "Mine"});
    assert_eq!(
        house.status("PATCH", &format!("FeaturesOfInterest({id})"), name),
        403
    );
}

pub(super) fn multi_of(thing: &str) -> Json {
    let id: u64 = thing
        .trim_matches(|letter: char| !letter.is_ascii_digit())
        .parse()
        .unwrap();
    let unit = json!({"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"});
    let property = |name: &str| json!({"name": name, "definition": name, "description": name});
    json!({
        "name": "Weather", "description": "both", "unitOfMeasurements": [unit, unit],
        "multiObservationDataTypes": ["OM_Measurement", "OM_Measurement"],
        "Thing": {"@iot.id": id},
        "Sensor": {"name": "S", "description": "s", "encodingType": "text/html", "metadata": "s"},
        "ObservedProperties": [property("inside"), property("outside")],
    })
}

// [STA-A.3.1.2-3] [STA-A.3.1.2-4]
#[test]
fn an_observation_moves_and_keeps_its_identifier() {
    let mut house = house("moves");
    let from = house.stream();
    let other = house.post("Things", kitchen());
    let stream = house.get(&format!("{other}/Datastreams"))["value"][0].clone();
    let to = format!("Datastreams({})", stream["@iot.id"]);
    let link = json!({"@iot.id": stream["@iot.id"]});
    let observation = house.get(&format!("{from}/Observations"))["value"][0].clone();
    let id = format!("Observations({})", observation["@iot.id"].as_str().unwrap());
    let feature = house.get(&format!("{id}/FeatureOfInterest"));
    for bad in [
        json!({"Datastream": {"name": "new"}}),
        json!({"Datastream": {"@iot.id": 999}}),
        json!({"Datastream": null}),
        json!({"Datastream": link, "MultiDatastream": {"@iot.id": 1}}),
        json!({"FeatureOfInterest": {"name": "new"}}),
    ] {
        assert_eq!(house.status("PATCH", &id, bad.clone()), 400, "{bad}");
    }
    assert_eq!(house.status("PATCH", &id, json!({"Datastream": link})), 200);
    assert_eq!(
        house.get(&format!("{id}/Datastream"))["@iot.id"],
        link["@iot.id"]
    );
    assert_eq!(house.get(&id)["result"], observation["result"]);
    assert_eq!(house.get(&format!("{id}/FeatureOfInterest")), feature);
    assert_eq!(
        results(&house.get(&format!("{from}/Observations"))),
        [21.5, 22.0]
    );
    assert_eq!(results(&house.get(&format!("{to}/Observations"))).len(), 4);
    let of_feature = format!("FeaturesOfInterest({})/Observations", feature["@iot.id"]);
    assert_eq!(
        house.get(&format!("{of_feature}?$count=true"))["@iot.count"],
        3
    );
    assert_eq!(
        house.status("GET", &format!("{from}/{id}"), Json::Null),
        404
    );

    let many = house.post("MultiDatastreams", multi_of(&other));
    let many = house.get(&many)["@iot.id"].clone();
    let moved = json!({"MultiDatastream": {"@iot.id": many}, "result": [1, 2]});
    assert_eq!(
        house.status("PATCH", &id, json!({"MultiDatastream": {"@iot.id": many}})),
        400
    );
    assert_eq!(house.status("PATCH", &id, moved), 200);
    assert_eq!(house.get(&format!("{id}/MultiDatastream"))["@iot.id"], many);
    assert_eq!(house.get(&id)["result"], json!([1, 2]));

    let rules = [(Verb::Read, "#"), (Verb::Change, "#")];
    let rules = rules.map(|(verb, filter)| (verb, Filter::parse(filter).unwrap()));
    house.who = Principal {
        name: "editor".into(),
        grants: Arc::new(Grants::new(rules.to_vec())),
        standing: Default::default(),
    };
    let back = json!({"Datastream": link, "result": 1});
    assert_eq!(
        house.status("PATCH", &id, back),
        403,
        "it is published there"
    );
}

#[test]
fn sorted_pages_neither_repeat_nor_hide_what_others_write() {
    let house = house("sorted-pages");
    let stream = house.stream();
    let post =
        |time: &str, result: i32| house.post(&format!("{stream}/Observations"), at(time, result));
    let page = |url: &str| {
        let found = house.get(url);
        let next = found["@iot.nextLink"].as_str();
        let next = next.map(|next| next.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned());
        (results(&found), next)
    };
    let url = format!("{stream}/Observations?$orderby=result desc&$top=1&$select=result");
    let (first, next) = page(&url);
    assert_eq!(first, [22.0]);
    post("2026-11-20T09:00:00Z", 100);
    let (second, next) = page(&next.unwrap());
    assert_eq!(second, [21.5], "what came before it is not its");
    let found = house.get(&format!("{stream}/Observations?$filter=result eq 21.5"));
    let link = found["value"][0]["@iot.selfLink"].as_str().unwrap();
    let link = link.strip_prefix("http://h/sta/v1.1/").unwrap();
    assert_eq!(house.status("DELETE", link, Json::Null), 200);
    let (third, next) = page(&next.unwrap());
    assert_eq!((third, next), (vec![20.0], None));
    let bad = format!("{stream}/Observations?$orderby=result&$skiptoken=1");
    assert_eq!(house.status("GET", &bad, Json::Null), 400);
}
