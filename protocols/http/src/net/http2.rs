//! HTTP/2 (RFC 9113) through hyper: the same calls, the same answers.
//!
//! What it deliberately does not do: no upgrades (RFC 8441), no push. Flow control is the back-pressure:
//! a stream whose window is full is not polled, so its subscription waits and its policy acts.

use super::answer;
use super::body::Body as Rest;
use super::guard::{Local, Watch};
use super::route::{self, Meta, Shared, Step, dispatch};
use super::streaming::{Beat, Pulse, Turn};
use super::wrapper;
use crate::limits::{
    BODY_TIME_MAX, FIELD_BYTES, HEAD_BYTES_MAX, HEADERS_MAX, HEARTBEAT_TIME, LOOK_TIME, PART_BYTES,
    STREAMS_MAX,
};
use crate::wire::body::too_large;
use crate::wire::head::{check_form, not_served, settle_host};
use crate::wire::{Refusal, Request, Version, target};
use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use weir_binding::{
    Answer, Counted, Delivery, Held, LocalFuture, Opening, Pending, Pieces, Response, Short, short,
};
use weir_carrier::Stream;
use weir_carrier::clock::{Timer, now};
use weir_carrier::outbox::poll_read_at_most;
use weir_hub::Hub;
use weir_sansio::{Duration, Instant};

/// What every connection begins with (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Says whether a connection begins as HTTP/2 does, with prior knowledge.
pub(super) fn is_preface(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PRI") && bytes.iter().zip(PREFACE).all(|(byte, known)| byte == known)
}

/// Serves a connection to its end; `read` was read of it already.
pub(super) async fn serve(stream: Stream, read: Bytes, shared: Shared) -> io::Result<()> {
    let shared = Rc::new(shared);
    let intake = Rc::new(Intake::new(&shared));
    let answering = shared.clone();
    let service = service_fn(move |request| {
        let (shared, intake) = (answering.clone(), intake.clone());
        async move { Ok::<_, Infallible>(answer(&shared, &intake, request).await) }
    });
    let local = Local::new(shared.context.clone());
    let mut builder = Builder::new(local.clone());
    builder
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .max_send_buf_size(2 * PART_BYTES);
    let stuck = Rc::new(Cell::new(Instant::NEVER));
    let wire = Wire {
        stream,
        read,
        stuck: stuck.clone(),
    };
    let mut connection = pin!(builder.serve_connection(wire, service));
    let mut draining = Some(shared.context.draining());
    let mut timer = Timer::default();
    let served = poll_fn(|cx| {
        if let Some(stops) = &mut draining
            && stops.as_mut().poll(cx).is_ready()
        {
            draining = None;
            connection.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended.map_err(io::Error::other));
        }
        loop {
            let patience = shared.context.patience();
            let (stuck, left) = (stuck.get(), local.left().oldest());
            // A stream is given up by itself first.
            if now() >= stuck + patience || now() >= left + 2 * patience {
                shared.context.hub().stalled();
                return Poll::Ready(Err(Short::Stalled.into()));
            }
            let is_watched = stuck.min(left) != Instant::NEVER;
            if !is_watched || !timer.poll_due(cx, now() + LOOK_TIME) {
                return Poll::Pending;
            }
        }
    });
    served.await
}

/// Bodies on their way in by one connection, which are counted among what the hub holds, and are together no more than
/// two of the longest.
struct Intake {
    limit: usize,
    hub: Arc<Hub>,
    held: Cell<usize>,
}

/// One body, until it is taken or dropped.
struct Arriving<'a> {
    intake: &'a Intake,
    held: Held,
    bytes: usize,
}

impl Intake {
    fn new(shared: &Shared) -> Self {
        Self {
            limit: shared.body_bytes_max(),
            hub: shared.context.hub().clone(),
            held: Cell::new(0),
        }
    }

    fn body(&self) -> Arriving<'_> {
        Arriving {
            intake: self,
            held: Held::default(),
            bytes: 0,
        }
    }
}

