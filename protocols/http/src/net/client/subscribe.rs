//! Subscribing with GET: endless answers, polling, long polling.

use super::connection::{BYTES_MAX, Connection, broken, common, refused};
use super::url::{Url, Way};
use crate::wire::answers::{Head, Part};
use crate::wire::events::{Cut, Cutter, Event as OpenEvent, Piece};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use weir_binding::{Event, LocalFuture, Subscriber, Target, is_of_nothing};
use weir_codec::Format;
use weir_model::{Cursor, Filter};

/// Between two polls.
const POLL_TIME: Duration = Duration::from_secs(1);
/// How long one long poll may wait, seconds.
const WAIT_SECONDS: u32 = 30;

/// Asks for a target.
pub(super) async fn get(
    connection: &mut Connection,
    url: &Url,
    target: &Target,
    path: &str,
    fields: &str,
) -> io::Result<Head> {
    let mut request = format!("GET {path} HTTP/1.1\r\n");
    common(url, target, &mut request);
    request.push_str(fields);
    request.push_str("\r\n");
    connection.send(request.as_bytes()).await?;
    connection.head().await
}

/// An answer that never ends: HTTP streaming or server-sent events.
pub(super) struct Endless {
    connection: Connection,
    cutter: Cutter,
    due: VecDeque<Event>,
    /// Whether messages are in base64.
    base64: bool,
}

impl Endless {
    pub(super) async fn open(
        url: &Url,
        target: &Target,
        filters: &[Filter],
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let format = target.format;
        let sse = url.way == Way::Sse;
        let (query, accept) = if sse {
            (format!("as={}", format.name), "text/event-stream")
        } else {
            (format!("stream&as={}", format.name), format.media)
        };
        let path = url.filters(filters, &query, since);
        let mut connection = Connection::open(url, target).await?;
        let fields = format!("Accept: {accept}\r\n");
        let head = get(&mut connection, url, target, &path, &fields).await?;
        if head.status != 200 {
            let (body, _) = connection.body().await?;
            return Err(refused(head.status, &body));
        }
        // Where it begins: who loses the connection before the first message resumes from here.
        let begins = head.header("weir-cursor").and_then(|at| at.parse().ok());
        Ok(Self {
            connection,
            cutter: Cutter::new(cut(sse, format), BYTES_MAX),
            due: begins.map(Event::Position).into_iter().collect(),
            base64: sse && !format.text,
        })
    }

    /// What follows the head of an answer whose events are texts.
    pub(super) fn events(connection: Connection, bytes_max: usize) -> Self {
        Self {
            connection,
            cutter: Cutter::new(Cut::Events(OpenEvent::default()), bytes_max),
            due: VecDeque::new(),
            base64: false,
        }
    }

    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Ok(Some(event));
            }
            let mut pieces = Vec::new();
            match self.connection.part().await? {
                Some(Part::Body(body)) => self.cutter.read(&body, &mut pieces).map_err(broken)?,
                _ => return Ok(None),
            }
            for piece in pieces {
                piece_events(piece, self.base64, &mut self.due)?;
            }
        }
    }
}

fn cut(sse: bool, format: &Format) -> Cut {
    match (sse, format.text, format.one_line) {
        (true, _, _) => Cut::Events(OpenEvent::default()),
        (false, true, true) => Cut::Lines,
        (false, true, false) => Cut::Paragraphs(Vec::new()),
        (false, false, _) => Cut::Lengths,
    }
}

fn piece_events(piece: Piece, base64: bool, due: &mut VecDeque<Event>) -> io::Result<()> {
    match piece {
        Piece::Control(json) => control_events(&json, due),
        Piece::Gap(gap, id) => {
            due.push_back(Event::Gap(gap));
            due.extend(id.and_then(|id| id.parse().ok()).map(Event::Position));
        }
        Piece::Message(message, id) => {
            let message = if base64 {
                STANDARD.decode(&message).map_err(|error| {
                    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
                })?
            } else {
                message
            };
            let cursor = id.and_then(|id| id.parse().ok());
            due.push_back(Event::Message(message.into(), cursor));
        }
    }
    Ok(())
}

