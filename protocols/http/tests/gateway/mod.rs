//! A hub without a disk and one small service, served over loopback sockets.

pub(crate) mod pieces;

use bytes::Bytes;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinHandle, LocalSet};
use weir_binding::Server;
use weir_binding::{
    Answer, AtOnce, Call, Context, Delivery, Drawer, Elsewhere, Identity, Inbound, Length,
    LocalFuture, Pace, Pending, Response, Scheme, Section, Service, Socket, Stream, Workers,
    hand_over,
};
use weir_carrier::Link;
use weir_codec::{FORMATS, Format, by_name, sample};
use weir_http::Http;
use weir_hub::{
    Frame, Framing, FramingKey, History, HistoryFault, Hub, Log, LogFault, LogReader, Media, Page,
    Principal, Publish, Range, Record, Resume, Shape, Subscribe,
};
use weir_model::{Batch, Cursor, Filter, Observation, Time};

/// For how long a peer is waited for that takes nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Counts records and keeps none.
struct Counter(Mutex<u64>);

impl Log for Counter {
    fn commit(&self) {}

    fn append(&self, _record: &Record<'_>) -> Result<Cursor, LogFault> {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        Ok(Cursor::new(1, *count))
    }
    fn head(&self) -> Cursor {
        Cursor::new(1, *self.0.lock().unwrap())
    }
    fn committed(&self) -> Cursor {
        self.head()
    }
    fn poll_committed(&self, _cursor: Cursor, _cx: &mut Task<'_>) -> Poll<Result<(), LogFault>> {
        Poll::Ready(Ok(()))
    }
    fn tail(&self) -> Cursor {
        Cursor::START
    }
    fn resume(&self, cursor: Cursor) -> Resume {
        Resume::From(cursor)
    }
    fn read(&self, _from: Cursor) -> Box<dyn LogReader> {
        Box::new(Nothing)
    }
    fn seek(&self, _arrival_nanos: i64) -> Cursor {
        self.head()
    }
    fn snapshot(&self, _visit: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault> {
        Ok(self.head())
    }
    fn release(&self, _cursor: Cursor) {}
    fn close(&self) -> Result<(), LogFault> {
        Ok(())
    }
}

struct Nothing;

impl LogReader for Nothing {
    fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault> {
        Ok(None)
    }
}

impl History for Nothing {
    fn apply(&self, _: Cursor, _: Time, _: &Batch) -> Result<(), HistoryFault> {
        Ok(())
    }
    fn forget(&self, _: Cursor, _: &str) -> Result<(), HistoryFault> {
        Ok(())
    }
    fn advance(&self, _: Cursor) {}
    fn applied(&self) -> Cursor {
        Cursor::START
    }
    fn latest(&self, _: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault> {
        Ok(())
    }
    fn read(&self, _: &Range<'_>) -> Result<Page, HistoryFault> {
        Ok(Page::default())
    }
    fn maintain(&self, _: Time) -> Result<(), HistoryFault> {
        Ok(())
    }
}

/// `/echo` answers with what it got, `/later` a turn later, `/large` with much text, `/huge` with more than a socket
/// takes, `/stream` and `/socket` with what is published.
struct Small {
    hub: Arc<Hub>,
    calls: Arc<AtomicUsize>,
}

impl Service for Small {
    fn name(&self) -> &'static str {
        "small"
    }
    fn mounts(&self) -> &'static [&'static str] {
        &["/"]
    }
    fn call(&self, call: Call) -> Answer {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match call.path.as_str() {
            "/echo" => Answer::Now(Response::with_body(
                200,
                "application/octet-stream",
                call.body,
            )),
            "/later" => Answer::Later(Box::new(NextTurn(Some(call.body)))),
            "/never" => Answer::Later(Box::new(Never)),
            "/large" => Answer::Now(Response::text(200, "observation ".repeat(1000))),
            "/huge" => Answer::Now(Response::text(200, "observation ".repeat(1_000_000))),
            "/stream" => self.stream(&call),
            "/socket" => self.socket(&call),
            path if path.starts_with("/pieces/") => pieces::answer(call.workers, &path[8..]),
            other => Answer::Now(match other.strip_prefix("/in/").and_then(by_name) {
                Some(format) => in_format(format),
                None => Response::text(404, format!("no {other}")),
            }),
        }
    }
}

/// A large message, as a service answers one that was negotiated.
fn in_format(format: &Format) -> Response {
    let mut body = Vec::new();
    (format.encode)(&sample::message(50, 0), &mut body);
    Response::with_body(200, format.media, body).header("vary", "accept")
}

impl Small {
    fn delivery(&self, call: &Call, framing: Arc<dyn Framing>, scheme: Scheme) -> Delivery {
        let shape = Shape::Framed(&FORMATS[0], call.wrapper.framing(framing));
        let subscribe = Subscribe::new(vec![Filter::parse("#").unwrap()], shape);
        let caller = self.hub.caller(call.now, &call.principal).unwrap();
        let subscription = caller.subscribe(subscribe).unwrap();
        let mut farewell = Vec::new();
        if scheme == Scheme::Streaming {
            call.wrapper.bytes(b"farewell\n", &mut farewell);
        }
        Delivery {
            scheme,
            subscription,
            heartbeat: None,
            farewell: farewell.into(),
            tally: None,
            pace: Pace::default(),
            elsewhere: Elsewhere::new(call.workers.clone()),
        }
    }

    fn stream(&self, call: &Call) -> Answer {
        Answer::Stream(Stream {
            head: Response::with_body(200, "text/plain", "begin\n"),
            delivery: self.delivery(call, Arc::new(Lines), Scheme::Streaming),
        })
    }

