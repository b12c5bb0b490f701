//! What a caller may not see answers as what is not there: each question is asked of a house that hides something and
//! of one that has nothing to hide.

use super::*;

const OPEN: &str = "Datastreams('open%2Ft')";
const HIDDEN: &str = "Datastreams('secret%2Ft')";

/// A caller with such rights and no others; `nobody` has said who it is to none.
fn caller(name: &str, rules: &[(Verb, &str)]) -> Principal {
    let rules = rules
        .iter()
        .map(|(verb, filter)| (*verb, Filter::parse(filter).unwrap()));
    Principal {
        name: name.into(),
        grants: Arc::new(Grants::new(rules.collect())),
        standing: Default::default(),
    }
}

fn nobody() -> Principal {
    caller("anonymous", &[])
}

/// Who may do everything to entities and to what is open.
fn curator() -> Principal {
    let everywhere = ["v1.1/#", "open/#"];
    let verbs = [Verb::Read, Verb::Publish, Verb::Change];
    let rules = verbs
        .iter()
        .flat_map(|verb| everywhere.map(|it| (*verb, it)));
    caller("curator", &rules.collect::<Vec<_>>())
}

fn datastream(topic: &str) -> Json {
    json!({
        "name": topic, "description": topic, "observationType": "OM_Measurement",
        "unitOfMeasurement": {"name": "Cel", "symbol": "Cel", "definition": "ucum:Cel"},
        "properties": {"topic": topic},
        "Thing": {"@iot.id": 1}, "Sensor": {"@iot.id": 2}, "ObservedProperty": {"@iot.id": 3},
    })
}

impl House {
    /// Two houses, of which the first hides a datastream at entities that all may see.
    fn pair(name: &str) -> [House; 2] {
        let hides = House::furnished(&format!("{name}-hides"));
        hides.post("Datastreams", datastream("secret/t"));
        for minute in 0..3 {
            hides.observe(HIDDEN, minute);
        }
        [hides, House::furnished(name)]
    }

    /// With `Things(1)`, `Sensors(2)`, `ObservedProperties(3)`, `FeaturesOfInterest(4)` and `open/t`.
    fn furnished(name: &str) -> House {
        let house = house(&format!("disclosure-{name}"));
        let named = |name: &str| json!({"name": name, "description": name});
        let with = |mut body: Json, more: Json| {
            let more = more.as_object().unwrap().clone();
            body.as_object_mut().unwrap().extend(more);
            body
        };
        let text = json!({"encodingType": "text/plain", "metadata": "x"});
        let place = json!({"encodingType": "application/geo+json",
                           "feature": {"type": "Point", "coordinates": [20.5, 44.8]}});
        for (path, set, body) in [
            ("Things(1)", "Things", named("house")),
            ("Sensors(2)", "Sensors", with(named("probe"), text)),
            (
                "ObservedProperties(3)",
                "ObservedProperties",
                with(named("heat"), json!({"definition": "x"})),
            ),
            (
                "FeaturesOfInterest(4)",
                "FeaturesOfInterest",
                with(named("room"), place),
            ),
        ] {
            assert_eq!(house.post(set, body), path);
        }
        house.post("Datastreams", datastream("open/t"));
        for minute in 0..2 {
            house.observe(OPEN, minute);
        }
        house
    }

    fn observe(&self, datastream: &str, minute: u32) -> String {
        let body = json!({
            "phenomenonTime": format!("2026-11-20T10:0{minute}:00Z"), "result": minute,
            "FeatureOfInterest": {"@iot.id": 4},
        });
        self.post(&format!("{datastream}/Observations"), body)
    }

    fn said(&self, who: &Principal, method: &str, url: &str, body: &Json) -> (Response, String) {
        let body = body.to_string();
        let call = Call {
            principal: who.clone(),
            ..self.call(method, url, &[], body.into())
        };
        let response = wait(self.service.call(call));
        let text = String::from_utf8_lossy(&response.body).into_owned();
        (response, text)
    }
}

