#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::panic)]

use super::*;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Grants, Hub, Media, Principal, Publish, Verb};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Filter, Limits, Time};
use weir_service::{Answer, AsItIs, AtOnce, Call, Response, Service};

mod disclosure;
mod meaning;
mod whereabouts;
mod writes;
mod wrong;

/// A gateway's hub with nothing around it but this service.
pub(crate) struct House {
    pub(crate) hub: Arc<Hub>,
    pub(crate) service: SensorThings,
    pub(crate) who: Principal,
    folder: std::path::PathBuf,
}

impl Drop for House {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

pub(crate) fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

pub(crate) fn house(name: &str) -> House {
    let folder = format!("weir-sensorthings-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap();
    let history = EmbeddedHistory::open(folder.clone(), Default::default()).unwrap();
    let hub = Hub::start(Arc::new(log), Arc::new(history), Limits::default(), now()).unwrap();
    House {
        service: SensorThings::new(hub.clone()),
        hub,
        who: Principal::unrestricted(),
        folder,
    }
}

pub(crate) fn wait(answer: Answer) -> Response {
    let Answer::Later(mut pending) = answer else {
        return match answer {
            Answer::Now(response) => response,
            _ => panic!("an answer was wanted"),
        };
    };
    loop {
        match pending.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => return response,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

impl House {
    pub(crate) fn ask(&self, method: &str, url: &str, body: Json) -> Response {
        let body = if body.is_null() {
            "".into()
        } else {
            body.to_string().into()
        };
        self.send(method, url, &[], body)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: bytes::Bytes,
    ) -> Response {
        wait(self.service.call(self.call(method, url, headers, body)))
    }

    pub(crate) fn call(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: bytes::Bytes,
    ) -> Call {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let pairs = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (name.to_owned(), weir_model::percent::decode(value).unwrap())
            });
        let path = format!("/sta/v1.1/{path}");
        let headers = headers.iter().chain(&[("host", "h")]);
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Call {
            principal: self.who.clone(),
            peer: None,
            scheme: None,
            now: now(),
            method: method.into(),
            path: path.trim_end_matches('/').into(),
            query: pairs.collect(),
            raw_query: String::new(),
            headers: headers.map(owned).collect(),
            body,
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        }
    }

    pub(crate) fn get(&self, url: &str) -> Json {
        let response = self.ask("GET", url, Json::Null);
        let text = String::from_utf8_lossy(&response.body).into_owned();
        assert_eq!(response.status, 200, "{url}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn status(&self, method: &str, url: &str, body: Json) -> u16 {
        self.ask(method, url, body).status
    }

    /// Posts, and says where what was made is.
    pub(crate) fn post(&self, url: &str, body: Json) -> String {
        let response = self.ask("POST", url, body);
        let text = String::from_utf8_lossy(&response.body).into_owned();
        assert_eq!(response.status, 201, "{url}: {text}");
        let location = response
            .headers
            .iter()
            .find(|(name, _)| *name == "location")
            .unwrap();
        location
            .1
            .strip_prefix("http://h/sta/v1.1/")
            .unwrap()
            .to_owned()
    }

    pub(crate) fn publish(&self, topic: &str, body: &str) {
        let media = Media::Format(weir_codec::by_name("json").unwrap());
        let publish = Publish::new(topic, media, body.to_owned());
        let Ok(ticket) = self
            .hub
            .caller(now(), &self.who)
            .and_then(|caller| caller.publish(publish))
        else {
            panic!("it was to be published")
        };
        while ticket
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
        {
            std::thread::yield_now();
        }
    }
}

fn names(collection: &Json) -> Vec<&str> {
    let values = collection["value"].as_array().unwrap().iter();
    values
        .map(|value| value["name"].as_str().unwrap())
        .collect()
}

fn results(collection: &Json) -> Vec<f64> {
    let values = collection["value"].as_array().unwrap().iter();
    values
        .map(|value| value["result"].as_f64().unwrap())
        .collect()
}

/// A thing with a place, and a datastream of three observations.
pub(crate) fn kitchen() -> Json {
    json!({
        "name": "Kitchen", "description": "where one cooks", "properties": {"floor": 2},
        "Locations": [{
            "name": "House", "description": "on a hill", "encodingType": "application/geo+json",
            "location": {"type": "Point", "coordinates": [20.5, 44.8]},
        }],
        "Datastreams": [{
            "name": "Air temperature", "description": "of the room",
            "observationType": "OM_Measurement",
            "unitOfMeasurement": {"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"},
            "Sensor": {
                "name": "DS18B20", "description": "on a wire", "encodingType": "text/html",
                "metadata": "data sheet",
            },
            "ObservedProperty": {
                "name": "temperature", "definition": "http://x/temperature",
                "description": "of air",
            },
            "Observations": [
                {"phenomenonTime": "2026-11-20T10:00:00Z", "result": 20},
                {"phenomenonTime": "2026-11-20T10:01:00Z", "result": 21.5,
                 "resultTime": "2026-11-20T10:02:00Z"},
                {"phenomenonTime": "2026-11-20T10:02:00Z/2026-11-20T10:03:00Z", "result": 22,
                 "parameters": {"window": "open"}},
            ],
        }],
    })
}

#[test]
fn a_thing_is_inserted_and_found_by_every_way() {
    let house = house("deep");
    let thing = house.post("Things", kitchen());
    assert_eq!(house.get(&thing)["properties"]["floor"], 2);
    let datastream = house.get(&format!("{thing}/Datastreams"))["value"][0].clone();
    assert_eq!(datastream["unitOfMeasurement"]["symbol"], "Cel");
    let stream = format!("Datastreams({})", datastream["@iot.id"]);
    assert_eq!(house.get(&format!("{stream}/Sensor"))["name"], "DS18B20");
    assert_eq!(
        house.get(&format!("{stream}/Thing/Locations"))["value"][0]["name"],
        "House"
    );
    assert_eq!(
        house.get(&format!("{thing}/HistoricalLocations"))["value"][0]["time"],
        "2026-11-20T12:00:00.000Z"
    );
    let observations = house.get(&format!("{stream}/Observations"));
    assert_eq!(results(&observations), [20.0, 21.5, 22.0]);
    let last = &observations["value"][2];
    assert_eq!(
        last["phenomenonTime"],
        "2026-11-20T10:02:00.000Z/2026-11-20T10:03:00.000Z"
    );
    assert_eq!(last["parameters"]["window"], "open");
    let link = last["@iot.selfLink"]
        .as_str()
        .unwrap()
        .strip_prefix("http://h/sta/v1.1/")
        .unwrap();
    assert_eq!(house.get(link)["result"], 22);
    let feature = house.get(&format!("{link}/FeatureOfInterest"));
    assert_eq!(feature["feature"]["coordinates"], json!([20.5, 44.8]));
    let path = format!("FeaturesOfInterest({})/Observations", feature["@iot.id"]);
    assert_eq!(house.get(&path)["value"].as_array().unwrap().len(), 3);
    assert_eq!(
        house.get(&format!("{thing}/name")),
        json!({"name": "Kitchen"})
    );
    assert_eq!(
        &house
            .ask("GET", &format!("{thing}/name/$value"), Json::Null)
            .body[..],
        b"Kitchen"
    );
    let references = house.get(&format!("{thing}/Datastreams/$ref"));
    assert_eq!(references["value"][0].as_object().unwrap().len(), 1);
    assert_eq!(house.status("GET", "Things(999)", Json::Null), 404);
}

#[test]
fn what_other_protocols_publish_is_here_and_back() {
    let house = house("both");
    house.publish(
        "cellar/boiler/pressure",
        r#"{"value":1.5,"unit":"bar","lat":44.5,"lon":20.25}"#,
    );
    let thing = house.get("Things('cellar%2Fboiler')?$expand=Locations");
    assert_eq!(
        thing["Locations"][0]["location"]["coordinates"],
        json!([20.25, 44.5])
    );
    let stream = house
        .get("Datastreams('cellar%2Fboiler%2Fpressure')?$expand=Observations,ObservedProperty");
    assert_eq!(stream["Observations"][0]["result"], 1.5);
    assert_eq!(stream["ObservedProperty"]["name"], "pressure");
    let stream = format!("Datastreams({})", stream["@iot.id"]);
    house.post(&format!("{stream}/Observations"), json!({"result": 1.75}));
    let filters = vec![Filter::parse("cellar/#").unwrap()];
    let Ok(latest) = house
        .hub
        .caller(now(), &house.who)
        .and_then(|caller| caller.latest(&filters))
    else {
        panic!("last values were asked for")
    };
    assert_eq!(latest.batch.row(0).value.number(), Some(1.75));
}

#[test]
fn an_insert_that_fails_leaves_nothing_behind() {
    let house = house("whole");
    let mut bad = kitchen();
    bad["Datastreams"][0]["Sensor"] = json!({"name": "no more than that"});
    assert_eq!(house.status("POST", "Things", bad), 400);
    for set in [
        "Things",
        "Locations",
        "Datastreams",
        "Sensors",
        "Observations",
    ] {
        assert_eq!(house.get(set)["value"], json!([]), "{set}");
    }
    for bad in [
        json!({"name": "x"}),
        json!({"name": "x", "description": "y", "colour": "red"}),
        json!([]),
        json!({"name": 1, "description": "y"}),
    ] {
        assert_eq!(house.status("POST", "Things", bad.clone()), 400, "{bad}");
    }
    let alone = json!({"result": 1, "Datastream": {"@iot.id": 77}});
    assert_eq!(house.status("POST", "Observations", alone), 400);
}

#[test]
fn queries_filter_sort_cut_and_count_in_that_order() {
    let house = house("queries");
    let thing = house.post("Things", kitchen());
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    let all = format!("Datastreams({stream})/Observations");
    let page = house.get("Observations?$count=true&$top=1&$skip=1&$filter=result%20gt%20'20'");
    assert_eq!(
        (results(&page), page["@iot.count"].as_u64()),
        (vec![22.0], Some(2))
    );
    assert_eq!(
        results(&house.get(&format!("{all}?$orderby=phenomenonTime%20desc"))),
        [22.0, 21.5, 20.0]
    );
    assert_eq!(
        results(&house.get(&format!("{all}?$orderby=result%20desc&$top=2"))),
        [22.0, 21.5]
    );
    for (filter, found) in [
        ("phenomenonTime ge 2026-11-20T10:01:00Z", 2),
        ("phenomenonTime lt 2026-11-20T10:01:00Z", 1),
        ("parameters/window eq 'open'", 1),
        ("resultTime ne null", 1),
        ("Datastream/Thing/name eq 'Kitchen' and result lt 22", 2),
        ("Datastream/Thing/name eq 'Hall'", 0),
        (
            "st_within(FeatureOfInterest/feature, geography'POLYGON((20 44,21 44,20 46,20 44))')",
            3,
        ),
    ] {
        let filter = weir_model::percent::encode(filter, b"");
        let found_now = house.get(&format!("Observations?$filter={filter}"));
        assert_eq!(
            found_now["value"].as_array().unwrap().len(),
            found,
            "{filter}"
        );
    }
    let things = "Things?$filter=Datastreams/ObservedProperty/name%20eq%20'temperature'";
    assert_eq!(names(&house.get(things)), ["Kitchen"]);
    let fault = house.ask("GET", "Things?$filter=name%20eq", Json::Null);
    let fault: Json = serde_json::from_slice(&fault.body).unwrap();
    assert_eq!(
        (fault["code"].as_u64(), fault["at"].as_u64()),
        (Some(400), Some(7))
    );
}

#[test]
fn links_lead_through_all_pages_without_a_hole_or_a_repeat() {
    for order in ["", "&$orderby=phenomenonTime%20desc", "&$orderby=result"] {
        let house = house(&format!("pages{}", order.len()));
        for number in 0..25 {
            let time = number / 3;
            let body = format!(r#"{{"value":{number},"time":"2026-11-20T10:00:{time:02}Z"}}"#);
            house.publish(&format!("a/{}", number % 2), &body);
        }
        let mut seen = Vec::new();
        let mut url = format!("Observations?$top=4{order}");
        loop {
            let page = house.get(&url);
            seen.extend(results(&page));
            let Some(next) = page["@iot.nextLink"].as_str() else {
                break;
            };
            url = next.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned();
        }
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, (0..25).map(f64::from).collect::<Vec<_>>(), "{order}");
    }
}

// [STA-A.3.1.1-11]
#[test]
fn a_thing_is_where_the_newest_of_its_historical_locations_says() {
    let house = house("was-there");
    let thing = house.post("Things", kitchen());
    let link = |path: &str| json!({"@iot.id": house.get(path)["@iot.id"]});
    let place = |name: &str| {
        house.post(
            "Locations",
            json!({"name": name, "description": "d", "encodingType": "application/geo+json",
                   "location": {"type": "Point", "coordinates": [20.5, 44.8]}}),
        )
    };
    let was = |place: &str, time: &str| {
        let body = json!({"time": time, "Thing": link(&thing), "Locations": [link(place)]});
        house.post("HistoricalLocations", body);
        house.get(&format!("{thing}/Locations"))["value"][0]["name"].clone()
    };
    let (shed, yard) = (place("Shed"), place("Yard"));
    assert_eq!(was(&shed, "2026-11-19T10:00:00Z"), "House");
    assert_eq!(was(&shed, "2026-11-20T14:00:00+01:00"), "Shed");
    assert_eq!(was(&yard, "2026-11-20T13:00:00Z"), "Shed");
    assert_eq!(was(&yard, "2026-11-20T13:00:01Z"), "Yard");
    let all = house.get(&format!("{thing}/HistoricalLocations?$count=true"));
    assert_eq!(all["@iot.count"], 5);
}

// [STA-A.2.1.7-1]
#[test]
fn links_lead_through_entities_that_come_and_go() {
    // Of those deleted one was read, one was not, and one, where identifiers order them, was the last of its page.
    for (order, deleted, expected) in [
        ("", [0, 4, 1].as_slice(), "abcdfg0"),
        ("&$orderby=name%20desc", &[6, 4], "gfdcba0"),
    ] {
        let house = house(&format!("pages-of-things{}", order.len()));
        let make = |name: char| house.post("Things", json!({"name": name, "description": "one"}));
        let things: Vec<_> = "abcdefg".chars().map(make).collect();
        let mut url = format!("Things?$top=2&$select=name{order}");
        let mut seen = String::new();
        loop {
            let page = house.get(&url);
            let values = page["value"].as_array().unwrap();
            seen.extend(values.iter().filter_map(|it| it["name"].as_str()));
            if seen.len() == 2 {
                for &index in deleted {
                    assert_eq!(house.status("DELETE", &things[index], json!(null)), 200);
                }
                make('0');
            }
            let Some(next) = page["@iot.nextLink"].as_str() else {
                break;
            };
            url = next.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned();
        }
        assert_eq!(seen, expected, "{order}");
    }
}

#[test]
fn entities_are_changed_and_deleted_with_what_needs_them() {
    let house = house("change");
    let thing = house.post("Things", kitchen());
    assert_eq!(
        house.status("PATCH", &thing, json!({"description": "new"})),
        200
    );
    assert_eq!(house.get(&thing)["properties"]["floor"], 2);
    assert_eq!(
        house.status("PUT", &thing, json!({"name": "Hall", "description": "x"})),
        200
    );
    assert_eq!(house.get(&thing).get("properties"), None);
    assert_eq!(house.status("PUT", &thing, json!({"name": "Hall"})), 400);
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0].clone();
    let stream = format!("Datastreams({})", stream["@iot.id"]);
    assert_eq!(house.status("PATCH", &stream, json!({"name": "Air"})), 200);
    assert_eq!(house.get(&stream)["name"], "Air");
    assert_eq!(house.get(&format!("{stream}/Thing"))["name"], "Hall");
    for links in [json!([]), json!([{"@iot.id": 1}, {"@iot.id": 1}])] {
        let links = json!({ "Sensor": links });
        assert_eq!(
            house.status("PATCH", &stream, links.clone()),
            400,
            "{links}"
        );
    }
    assert_eq!(house.get(&format!("{stream}/Sensor"))["name"], "DS18B20");
    assert_eq!(house.status("DELETE", &thing, Json::Null), 200);
    for set in [
        "Things",
        "Datastreams",
        "HistoricalLocations",
        "Observations",
    ] {
        assert_eq!(house.get(set)["value"], json!([]), "{set}");
    }
    assert_eq!(names(&house.get("Sensors")), ["DS18B20"]);
    assert_eq!(house.status("DELETE", &thing, Json::Null), 404);
}

#[test]
fn an_observation_is_corrected_and_withdrawn_for_all() {
    let house = house("correct");
    house.post("Things", kitchen());
    let observations = house.get("Observations");
    let link = |index: usize| {
        let link = observations["value"][index]["@iot.selfLink"]
            .as_str()
            .unwrap();
        link.strip_prefix("http://h/sta/v1.1/").unwrap().to_owned()
    };
    let moved = json!({"phenomenonTime": "2026-11-20T11:00:00Z"});
    assert_eq!(house.status("PATCH", &link(0), moved), 200);
    let found = house.get(&link(0));
    assert_eq!(
        (&found["result"], &found["phenomenonTime"]),
        (&json!(20), &json!("2026-11-20T11:00:00.000Z"))
    );
    assert_eq!(results(&house.get("Observations")), [21.5, 22.0, 20.0]);
    assert_eq!(
        house.get("Observations")["value"][2]["@iot.id"],
        observations["value"][0]["@iot.id"]
    );
    assert_eq!(house.status("PATCH", &link(1), json!({"result": 30})), 200);
    assert_eq!(house.get(&link(1))["result"], 30);
    assert_eq!(house.status("DELETE", &link(0), Json::Null), 200);
    assert_eq!(house.status("GET", &link(0), Json::Null), 404);
    assert_eq!(results(&house.get("Observations")), [30.0, 22.0]);
    let filters = vec![Filter::parse("#").unwrap()];
    let Ok(latest) = house
        .hub
        .caller(now(), &house.who)
        .and_then(|caller| caller.latest(&filters))
    else {
        panic!("last values were asked for")
    };
    assert_eq!(
        latest.batch.row(0).value.number(),
        Some(22.0),
        "the one before it is the last again"
    );
}

#[test]
fn what_is_not_granted_is_not_there_and_not_changed() {
    let mut house = house("grants");
    house.post("Things", kitchen());
    house.publish("cellar/pressure", r#"{"value":1.5}"#);
    let rules = vec![(Verb::Read, Filter::parse("cellar/#").unwrap())];
    house.who = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules)),
        standing: Default::default(),
    };
    assert_eq!(names(&house.get("Things")), ["cellar"]);
    assert_eq!(names(&house.get("Datastreams")), ["cellar/pressure"]);
    assert_eq!(results(&house.get("Observations")), [1.5]);
    assert_eq!(names(&house.get("Sensors")), ["unknown"]);
    assert_eq!(house.status("POST", "Things", kitchen()), 403);
    let stream = house.get("Datastreams")["value"][0]["@iot.id"].clone();
    let posted = house.status(
        "POST",
        &format!("Datastreams({stream})/Observations"),
        json!({"result": 1}),
    );
    assert_eq!(posted, 403);
    assert_eq!(
        house.status("DELETE", &format!("Datastreams({stream})"), Json::Null),
        403
    );
}

mod annex;
mod annex_filter;
mod arrays;
mod computed;
mod multi;
mod tasking;