impl Arriving<'_> {
    /// Makes room for so many bytes of it.
    fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let Intake { limit, hub, held } = self.intake;
        if bytes > *limit {
            return Err(too_large(*limit));
        }
        let all = held.get() - self.bytes + bytes;
        if all > limit.saturating_mul(2) {
            let reason = "this connection has too much under way: send it once that is answered";
            return Err(Refusal::new(503, reason));
        }
        let short = |short: Short| Refusal::new(503, short.to_string());
        self.held.arrives(hub, bytes).map_err(short)?;
        held.set(all);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        let held = &self.intake.held;
        held.set(held.get() - self.bytes);
    }
}

async fn answer(
    shared: &Shared,
    intake: &Intake,
    request: hyper::Request<Incoming>,
) -> hyper::Response<Outgoing> {
    let hub = shared.context.hub().clone();
    let Some(_head) = hub.arrivals().room(head_bytes(&request)) else {
        return written(short(), Outgoing::whole);
    };
    if request.headers().len() > HEADERS_MAX {
        let sentence = format!("a head has at most {HEADERS_MAX} fields");
        return written(Response::text(431, sentence), Outgoing::whole);
    }
    let (head, mut body) = request.into_parts();
    let mut arriving = intake.body();
    let read = tokio::time::timeout(BODY_TIME_MAX, whole(head, &mut body, &mut arriving));
    let late = |_| Err(Refusal::new(408, "the body did not come in time"));
    let request = match read.await.unwrap_or_else(late) {
        Ok(request) => request,
        Err(refusal) => {
            linger(body, intake.limit);
            let answer = Response::text(refusal.status, refusal.reason);
            return written(answer, Outgoing::whole);
        }
    };
    arriving.held.asked(&intake.hub, arriving.bytes);
    let (answer, meta) = match dispatch(shared, request, None) {
        Step::Answered(answer, meta) => (answer, meta),
        Step::Checking(mut check, request) => {
            let who = poll_fn(|cx| check.poll(cx)).await;
            route::answer(shared, *request, who, None)
        }
    };
    match answer {
        Answer::Now(response) => {
            let response = response.counted(shared.context.hub().answers());
            finished(shared, &meta, response)
        }
        Answer::Later(pending) => {
            let response = awaited(pending).await;
            finished(shared, &meta, response)
        }
        Answer::Pieces(mut pieces) => {
            let opening = poll_fn(|cx| pieces.poll_opening(cx)).await;
            opened(shared, &meta, opening, pieces)
        }
        Answer::Socket(_) => {
            // RFC 9113 has no `Upgrade`, without which there is no 426.
            let reason = "a WebSocket is opened over HTTP/1.1";
            finished(shared, &meta, Response::text(505, reason))
        }
        Answer::Stream(mut stream) => {
            shared.answered(&meta, stream.head.status);
            stream.delivery.tally = Some(shared.tallies[0].clone());
            answer::prepare_stream(&meta, &mut stream.head);
            let mut first = Vec::new();
            if meta.gzip {
                first.extend_from_slice(wrapper::GZIP_HEADER);
            }
            wrapper::of_body(false, meta.gzip).bytes(&stream.head.body, &mut first);
            let draining = shared.context.draining();
            written(stream.head, |_| match meta.head_only {
                true => Outgoing::whole(Bytes::new()),
                false => Outgoing::streaming(first.into(), stream.delivery, draining),
            })
        }
    }
}

/// Reads on for a while and keeps nothing: of a stream that is reset while a client sends, some read no answer.
#[allow(clippy::disallowed_methods, reason = "the answer does not wait for it")]
fn linger(mut body: Incoming, limit: usize) {
    tokio::task::spawn_local(tokio::time::timeout(BODY_TIME_MAX, async move {
        let mut left = limit;
        while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(bytes) {
                Some(less) => left = less,
                None => return,
            }
        }
    }));
}

