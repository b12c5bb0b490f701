//! The services, as any protocol calls them: no request breaks one, and none is answered as a server's own error.
//! Paths, queries (OData filters among them) and bodies are the input's; what requests made stays for those behind
//! them, until there is enough of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_binding::{
    Answer, AsItIs, AtOnce, Call, Opening, Pieces, Premises, Response, Section, Service,
};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Hub, Media, Principal, Publish};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Limits, Time, percent};

/// Requests that one gateway is asked.
const REQUESTS_MAX: usize = 2000;
const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];
/// Media types of bodies; none where nothing is said.
const MEDIA: [&str; 5] = [
    "application/json",
    "text/xml",
    "application/soap+xml",
    "application/exi",
    "",
];

/// Services over a hub of their own.
struct House {
    services: Vec<Box<dyn Service>>,
    asked: usize,
}

thread_local! {
    static HOUSE: RefCell<Option<House>> = const { RefCell::new(None) };
}

fn now() -> Time {
    Time::from_nanos(1_700_000_000_000_000_000)
}

impl House {
    fn new() -> Self {
        let log = DiskLog::open(Arc::new(SimDisk::new()), Options::default()).expect("a log");
        let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), Default::default());
        let history = Arc::new(history.expect("a history"));
        let hub = Hub::start(Arc::new(log), history, Limits::default(), now()).expect("a hub");
        for (topic, body) in [
            ("hall/t", r#"{"value":1.5,"unit":"Cel"}"#),
            ("hall/door", r#"{"value":true}"#),
        ] {
            let media = Media::Format(&weir_codec::FORMATS[0]);
            let publish = Publish::new(topic, media, body.as_bytes().to_vec());
            hub.internal()
                .at(now())
                .publish(publish)
                .expect("published");
        }
        let premises = Premises::of(hub.clone());
        let operations = Arc::new(weir_soap::Soap::new(hub.clone()));
        let device = weir_dpws::Dpws::configure(hub.clone(), Section::new("dpws"), operations);
        Self {
            services: vec![
                Box::new(weir_sensorthings::SensorThings::new(hub.clone())),
                Box::new(weir_sos::Sos::new(hub.clone())),
                Box::new(weir_soap::Soap::new(hub)),
                Box::new(weir_live::Live::new(&premises)),
                Box::new(weir_td::Td::new(&premises)),
                Box::new(device.expect("a device")),
            ],
            asked: 0,
        }
    }

    /// The answer to a request: two bytes say of which kind, the first line is path and query, the rest the body.
    fn ask(&mut self, input: &[u8]) -> Option<Response> {
        let (&[kind, media], rest) = input.split_first_chunk()?;
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
        let (line, body) = rest.split_at(end);
        let line = std::str::from_utf8(line).ok()?;
        let (path, query) = line.split_once('?').unwrap_or((line, ""));
        let count = self.services.len();
        let service = &self.services[usize::from(kind) % count];
        let mounts = service.mounts();
        let mount = mounts[usize::from(media >> 4) % mounts.len()];
        let pairs = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let call = Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme: None,
            now: now(),
            method: METHODS[usize::from(kind) / count % METHODS.len()].into(),
            path: format!("{}{path}", mount.trim_end_matches('/')),
            query: pairs
                .filter_map(|(name, value)| Some((name.to_owned(), percent::decode(value).ok()?)))
                .collect(),
            raw_query: query.to_owned(),
            headers: headers(media),
            body: body.get(1..).unwrap_or_default().to_vec().into(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        };
        self.asked += 1;
        whole(service.call(call))
    }
}

fn headers(media: u8) -> Vec<(String, String)> {
    let content_type = MEDIA[usize::from(media & 15) % MEDIA.len()];
    let said = [("host", "h"), ("content-type", content_type)]
        .into_iter()
        .filter(|(_, value)| !value.is_empty());
    said.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The whole of an answer; none of a stream that never ends.
fn whole(answer: Answer) -> Option<Response> {
    match answer {
        Answer::Now(response) => Some(response),
        Answer::Later(mut pending) => Some(wait(|cx| pending.poll(cx))),
        Answer::Pieces(mut pieces) => Some(gathered(&mut *pieces)),
        Answer::Stream(_) | Answer::Socket(_) => None,
    }
}

fn gathered(pieces: &mut dyn Pieces) -> Response {
    match wait(|cx| pieces.poll_opening(cx)) {
        Opening::Whole(response) => response,
        Opening::Begun(response) => {
            while let Ok(Some(_)) = wait(|cx| pieces.poll_piece(cx)) {}
            response
        }
    }
}

/// What comes of it: the log's own thread brings what was written to its disk.
fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    loop {
        match poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

fuzz_target!(|input: &[u8]| {
    HOUSE.with_borrow_mut(|house| {
        if house
            .as_ref()
            .is_none_or(|house| house.asked >= REQUESTS_MAX)
        {
            *house = Some(House::new());
        }
        let answer = house.as_mut().and_then(|house| house.ask(input));
        if let Some(answer) = answer {
            let said = String::from_utf8_lossy(&answer.body);
            assert!(answer.status != 500, "{said}");
        }
    });
});