/// The status of both answers, which are one.
fn alike(houses: &[House; 2], who: &Principal, method: &str, url: &str, body: Json) -> u16 {
    let [hides, open] = houses
        .each_ref()
        .map(|house| house.said(who, method, url, &body));
    let names = url.contains("secret") || body.to_string().contains("secret");
    assert!(
        names || !hides.1.contains("secret"),
        "{method} {url}: {}",
        hides.1
    );
    assert_eq!(hides.1, open.1, "{method} {url} {body}");
    assert_eq!(hides.0.headers, open.0.headers, "{method} {url} {body}");
    assert_eq!(hides.0.status, open.0.status, "{method} {url} {body}");
    open.0.status
}

const SETS: &[&str] = &[
    "Things",
    "Locations",
    "HistoricalLocations",
    "Datastreams",
    "MultiDatastreams",
    "Sensors",
    "ObservedProperties",
    "FeaturesOfInterest",
    "Observations",
    "Actuators",
    "TaskingCapabilities",
    "Tasks",
];

#[test]
fn who_may_nothing_is_answered_alike_for_every_number() {
    let house = House::furnished("numbers");
    let hidden = house.observe(OPEN, 5);
    let observation = hidden.trim_start_matches("Observations");
    for method in ["PATCH", "PUT", "DELETE"] {
        for set in SETS {
            let mut answers =
                ["(1)", "(2)", "(3)", "(4)", "(5)", "(999999)", observation].map(|id| {
                    house.said(
                        &nobody(),
                        method,
                        &format!("{set}{id}"),
                        &json!({"result": 1}),
                    )
                });
            answers.sort_by(|a, b| a.1.cmp(&b.1));
            assert_eq!(answers[0], answers[6], "{method} {set}");
            assert_eq!(answers[0].0.status, 401);
            assert!(!answers[0].1.contains('/'), "{}", answers[0].1);
        }
    }
    for url in [
        "Observations",
        "Datastreams(1)/Observations",
        "Datastreams(99)/Observations",
        "CreateObservations",
    ] {
        let answer = house.said(
            &nobody(),
            "POST",
            url,
            &json!({"Datastream": {"@iot.id": 1}}),
        );
        assert_eq!(
            (answer.0.status, answer.1.contains('/')),
            (401, false),
            "{url}"
        );
    }
}

#[test]
fn a_batch_tells_no_more_than_its_requests() {
    let houses = House::pair("batch");
    let hidden = houses[0].observe(HIDDEN, 7);
    for who in [nobody(), curator()] {
        for group in [Json::Null, "g".into()] {
            for url in [&*hidden, "Datastreams(2)", "Observations(7)"] {
                let mut request = json!({"id": "1", "method": "patch", "url": url});
                request["body"] = json!({"result": 1});
                if !group.is_null() {
                    request["atomicityGroup"] = group.clone();
                }
                let request = json!({"requests": [request]});
                let send = |house: &House| {
                    let body = request.to_string();
                    let form = [("content-type", "application/json")];
                    let call = Call {
                        principal: who.clone(),
                        ..house.call("POST", "$batch", &form, body.into())
                    };
                    String::from_utf8(wait(house.service.call(call)).body.to_vec()).unwrap()
                };
                let [hides, open] = houses.each_ref().map(send);
                assert_eq!(hides, open, "{url}");
                assert!(!hides.contains("secret"), "{hides}");
            }
        }
    }
}

#[test]
fn what_is_hidden_is_changed_like_what_is_not_there() {
    let houses = House::pair("changed");
    let hidden = houses[0].observe(HIDDEN, 7);
    let guest = caller("guest", &[(Verb::Read, "open/#")]);
    let changer = caller(
        "changer",
        &[(Verb::Read, "open/#"), (Verb::Change, "open/#")],
    );
    let blind = caller("blind", &[(Verb::Change, "#"), (Verb::Publish, "#")]);
    for (who, expected) in [
        (&nobody(), 401),
        (&guest, 403),
        (&changer, 404),
        (&blind, 404),
    ] {
        for url in [&*hidden, "Datastreams(2)", HIDDEN] {
            for method in ["PATCH", "PUT", "DELETE"] {
                let status = alike(&houses, who, method, url, json!({"result": 1}));
                assert_eq!(status, expected, "{} {method} {url}", who.name);
            }
            alike(&houses, who, "GET", url, Json::Null);
        }
        for url in [
            "Datastreams(2)/Observations",
            "Datastreams('secret%2Ft')/Observations",
        ] {
            alike(&houses, who, "POST", url, json!({"result": 1}));
        }
        alike(
            &houses,
            who,
            "POST",
            "Observations",
            json!({"result": 1, "Datastream": {"@iot.id": 2}}),
        );
        let bulk =
            json!([{"Datastream": {"@iot.id": 2}, "components": ["result"], "dataArray": [[1]]}]);
        alike(&houses, who, "POST", "CreateObservations", bulk);
    }
}

