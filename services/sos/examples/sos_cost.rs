//! What the service costs by itself, without network and disk: `cargo run -p weir-sos --example sos_cost
//! [OBSERVATIONS]`. 2,700 observations in and out, then long answers on one thread: how many
//! observations a second, and by how much memory grows at most meanwhile (Linux).
//!
//! With sockets and a disk: `weir bench run sensor-web`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "it measures, and has nobody to tell of errors"
)]

use bytes::Bytes;
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use weir_embedded::EmbeddedHistory;
use weir_hub::{Hub, Media, Principal, Publish};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{BatchBuilder, Limits, Time, Value};
use weir_service::{Answer, AsItIs, AtOnce, Call, Opening, Response, Service};
use weir_sos::Sos;

/// Observations of a page.
const PAGE: usize = 10_000;

fn main() {
    let count = std::env::args().nth(1).map(|text| text.parse().unwrap());
    let hub = start();
    let sos = Sos::new(hub.clone());
    a_day(&sos);
    for (topic, count) in [("few/t", PAGE), ("many/t", count.unwrap_or(100 * PAGE))] {
        fill(&hub, topic, count);
        for (name, query) in [
            (
                "swe-text",
                "request=GetObservation&responseFormat=text/plain;profile=swe",
            ),
            ("O&M 2.0", "request=GetObservation"),
            ("GetResult", "request=GetResult"),
        ] {
            let procedure = topic.trim_end_matches("/t");
            let offering = format!("urn:weir:procedure:{procedure}/observations");
            let query = format!("{query}&version=2.0.0&offering={offering}&observedProperty=t");
            let before = mark_memory();
            let begun = Instant::now();
            let bytes = drained(&sos, get(&query));
            let seconds = begun.elapsed().as_secs_f64();
            let grown = memory_kb("VmHWM:").saturating_sub(before);
            let rate = count as f64 / seconds;
            println!(
                "{name}: {count} in {seconds:.3} s, {rate:.0}/s, {bytes} bytes, memory +{grown} kB"
            );
        }
    }
}

fn start() -> Arc<Hub> {
    let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap();
    let options = weir_embedded::Options::default();
    let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options).unwrap();
    Hub::start(Arc::new(log), Arc::new(history), Limits::default(), now()).unwrap()
}

