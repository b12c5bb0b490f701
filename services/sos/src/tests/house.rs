//! A service on a hub with log and history, and how tests ask it.
#![allow(clippy::panic, reason = "tests")]

use crate::Sos;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_codec::document::{Element, read_xml};
use weir_codec::{Format, by_name};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Hub, Log, Media, Principal, Publish};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Limits, Time};
use weir_service::{Answer, AsItIs, AtOnce, Call, Gathered, Pending, Response, Service};

pub(super) struct House {
    pub(super) hub: Arc<Hub>,
    pub(super) log: Arc<DiskLog>,
    disks: [Arc<SimDisk>; 2],
    pub(super) sos: Sos,
}

/// An empty house.
pub(super) fn house() -> House {
    open([Arc::new(SimDisk::new()), Arc::new(SimDisk::new())])
}

fn open(disks: [Arc<SimDisk>; 2]) -> House {
    let log = Arc::new(DiskLog::open(disks[0].clone(), Options::default()).unwrap());
    let options = weir_embedded::Options::default();
    let history = EmbeddedHistory::on(disks[1].clone(), options).unwrap();
    let limits = Limits::default();
    let hub = Hub::start(log.clone(), Arc::new(history), limits, now()).unwrap();
    House {
        sos: Sos::new(hub.clone()),
        hub,
        log,
        disks,
    }
}

/// A house in which two stations measured.
pub(super) fn measured() -> House {
    let house = house();
    for minute in 0..3 {
        let body = format!(
            r#"{{"observations":[
            {{"topic":"north/t","sensor":"urn:s:north","type":"temperature","unit":"Cel","value":{minute}.5,
              "time":"2026-01-01T00:0{minute}:00Z","lat":50.5,"lon":7.5}},
            {{"topic":"kitchen/humidity","value":4{minute},"time":"2026-01-01T00:0{minute}:00Z"}}]}}"#
        );
        house.publish("#", &body);
    }
    house
}

pub(super) fn now() -> Time {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

impl House {
    /// Publishes each observation at its own topic.
    pub(super) fn publish(&self, _topic: &str, body: &str) {
        let format = by_name("json").unwrap();
        let message: serde_json::Value = serde_json::from_str(body).unwrap();
        for observation in message["observations"].as_array().unwrap() {
            let topic = observation["topic"].as_str().unwrap();
            self.publish_as(topic, format, observation.to_string().into_bytes());
        }
    }

    /// Publishes a message and waits until it is on disk.
    pub(super) fn publish_as(&self, topic: &str, format: &'static Format, body: Vec<u8>) {
        let publish = Publish::new(topic, Media::Format(format), body);
        let ticket = self.hub.internal().at(now()).publish(publish).unwrap();
        self.log.wait_committed(ticket.cursor()).unwrap();
    }

    /// The same house after a restart.
    pub(super) fn reopened(self) -> House {
        let House {
            hub,
            log,
            disks,
            sos,
        } = self;
        drop((sos, hub));
        log.close().unwrap();
        drop(log);
        open(disks)
    }

    pub(super) fn call(&self, call: Call) -> Response {
        match self.sos.call(call) {
            Answer::Now(response) => response,
            Answer::Pieces(pieces) => {
                let mut gathered = Gathered::new(pieces, 1 << 30, Arc::default());
                loop {
                    match gathered.poll(&mut Context::from_waker(Waker::noop())) {
                        Poll::Ready(response) => return response,
                        Poll::Pending => std::thread::yield_now(),
                    }
                }
            }
            _ => panic!("an answer was wanted"),
        }
    }

    /// KVP: `service=SOS&...` is put before.
    pub(super) fn get(&self, query: &str) -> Response {
        let mut call = call("GET", "", Bytes::new());
        call.query = format!("service=SOS&{query}")
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        self.call(call)
    }

    /// The same of a query as it stands in a URL.
    pub(super) fn get_encoded(&self, query: &str) -> Response {
        let mut call = call("GET", "", Bytes::new());
        call.raw_query = format!("service=SOS&{query}");
        self.call(call)
    }

    pub(super) fn post(&self, media: &str, body: impl Into<Bytes>) -> Response {
        self.call(call("POST", media, body.into()))
    }

    /// KVP as a form.
    pub(super) fn form(&self, pairs: &str) -> Response {
        let body = format!("service=SOS&{pairs}");
        self.post("application/x-www-form-urlencoded", body)
    }

    /// A document that was answered with 200.
    pub(super) fn document(&self, query: &str) -> Element {
        let response = self.get(query);
        assert_eq!(response.status, 200, "{}", text(&response));
        xml(&response)
    }

    /// The exception that a query is answered with: code and locator.
    pub(super) fn refused(&self, query: &str) -> (String, String) {
        exception(&self.get(query))
    }
}

pub(super) fn call(method: &str, media: &str, body: Bytes) -> Call {
    let headers = [("host", "weir.example"), ("content-type", media)];
    let headers = headers.into_iter().filter(|(_, value)| !value.is_empty());
    Call {
        principal: Principal::unrestricted(),
        peer: None,
        scheme: None,
        now: now(),
        method: method.into(),
        path: "/sos".into(),
        query: Vec::new(),
        raw_query: String::new(),
        headers: headers.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        body,
        wrapper: Arc::new(AsItIs),
        workers: Arc::new(AtOnce),
        websocket: None,
        incoming: Default::default(),
    }
}

pub(super) fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

pub(super) fn xml(response: &Response) -> Element {
    read_xml(&response.body).unwrap_or_else(|fault| panic!("{fault}: {}", text(response)))
}

/// Code and locator of an exception report or a fault.
pub(super) fn exception(response: &Response) -> (String, String) {
    let root = xml(response);
    let found = root
        .find("Exception")
        .unwrap_or_else(|| panic!("{}", text(response)));
    let of = |name| found.attribute(name).unwrap_or_default().to_owned();
    (of("exceptionCode"), of("locator"))
}

/// The text of all elements of a name, at any depth.
pub(super) fn texts(root: &Element, local: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(root, local, &mut found);
    found
}

fn collect(root: &Element, local: &str, found: &mut Vec<String>) {
    if root.local == local {
        found.push(root.text());
    }
    root.elements()
        .for_each(|inner| collect(inner, local, found));
}