    fn socket(&self, call: &Call) -> Answer {
        Answer::Socket(Socket {
            subprotocol: call.websocket.iter().flatten().next().cloned(),
            delivery: Some(self.delivery(call, Arc::new(Frames), Scheme::WebSocket)),
            inbound: Box::new(Echo),
        })
    }
}

struct Lines;

impl Framing for Lines {
    fn key(&self) -> FramingKey {
        ("lines", 0)
    }
    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(frame.payload.unwrap_or_default().trim_ascii());
        out.push(b'\n');
    }
}

struct Frames;

impl Framing for Frames {
    fn key(&self) -> FramingKey {
        ("frames", 0)
    }
    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let payload = frame.payload.unwrap_or_default();
        weir_carrier::websocket::write_frame(weir_carrier::websocket::Opcode::TEXT, payload, out);
    }
}

struct Echo;

impl Inbound for Echo {
    fn receive(&mut self, _now: Time, _text: bool, payload: Bytes) -> Answer {
        Answer::Later(Box::new(NextTurn(Some(payload))))
    }

    fn is_revoked(&self) -> bool {
        false
    }
}

struct NextTurn(Option<Bytes>);

impl Pending for NextTurn {
    fn poll(&mut self, cx: &mut Task<'_>) -> Poll<Response> {
        match self.0.take() {
            Some(body) if body.starts_with(b"!") => {
                Poll::Ready(Response::with_body(200, "text/plain", body.slice(1..)))
            }
            Some(body) => {
                self.0 = Some([b"!", body.as_ref()].concat().into());
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Pending,
        }
    }
}

struct Never;

impl Pending for Never {
    fn poll(&mut self, _cx: &mut Task<'_>) -> Poll<Response> {
        Poll::Pending
    }
    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_millis(20))
    }
    fn expire(&mut self) -> Response {
        Response::empty(204)
    }
}

struct House {
    drawer: Arc<Drawer>,
    hub: Arc<Hub>,
    service: Arc<dyn Service>,
    draining: watch::Receiver<bool>,
}

impl Context for House {}

impl weir_binding::Gateway for House {
    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }
    fn now(&self) -> Time {
        Time::from_nanos(0)
    }
    fn service(&self, _path: &str) -> Option<&Arc<dyn Service>> {
        Some(&self.service)
    }
    fn principal(&self, credential: Option<&str>, _local: bool) -> Identity {
        let everyone = Principal::unrestricted();
        match credential {
            Some("Bearer wrong") => Identity::Known(Err("no such token".into())),
            Some("Basic slow") => {
                let checked = hand_over(&*self.drawer, Length::Short, move || Ok(everyone));
                checked.map_or(Identity::Busy, Identity::Checking)
            }
            _ => Identity::Known(Ok(everyone)),
        }
    }
    fn authenticate(&self, _user: &str, _password: &[u8]) -> Identity {
        Identity::Known(Ok(Principal::unrestricted()))
    }
    fn workers(&self) -> Arc<dyn Workers> {
        Arc::new(AtOnce)
    }
    fn patience(&self) -> Duration {
        PATIENCE
    }
    fn draining(&self) -> LocalFuture<'static, ()> {
        let mut draining = self.draining.clone();
        Box::pin(async move {
            let _stopped = draining.wait_for(|stop| *stop).await;
        })
    }
    fn answered(&self, _service: &'static str, _status: u16) {}
}

/// The small gateway: its address, its hub, and what makes it drain.
pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) hub: Arc<Hub>,
    /// How often its service was asked.
    pub(crate) calls: Arc<AtomicUsize>,
    /// Credentials `Basic slow` that wait to be checked.
    pub(crate) drawer: Arc<Drawer>,
    pub(crate) drain: watch::Sender<bool>,
    pub(crate) ended: tokio::sync::mpsc::UnboundedReceiver<io::Result<()>>,
    _accept: JoinHandle<()>,
}

impl Gateway {
    /// Publishes a number at a topic.
    pub(crate) fn publish(&self, topic: &str, body: &str) {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let publish = Publish::new(topic, Media::Undeclared, body);
        let principal = Principal::unrestricted();
        let now = Time::from_nanos(0);
        self.hub
            .caller(now, &principal)
            .and_then(|caller| caller.publish(publish))
            .unwrap();
    }
}

/// Runs a test against a small gateway on one thread.
pub(crate) fn with<F: Future<Output = ()>>(
    settings: &[(&str, &str)],
    test: impl FnOnce(Gateway) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut section = Section::new("http");
    settings
        .iter()
        .for_each(|(key, value)| section.set(key, value));
    let http = Http::configure(section).unwrap();
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let gateway = start(http).await;
        test(gateway).await;
    });
}

async fn start(http: Http) -> Gateway {
    let hub = Hub::start(
        Arc::new(Counter(Mutex::new(0))),
        Arc::new(Nothing),
        weir_model::Limits::default(),
        Time::from_nanos(0),
    );
    let hub = hub.unwrap();
    let (drain, draining) = watch::channel(false);
    let drawer = Arc::new(Drawer::with_room(2));
    let calls = Arc::new(AtomicUsize::new(0));
    let house = Arc::new(House {
        drawer: drawer.clone(),
        hub: hub.clone(),
        service: Arc::new(Small {
            hub: hub.clone(),
            calls: calls.clone(),
        }),
        draining,
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (ends, ended) = tokio::sync::mpsc::unbounded_channel();
    let accept = tokio::task::spawn_local(async move {
        while let Ok((tcp, peer)) = listener.accept().await {
            let served = http.serve(Link::tcp(tcp, peer), house.clone());
            let ends = ends.clone();
            tokio::task::spawn_local(async move {
                let _gone = ends.send(served.await);
            });
        }
    });
    Gateway {
        calls,
        address,
        hub,
        drawer,
        drain,
        ended,
        _accept: accept,
    }
}