#[test]
fn of_what_is_shared_the_part_that_may_be_read_is_answered() {
    let houses = House::pair("shared");
    let reader = caller("reader", &[(Verb::Read, "v1.1/#"), (Verb::Read, "open/#")]);
    for who in [&reader, &curator()] {
        for url in [
            "FeaturesOfInterest?$expand=Observations($count=true)",
            "FeaturesOfInterest(4)/Observations?$count=true",
            "FeaturesOfInterest(4)/Observations?$top=1&$orderby=result desc",
            "FeaturesOfInterest(4)/Observations?$skip=1",
            "FeaturesOfInterest?$filter=Observations/result gt 1",
            "FeaturesOfInterest?$filter=Observations/result eq 0",
            "FeaturesOfInterest?$orderby=Observations/result desc",
            "Observations?$count=true&$expand=Datastream,FeatureOfInterest",
            "Observations?$filter=FeatureOfInterest/name eq 'room'&$count=true",
            "Things?$expand=Datastreams($expand=Observations;$count=true)",
            "Things?$filter=Datastreams/name eq 'secret'",
            "Sensors(2)/Datastreams?$count=true",
            "ObservedProperties(3)?$expand=Datastreams($expand=Thing)",
            "Datastreams?$expand=Thing,Sensor,ObservedProperty&$count=true",
        ] {
            let url = url.replace(' ', "%20");
            assert_eq!(alike(&houses, who, "GET", &url, Json::Null), 200, "{url}");
        }
    }
    let guest = caller("guest", &[(Verb::Read, "open/#")]);
    for who in [&guest, &nobody()] {
        for set in SETS {
            alike(
                &houses,
                who,
                "GET",
                &format!("{set}?$count=true"),
                Json::Null,
            );
        }
    }
}

#[test]
fn a_feature_that_follows_from_hidden_observations_is_not_there() {
    let houses = House::pair("follows");
    let place = json!({"name": "hill", "description": "x", "encodingType": "application/geo+json",
                       "location": {"type": "Point", "coordinates": [1, 2]}});
    for house in &houses {
        house.post("Things(1)/Locations", place.clone());
    }
    let observe = |house: &House, datastream: &str| {
        let body = json!({"phenomenonTime": "2026-11-20T11:00:00Z", "result": 7});
        house.post(&format!("{datastream}/Observations"), body)
    };
    observe(&houses[0], HIDDEN);
    let url = "FeaturesOfInterest?$count=true";
    assert_eq!(alike(&houses, &curator(), "GET", url, Json::Null), 200);
    assert!(!houses[1].get(url).to_string().contains("hill"));
    let all = houses[0].get(url).to_string();
    assert!(all.contains("hill"), "who may read those is told: {all}");
    observe(&houses[0], OPEN);
    let (_, text) = houses[0].said(&curator(), "GET", url, &Json::Null);
    assert!(text.contains("hill"), "now some may be read: {text}");
}

