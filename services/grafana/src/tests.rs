#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use serde_json::Value as Json;
use std::task::{Context, Poll, Waker};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Grants, Log, Media, Principal, Publish, Verb};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Filter, Limits, Time};
use weir_service::{AsItIs, AtOnce};

struct House {
    hub: Arc<Hub>,
    log: Arc<DiskLog>,
    grafana: Grafana,
}

fn now() -> Time {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

impl House {
    fn new() -> Self {
        let log = Arc::new(DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap());
        let options = weir_embedded::Options::default();
        let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options).unwrap();
        let hub = Hub::start(log.clone(), Arc::new(history), Limits::default(), now()).unwrap();
        let grafana = Grafana::new(hub.clone());
        Self { hub, log, grafana }
    }

    /// Publishes values, one a second from midnight on.
    fn publish(&self, topic: &str, unit: &str, values: &[&str]) {
        let rows = values.iter().enumerate().map(|(second, value)| {
            let time = now().plus_nanos(second as i64 * 1_000_000_000);
            format!(r#"{{"time":"{time}","unit":"{unit}","value":{value}}}"#)
        });
        let body = format!("[{}]", rows.collect::<Vec<_>>().join(","));
        let media = Media::Format(weir_codec::by_name("json").unwrap());
        let gateway = self.hub.internal().at(now());
        let publish = Publish::new(topic, media, body);
        gateway.publish(publish).unwrap();
        self.log.wait_committed(self.log.head()).unwrap();
    }

    fn call(&self, principal: Principal, method: &str, path: &str, body: &str) -> Response {
        let answer = self.grafana.call(Call {
            principal,
            peer: None,
            scheme: None,
            now: now(),
            method: method.into(),
            path: format!("/grafana{path}"),
            query: Vec::new(),
            raw_query: String::new(),
            headers: Vec::new(),
            body: body.to_owned().into(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        });
        let mut pending = match answer {
            Answer::Now(response) => return response,
            Answer::Later(pending) => pending,
            _ => panic!("a whole answer was wanted"),
        };
        match pending.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response,
            Poll::Pending => panic!("the work is done at once"),
        }
    }

    fn ask(&self, path: &str, body: &str) -> Json {
        let answer = self.call(Principal::unrestricted(), "POST", path, body);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// A panel of this first target, over a minute.
    fn query(&self, target: &str, more: &str) -> Json {
        self.ask("/query", &panel(target, more))
    }
}

fn panel(target: &str, more: &str) -> String {
    format!(
        r#"{{"range":{{"from":"2026-01-02T00:00:00Z","to":"2026-01-02T00:01:00Z"}},
            "intervalMs":10000,"maxDataPoints":10,"targets":[{target}]{more}}}"#
    )
}

const MIDNIGHT_MILLIS: i64 = 1_767_312_000_000;

#[test]
fn the_test_of_a_connection_is_answered() {
    let house = House::new();
    for path in ["", "/"] {
        let answer = house.call(Principal::unrestricted(), "GET", path, "");
        assert_eq!(answer.status, 200);
    }
    let refused = house.call(Principal::unrestricted(), "GET", "/query", "");
    assert_eq!(refused.status, 405);
}