/// The request with its whole body.
async fn whole(
    head: hyper::http::request::Parts,
    body: &mut Incoming,
    held: &mut Arriving<'_>,
) -> Result<Request, Refusal> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        let broken = |error: hyper::Error| Refusal::new(400, error.to_string());
        if let Ok(data) = frame.map_err(broken)?.into_data() {
            held.grow(bytes.len() + data.len())?;
            bytes.extend_from_slice(&data);
        }
    }
    let uri = head
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());
    check_form(head.method.as_str(), uri)?;
    let (path, raw_query) = target::split(uri);
    if matches!(head.method.as_str(), "CONNECT" | "TRACE") {
        return Err(not_served(head.method.as_str()));
    }
    let mut headers = Vec::with_capacity(head.headers.len() + 1);
    for (name, value) in &head.headers {
        let value = std::str::from_utf8(value.as_bytes())
            .map_err(|_| Refusal::new(400, format!("field `{name}` is not UTF-8")))?;
        headers.push((name.as_str().to_owned(), value.to_owned()));
    }
    let mut request = Request {
        method: head.method.as_str().to_owned(),
        path,
        query: target::pairs(&raw_query),
        raw_query,
        version: Version::Http2,
        headers,
        body: bytes.into(),
        keep_alive: true,
    };
    let named = head.uri.authority().map(|named| named.as_str());
    settle_host(&mut request, named)?;
    Ok(request)
}

/// The answer, once it is ready or patience ends.
async fn awaited(mut pending: Box<dyn Pending>) -> Response {
    let until = pending
        .patience()
        .map_or(Instant::NEVER, |span| now() + span);
    let mut timer = Timer::default();
    poll_fn(|cx| match pending.poll(cx) {
        Poll::Pending if timer.poll_due(cx, until) => Poll::Ready(pending.expire()),
        polled => polled,
    })
    .await
}

fn opened(
    shared: &Shared,
    meta: &Meta,
    opening: Opening,
    pieces: Box<dyn Pieces>,
) -> hyper::Response<Outgoing> {
    let mut head = match opening {
        Opening::Whole(response) => return finished(shared, meta, response),
        Opening::Begun(head) => head,
    };
    shared.answered(meta, head.status);
    let gzip = answer::prepare_pieces(meta, &mut head);
    written(head, |first| {
        if meta.head_only {
            Outgoing::whole(Bytes::new())
        } else {
            Outgoing::of(Source::Pieces(Box::new(Rest::new(pieces, first, gzip))))
        }
    })
}

fn finished(shared: &Shared, meta: &Meta, mut answer: Response) -> hyper::Response<Outgoing> {
    shared.answered(meta, answer.status);
    answer::prepare(meta, &mut answer, shared.context.hub().answers());
    written(answer, |body| {
        if meta.head_only {
            Outgoing::whole(Bytes::new())
        } else {
            Outgoing::whole(body)
        }
    })
}