#[test]
fn a_topic_that_may_not_be_read_is_described_by_nobody() {
    let houses = House::pair("topic");
    let publisher = caller("publisher", &[(Verb::Read, "v1.1/#"), (Verb::Publish, "#")]);
    let blind = caller("blind", &[(Verb::Read, "v1.1/#"), (Verb::Change, "#")]);
    for (who, expected) in [
        (&nobody(), 401),
        (&publisher, 403),
        (&curator(), 403),
        (&blind, 403),
    ] {
        for topic in ["secret/t", "secret/u"] {
            let house = &houses[0];
            let answer = house.said(who, "POST", "Datastreams", &datastream(topic));
            assert_eq!(
                answer.0.status, expected,
                "{} {topic} {}",
                who.name, answer.1
            );
            assert!(!answer.1.contains("already"), "{}", answer.1);
        }
    }
    // A name that would be a hidden topic's is refused as any other below what may not be read.
    let named = |name: &str| {
        let mut body = datastream("x/y");
        body.as_object_mut().unwrap().remove("properties");
        body["Thing"] = json!({"name": "secret", "description": "x"});
        body["name"] = name.into();
        body
    };
    for name in ["t", "u"] {
        let (answer, text) = houses[0].said(&blind, "POST", "Datastreams", &named(name));
        assert_eq!((answer.status, text.contains("-2")), (403, false), "{text}");
    }
    let taken = houses[0].said(&curator(), "POST", "Datastreams", &datastream("open/t"));
    assert_eq!(taken.0.status, 409, "who may read it is told");
}

#[test]
fn what_may_not_be_read_stays_where_its_reference_goes() {
    for url in [
        "Things(1)",
        "Sensors(2)",
        "ObservedProperties(3)",
        "FeaturesOfInterest(4)",
    ] {
        let name = url.split('(').next().unwrap();
        let houses = House::pair(&format!("deleted-{name}"));
        assert_eq!(alike(&houses, &curator(), "DELETE", url, Json::Null), 200);
        let left = houses[0].get(&format!("{HIDDEN}?$expand=Thing,Sensor,Observations"));
        assert_eq!(
            left["Observations"].as_array().unwrap().len(),
            3,
            "{url} {left}"
        );
        assert_eq!(houses[0].get(HIDDEN)["name"], "secret/t");
        assert_eq!(alike(&houses, &curator(), "GET", url, Json::Null), 404);
    }
    let houses = House::pair("denied");
    let clerk = caller(
        "clerk",
        &[
            (Verb::Read, "v1.1/#"),
            (Verb::Read, "open/#"),
            (Verb::Change, "v1.1/#"),
        ],
    );
    for url in ["Things(1)", "Sensors(2)", "FeaturesOfInterest(4)"] {
        let status = alike(&houses, &clerk, "DELETE", url, Json::Null);
        assert_eq!(
            status, 403,
            "what may be read and not changed goes with nothing"
        );
    }
}

#[test]
fn new_entities_that_are_refused_have_no_number() {
    let houses = House::pair("new");
    let reader = caller(
        "reader",
        &[(Verb::Read, "v1.1/#"), (Verb::Change, "open/#")],
    );
    let deep = caller(
        "deep",
        &[(Verb::Read, "#"), (Verb::Change, "v1.1/Things/+")],
    );
    for who in [&nobody(), &reader, &deep] {
        let status = alike(&houses, who, "POST", "Things", kitchen());
        assert!(matches!(status, 401 | 403), "{status}");
    }
}

#[test]
fn a_task_is_refused_without_the_topic_that_it_would_go_to() {
    let house = House::furnished("task");
    let capability = json!({
        "name": "valve", "description": "x", "properties": {"topic": "secret/valve"},
        "taskingParameters": {"type": "DataRecord", "field": [
            {"name": "open", "label": "x", "type": "Boolean"},
        ]},
        "Thing": {"@iot.id": 1},
        "Actuator": {
            "name": "v", "description": "v", "encodingType": "text/plain", "metadata": "x",
        },
    });
    let capability = house.post("TaskingCapabilities", capability);
    let task = json!({"taskingParameters": {"open": true}});
    let (answer, text) = house.said(&curator(), "POST", &format!("{capability}/Tasks"), &task);
    assert_eq!(
        (answer.status, text.contains("secret")),
        (403, false),
        "{text}"
    );
}