#[test]
fn what_fits_into_a_panel_is_given_as_it_is() {
    let house = House::new();
    house.publish("hall/t", "Cel", &["20.5", "21", "true"]);
    let answer = house.query(r#"{"refId":"A","target":"hall/+"}"#, "");
    let points = json(&[[20.5, 0.0], [21.0, 1.0], [1.0, 2.0]]);
    assert_eq!(
        answer,
        serde_json::json!([{"target": "hall/t", "refId": "A", "datapoints": points}])
    );
}

fn json(points: &[[f64; 2]]) -> Json {
    let point = |[value, second]: &[f64; 2]| {
        serde_json::json!([value, MIDNIGHT_MILLIS + (second * 1000.0) as i64])
    };
    points.iter().map(point).collect()
}

#[test]
fn what_does_not_fit_is_means_over_the_panels_interval() {
    let house = House::new();
    let values: Vec<String> = (0..60).map(|value| value.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    house.publish("hall/t", "Cel", &values);
    let points = |payload: &str| {
        let target = format!(r#"{{"target":"hall/t","payload":{payload}}}"#);
        house.query(&target, "")[0]["datapoints"].clone()
    };
    let means: Vec<[f64; 2]> = (0..6)
        .map(|n| [f64::from(n) * 10.0 + 4.5, f64::from(n) * 10.0])
        .collect();
    assert_eq!(points("{}"), json(&means));
    assert_eq!(points(r#""""#), json(&means));
    let most = json(&[[29.0, 0.0], [59.0, 30.0]]);
    assert_eq!(points(r#"{"agg":"max","every":"30s"}"#), most);
    assert_eq!(points(r#""{\"agg\":\"max\",\"every\":\"30s\"}""#), most);
}

#[test]
fn all_targets_of_a_question_share_its_bound() {
    let house = House::new();
    let values: Vec<String> = (0..4000).map(|value| value.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    house.publish("hall/t", "Cel", &values);
    let status = |targets: usize| {
        let targets = vec![r#"{"target":"hall/t"}"#; targets].join(",");
        let body = panel(&targets, "")
            .replace("T00:01:00Z", "T02:00:00Z")
            .replace(r#""maxDataPoints":10"#, r#""maxDataPoints":4000"#);
        let answer = house.call(Principal::unrestricted(), "POST", "/query", &body);
        (
            answer.status,
            String::from_utf8_lossy(&answer.body).into_owned(),
        )
    };
    assert_eq!(status(50).0, 200, "50 times 4,000 are as many as may be");
    let (refused, sentence) = status(51);
    assert!(
        refused == 400 && sentence.contains("in one question"),
        "{sentence}"
    );
}

#[test]
fn a_table_has_what_is_no_number_too() {
    let house = House::new();
    house.publish("hall/door", "1", &[r#""open""#, "7"]);
    let table = &house.query(r#"{"target":"hall/door","payload":{"type":"table"}}"#, "")[0];
    assert_eq!(
        table["columns"][2],
        serde_json::json!({"text": "Value", "type": "string"})
    );
    let row = serde_json::json!([MIDNIGHT_MILLIS, "hall/door", "open", "1"]);
    assert_eq!(table["rows"][0], row);
    assert_eq!(table["rows"][1][2], "7");
}

#[test]
fn the_latest_is_what_live_says() {
    let house = House::new();
    house.publish("hall/t", "Cel", &["1", "2"]);
    let latest = house.query(r#"{"target":"hall/t","payload":{"type":"latest"}}"#, "");
    assert_eq!(latest[0]["datapoints"], json(&[[2.0, 1.0]]));
}

#[test]
fn ad_hoc_filters_choose_by_what_is_known() {
    let house = House::new();
    house.publish("hall/t", "Cel", &["1"]);
    house.publish("hall/p", "bar", &["2"]);
    let all = r##"{"target":"#"}"##;
    let topics = |operator: &str| {
        let filter =
            format!(r#","adhocFilters":[{{"key":"unit","operator":"{operator}","value":"bar"}}]"#);
        house.query(all, &filter)[0]["target"].clone()
    };
    assert_eq!(
        (topics("="), topics("!=")),
        ("hall/p".into(), "hall/t".into())
    );
    let values = house.ask("/tag-values", r#"{"key":"unit"}"#);
    assert_eq!(
        values,
        serde_json::json!([{"text": "Cel"}, {"text": "bar"}])
    );
    assert_eq!(house.ask("/tag-keys", "{}")[0]["text"], "topic");
}

#[test]
fn what_there_is_can_be_chosen_from() {
    let house = House::new();
    house.publish("hall/t", "Cel", &["1"]);
    let metrics = house.ask("/metrics", "{}");
    assert_eq!(
        (metrics.as_array().unwrap().len(), &metrics[0]["value"]),
        (1, &"hall/t".into())
    );
    let options = house.ask(
        "/metric-payload-options",
        r#"{"metric":"hall/t","payload":{},"name":"agg"}"#,
    );
    assert_eq!(
        options[0],
        serde_json::json!({"label": "mean", "value": "mean"})
    );
    assert_eq!(
        house.ask("/search", r#"{"target":""}"#),
        serde_json::json!(["hall/t"])
    );
    assert_eq!(house.ask("/search", ""), serde_json::json!(["hall/t"]));
    let variable = house.ask("/variable", r#"{"payload":{"target":"hall/+"}}"#);
    assert_eq!(variable[0]["__value"], "hall/t");
}

#[test]
fn an_observation_is_an_annotation() {
    let house = House::new();
    house.publish("hall/event", "1", &[r#""pump on""#]);
    let body = r#"{"range":{"from":"2026-01-02T00:00:00Z","to":"2026-01-02T00:01:00Z"},
        "annotation":{"name":"events","enable":true,"query":"hall/event"}}"#;
    let mark = &house.ask("/annotations", body)[0];
    assert_eq!(
        (&mark["text"], &mark["time"]),
        (&"pump on".into(), &MIDNIGHT_MILLIS.into())
    );
    assert_eq!(mark["annotation"]["name"], "events");
}

#[test]
fn only_what_may_be_read_is_shown() {
    let house = House::new();
    house.publish("hall/t", "Cel", &["1"]);
    house.publish("cellar/t", "Cel", &["2"]);
    let rules = vec![(Verb::Read, Filter::parse("hall/#").unwrap())];
    let ann = Principal {
        name: "ann".into(),
        grants: Arc::new(Grants::new(rules)),
        standing: Default::default(),
    };
    for (path, body) in [
        ("/query", panel(r##"{"target":"#"}"##, "")),
        ("/metrics", String::new()),
        ("/variable", String::new()),
        ("/tag-values", r#"{"key":"topic"}"#.into()),
    ] {
        let answer = house.call(ann.clone(), "POST", path, &body);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 200, "{path}: {text}");
        assert!(
            text.contains("hall/t") && !text.contains("cellar"),
            "{path}: {text}"
        );
    }
    let denied = house.call(
        ann,
        "POST",
        "/query",
        &panel(r#"{"target":"cellar/t"}"#, ""),
    );
    assert_eq!(denied.status, 403);
}

#[test]
fn a_mistake_is_a_sentence() {
    let house = House::new();
    let said = |body: &str| {
        let answer = house.call(Principal::unrestricted(), "POST", "/query", body);
        (
            answer.status,
            String::from_utf8_lossy(&answer.body).into_owned(),
        )
    };
    for (body, word) in [
        ("nonsense".to_owned(), "Grafana"),
        (r#"{"range":{"from":"noon","to":"1"}}"#.into(), "time"),
        (panel(r#"{"target":"a/#/b"}"#, ""), "a/#/b"),
        (
            panel(r#"{"target":"a","payload":{"agg":"median"}}"#, ""),
            "median",
        ),
        (
            panel(r#"{"target":"a","payload":{"every":"soon"}}"#, ""),
            "every",
        ),
        (
            panel(r#"{"target":"a","payload":{"type":"pie"}}"#, ""),
            "pie",
        ),
        (
            panel(
                "",
                r#","adhocFilters":[{"key":"x","operator":"=","value":""}]"#,
            ),
            "`x`",
        ),
    ] {
        let (status, sentence) = said(&body);
        assert_eq!(status, 400, "{body}");
        assert!(sentence.contains(word), "{sentence}");
    }
    assert_eq!(
        house.query(r#"{"target":"nobody/here"}"#, ""),
        serde_json::json!([])
    );
}
