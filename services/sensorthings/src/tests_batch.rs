#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::panic)]
//! `$batch`.

use crate::tests::{House, house, kitchen};
use serde_json::{Value as Json, json};
use weir_service::Response;

impl House {
    fn batch(&self, media: &str, body: &str, prefer: &str) -> Response {
        let headers = [("content-type", media), ("prefer", prefer)];
        self.send("POST", "$batch", &headers, body.to_owned().into())
    }

    fn requests(&self, requests: Json, prefer: &str) -> Vec<Json> {
        let body = json!({ "requests": requests }).to_string();
        let answer = self.batch("application/json", &body, prefer);
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let read: Json = serde_json::from_slice(&answer.body).unwrap();
        read["responses"].as_array().unwrap().clone()
    }
}

fn statuses(responses: &[Json]) -> Vec<u64> {
    let each = responses.iter();
    each.map(|response| response["status"].as_u64().unwrap())
        .collect()
}

fn sensor() -> Json {
    json!({"name": "DS18B20", "description": "on a wire", "encodingType": "text/html",
        "metadata": "data sheet"})
}

fn datastream(sensor: &str, property: &str) -> Json {
    json!({
        "name": "Air", "description": "of the room", "observationType": "OM_Measurement",
        "unitOfMeasurement": {"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"},
        "Sensor": {"@iot.id": sensor}, "ObservedProperty": {"@iot.id": property},
    })
}

/// A thing, what it needs, and an observation, each made by a request that refers to those before.
fn set(group: Option<&str>) -> Json {
    let thing = json!({"name": "Hall", "description": "wide", "Locations": [{
        "name": "Here", "description": "x", "encodingType": "application/geo+json",
        "location": {"type": "Point", "coordinates": [1, 2]}}]});
    let property = json!({"name": "t", "definition": "http://x/t", "description": "of air"});
    let observation = json!({"result": 7, "phenomenonTime": "2026-11-20T10:00:00Z",
        "Datastream": {"@iot.id": "$d"}});
    let mut requests = Vec::new();
    for (id, url, body) in [
        ("t", "Things", thing),
        ("s", "/sta/v1.1/Sensors", sensor()),
        ("p", "http://h/sta/v1.1/ObservedProperties", property),
        ("d", "$t/Datastreams", datastream("$s", "$p")),
        ("o", "Observations", observation.clone()),
        ("o2", "$d/Observations", observation),
    ] {
        let mut request = json!({"id": id, "method": "POST", "url": url, "body": body});
        if let Some(group) = group {
            request["atomicityGroup"] = group.into();
        }
        requests.push(request);
    }
    requests.into()
}

// [STA-A.4.1.1-1]
#[test]
fn requests_refer_to_what_those_before_them_made() {
    for group in [None, Some("g")] {
        let house = house(&format!("batch-{}", group.unwrap_or("alone")));
        let mut requests = set(group);
        let read = json!({"id": "r", "method": "get", "dependsOn": ["o2"],
            "url": "$t/Datastreams?$expand=Observations($select=result,id),Sensor"});
        requests.as_array_mut().unwrap().push(read);
        let responses = house.requests(requests, "");
        assert_eq!(
            statuses(&responses),
            [201, 201, 201, 201, 201, 201, 200],
            "{responses:?}"
        );
        let found = &responses[6]["body"]["value"][0];
        assert_eq!(found["Sensor"]["name"], "DS18B20");
        let observations = found["Observations"].as_array().unwrap();
        for (observation, response) in observations.iter().zip(&responses[4..]) {
            let id = observation["@iot.id"].as_str().unwrap();
            let location = response["location"].as_str().unwrap();
            let location = weir_model::percent::decode(location).unwrap();
            assert!(location.contains(id), "{response}");
            assert_eq!(response.get("atomicityGroup").is_some(), group.is_some());
        }
        assert_eq!(observations.len(), 2);
    }
}

// [STA-A.4.1.1-2]
#[test]
fn of_a_set_that_fails_nothing_is_done_and_the_one_at_fault_is_told() {
    let house = house("batch-none");
    let mut requests = set(Some("g"));
    requests[3]["body"]["Sensor"] = json!({"@iot.id": 999});
    let after = json!({"id": "r", "method": "GET", "url": "Things"});
    requests.as_array_mut().unwrap().push(after);
    let responses = house.requests(requests.clone(), "");
    assert_eq!(statuses(&responses), [424, 424, 424, 400, 424, 424]);
    assert!(
        responses[3]["body"]["message"]
            .as_str()
            .unwrap()
            .contains("Sensors(999)")
    );
    assert!(
        responses[0]["body"]["message"]
            .as_str()
            .unwrap()
            .contains("request d failed")
    );
    for name in ["Things", "Sensors", "ObservedProperties", "Locations"] {
        assert_eq!(house.get(name)["value"], json!([]), "{name}");
    }
    let responses = house.requests(requests, "continue-on-error");
    assert_eq!(responses[6]["status"], 200);
}