#[test]
fn a_multi_datastream_partly_hidden_tells_the_others() {
    let house = house("disclosure-multi");
    house.post("Things", multi::station());
    let stream = house.get("MultiDatastreams")["value"][0]["@iot.id"].clone();
    let path = format!("MultiDatastreams({stream})/Observations");
    let whole = caller(
        "whole",
        &[(Verb::Read, "v1.1/#"), (Verb::Read, "station/#")],
    );
    let part = caller(
        "part",
        &[
            (Verb::Read, "v1.1/#"),
            (Verb::Read, "station/weather"),
            (Verb::Read, "station/weather/sky"),
        ],
    );
    let base = caller(
        "base",
        &[(Verb::Read, "v1.1/#"), (Verb::Read, "station/weather")],
    );
    let below = caller(
        "below",
        &[(Verb::Read, "v1.1/#"), (Verb::Read, "station/weather/+")],
    );
    for (who, expected) in [
        (&whole, json!([[25, 65, "clear"], [24.5, 66, "cloudy"]])),
        (
            &part,
            json!([[null, null, "clear"], [null, null, "cloudy"]]),
        ),
        (&base, json!([])),
    ] {
        for url in [&*path, "Observations"] {
            let (answer, text) = house.said(who, "GET", url, &Json::Null);
            assert_eq!(answer.status, 200, "{} {url} {text}", who.name);
            let read: Json = serde_json::from_str(&text).unwrap();
            let results: Vec<_> = read["value"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["result"].clone())
                .collect();
            assert_eq!(Json::from(results), expected, "{} {url}", who.name);
        }
    }
    assert_eq!(house.said(&below, "GET", &path, &Json::Null).0.status, 404);
    let (_, text) = house.said(&below, "GET", "Observations", &Json::Null);
    assert_eq!(text, r#"{"value":[]}"#);
}

#[test]
fn a_thing_is_where_its_last_readable_datastream_says() {
    let house = house("disclosure-places");
    for (topic, latitude) in [("truck/a", 1.5), ("truck/b", 2.5), ("truck/c", 3.5)] {
        let body = json!({"value": 1, "lat": latitude, "lon": 20.25});
        house.publish(topic, &body.to_string());
        house.get("Locations");
    }
    let elsewhere = weir_model::Datastream {
        place: Some(weir_model::Place {
            latitude: 4.5,
            longitude: 20.25,
        }),
        ..Default::default()
    };
    let gateway = house.hub.internal().at(now());
    gateway.change("truck/a", Some(elsewhere)).unwrap();
    for (filters, expected) in [
        (&["truck/#"][..], json!(4.5)),
        (&["truck/b"], json!(2.5)),
        (&["truck/b", "truck/c"], json!(3.5)),
        (&["truck/d"], Json::Null),
    ] {
        let rules: Vec<_> = filters.iter().map(|it| (Verb::Read, *it)).collect();
        let who = caller("guest", &rules);
        for url in [
            "Locations",
            "Things('truck')/Locations",
            "Things?$expand=Locations",
            "Locations('truck')",
        ] {
            let (_, text) = house.said(&who, "GET", url, &Json::Null);
            let place = |latitude: &Json| format!("[20.25,{latitude}]");
            let told =
                ["1.5", "2.5", "3.5", "4.5"].map(|it| text.contains(&place(&it.parse().unwrap())));
            let expected = [1.5, 2.5, 3.5, 4.5].map(|it| expected == json!(it));
            assert_eq!(told, expected, "{filters:?} {url} {text}");
        }
    }
}

#[test]
fn topics_that_an_earlier_version_listed_are_not_told() {
    let house = House::furnished("listed");
    let body = json!({"name": "urn:f", "description": "", "encodingType": "application/geo+json",
                      "feature": {"type": "Point", "coordinates": [1, 2]},
                      "properties": {"datastreams": ["open/t", "secret/t"]}});
    let put = vec![(
        "v1.1/FeaturesOfInterest/urn:f".to_owned(),
        Some(body.to_string().into()),
    )];
    house
        .hub
        .caller(now(), &house.who)
        .and_then(|caller| caller.put(put))
        .unwrap();
    let (_, text) = house.said(&curator(), "GET", "FeaturesOfInterest", &Json::Null);
    assert!(text.contains("urn:f") && !text.contains("secret"), "{text}");
}
