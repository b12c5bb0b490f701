//! WebSockets as a client: messages in, messages out and their acknowledgements.

use super::connection::{BYTES_MAX, Connection, common, refused};
use super::subscribe::control_events;
use super::url::Url;
use crate::wire::events::is_control;
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::io;
use weir_binding::{Event, LocalFuture, Publisher, Subscriber, Target};
use weir_carrier::websocket::{
    Close, CloseCode, Message, Opcode, Reader, Role, accept, key, write_close, write_masked,
};
use weir_model::{Cursor, Filter};

/// Sockets that a publisher keeps, one a topic; beyond, all are opened anew.
const TOPICS_MAX: usize = 64;

/// An open WebSocket.
struct Open {
    connection: Connection,
    reader: Reader,
    messages: VecDeque<Message>,
}

impl Open {
    /// Shakes hands (RFC 6455 section 4.1).
    async fn open(url: &Url, target: &Target, path: &str) -> io::Result<Self> {
        let nonce = key(weir_random::bytes()?);
        let mut request = format!("GET {path} HTTP/1.1\r\n");
        common(url, target, &mut request);
        let subprotocol = format!("weir.{}", target.format.name);
        request.push_str(&format!(
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Protocol: {subprotocol}\r\n\r\n"
        ));
        let mut connection = Connection::open(url, target).await?;
        connection.send(request.as_bytes()).await?;
        let head = connection.head().await?;
        if head.status != 101 {
            let (body, _) = connection.body().await?;
            return Err(refused(head.status, &body));
        }
        if head.header("sec-websocket-accept") != accept(&nonce).as_deref() {
            return Err(misbehaved("the handshake's answer is not to our key"));
        }
        let mut open = Self {
            connection,
            reader: Reader::new(Role::Client, false, BYTES_MAX),
            messages: VecDeque::new(),
        };
        let rest = open.connection.take_rest();
        open.take(&rest)?;
        Ok(open)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut messages = Vec::new();
        let read = self.reader.read(bytes, &mut messages);
        self.messages.extend(messages);
        read.map_err(|failure| io::Error::new(io::ErrorKind::InvalidData, failure))
    }

    /// The next message that is no ping or pong; `None` once the socket is closed.
    async fn message(&mut self) -> io::Result<Option<(bool, Bytes)>> {
        loop {
            match self.messages.pop_front() {
                Some(Message::Text(text)) => return Ok(Some((true, text))),
                Some(Message::Binary(bytes)) => return Ok(Some((false, bytes))),
                Some(Message::Ping(payload)) => self.send(Opcode::PONG, &payload).await?,
                Some(Message::Pong(_)) => {}
                Some(Message::Close(close)) => return self.closed(close).await,
                None => {
                    let bytes = self.connection.read().await?.to_vec();
                    if bytes.is_empty() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.take(&bytes)?;
                }
            }
        }
    }

    async fn closed(&mut self, close: Option<Close>) -> io::Result<Option<(bool, Bytes)>> {
        let mut frame = Vec::new();
        write_close(
            &Close::new(CloseCode::NORMAL, ""),
            Some(weir_random::bytes()?),
            &mut frame,
        );
        // The peer may be gone already.
        let _closing = self.connection.send(&frame).await;
        match close {
            Some(close) if !matches!(close.code, CloseCode::NORMAL | CloseCode::GOING_AWAY) => {
                Err(misbehaved(&close.to_string()))
            }
            _ => Ok(None),
        }
    }

    async fn send(&mut self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(payload.len() + 14);
        write_masked(opcode, payload, weir_random::bytes()?, &mut frame);
        self.connection.send(&frame).await
    }
}

fn misbehaved(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A subscription over a WebSocket.
pub(super) struct SocketSubscriber {
    open: Open,
    due: VecDeque<Event>,
}

pub(super) async fn subscribe(
    url: &Url,
    target: &Target,
    filters: &[Filter],
    since: Option<Cursor>,
) -> io::Result<SocketSubscriber> {
    let path = url.filters(filters, "", since);
    Ok(SocketSubscriber {
        open: Open::open(url, target, &path).await?,
        due: VecDeque::new(),
    })
}

impl SocketSubscriber {
    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Ok(Some(event));
            }
            match self.open.message().await? {
                None => return Ok(None),
                Some((true, text)) if is_control(&text) => control_events(&text, &mut self.due),
                Some((_, message)) => return Ok(Some(Event::Message(message, None))),
            }
        }
    }
}

impl Subscriber for SocketSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(SocketSubscriber::next(self))
    }
}

/// Publishes over WebSockets, one a topic, since the path is the topic.
pub(super) struct SocketPublisher {
    url: Url,
    target: Target,
    open: HashMap<String, Open>,
}

impl SocketPublisher {
    pub(super) fn new(url: Url, target: Target) -> Self {
        Self {
            url,
            target,
            open: HashMap::new(),
        }
    }

    async fn send(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let mut open = match self.open.remove(topic) {
            Some(open) if !open.connection.is_stale().await => open,
            _ => {
                let path = format!("{}?publish", self.url.topic(topic));
                Open::open(&self.url, &self.target, &path).await?
            }
        };
        let opcode = if self.target.format.text {
            Opcode::TEXT
        } else {
            Opcode::BINARY
        };
        open.send(opcode, body).await?;
        acknowledged(&mut open).await?;
        if self.open.len() >= TOPICS_MAX {
            self.open.clear();
        }
        self.open.insert(topic.into(), open);
        Ok(())
    }
}

/// Waits for `{"weir":{"committed":...}}`.
async fn acknowledged(open: &mut Open) -> io::Result<()> {
    while let Some((_, message)) = open.message().await? {
        let value: serde_json::Value = serde_json::from_slice(&message).unwrap_or_default();
        if let Some(error) = value["weir"]["error"].as_str() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        if value["weir"]["committed"].is_string() {
            return Ok(());
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

impl Publisher for SocketPublisher {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.send(topic, &body).await })
    }
}