fn now() -> Time {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// Observations a second after each other.
fn fill(hub: &Arc<Hub>, topic: &str, count: usize) {
    let format = weir_codec::by_name("block").unwrap();
    for first in (0..count).step_by(PAGE) {
        let mut rows = BatchBuilder::new();
        for row in first..count.min(first + PAGE) {
            rows.begin();
            rows.time(Time::from_millis(1000 * row as i64));
            rows.value(Value::Number((row % 977) as f64 / 8.0));
            rows.end().unwrap();
        }
        let mut body = Vec::new();
        (format.encode)(&rows.finish(), &mut body);
        let publish = Publish::new(topic, Media::Format(format), body);
        let everyone = Principal::unrestricted();
        hub.caller(now(), &everyone)
            .and_then(|caller| caller.publish(publish))
            .unwrap();
        hub.feed().unwrap();
    }
}

fn a_day(sos: &Sos) {
    let answer = whole(sos, post(SENSOR.to_owned()));
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    let (mut insert, mut read) = (f64::INFINITY, f64::INFINITY);
    for day in 0..10 {
        let request = observations(day);
        let begun = Instant::now();
        assert_eq!(whole(sos, post(request)).status, 200);
        insert = insert.min(begun.elapsed().as_secs_f64());
        let day = format!("2026-01-{:02}", day + 1);
        let period = format!("om:phenomenonTime,{day}T00:00:00Z/{day}T23:59:59Z");
        let query = format!("request=GetObservation&version=2.0.0&temporalFilter={period}");
        let begun = Instant::now();
        let bytes = drained(sos, get(&query));
        read = read.min(begun.elapsed().as_secs_f64());
        assert!(bytes > 1_000_000, "{bytes}");
    }
    println!(
        "2,700 in O&M 2.0: inserted in {:.1} ms, read in {:.1} ms",
        insert * 1e3,
        read * 1e3
    );
}

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:sml="http://www.opengis.net/sensorml/2.0"
  xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;

const SENSOR: &str = r#"<swes:InsertSensor service="SOS" version="2.0.0"
  xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:sml="http://www.opengis.net/sensorml/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2">
  <swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0
  </swes:procedureDescriptionFormat>
  <swes:procedureDescription><sml:PhysicalSystem gml:id="a">
  <gml:identifier codeSpace="uniqueID">urn:s</gml:identifier></sml:PhysicalSystem>
  </swes:procedureDescription><swes:observableProperty>urn:p</swes:observableProperty>
  </swes:InsertSensor>"#;

/// 2,700 of a day, half a minute apart.
fn observations(day: usize) -> String {
    let each = (0..2700).map(|number| {
        let second = number * 30;
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let time = format!(
            "2026-01-{:02}T{hour:02}:{minute:02}:{:02}Z",
            day + 1,
            second % 60
        );
        format!(
            "<sos:observation><om:OM_Observation gml:id=\"o{number}\"><om:phenomenonTime>\
             <gml:TimeInstant gml:id=\"t{number}\"><gml:timePosition>{time}</gml:timePosition>\
             </gml:TimeInstant></om:phenomenonTime><om:resultTime xlink:href=\"#t{number}\"/>\
             <om:procedure xlink:href=\"urn:s\"/><om:observedProperty xlink:href=\"urn:p\"/>\
             <om:featureOfInterest xlink:href=\"urn:f\"/><om:result xsi:type=\"gml:MeasureType\" \
             uom=\"m\">{}</om:result></om:OM_Observation></sos:observation>",
            number as f64 / 100.0
        )
    });
    let each: String = each.collect();
    format!(
        "<sos:InsertObservation {NAMES}><sos:offering>urn:s/observations</sos:offering>{each}\
         </sos:InsertObservation>"
    )
}

fn call(method: &str, body: String) -> Call {
    Call {
        principal: Principal::unrestricted(),
        now: now(),
        method: method.into(),
        path: "/sos".into(),
        query: Vec::new(),
        raw_query: String::new(),
        headers: vec![("content-type".into(), "application/xml".into())],
        body: body.into(),
        peer: None,
        scheme: None,
        wrapper: Arc::new(AsItIs),
        workers: Arc::new(AtOnce),
        websocket: None,
        incoming: Default::default(),
    }
}

fn post(body: String) -> Call {
    call("POST", body)
}

fn get(query: &str) -> Call {
    let mut call = call("GET", String::new());
    call.query = format!("service=SOS&{query}")
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    call
}

/// An answer that is expected to be whole.
fn whole(sos: &Sos, call: Call) -> Response {
    let Answer::Pieces(mut pieces) = sos.call(call) else {
        panic!("no answer");
    };
    match ready(|cx| pieces.poll_opening(cx)) {
        Opening::Whole(response) | Opening::Begun(response) => response,
    }
}

/// Bytes of an answer's body, each piece forgotten once it came.
fn drained(sos: &Sos, call: Call) -> usize {
    let Answer::Pieces(mut pieces) = sos.call(call) else {
        panic!("no answer");
    };
    let (Opening::Whole(head) | Opening::Begun(head)) = ready(|cx| pieces.poll_opening(cx));
    assert_eq!(head.status, 200, "{:?}", head.body);
    let mut length = head.body.len();
    let mut next = || -> Option<Bytes> { ready(|cx| pieces.poll_piece(cx)).unwrap() };
    while let Some(piece) = next() {
        length += black_box(piece).len();
    }
    length
}

fn ready<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    loop {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// Begins to watch for the most memory; kilobytes held now.
fn mark_memory() -> usize {
    let _none_elsewhere = std::fs::write("/proc/self/clear_refs", "5");
    memory_kb("VmRSS:")
}

fn memory_kb(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
