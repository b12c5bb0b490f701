#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::panic)]
//! Streams, WebSockets and what stands behind topics.

use crate::tests::{House, house, kitchen, now, wait};
use bytes::Bytes;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;
use weir_service::{Answer, Delivery, Drawer, Service, Watched};

const EVENTS: (&str, &str) = ("accept", "text/event-stream");

impl House {
    fn open(&self, url: &str, headers: &[(&str, &str)]) -> Answer {
        self.service
            .call(self.call("GET", url, headers, Bytes::new()))
    }

    fn events(&self, url: &str, headers: &[(&str, &str)]) -> Delivery {
        let headers: Vec<_> = headers.iter().chain(&[EVENTS]).copied().collect();
        match self.open(url, &headers) {
            Answer::Stream(stream) => stream.delivery,
            other => panic!("{url}: {:?}", wait(other)),
        }
    }

    /// The datastream of the kitchen.
    fn air(&self) -> String {
        let thing = self.post("Things", kitchen());
        let streams = self.get(&format!("{thing}/Datastreams"));
        format!("Datastreams({})", streams["value"][0]["@iot.id"])
    }
}

/// What is due now.
fn due(delivery: &mut Delivery) -> String {
    let (mut text, mut context) = (String::new(), Context::from_waker(Waker::noop()));
    while let Poll::Ready(next) = delivery.poll_next(&mut context) {
        let Some((bytes, _)) = next.unwrap() else {
            break;
        };
        text += &String::from_utf8_lossy(&bytes);
    }
    text
}

/// The data of the events that are due, and the last of their identifiers.
fn told(delivery: &mut Delivery) -> (Vec<Json>, String) {
    let text = due(delivery);
    let of = |field: &'static str| {
        text.lines()
            .filter_map(move |line| line.strip_prefix(field))
    };
    let data = of("data: ").map(|data| serde_json::from_str(data).unwrap());
    (
        data.collect(),
        of("id: ").next_back().unwrap_or_default().to_owned(),
    )
}

fn result_of(told: &[Json]) -> Vec<&Json> {
    told.iter()
        .map(|observation| &observation["result"])
        .collect()
}

#[test]
fn an_event_is_what_a_get_shows() {
    let house = house("live-get");
    let air = house.air();
    let options = "$expand=Datastream($select=name;$expand=Thing($select=name))";
    let mut events = house.events(&format!("{air}/Observations?{options}"), &[]);
    assert_eq!(due(&mut events), "");
    let body = json!({"result": 25, "parameters": {"window": "shut"}});
    let made = house.post(&format!("{air}/Observations"), body);
    let (told, _) = told(&mut events);
    assert_eq!(told, [house.get(&format!("{made}?{options}"))]);
    assert_eq!(told[0]["Datastream"]["Thing"]["name"], "Kitchen");
}