/// What `{"weir":{...}}` tells: a gap first, then the position.
pub(super) fn control_events(json: &[u8], due: &mut VecDeque<Event>) {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(json) else {
        return;
    };
    let weir = &value["weir"];
    if let Some(gap) = weir.get("gap") {
        due.push_back(Event::Gap(gap.to_string()));
    }
    let cursor = weir["cursor"].as_str().and_then(|text| text.parse().ok());
    due.extend(cursor.map(Event::Position));
}

impl Subscriber for Endless {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(Endless::next(self))
    }
}

/// Where a subscription that begins now begins, which only the head of an endless answer says of any filter: who asks
/// again and again would miss what comes before he asks first.
async fn position(url: &Url, target: &Target, filters: &[Filter]) -> io::Result<Option<Cursor>> {
    let mut connection = Connection::open(url, target).await?;
    let path = url.filters(filters, "stream", None);
    let head = get(&mut connection, url, target, &path, "").await?;
    if head.status != 200 {
        let (body, _) = connection.body().await?;
        return Err(refused(head.status, &body));
    }
    Ok(head.header("weir-cursor").and_then(|at| at.parse().ok()))
}

/// Polling and long polling: one request after the other.
pub(super) struct Poller {
    url: Url,
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
    connection: Option<Connection>,
    /// Entity tag of the last values got.
    tag: Option<String>,
    due: VecDeque<Event>,
    polled: bool,
}

impl Poller {
    pub(super) async fn open(
        url: Url,
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> io::Result<Self> {
        let since = match (url.way, since) {
            (Way::LongPoll, None) => position(&url, &target, &filters).await?,
            (_, since) => since,
        };
        let connection = Some(Connection::open(&url, &target).await?);
        Ok(Self {
            url,
            target,
            filters,
            since,
            connection,
            tag: None,
            due: VecDeque::new(),
            polled: false,
        })
    }

    async fn next(&mut self) -> io::Result<Option<Event>> {
        while self.due.is_empty() {
            if self.url.way == Way::Poll && std::mem::replace(&mut self.polled, true) {
                tokio::time::sleep(POLL_TIME).await;
            }
            self.ask().await?;
        }
        Ok(self.due.pop_front())
    }

    async fn ask(&mut self) -> io::Result<()> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_stale().await => connection,
            _ => Connection::open(&self.url, &self.target).await?,
        };
        let format = self.target.format.name;
        let (query, since) = match self.url.way {
            Way::LongPoll => (format!("wait={WAIT_SECONDS}&as={format}"), self.since),
            _ => (format!("as={format}"), None),
        };
        let path = self.url.filters(&self.filters, &query, since);
        let tag = self.tag.iter().filter(|_| self.url.way == Way::Poll);
        let fields: String = tag.map(|tag| format!("If-None-Match: {tag}\r\n")).collect();
        let head = get(&mut connection, &self.url, &self.target, &path, &fields).await?;
        let (body, keep_alive) = connection.body().await?;
        if keep_alive {
            self.connection = Some(connection);
        }
        self.take(&head, body)
    }

    fn take(&mut self, head: &Head, body: Vec<u8>) -> io::Result<()> {
        // At a topic where nothing was published yet there are no last values.
        let is_nothing_yet = head.status == 404 && self.url.way == Way::Poll;
        if !is_nothing_yet && !matches!(head.status, 200 | 204 | 304) {
            return Err(refused(head.status, &body));
        }
        let gap = head.header("weir-gap").map(|gap| Event::Gap(gap.into()));
        self.due.extend(gap);
        self.tag = head.header("etag").map(str::to_owned);
        let cursor = head
            .header("weir-cursor")
            .and_then(|text| text.parse().ok());
        let body = Bytes::from(body);
        // Who polls gets a message so long as nothing was published, too.
        if head.status == 200 && !is_of_nothing(&body, self.target.format) {
            self.due.push_back(Event::Message(body, cursor));
        } else if let Some(cursor) = cursor.filter(|cursor| Some(*cursor) != self.since) {
            self.due.push_back(Event::Position(cursor));
        }
        self.since = cursor.or(self.since);
        Ok(())
    }
}

impl Subscriber for Poller {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(Poller::next(self))
    }
}