#[test]
fn entities_are_changed_and_deleted_in_a_set_with_what_is_made_in_it() {
    let house = house("batch-change");
    let thing = house.post("Things", kitchen());
    let in_set = |id: &str, method: &str, url: &str, body: Json| {
        let group = "g";
        json!({"id": id, "atomicityGroup": group, "method": method, "url": url, "body": body})
    };
    let responses = house.requests(
        json!([
            in_set("1", "POST", "Sensors", sensor()),
            in_set("2", "PATCH", "$1", json!({"name": "other"})),
            in_set("3", "DELETE", &thing, Json::Null),
        ]),
        "",
    );
    assert_eq!(statuses(&responses), [201, 200, 200], "{responses:?}");
    assert_eq!(house.get("Things")["value"], json!([]));
    assert_eq!(house.get("Datastreams")["value"], json!([]));
    let sensors = house.get("Sensors?$filter=name eq 'other'");
    assert_eq!(sensors["value"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_follows_a_failure_unless_the_client_prefers_so() {
    let house = house("batch-order");
    let get = |id: &str, url: &str| json!({"id": id, "method": "GET", "url": url});
    let mut needy = get("3", "Things");
    needy["dependsOn"] = json!(["2"]);
    let requests = json!([
        get("1", "Things"),
        get("2", "Things(9)"),
        needy,
        get("4", "Sensors")
    ]);
    assert_eq!(statuses(&house.requests(requests.clone(), "")), [200, 404]);
    let all = house.requests(requests, "odata.continue-on-error");
    assert_eq!(statuses(&all), [200, 404, 424, 200]);
    let body =
        json!({"requests": [{"id": "1", "method": "POST", "url": "/sta/v1.1/$batch", "body": {}}]});
    let nested = house.batch("application/json", &body.to_string(), "");
    assert!(String::from_utf8_lossy(&nested.body).contains("\"status\":400"));
    for (media, body, status) in [
        ("text/plain", "", 415),
        ("application/json", "{", 400),
        ("multipart/mixed", "", 400),
    ] {
        assert_eq!(house.batch(media, body, "").status, status, "{media}");
    }
}

// [STA-A.4.1.1-1]
#[test]
fn a_multipart_batch_is_answered_in_kind() {
    let house = house("batch-multipart");
    let thing = r#"{"name":"Hall","description":"wide"}"#;
    let location =
        r#"{"name":"Here","description":"x","encodingType":"text/plain","location":"up"}"#;
    let http = |id: &str, line: &str, body: &str| {
        format!(
            "Content-Type: application/http\r\nContent-ID: {id}\r\n\r\n{line} HTTP/1.1\r\n\
             Content-Type: application/json\r\n\r\n{body}\r\n"
        )
    };
    let first = http("1", "POST /v1.1/Things", thing);
    let second = http("2", "POST $1/Locations", location);
    let read = http(
        "3",
        "GET Locations?$select=name&$expand=Things($select=name)",
        "",
    );
    let bad = http("4", "POST Things", "{}");
    let text = format!(
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n{first}--c\r\n{second}--c--\r\n\
         --b\r\n{read}--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n{first}--c\r\n{bad}\
         --c--\r\n--b--\r\n"
    );
    let answer = house.batch("multipart/mixed; boundary=b", &text, "");
    let media = &answer.headers[0].1;
    let boundary = media.strip_prefix("multipart/mixed; boundary=").unwrap();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
    assert_eq!(parts.len(), 5, "{text}");
    assert!(
        parts[1].contains("multipart/mixed; boundary=changeset-"),
        "{text}"
    );
    assert_eq!(
        parts[1]
            .matches("HTTP/1.1 201 Created\r\nlocation: http://h/sta/v1.1/")
            .count(),
        2
    );
    assert!(parts[2].contains(r#""Things":[{"name":"Hall"}]"#), "{text}");
    assert!(
        parts[3].contains("Content-ID: 4\r\n\r\nHTTP/1.1 400 Bad Request"),
        "{text}"
    );
    assert_eq!(house.get("Things")["value"].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_set_deletes_can_have_nothing_new_and_is_deleted_once() {
    let house = house("batch-ends");
    let thing = house.post("Things", kitchen());
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let stream = format!("Datastreams({stream})");
    let request = |id: &str, method: &str, url: &str, body: Json| {
        let group = "g";
        json!({"id": id, "atomicityGroup": group, "method": method, "url": url, "body": body})
    };
    let sensor = house.get("Sensors")["value"][0]["@iot.id"].clone();
    let property = house.get("ObservedProperties")["value"][0]["@iot.id"].clone();
    let mut more = datastream("", "");
    more["Sensor"] = json!({"@iot.id": sensor});
    more["ObservedProperty"] = json!({"@iot.id": property});
    let observations = format!("{stream}/Observations");
    for (url, body, gone) in [
        (format!("{thing}/Datastreams"), more, &thing),
        (observations, json!({"result": 1}), &stream),
    ] {
        let set = [
            request("1", "POST", &url, body),
            request("2", "DELETE", gone, Json::Null),
        ];
        let statuses = statuses(&house.requests(json!(set), ""));
        assert_eq!(statuses, [424, 409], "{url}");
    }
    let set = [&*stream, &*thing].map(|gone| request(gone, "DELETE", gone, Json::Null));
    assert_eq!(statuses(&house.requests(json!(set), "")), [200, 200]);
    assert_eq!(house.get("Things")["value"], json!([]));
    assert_eq!(house.get("Datastreams")["value"], json!([]));
}

#[test]
fn of_a_set_of_more_requests_than_a_second_has_nothing_is_done() {
    let mut house = house("batch-rate");
    house.who.standing = weir_hub::Standing::new(Some(2));
    let request = |id: usize| {
        json!({"id": format!("{id}"), "atomicityGroup": "g", "method": "POST", "url": "Sensors",
               "body": sensor()})
    };
    let set = json!([request(1), request(2), request(3)]);
    assert_eq!(statuses(&house.requests(set, "")), [424, 424, 429]);
    house.who.standing = weir_hub::Standing::new(Some(2));
    assert_eq!(house.get("Sensors")["value"], json!([]));
    house.who.standing = weir_hub::Standing::new(Some(2));
    let set = json!([request(1), request(2)]);
    assert_eq!(statuses(&house.requests(set, "")), [201, 201]);
}

#[test]
fn observations_are_corrected_and_deleted_in_a_set_once_and_all_or_none() {
    let house = house("batch-corrections");
    let thing = house.post("Things", kitchen());
    let observations = house.get("Observations");
    let link = |index: usize| {
        let id = observations["value"][index]["@iot.id"].as_str().unwrap();
        format!("Observations({id})")
    };
    let request = |method: &str, url: &str, body: Json| {
        let (id, group) = (format!("{method} {url} {body}"), "g");
        json!({"id": id, "atomicityGroup": group, "method": method, "url": url, "body": body})
    };
    let results = |house: &House| -> Vec<Json> {
        let found = house.get("Observations");
        let found = found["value"].as_array().unwrap().iter();
        found.map(|it| it["result"].clone()).collect()
    };
    let before = results(&house);
    // What fails leaves the corrections before it undone.
    for (second, status) in [
        (request("PATCH", &link(0), json!({"result": 8})), 409),
        (request("DELETE", &link(0), Json::Null), 409),
        (
            request("PATCH", "Observations(7)", json!({"result": 8})),
            404,
        ),
        (
            request("PATCH", &link(1), json!({"phenomenonTime": "never"})),
            400,
        ),
        (request("POST", "Things", json!({})), 400),
    ] {
        let first = request("PATCH", &link(0), json!({"result": 7}));
        let responses = house.requests(json!([first, second]), "");
        assert_eq!(statuses(&responses), [424, status], "{responses:?}");
        assert_eq!(results(&house), before);
    }
    let set = json!([
        request("PATCH", &link(0), json!({"result": 7})),
        request("DELETE", &link(1), Json::Null),
        request("PATCH", &thing, json!({"name": "other"})),
    ]);
    assert_eq!(statuses(&house.requests(set, "")), [200, 200, 200]);
    assert_eq!(house.get(&link(0))["result"], 7);
    assert_eq!(house.status("GET", &link(1), Json::Null), 404);
    assert_eq!(results(&house).len(), before.len() - 1);
    let feature = house.get(&format!("{}/FeatureOfInterest", link(0)))["@iot.id"].clone();
    let feature = format!("FeaturesOfInterest({feature})");
    let both = json!([
        request("PATCH", &link(0), json!({"result": 9})),
        request("DELETE", &feature, Json::Null),
    ]);
    assert_eq!(statuses(&house.requests(both, "")), [424, 409]);
    let alone = json!([request("DELETE", &feature, Json::Null)]);
    assert_eq!(statuses(&house.requests(alone, "")), [200]);
    assert_eq!(results(&house), Vec::<Json>::new());
}
