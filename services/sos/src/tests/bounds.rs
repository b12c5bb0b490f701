//! What one request may make of the service's work and memory.
#![allow(clippy::panic, reason = "tests")]

use super::house::{House, call, house, measured, text, texts, xml};
use crate::answer::batch;
use crate::bindings::{self, Form};
use crate::limits::BEGUN_PARTS;
use crate::room::Room;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_service::{Busy, Opened, Response, Workers};

/// Does the work at once and counts it.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Workers for Counting {
    fn take(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Busy> {
        self.0.fetch_add(1, Ordering::Relaxed);
        work();
        Ok(())
    }
}

const SERIES: usize = 3 * BEGUN_PARTS;

/// A house where the first of each datastream is a page by itself.
fn wide() -> House {
    let house = house();
    for index in 0..SERIES {
        let body = format!(
            r#"{{"observations":[{{"topic":"t/{index}","sensor":"urn:s:wide","type":"level","value":1,
            "time":"2026-01-01T00:00:00Z"}}]}}"#
        );
        house.publish("#", &body);
    }
    house
}

fn asked(house: &House, query: &str) -> (Response, usize) {
    let workers = Arc::new(Counting::default());
    let mut call = call("GET", "", Default::default());
    let query = format!("service=SOS&version=2.0.0&{query}");
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    call.query = pairs.map(|(n, v)| (n.into(), v.into())).collect();
    call.workers = workers.clone();
    let response = house.call(call);
    (response, workers.0.load(Ordering::Relaxed))
}

const FIRST: &str = "temporalFilter=om:phenomenonTime,first";

#[test]
fn pages_of_which_nothing_is_wanted_are_a_job_each() {
    let house = wide();
    let nothing = format!("request=GetObservation&{FIRST}&featureOfInterest=urn:none");
    let (response, jobs) = asked(&house, &nothing);
    assert_eq!(response.status, 200, "{}", text(&response));
    assert!(texts(&xml(&response), "result").is_empty());
    assert!(jobs > SERIES - BEGUN_PARTS, "{jobs} jobs");
}

#[test]
fn results_are_counted_in_jobs_of_their_own() {
    let house = wide();
    let picked = "offering=urn:s:wide/observations&observedProperty=level";
    let (response, jobs) = asked(&house, &format!("request=GetResult&{picked}&{FIRST}"));
    let values = texts(&xml(&response), "resultValues").concat();
    assert!(values.starts_with(&format!("{SERIES}\n")), "{values}");
    assert_eq!(values.matches(",1").count(), SERIES);
    assert!(jobs > 2 * SERIES - BEGUN_PARTS, "{jobs} jobs");
}

/// The codes of a batch's answers; of those that are no exceptions, none.
fn codes(house: &House, requests: Json, stops: bool, room: Room) -> Vec<Option<String>> {
    let body = json!({"request": "Batch", "stopAtFailure": stops, "requests": requests});
    let call = call("POST", "application/json", body.to_string().into());
    let Some(read) = bindings::batch(&call) else {
        panic!("no batch");
    };
    let Opened::Whole(response) = batch(&house.sos.house, &call, read, room).opened else {
        panic!("{:?}", Form::json(&call));
    };
    let answer: Json = serde_json::from_slice(&response.body).unwrap();
    let responses = answer["responses"].as_array().unwrap();
    let code = |one: &Json| {
        one["Exception"]["exceptionCode"]
            .as_str()
            .map(str::to_owned)
    };
    responses.iter().map(code).collect()
}

fn get(members: Json) -> Json {
    let mut request = json!({"request": "GetObservation", "service": "SOS", "version": "2.0.0"});
    for (name, value) in members.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    request
}

/// [SOS2-8.3-6]
#[test]
fn the_requests_of_a_batch_share_the_room_of_one_answer() {
    let house = measured();
    let large = Some("ResponseExceedsSizeLimit".to_owned());
    let north = get(json!({"procedure": "urn:s:north"}));
    let nothing = get(json!({"featureOfInterest": "urn:none"}));
    let all = |room| codes(&house, json!([nothing, north, north, nothing]), false, room);
    assert_eq!(all(Room::default()), [None, None, None, None]);
    let observations = Room {
        observations: 5,
        ..Room::default()
    };
    assert_eq!(all(observations), [None, None, large.clone(), None]);
    let looked_at = Room {
        looked_at: 11,
        ..Room::default()
    };
    assert_eq!(all(looked_at), [None, None, large.clone(), large.clone()]);
    let bytes = Room {
        bytes: 0,
        ..Room::default()
    };
    assert_eq!(all(bytes), vec![large; 4]);
}

#[test]
fn a_batch_that_stops_at_a_failure_ends_with_it() {
    let house = measured();
    let requests = json!([
        get(json!({})),
        get(json!({"procedure": "urn:no"})),
        get(json!({}))
    ]);
    let wrong = Some("InvalidParameterValue".to_owned());
    let told = |stops| codes(&house, requests.clone(), stops, Room::default());
    assert_eq!(told(true), [None, wrong.clone()]);
    assert_eq!(told(false), [None, wrong, None]);
}