fn written(answer: Response, body: impl FnOnce(Bytes) -> Outgoing) -> hyper::Response<Outgoing> {
    let guards = answer::guards(&answer);
    let mut response = hyper::Response::new(body(answer.body));
    *response.status_mut() = hyper::StatusCode::from_u16(answer.status).unwrap_or_default();
    for (name, value) in guards {
        let value = hyper::header::HeaderValue::from_static(value);
        response.headers_mut().append(*name, value);
    }
    for (name, value) in answer.headers {
        let value = value.replace(['\r', '\n'], " ");
        if let Ok(value) = hyper::header::HeaderValue::from_bytes(value.as_bytes()) {
            let name = hyper::header::HeaderName::from_static(name);
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// A response's body.
struct Outgoing {
    source: Source,
    watch: Option<Rc<Watch>>,
}

/// Where it comes from.
enum Source {
    Whole(Bytes),
    Pieces(Box<Rest>),
    Streaming(Box<Streamed>),
}

struct Streamed {
    first: Bytes,
    delivery: Option<Delivery>,
    pulse: Pulse,
    turn: Turn,
    /// Whether something was taken this turn.
    taken: bool,
    timer: Timer,
    draining: LocalFuture<'static, ()>,
}

impl Outgoing {
    fn of(source: Source) -> Self {
        let watch = Watch::current();
        let outgoing = Self { source, watch };
        if let (Some(watch), false) = (&outgoing.watch, outgoing.is_end_stream()) {
            watch.begin();
        }
        outgoing
    }

    fn whole(body: Bytes) -> Self {
        Self::of(Source::Whole(body))
    }

    fn streaming(first: Bytes, delivery: Delivery, draining: LocalFuture<'static, ()>) -> Self {
        let every = delivery
            .heartbeat
            .as_ref()
            .map_or(HEARTBEAT_TIME, |beat| beat.0);
        Self::of(Source::Streaming(Box::new(Streamed {
            first,
            delivery: Some(delivery),
            pulse: Pulse::new(every),
            turn: Turn::new(),
            taken: false,
            timer: Timer::default(),
            draining,
        })))
    }
}

impl Streamed {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.first))));
        }
        let Some(delivery) = &mut self.delivery else {
            return Poll::Ready(None);
        };
        if self.draining.as_mut().poll(cx).is_ready() {
            let farewell = delivery.farewell.clone();
            self.delivery = None;
            return Poll::Ready((!farewell.is_empty()).then_some(Ok(farewell)));
        }
        let next = if std::mem::take(&mut self.taken) {
            self.turn.end(delivery, cx);
            Poll::Pending
        } else {
            self.turn.poll_next(delivery, &mut self.timer, cx)
        };
        match next {
            Poll::Ready(Ok(Some(bytes))) => {
                self.taken = true;
                self.pulse.sent();
                return Poll::Ready(Some(Ok(bytes)));
            }
            Poll::Ready(Ok(None)) => return Poll::Ready(None),
            Poll::Ready(Err(fault)) => return Poll::Ready(Some(Err(io::Error::other(fault)))),
            Poll::Pending => {}
        }
        match (
            self.pulse
                .poll(false, || Duration::MAX, &mut self.timer, cx),
            &delivery.heartbeat,
        ) {
            (Beat::Heartbeat, Some((_, beat))) => Poll::Ready(Some(Ok(beat.clone()))),
            _ => Poll::Pending,
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Self { source, watch } = self.get_mut();
        if let Some(watch) = watch {
            watch.end();
        }
        let (next, own) = match source {
            Source::Whole(body) => {
                let part = part_of(body);
                let own = part.as_ref().map_or(0, Bytes::len);
                (part.map(Ok), own)
            }
            Source::Pieces(rest) => (ready!(rest.poll(cx)).transpose(), 0),
            Source::Streaming(streamed) => (ready!(streamed.poll(cx)), 0),
        };
        let handed = |bytes: Bytes| match watch {
            Some(watch) => {
                watch.begin();
                watch.hand(bytes, own)
            }
            None => bytes,
        };
        Poll::Ready(next.map(|bytes| bytes.map(handed).map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.source, Source::Whole(body) if body.is_empty())
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match &self.source {
            Source::Whole(body) => hyper::body::SizeHint::with_exact(body.len() as u64),
            Source::Pieces(_) | Source::Streaming(_) => hyper::body::SizeHint::default(),
        }
    }
}

/// Bytes of memory that a head takes.
fn head_bytes(request: &hyper::Request<Incoming>) -> usize {
    let fields = request.headers().iter();
    let texts = fields.map(|(name, value)| FIELD_BYTES + name.as_str().len() + value.len());
    texts.sum::<usize>() + request.uri().path().len()
}

/// The next part of a body. Of a long one it is a copy: what is handed on may wait for a window as long as the peer
/// likes, and would keep all of the body.
fn part_of(body: &mut Bytes) -> Option<Bytes> {
    match body.len() {
        0 => None,
        1..=PART_BYTES => Some(std::mem::take(body)),
        _ => Some(Bytes::copy_from_slice(&body.split_to(PART_BYTES))),
    }
}

/// A stream as hyper wants it, with what was read of it before.
struct Wire {
    stream: Stream,
    read: Bytes,
    /// Since when nothing can be written.
    stuck: Rc<Cell<Instant>>,
}

impl Wire {
    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        let since = if written.is_pending() {
            self.stuck.get().min(now())
        } else {
            Instant::NEVER
        };
        self.stuck.set(since);
        written
    }
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.read.is_empty() {
            let length = this.read.len().min(buffer.remaining());
            buffer.put_slice(&this.read[..length]);
            this.read.advance(length);
            return Poll::Ready(Ok(()));
        }
        let room = buffer.remaining();
        poll_read_at_most(&mut this.stream, cx, room, |bytes| buffer.put_slice(bytes))
    }
}

impl Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.note(written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.note(written)
    }
}