#[test]
fn who_comes_again_with_the_last_identifier_misses_nothing_and_sees_nothing_twice() {
    let house = house("live-resume");
    let air = house.air();
    let url = format!("{air}/Observations?$select=result");
    let mut events = house.events(&url, &[]);
    house.publish(
        "kitchen/air-temperature",
        r#"{"observations":[{"value":1},{"value":2}]}"#,
    );
    house.publish("kitchen/air-temperature", r#"{"value":3}"#);
    let (before, id) = told(&mut events);
    assert_eq!(before, [1, 2, 3].map(|result| json!({"result": result})));
    drop(events);
    house.publish("kitchen/air-temperature", r#"{"value":4}"#);
    house.publish("kitchen/humidity", r#"{"value":99}"#);
    let mut events = house.events(&url, &[("last-event-id", &id)]);
    house.publish("kitchen/air-temperature", r#"{"value":5}"#);
    assert_eq!(result_of(&told(&mut events).0), [4, 5]);
    let foreign = house.open(&url, &[EVENTS, ("last-event-id", "nonsense")]);
    assert_eq!(wait(foreign).status, 400);
}

#[test]
fn a_filter_says_what_is_told_in_all_collections_of_observations() {
    let house = house("live-filter");
    let air = house.air();
    let feature = house.get(&format!(
        "{air}/Observations?$expand=FeatureOfInterest&$top=1"
    ));
    let feature = &feature["value"][0]["FeatureOfInterest"]["@iot.id"];
    let mut all = house.events("Observations", &[]);
    let kitchen = "$filter=Datastream/Thing/name eq 'Kitchen' and result gt 30";
    let mut warm = house.events(&format!("Observations?{kitchen}"), &[]);
    let mut here = house.events(&format!("FeaturesOfInterest({feature})/Observations"), &[]);
    for result in [29, 31] {
        house.post(&format!("{air}/Observations"), json!({"result": result}));
        house.publish("hall/temp", &format!(r#"{{"value":{}}}"#, result + 100));
    }
    assert_eq!(result_of(&told(&mut all).0), [29, 129, 31, 131]);
    assert_eq!(result_of(&told(&mut warm).0), [31]);
    assert_eq!(result_of(&told(&mut here).0), [29, 31]);
}

#[test]
fn observations_of_one_time_are_told_apart() {
    let house = house("live-ordinals");
    let air = house.air();
    let mut events = house.events(&format!("{air}/Observations"), &[]);
    let mut others = house.events("Observations", &[]);
    for (time, result) in [
        ("10:05", 1),
        ("10:05", 2),
        ("10:01", 3),
        ("10:06", 4),
        ("10:06", 5),
    ] {
        let body = format!(r#"{{"value":{result},"time":"2026-11-20T{time}:00Z"}}"#);
        house.publish("kitchen/air-temperature", &body);
    }
    let (told_here, _) = told(&mut events);
    assert_eq!(told_here, told(&mut others).0);
    assert_eq!(told_here.len(), 5);
    for observation in &told_here {
        let link = observation["@iot.selfLink"].as_str().unwrap();
        let found = house.get(link.strip_prefix("http://h/sta/v1.1/").unwrap());
        assert_eq!(found["result"], observation["result"], "{link}");
    }
}

#[test]
fn what_is_read_of_the_past_for_who_follows_is_read_by_workers_one_chunk_at_a_time() {
    let house = house("live-elsewhere");
    let air = house.air();
    let drawer = Arc::new(Drawer::default());
    let open = |options: &str| {
        let url = format!("{air}/Observations?{options}");
        let mut call = house.call("GET", &url, &[EVENTS], Bytes::new());
        call.workers = drawer.clone();
        match house.service.call(call) {
            Answer::Stream(stream) => stream.delivery,
            other => panic!("{url}: {:?}", wait(other)),
        }
    };
    let publish = |time: &str, result: i32| {
        let body = format!(r#"{{"value":{result},"time":"2026-11-20T{time}:00Z"}}"#);
        house.publish("kitchen/air-temperature", &body);
    };
    let mut events = open("$select=result");
    publish("10:05", 1);
    assert_eq!(result_of(&told(&mut events).0), [1], "it came in order");
    publish("10:01", 2);
    assert_eq!(due(&mut events), "");
    publish("10:06", 3);
    assert_eq!(due(&mut events), "");
    assert_eq!(drawer.work_off(), 1);
    assert_eq!(result_of(&told(&mut events).0), [2, 3]);
    let mut others = open("$select=result&$expand=Datastream($select=phenomenonTime)");
    publish("10:07", 4);
    assert_eq!(due(&mut others), "");
    drawer.work_off();
    let (seen, _) = told(&mut others);
    let span = "2026-11-20T10:00:00.000Z/2026-11-20T10:07:00.000Z";
    assert_eq!(seen[0]["Datastream"]["phenomenonTime"], span);
    publish("10:02", 5);
    assert_eq!(due(&mut others), "");
    drawer.lose();
    let mut context = Context::from_waker(Waker::noop());
    let over = others.poll_next(&mut context);
    assert!(matches!(over, Poll::Ready(Ok(None))), "who lost it resumes");
}

#[test]
fn what_cannot_come_one_by_one_is_refused() {
    let house = house("live-refused");
    let air = house.air();
    for (url, status) in [
        (format!("{air}/Observations?$orderby=result"), 400),
        (format!("{air}/Observations?$top=5"), 400),
        (format!("{air}/Observations?$resultFormat=CSV"), 400),
        (format!("{air}/Observations?$filter=colour eq"), 400),
        ("Datastreams(999)/Observations".to_owned(), 404),
        ("Things".to_owned(), 406),
        (air, 406),
    ] {
        assert_eq!(wait(house.open(&url, &[EVENTS])).status, status, "{url}");
    }
}

#[test]
fn who_may_not_read_is_told_nothing() {
    let mut house = house("live-grants");
    house.air();
    let rules = vec![(Verb::Read, Filter::parse("hall/#").unwrap())];
    let guest = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules)),
        standing: Default::default(),
    };
    let everybody = std::mem::replace(&mut house.who, guest);
    let mut events = house.events("Observations", &[]);
    let refused = house.open(
        "Datastreams('kitchen%2Fair-temperature')/Observations",
        &[EVENTS],
    );
    assert_eq!(wait(refused).status, 404);
    house.who = everybody;
    house.publish("kitchen/air-temperature", r#"{"value":1}"#);
    house.publish("hall/temp", r#"{"value":2}"#);
    assert_eq!(result_of(&told(&mut events).0), [2]);
}

#[test]
fn on_a_websocket_observations_go_both_ways() {
    let house = house("live-socket");
    let air = house.air();
    let mut call = house.call(
        "GET",
        &format!("{air}/Observations?$select=result"),
        &[],
        Bytes::new(),
    );
    call.websocket = Some(Vec::new());
    let Answer::Socket(mut socket) = house.service.call(call) else {
        panic!("a WebSocket was asked for")
    };
    let created = socket
        .inbound
        .receive(now(), true, Bytes::from(r#"{"result":33}"#));
    let created = wait(created);
    let created: Json = serde_json::from_slice(&created.body).unwrap();
    let url = created["weir"]["created"].as_str().unwrap();
    assert_eq!(
        house.get(url.strip_prefix("http://h/sta/v1.1/").unwrap())["result"],
        33
    );
    let bad = wait(socket.inbound.receive(now(), true, Bytes::from("{}")));
    assert!(
        String::from_utf8_lossy(&bad.body).contains("need `result`"),
        "{bad:?}"
    );
    let text = due(socket.delivery.as_mut().unwrap());
    assert!(
        text.contains(r#"{"result":33}"#) && text.contains(r#"{"weir":{"cursor":""#),
        "{text}"
    );
}

#[test]
fn what_is_now_goes_on_while_somebody_watches() {
    let house = house("live-now");
    let thing = house.post("Things", kitchen());
    let path = "Things?$filter=properties/until gt now()&$select=name";
    let Ok(Watched::Changes(changes)) =
        house
            .service
            .watch(&house.call("GET", path, &[], Bytes::new()))
    else {
        panic!("it cannot be watched");
    };
    let told = |hours: i64| {
        let until = now().plus_nanos(3_600_000_000_000).to_string();
        house.status("PATCH", &thing, json!({"properties": {"until": until}}));
        let at = now().plus_nanos(hours * 3_600_000_000_000);
        changes
            .poll(at, &mut Context::from_waker(Waker::noop()))
            .is_ready()
    };
    assert_eq!([0, 2].map(told), [true, false]);
}

// [STA-A.8.1.1-1] [STA-A.8.1.1-2] [STA-A.8.1.1-3]
#[test]
fn entities_and_properties_are_told_when_they_change() {
    let house = house("live-changes");
    let thing = house.post("Things", kitchen());
    let watch = |path: &str| {
        let call = house.call("GET", path, &[], Bytes::new());
        match house.service.watch(&call) {
            Ok(Watched::Changes(changes)) => changes,
            other => panic!("{path}: {other:?}"),
        }
    };
    let told = |changes: &dyn weir_service::Changes| -> Vec<Json> {
        match changes.poll(now(), &mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Vec::new(),
            Poll::Ready(texts) => texts
                .iter()
                .map(|text| serde_json::from_slice(text).unwrap())
                .collect(),
        }
    };
    let whole = watch(&thing);
    let name = watch(&format!("{thing}/name"));
    let things = watch("Things?$select=name");
    let streams = watch(&format!("{thing}/Datastreams?$select=name"));
    house.status("PATCH", &thing, json!({"description": "new"}));
    assert_eq!(told(&*whole), [house.get(&thing)]);
    assert_eq!(told(&*name), [] as [Json; 0]);
    assert_eq!(told(&*things), [json!({"name": "Kitchen"})]);
    house.status("PATCH", &thing, json!({"name": "Hall"}));
    assert_eq!(told(&*name), [json!({"name": "Hall"})]);
    house.publish("cellar/pressure", r#"{"value":1}"#);
    assert_eq!(told(&*streams), [] as [Json; 0]);
    let stream = house.get(&format!("{thing}/Datastreams"))["value"][0]["@iot.id"].clone();
    house.status(
        "PATCH",
        &format!("Datastreams({stream})"),
        json!({"name": "Air"}),
    );
    assert_eq!(told(&*streams), [json!({"name": "Air"})]);
    assert!(told(&*things).contains(&json!({"name": "Hall"})));
    for bad in [
        "Things(999)",
        "Nothings",
        "Observations(1)",
        "Things?$top=1",
        "Things?$filter=Datastreams/Thing/name eq 'Kitchen'",
        "Things?$expand=Datastreams/Observations",
    ] {
        let call = house.call("GET", bad, &[], Bytes::new());
        assert!(house.service.watch(&call).is_err(), "{bad}");
    }
}
