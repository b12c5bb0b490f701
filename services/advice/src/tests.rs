#![allow(clippy::unwrap_used)]

use super::*;
use std::task::{Context, Poll, Waker};
use weir_hub::Principal;
use weir_model::Time;
use weir_service::{AsItIs, AtOnce};

fn ask(method: &str, path: &str, query: &[(&str, &str)]) -> Response {
    let pairs = query
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    let call = Call {
        principal: Principal::unrestricted(),
        peer: None,
        scheme: None,
        now: Time::from_nanos(0),
        method: method.into(),
        path: path.into(),
        query: pairs.collect(),
        raw_query: String::new(),
        headers: Vec::new(),
        body: Default::default(),
        wrapper: Arc::new(AsItIs),
        workers: Arc::new(AtOnce),
        websocket: None,
        incoming: Default::default(),
    };
    match Advice::default().call(call) {
        Answer::Now(response) => response,
        Answer::Later(mut pending) => match pending.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response,
            Poll::Pending => panic!("the work was done"),
        },
        _ => panic!("an answer was wanted"),
    }
}

fn json(response: &Response) -> serde_json::Value {
    serde_json::from_slice(&response.body).unwrap()
}

#[test]
fn a_question_is_answered_as_the_command_answers_it() {
    let answer = ask(
        "GET",
        "/advise",
        &[("link", "local"), ("payload", "100"), ("clients", "")],
    );
    assert_eq!(answer.status, 200);
    let told = json(&answer);
    assert_eq!(told["question"]["payload"], "100 B");
    assert!(!told["sections"][0]["ranked"].as_array().unwrap().is_empty());
    assert!(
        told["sources"][0]["command"]
            .as_str()
            .unwrap()
            .starts_with("weir bench run")
    );
}

#[test]
fn what_nobody_measured_is_refused_with_its_reason() {
    let answer = ask("GET", "/advise", &[("link", "pigeon")]);
    assert_eq!(answer.status, 404);
    let refusal = json(&answer);
    let why = refusal["refusal"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("nothing was measured over `pigeon`, but over "),
        "{why}"
    );
}

#[test]
fn what_is_wrong_with_a_question_is_said() {
    for (query, said) in [
        (("need", "p99<5"), "need `p99<5`: is compared with a time"),
        (("speed", "5"), "unknown parameter `speed`"),
        (("rate", "-1"), "rate `-1` is no number above 0"),
    ] {
        let answer = ask("GET", "/advise", &[query]);
        assert_eq!(answer.status, 400);
        assert!(String::from_utf8_lossy(&answer.body).contains(said));
    }
    assert_eq!(ask("POST", "/advise", &[]).status, 405);
    assert_eq!(ask("GET", "/advise/other", &[]).status, 404);
}

#[test]
fn the_levels_of_a_form_are_those_that_were_measured() {
    let told = json(&ask("GET", "/advise/levels", &[]));
    assert!(told["link"].as_array().unwrap().contains(&"local".into()));
}
